/* script.c - delays from a file: number t is the delay of round t.
 *
 * After the end the script starts over (repeat=1), or delays are 0.  No more
 * plays can be outstanding than the longest delay of the script, so that is
 * the budget where a larger one is allowed; where sigma is smaller, plays over
 * the budget come at once. */
#include "env/adversary.h"

#include "base/base.h"
#include "env/column.h"
#include "env/delay.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_TEXT("file", NULL, "file of delays in rounds, one per round"),
    TARRY__SPEC_COUNT("repeat", "1", 0, 1,
                      "1: starts over at the end; 0: no delays after it"),
    TARRY__SPEC_COUNT("sigma", "1e8", 0, TARRY__ADVERSARY_MOST_HELD,
                      "budget: most plays outstanding at any time"),
    TARRY__SPEC_END,
};

typedef struct {
    double *delay;
    size_t count;
    uint64_t repeat;
} script;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__instance *instance, uint64_t *sigma,
                         tarry_error *error)
{
    (void)instance;
    script *s = state;
    tarry_status status;
    if ((status = tarry__spec_count(spec, "repeat", &s->repeat, error)) ||
        (status = tarry__column_read_delays(tarry__spec_text(spec, "file"),
                                            &s->delay, &s->count, error)))
        return status;
    double longest = 0;
    for (size_t i = 0; i < s->count; i++)
        longest = s->delay[i] > longest ? s->delay[i] : longest;
    if (longest < (double)*sigma)
        *sigma = (uint64_t)longest;
    return TARRY_OK;
}

static void clear(void *state)
{
    tarry__base_free(((script *)state)->delay);
}

static uint64_t release(void *state, const tarry__adversary_view *view)
{
    (void)state;
    (void)view;
    return 0; /* what is due goes by itself */
}

static uint64_t hold(void *state, const tarry__adversary_view *view, size_t arm)
{
    (void)arm;
    const script *s = state;
    const uint64_t i = view->round - 1;
    if (i >= s->count && !s->repeat)
        return view->round;
    return view->round + (uint64_t)s->delay[i % s->count];
}

const tarry__adversary_type tarry__adversary_script = {
    .entry = {"script", "delays from a file, round by round", settings},
    .state_size = sizeof(script),
    .init = init,
    .clear = clear,
    .release = release,
    .hold = hold,
};
