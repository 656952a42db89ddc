/* weibull.c - Weibull delays, rounded down: P(X > x) = exp(-(x/scale)^shape).
 */
#include "env/delay.h"

#include <math.h>
#include "base/elementary.h"
#include "random/special.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("shape", "0.7", 0.05, 100,
                     "0.05 to 100; below 1 the tail is heavier than "
                     "exponential"),
    TARRY__SPEC_REAL("scale", "100", 0, TARRY__DELAY_LONGEST,
                     "scale in rounds"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

typedef struct {
    double shape, scale;
} law;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__delay_stage *stage, tarry_error *error)
{
    (void)stage;
    law *l = state;
    const tarry_status status =
        tarry__spec_real(spec, "shape", &l->shape, error);
    return status != TARRY_OK
               ? status
               : tarry__spec_real(spec, "scale", &l->scale, error);
}

static double per_arm(const void *state, double factor)
{
    return factor * ((const law *)state)->scale;
}

static void prepare(const void *state, double *u, size_t count)
{
    const double power = 1 / ((const law *)state)->shape;
    for (size_t i = 0; i < count; i++)
        u[i] = tarry__exp(power * tarry__ln(-tarry__ln(u[i])));
}

static double tail(const void *state, size_t arm, double scale, double d)
{
    (void)arm;
    return tarry__exp(-tarry__pow(d / scale, ((const law *)state)->shape));
}

/* (scale / k) Gamma(1/k, (y / scale)^k) with k the shape. */
static double beyond(const void *state, double scale, double y)
{
    const double k = ((const law *)state)->shape;
    return scale * tarry__tgamma(1 + 1 / k) *
           tarry__random_gamma_upper(1 / k, tarry__pow(y / scale, k));
}

static double mean(const void *state, size_t arm, double scale)
{
    (void)arm;
    return scale == 0 ? 0
                      : tarry__delay_sum_tail(1, tail, beyond, state, scale);
}

const tarry__delay_type tarry__delay_weibull = {
    .entry = {"weibull", "Weibull, rounded down", settings},
    .unbounded = true,
    .state_size = sizeof(law),
    .init = init,
    .per_arm = per_arm,
    .prepare = prepare,
    .tail = tail,
    .mean = mean,
};
