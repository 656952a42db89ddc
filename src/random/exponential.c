/* exponential.c - by inversion of P(X > x) = exp(-x / mean). */
#include "base/elementary.h"
#include "random/philox.h"

#include <math.h>

double tarry_random_exponential(const tarry_random *at, double mean)
{
    if (at == NULL || !(mean >= 0 && isfinite(mean)))
        return NAN;
    return -mean * tarry__ln(tarry__random_uniform(at));
}
