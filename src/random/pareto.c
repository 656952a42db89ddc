/* pareto.c - Pareto of type I and Lomax, by inversion.
 *
 * If E is exponential with mean 1, then scale * exp(E / shape) is Pareto, and
 * scale less of it is Lomax; expm1 keeps small Lomax draws exact. */
#include "base/elementary.h"
#include "random/philox.h"

#include <math.h>
#include <stdbool.h>

static bool is_valid(double shape, double scale)
{
    return shape > 0 && isfinite(shape) && scale > 0 && isfinite(scale);
}

double tarry_random_pareto(const tarry_random *at, double shape, double scale)
{
    if (at == NULL || !is_valid(shape, scale))
        return NAN;
    return scale * tarry__exp(-tarry__ln(tarry__random_uniform(at)) / shape);
}

double tarry_random_lomax(const tarry_random *at, double shape, double scale)
{
    if (at == NULL || !is_valid(shape, scale))
        return NAN;
    return scale * tarry__expm1(-tarry__ln(tarry__random_uniform(at)) / shape);
}
