/* pareto.c - Pareto and Lomax delays, rounded down: power tails.
 *
 * Before rounding P(X > x) = (scale / x)^shape from x = scale on (Pareto), or
 * (1 + x / scale)^-shape from 0 on (Lomax).  The mean is infinite for shape
 * <= 1, the variance for shape <= 2. */
#include "env/delay.h"

#include <math.h>
#include "base/base.h"
#include "base/elementary.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("shape", "2.5", 0.1, 1000,
                     "exponent of the tail, 0.1 to 1000"),
    TARRY__SPEC_REAL("mean", "", 0, TARRY__DELAY_LONGEST,
                     "mean before rounding down, for shape > 1 (default 100)"),
    TARRY__SPEC_REAL("scale", "", 0, TARRY__DELAY_LONGEST,
                     "scale of the formula, instead of mean"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

typedef struct {
    double shape, scale;
} law;

/* Scale from `scale`, or from `mean` as mean / mean_of_unit. */
static tarry_status read_scale(law *l, const tarry__spec *spec,
                               double mean_of_unit, tarry_error *error)
{
    const bool has_mean = *tarry__spec_text(spec, "mean") != '\0';
    const bool has_scale = *tarry__spec_text(spec, "scale") != '\0';
    double mean = 100;
    tarry_status status = TARRY_OK;
    if (has_scale && has_mean)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s: mean or scale, not both", spec->name);
    if (has_scale)
        return tarry__spec_real(spec, "scale", &l->scale, error);
    if (l->shape <= 1)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s: with shape %g <= 1 the mean is infinite; "
                                "give scale",
                                spec->name, l->shape);
    if (has_mean)
        status = tarry__spec_real(spec, "mean", &mean, error);
    l->scale = mean / mean_of_unit;
    return status;
}

static tarry_status init_pareto(void *state, const tarry__spec *spec,
                                const tarry__delay_stage *stage,
                                tarry_error *error)
{
    (void)stage;
    law *l = state;
    const tarry_status status =
        tarry__spec_real(spec, "shape", &l->shape, error);
    return status != TARRY_OK
               ? status
               : read_scale(l, spec, l->shape / (l->shape - 1), error);
}

static tarry_status init_lomax(void *state, const tarry__spec *spec,
                               const tarry__delay_stage *stage,
                               tarry_error *error)
{
    (void)stage;
    law *l = state;
    const tarry_status status =
        tarry__spec_real(spec, "shape", &l->shape, error);
    return status != TARRY_OK ? status
                              : read_scale(l, spec, 1 / (l->shape - 1), error);
}

static double per_arm(const void *state, double factor)
{
    return factor * ((const law *)state)->scale;
}

/* ---- Pareto --------------------------------------------------------------*/

static void prepare_pareto(const void *state, double *u, size_t count)
{
    const double shape = ((const law *)state)->shape;
    for (size_t i = 0; i < count; i++)
        u[i] = tarry__exp(-tarry__ln(u[i]) / shape);
}

static double pareto_tail(const void *state, size_t arm, double scale, double d)
{
    (void)arm;
    return d <= scale ? 1 : tarry__pow(scale / d, ((const law *)state)->shape);
}

static double pareto_beyond(const void *state, double scale, double y)
{
    const double shape = ((const law *)state)->shape;
    return y / (shape - 1) * tarry__pow(scale / y, shape);
}

/* The first floor(scale) terms of the sum are 1. */
static double pareto_mean(const void *state, size_t arm, double scale)
{
    (void)arm;
    if (scale == 0)
        return 0;
    if (((const law *)state)->shape <= 1)
        return INFINITY;
    return floor(scale) + tarry__delay_sum_tail(floor(scale) + 1, pareto_tail,
                                                pareto_beyond, state, scale);
}

const tarry__delay_type tarry__delay_pareto = {
    .entry = {"pareto", "Pareto, rounded down: a power tail from `scale` on",
              settings},
    .unbounded = true,
    .state_size = sizeof(law),
    .init = init_pareto,
    .per_arm = per_arm,
    .prepare = prepare_pareto,
    .tail = pareto_tail,
    .mean = pareto_mean,
};

/* ---- Lomax ---------------------------------------------------------------*/

static void prepare_lomax(const void *state, double *u, size_t count)
{
    const double shape = ((const law *)state)->shape;
    for (size_t i = 0; i < count; i++)
        u[i] = tarry__expm1(-tarry__ln(u[i]) / shape);
}

static double lomax_tail(const void *state, size_t arm, double scale, double d)
{
    (void)arm;
    return tarry__exp(-((const law *)state)->shape * tarry__log1p(d / scale));
}

static double lomax_beyond(const void *state, double scale, double y)
{
    return (scale + y) / (((const law *)state)->shape - 1) *
           lomax_tail(state, 0, scale, y);
}

static double lomax_mean(const void *state, size_t arm, double scale)
{
    (void)arm;
    if (scale == 0)
        return 0;
    if (((const law *)state)->shape <= 1)
        return INFINITY;
    return tarry__delay_sum_tail(1, lomax_tail, lomax_beyond, state, scale);
}

const tarry__delay_type tarry__delay_lomax = {
    .entry = {"lomax", "Lomax, rounded down: a power tail from 0 on", settings},
    .unbounded = true,
    .state_size = sizeof(law),
    .init = init_lomax,
    .per_arm = per_arm,
    .prepare = prepare_lomax,
    .tail = lomax_tail,
    .mean = lomax_mean,
};
