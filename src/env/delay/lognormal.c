/* lognormal.c - log-normal delays, rounded down: median * exp(sigma Z). */
#include "env/delay.h"

#include <math.h>
#include "random/special.h"

static const tarry__setting settings[] = {
    {"median", "100", "median in rounds before rounding down"},
    {"sigma", "1", "standard deviation of the logarithm, 1e-3 to 20"},
    TARRY__COMMON_DELAY_SETTINGS,
    {NULL, NULL, NULL},
};

typedef struct {
    double median, sigma;
} law;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__stage *stage, tarry_error *error)
{
    (void)stage;
    law *l = state;
    const tarry_status status = tarry__spec_real(
        spec, "median", 0, TARRY__LONGEST_DELAY, &l->median, error);
    return status != TARRY_OK
               ? status
               : tarry__spec_real(spec, "sigma", 1e-3, 20, &l->sigma, error);
}

static double per_arm(const void *state, double factor)
{
    return factor * ((const law *)state)->median;
}

/* Small u are late, as in the other laws. */
static void prepare(const void *state, double *u, size_t count)
{
    const double sigma = ((const law *)state)->sigma;
    for (size_t i = 0; i < count; i++)
        u[i] = exp(-sigma * tarry__normal_quantile(u[i]));
}

static double tail(const void *state, size_t arm, double scale, double d)
{
    (void)arm;
    return tarry__normal_tail(log(d / scale) / ((const law *)state)->sigma);
}

/* E max(X - y, 0), the formula of Black and Scholes. */
static double beyond(const void *state, double scale, double y)
{
    const double sigma = ((const law *)state)->sigma;
    const double z = log(y / scale) / sigma;
    return scale * exp(sigma * sigma / 2) * tarry__normal_tail(z - sigma) -
           y * tarry__normal_tail(z);
}

static double mean(const void *state, size_t arm, double scale)
{
    (void)arm;
    return scale == 0 ? 0 : tarry__sum_tail(1, tail, beyond, state, scale);
}

const tarry__delay_type tarry__lognormal = {
    .entry = {"lognormal", "log-normal, rounded down", settings},
    .unbounded = true,
    .state_size = sizeof(law),
    .init = init,
    .per_arm = per_arm,
    .prepare = prepare,
    .finish = tarry__finish_scaled,
    .tail = tail,
    .mean = mean,
};
