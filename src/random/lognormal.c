/* lognormal.c - the exponential of a normal. */
#include "tarry/random.h"
#include "base/elementary.h"

#include <math.h>

double tarry_random_lognormal(const tarry_random *at, double mu, double sigma)
{
    if (at == NULL || !(isfinite(mu) && sigma >= 0 && isfinite(sigma)))
        return NAN;
    return tarry__exp(mu + sigma * tarry_random_normal(at));
}
