/* outage.c - exponential delays, outcomes that are seen where leases end, and
 * times without reports.
 *
 * Decisions are made `lease` at a time: an outcome is seen with the last round
 * of the lease in which it comes.  In rounds from + 1 to from + length (and
 * again `every` so many rounds, unless 0) no report is taken: reports=lost,
 * reports=held until the end.  The known law of delays is that without. */
#include "env/delay.h"

#include <math.h>
#include "base/elementary.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("mean", "100", 0, TARRY__DELAY_LONGEST,
                     "mean in rounds before rounding down"),
    TARRY__SPEC_COUNT("lease", "1", 1, 1000000, "decisions made at a time"),
    TARRY__SPEC_COUNT("from", "3000", 0, 1ull << 40,
                      "rounds before the reports stop"),
    TARRY__SPEC_COUNT("length", "0", 0, 1ull << 40, "rounds without reports"),
    TARRY__SPEC_COUNT("every", "0", 0, 1ull << 40,
                      "rounds from one stop to the next; 0: there is one"),
    TARRY__SPEC_CHOICE("reports", "lost", "lost|held",
                       "what comes meanwhile is lost, or held until the end"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

typedef struct {
    double mean;
    uint64_t lease, from, length, every;
    unsigned held;
} law;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__delay_stage *stage, tarry_error *error)
{
    law *l = state;
    tarry_status status;
    (void)stage;
    if ((status = tarry__spec_real(spec, "mean", &l->mean, error)) ||
        (status = tarry__spec_count(spec, "lease", &l->lease, error)) ||
        (status = tarry__spec_count(spec, "from", &l->from, error)) ||
        (status = tarry__spec_count(spec, "length", &l->length, error)) ||
        (status = tarry__spec_count(spec, "every", &l->every, error)))
        return status;
    return tarry__spec_choice(spec, "reports", &l->held, error);
}

static double per_arm(const void *state, double factor)
{
    return factor * ((const law *)state)->mean;
}

/* How many more rounds without reports follow this one, itself included. */
static uint64_t silent_for(const law *l, uint64_t round)
{
    if (round <= l->from)
        return 0;
    const uint64_t since =
        l->every > 0 ? (round - l->from - 1) % l->every : round - l->from - 1;
    return since < l->length ? l->length - since : 0;
}

static uint64_t finish(const void *state, const tarry__delay_play *play)
{
    const law *l = state;
    const uint64_t delay = tarry__delay_whole_rounds(play->scale * play->x);
    if (delay == TARRY__DELAY_NEVER)
        return delay;
    const uint64_t round = play->at.round;
    uint64_t seen = (round + delay + l->lease - 1) / l->lease * l->lease;
    const uint64_t silent = silent_for(l, seen);
    if (silent > 0 && !l->held)
        return TARRY__DELAY_NEVER;
    seen = (seen + silent + l->lease - 1) / l->lease * l->lease;
    return seen - round;
}

static double tail(const void *state, size_t arm, double scale, double d)
{
    (void)state, (void)arm;
    return scale > 0 ? tarry__exp(-d / scale) : 0;
}

static double mean(const void *state, size_t arm, double scale)
{
    (void)state, (void)arm;
    return scale > 0 ? 1 / tarry__expm1(1 / scale) : 0;
}

const tarry__delay_type tarry__delay_outage = {
    .entry = {"outage", "exponential, with leases and times without reports",
              settings},
    .unbounded = true,
    .state_size = sizeof(law),
    .init = init,
    .per_arm = per_arm,
    .prepare = tarry__delay_prepare_log,
    .finish = finish,
    .tail = tail,
    .mean = mean,
};
