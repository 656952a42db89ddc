/* weibull.c - by inversion of P(X > x) = exp(-(x / scale)^shape). */
#include "base/elementary.h"
#include "random/philox.h"

#include <math.h>

double tarry_random_weibull(const tarry_random *at, double shape, double scale)
{
    if (at == NULL ||
        !(shape > 0 && isfinite(shape) && scale > 0 && isfinite(scale)))
        return NAN;
    return scale * tarry__pow(-tarry__ln(tarry__random_uniform(at)), 1 / shape);
}
