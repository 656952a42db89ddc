/* ranked.c - the lowest, or the highest, losses of an arm are late, in shares
 * that are the same for every arm: lowest-late, highest-late.
 *
 * A loss has the rank P(l' < l) + x P(l' = l), x the uniform of the delay: the
 * ranks of an arm's losses are uniform in (0, 1).  Ranks below far_p come after
 * `far` rounds, those up to far_p + p after `late`, the others after `early`.
 * So which losses are missing depends on what they are, as much as it can, and
 * yet the law of the delay is known exactly.  For highest-late ranks count from
 * the other end. */
#include "env/delay.h"

#include "base/base.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("p", "0.1", 0, 1, "share of losses that are late"),
    TARRY__SPEC_REAL("late", "1000", 0, TARRY__DELAY_LONGEST,
                     "their delay, rounds"),
    TARRY__SPEC_REAL("far_p", "0", 0, 1,
                     "share, furthest out, that comes far later"),
    TARRY__SPEC_REAL("far", "1e13", 0, TARRY__DELAY_LONGEST,
                     "its delay; more than a game lasts means never"),
    TARRY__SPEC_REAL("early", "0", 0, TARRY__DELAY_LONGEST,
                     "delay of the others"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

typedef struct {
    double p, late, far_p, far, early;
    bool highest;
    const tarry__loss *loss;
} law;

static tarry_status read(law *l, const tarry__spec *spec,
                         const tarry__delay_stage *stage, bool highest,
                         tarry_error *error)
{
    tarry_status status;
    l->loss = stage->loss;
    l->highest = highest;
    if ((status = tarry__spec_real(spec, "p", &l->p, error)) ||
        (status = tarry__spec_real(spec, "late", &l->late, error)) ||
        (status = tarry__spec_real(spec, "far_p", &l->far_p, error)) ||
        (status = tarry__spec_real(spec, "far", &l->far, error)) ||
        (status = tarry__spec_real(spec, "early", &l->early, error)))
        return status;
    return l->p + l->far_p <= 1
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "%s: p + far_p is above 1: %g", spec->name,
                                  l->p + l->far_p);
}

static tarry_status init_lowest(void *state, const tarry__spec *spec,
                                const tarry__delay_stage *stage,
                                tarry_error *error)
{
    return read(state, spec, stage, false, error);
}

static tarry_status init_highest(void *state, const tarry__spec *spec,
                                 const tarry__delay_stage *stage,
                                 tarry_error *error)
{
    return read(state, spec, stage, true, error);
}

static uint64_t finish(const void *state, const tarry__delay_play *play)
{
    const law *l = state;
    const tarry__loss *loss = l->loss;
    const double below = loss->type->cdf(loss, play->arm, play->loss, false);
    const double upto = loss->type->cdf(loss, play->arm, play->loss, true);
    double rank = below + play->x * (upto - below);
    rank = l->highest ? 1 - rank : rank;
    const double rounds = rank < l->far_p          ? l->far
                          : rank < l->far_p + l->p ? l->late
                                                   : l->early;
    return tarry__delay_whole_rounds(play->scale * rounds);
}

static double side(double share, double rounds, double d)
{
    return d <= tarry__delay_real_rounds(rounds) ? share : 0;
}

static double tail(const void *state, size_t arm, double scale, double d)
{
    const law *l = state;
    (void)arm;
    return side(l->far_p, scale * l->far, d) + side(l->p, scale * l->late, d) +
           side(1 - l->p - l->far_p, scale * l->early, d);
}

static double mean(const void *state, size_t arm, double scale)
{
    const law *l = state;
    (void)arm;
    return tarry__delay_part(l->far_p,
                             tarry__delay_real_rounds(scale * l->far)) +
           tarry__delay_part(l->p, tarry__delay_real_rounds(scale * l->late)) +
           tarry__delay_part(1 - l->p - l->far_p,
                             tarry__delay_real_rounds(scale * l->early));
}

#define RANKED(text, words, function)                                          \
    {                                                                          \
        .entry = {text, words, settings}, .by_loss = true,                     \
        .state_size = sizeof(law), .init = function, .finish = finish,         \
        .tail = tail, .mean = mean                                             \
    }

const tarry__delay_type tarry__delay_lowest_late =
    RANKED("lowest-late", "the lowest losses of each arm are late, by shares",
           init_lowest);
const tarry__delay_type tarry__delay_highest_late =
    RANKED("highest-late", "the highest losses of each arm are late, by shares",
           init_highest);
