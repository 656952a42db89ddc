/* threshold.c - one law of delays for losses below a threshold, one for the
 * others: low-late, high-late, threshold.
 *
 * Both are constant or exponential (rounded down, as in exponential.c); losses
 * equal to the threshold count as above.  The law of the losses gives the
 * probability p of each side, exactly, and so mean and tail. */
#include "env/delay.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include "base/base.h"

static const tarry__spec_setting late_settings[] = {
    {"late", "100", "delay of the late losses"},
    {"early", "0", "delay of the others"},
    {"threshold", "0", "what separates low from high"},
    {"law", "constant", "constant, or exponential with these means"},
    TARRY__DELAY_COMMON_SETTINGS,
    {NULL, NULL, NULL},
};

static const tarry__spec_setting threshold_settings[] = {
    {"below", "100", "delay of losses below the threshold"},
    {"above", "0", "delay of losses from the threshold on"},
    {"threshold", "0", "what separates low from high"},
    {"law", "exponential", "exponential with these means, or constant"},
    TARRY__DELAY_COMMON_SETTINGS,
    {NULL, NULL, NULL},
};

typedef struct {
    double below, above, threshold;
    bool exponential;
    const tarry__loss *loss;
} law;

static tarry_status read(law *l, const tarry__spec *spec, const char *below,
                         const char *above, const tarry__delay_stage *stage,
                         tarry_error *error)
{
    const double most = TARRY__DELAY_LONGEST;
    const char *kind = tarry__spec_text(spec, "law");
    tarry_status status;
    l->loss = stage->loss;
    l->exponential = strcmp(kind, "exponential") == 0;
    if (!l->exponential && strcmp(kind, "constant") != 0)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s: law must be constant or exponential: '%s'",
                                spec->name, kind);
    if ((status = tarry__spec_real(spec, below, 0, most, &l->below, error)) ||
        (status = tarry__spec_real(spec, above, 0, most, &l->above, error)))
        return status;
    return tarry__spec_real(spec, "threshold", -1, 1, &l->threshold, error);
}

static tarry_status init_low_late(void *state, const tarry__spec *spec,
                                  const tarry__delay_stage *stage,
                                  tarry_error *error)
{
    return read(state, spec, "late", "early", stage, error);
}

static tarry_status init_high_late(void *state, const tarry__spec *spec,
                                   const tarry__delay_stage *stage,
                                   tarry_error *error)
{
    return read(state, spec, "early", "late", stage, error);
}

static tarry_status init_threshold(void *state, const tarry__spec *spec,
                                   const tarry__delay_stage *stage,
                                   tarry_error *error)
{
    return read(state, spec, "below", "above", stage, error);
}

static uint64_t finish(const void *state, const tarry__delay_play *play)
{
    const law *l = state;
    const double mean = play->loss < l->threshold ? l->below : l->above;
    return tarry__delay_whole_rounds(play->scale * mean *
                                     (l->exponential ? play->x : 1));
}

/* An exponential tail never ends, so it does not underflow to 0 either: the
 * quantile of probability 1 is never. */
static double side_tail(const law *l, double mean, double d)
{
    if (!l->exponential)
        return d <= tarry__delay_real_rounds(mean);
    return mean > 0 ? fmax(exp(-d / mean), DBL_MIN) : 0;
}

static double side_mean(const law *l, double mean)
{
    return l->exponential ? 1 / expm1(1 / mean)
                          : tarry__delay_real_rounds(mean);
}

static double share_below(const law *l, size_t arm)
{
    return l->loss->type->cdf(l->loss, arm, l->threshold, false);
}

static double tail(const void *state, size_t arm, double scale, double d)
{
    const law *l = state;
    const double p = share_below(l, arm);
    return p * side_tail(l, scale * l->below, d) +
           (1 - p) * side_tail(l, scale * l->above, d);
}

static double mean(const void *state, size_t arm, double scale)
{
    const law *l = state;
    const double p = share_below(l, arm);
    return p * side_mean(l, scale * l->below) +
           (1 - p) * side_mean(l, scale * l->above);
}

#define THRESHOLD_LAW(text, words, list, function)                             \
    {                                                                          \
        .entry = {text, words, list}, .by_loss = true,                         \
        .state_size = sizeof(law), .init = function,                           \
        .prepare = tarry__delay_prepare_log, .finish = finish, .tail = tail,   \
        .mean = mean,                                                          \
    }

const tarry__delay_type tarry__delay_low_late =
    THRESHOLD_LAW("low-late", "losses below a threshold come late",
                  late_settings, init_low_late);
const tarry__delay_type tarry__delay_high_late =
    THRESHOLD_LAW("high-late", "losses from a threshold on come late",
                  late_settings, init_high_late);
const tarry__delay_type tarry__delay_threshold =
    THRESHOLD_LAW("threshold", "one law below a threshold, one above",
                  threshold_settings, init_threshold);
