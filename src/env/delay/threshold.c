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
#include "base/elementary.h"

static const tarry_setting late_settings[] = {
    TARRY__SPEC_REAL("late", "100", 0, TARRY__DELAY_LONGEST,
                     "delay of the late losses"),
    TARRY__SPEC_REAL("early", "0", 0, TARRY__DELAY_LONGEST,
                     "delay of the others"),
    TARRY__SPEC_REAL("threshold", "0", -1, 1, "what separates low from high"),
    TARRY__SPEC_CHOICE("law", "constant", "constant|exponential",
                       "constant, or exponential with these means"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

static const tarry_setting threshold_settings[] = {
    TARRY__SPEC_REAL("below", "100", 0, TARRY__DELAY_LONGEST,
                     "delay of losses below the threshold"),
    TARRY__SPEC_REAL("above", "0", 0, TARRY__DELAY_LONGEST,
                     "delay of losses from the threshold on"),
    TARRY__SPEC_REAL("threshold", "0", -1, 1, "what separates low from high"),
    TARRY__SPEC_CHOICE("law", "exponential", "constant|exponential",
                       "exponential with these means, or constant"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
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
    unsigned kind; /* constant or exponential */
    tarry_status status;
    l->loss = stage->loss;
    if ((status = tarry__spec_choice(spec, "law", &kind, error)) ||
        (status = tarry__spec_real(spec, below, &l->below, error)) ||
        (status = tarry__spec_real(spec, above, &l->above, error)))
        return status;
    l->exponential = kind == 1;
    return tarry__spec_real(spec, "threshold", &l->threshold, error);
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
    return mean > 0 ? fmax(tarry__exp(-d / mean), DBL_MIN) : 0;
}

static double side_mean(const law *l, double mean)
{
    return l->exponential ? 1 / tarry__expm1(1 / mean)
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
    return tarry__delay_part(p, side_mean(l, scale * l->below)) +
           tarry__delay_part(1 - p, side_mean(l, scale * l->above));
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
