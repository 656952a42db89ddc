/* exponential.c - exponential and geometric delays.
 *
 * An exponential of mean a rounded down is geometric: P(D >= d) = exp(-d/a),
 * with mean 1 / (exp(1/a) - 1), about a - 1/2.  The geometric of mean m is thus
 * the exponential of mean a = 1 / log(1 + 1/m). */
#include "base/elementary.h"
#include "env/delay.h"

#include <math.h>

static const tarry_setting exponential_settings[] = {
    TARRY__SPEC_REAL("mean", "100", 0, TARRY__DELAY_LONGEST,
                     "mean in rounds before rounding down"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

static const tarry_setting geometric_settings[] = {
    TARRY__SPEC_REAL("mean", "100", 0, TARRY__DELAY_LONGEST, "mean in rounds"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

typedef struct {
    double mean;
} law;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__delay_stage *stage, tarry_error *error)
{
    (void)stage;
    return tarry__spec_real(spec, "mean", &((law *)state)->mean, error);
}

static double exponential_scale(const void *state, double factor)
{
    return factor * ((const law *)state)->mean;
}

static double geometric_scale(const void *state, double factor)
{
    return 1 / tarry__log1p(1 / (factor * ((const law *)state)->mean));
}

static double tail(const void *state, size_t arm, double scale, double d)
{
    (void)state;
    (void)arm;
    return tarry__exp(-d / scale);
}

static double mean(const void *state, size_t arm, double scale)
{
    (void)state;
    (void)arm;
    return 1 / tarry__expm1(1 / scale);
}

const tarry__delay_type tarry__delay_exponential = {
    .entry = {"exponential", "exponential, rounded down", exponential_settings},
    .unbounded = true,
    .state_size = sizeof(law),
    .init = init,
    .per_arm = exponential_scale,
    .prepare = tarry__delay_prepare_log,
    .tail = tail,
    .mean = mean,
};

const tarry__delay_type tarry__delay_geometric = {
    .entry = {"geometric", "0, 1, 2, ... with a fixed chance to end",
              geometric_settings},
    .unbounded = true,
    .state_size = sizeof(law),
    .init = init,
    .per_arm = geometric_scale,
    .prepare = tarry__delay_prepare_log,
    .tail = tail,
    .mean = mean,
};
