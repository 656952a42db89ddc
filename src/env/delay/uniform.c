/* uniform.c - whole delays from low to high with equal chances.
 *
 * A factor scales both ends and rounds them down. */
#include "env/delay.h"

#include "base/base.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_COUNT("low", "0", 0, TARRY__DELAY_LONGEST,
                      "shortest delay in rounds"),
    TARRY__SPEC_COUNT("high", "200", 0, TARRY__DELAY_LONGEST,
                      "longest delay in rounds, itself included"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

typedef struct {
    uint64_t low, high;
} law;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__delay_stage *stage, tarry_error *error)
{
    (void)stage;
    law *l = state;
    tarry_status status;
    if ((status = tarry__spec_count(spec, "low", &l->low, error)) ||
        (status = tarry__spec_count(spec, "high", &l->high, error)))
        return status;
    if (l->low > l->high)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "uniform: low=%ju is above high=%ju",
                                (uintmax_t)l->low, (uintmax_t)l->high);
    return TARRY_OK;
}

/* Rounded down as tarry__delay_whole_rounds does, however far: a part of what
 * lies between two ends may come. */
static double end(double scale, uint64_t rounds)
{
    return floor(scale * (double)rounds * (1 + 0x1p-50));
}

static uint64_t finish(const void *state, const tarry__delay_play *play)
{
    const law *l = state;
    const double low = end(play->scale, l->low);
    const double high = end(play->scale, l->high);
    return tarry__delay_whole_rounds(low + floor(play->x * (high - low + 1)));
}

static double tail(const void *state, size_t arm, double scale, double d)
{
    (void)arm;
    const law *l = state;
    const double low = end(scale, l->low), high = end(scale, l->high);
    if (d <= low)
        return 1;
    return d > high ? 0 : (high - d + 1) / (high - low + 1);
}

static double mean(const void *state, size_t arm, double scale)
{
    (void)arm;
    const law *l = state;
    const double high = end(scale, l->high);
    return high <= TARRY__DELAY_LONGEST ? (end(scale, l->low) + high) / 2
                                        : INFINITY;
}

const tarry__delay_type tarry__delay_uniform = {
    .entry = {"uniform", "whole numbers from low to high", settings},
    .state_size = sizeof(law),
    .init = init,
    .finish = finish,
    .tail = tail,
    .mean = mean,
};
