/* lognormal.c - log-normal delays, rounded down: median * exp(sigma Z). */
#include "env/delay.h"

#include <math.h>
#include "base/elementary.h"
#include "random/special.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("median", "100", 0, TARRY__DELAY_LONGEST,
                     "median in rounds before rounding down"),
    TARRY__SPEC_REAL("sigma", "1", 1e-3, 20,
                     "standard deviation of the logarithm, 1e-3 to 20"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

typedef struct {
    double median, sigma;
} law;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__delay_stage *stage, tarry_error *error)
{
    (void)stage;
    law *l = state;
    const tarry_status status =
        tarry__spec_real(spec, "median", &l->median, error);
    return status != TARRY_OK
               ? status
               : tarry__spec_real(spec, "sigma", &l->sigma, error);
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
        u[i] = tarry__exp(-sigma * tarry__random_normal_quantile(u[i]));
}

static double tail(const void *state, size_t arm, double scale, double d)
{
    (void)arm;
    return tarry__random_normal_tail(tarry__ln(d / scale) /
                                     ((const law *)state)->sigma);
}

/* E max(X - y, 0), the formula of Black and Scholes. */
static double beyond(const void *state, double scale, double y)
{
    const double sigma = ((const law *)state)->sigma;
    const double z = tarry__ln(y / scale) / sigma;
    return scale * tarry__exp(sigma * sigma / 2) *
               tarry__random_normal_tail(z - sigma) -
           y * tarry__random_normal_tail(z);
}

static double mean(const void *state, size_t arm, double scale)
{
    (void)arm;
    return scale == 0 ? 0
                      : tarry__delay_sum_tail(1, tail, beyond, state, scale);
}

const tarry__delay_type tarry__delay_lognormal = {
    .entry = {"lognormal", "log-normal, rounded down", settings},
    .unbounded = true,
    .state_size = sizeof(law),
    .init = init,
    .per_arm = per_arm,
    .prepare = prepare,
    .tail = tail,
    .mean = mean,
};
