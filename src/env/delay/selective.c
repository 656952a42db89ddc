/* selective.c - exponential delays, and reports that are lost by what they say:
 * those of losses below a threshold with one probability, others with another.
 */
#include "env/delay.h"

#include <math.h>
#include "base/elementary.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("mean", "100", 0, TARRY__DELAY_LONGEST,
                     "mean in rounds before rounding down"),
    TARRY__SPEC_REAL("low", "0", 0, 1, "share of low losses never reported"),
    TARRY__SPEC_REAL("high", "0", 0, 1, "share of high losses never reported"),
    TARRY__SPEC_REAL("threshold", "0", -1, 1, "what separates low from high"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

typedef struct {
    double mean, low, high, threshold;
    const tarry__loss *loss;
} law;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__delay_stage *stage, tarry_error *error)
{
    law *l = state;
    tarry_status status;
    l->loss = stage->loss;
    if ((status = tarry__spec_real(spec, "mean", &l->mean, error)) ||
        (status = tarry__spec_real(spec, "low", &l->low, error)) ||
        (status = tarry__spec_real(spec, "high", &l->high, error)))
        return status;
    return tarry__spec_real(spec, "threshold", &l->threshold, error);
}

static double per_arm(const void *state, double factor)
{
    return factor * ((const law *)state)->mean;
}

static uint64_t finish(const void *state, const tarry__delay_play *play)
{
    const law *l = state;
    const double lost = play->loss < l->threshold ? l->low : l->high;
    if (tarry_random_uniform(&play->at) < lost)
        return TARRY__DELAY_NEVER;
    return tarry__delay_whole_rounds(play->scale * play->x);
}

static double lost_share(const law *l, size_t arm)
{
    const double below = l->loss->type->cdf(l->loss, arm, l->threshold, false);
    return below * l->low + (1 - below) * l->high;
}

static double tail(const void *state, size_t arm, double scale, double d)
{
    const double lost = lost_share(state, arm);
    return lost + (1 - lost) * (scale > 0 ? tarry__exp(-d / scale) : 0);
}

static double mean(const void *state, size_t arm, double scale)
{
    if (lost_share(state, arm) > 0)
        return INFINITY;
    return scale > 0 ? 1 / tarry__expm1(1 / scale) : 0;
}

const tarry__delay_type tarry__delay_selective = {
    .entry = {"selective", "exponential, and reports lost by what they say",
              settings},
    .by_loss = true,
    .unbounded = true,
    .state_size = sizeof(law),
    .init = init,
    .per_arm = per_arm,
    .prepare = tarry__delay_prepare_log,
    .finish = finish,
    .tail = tail,
    .mean = mean,
};
