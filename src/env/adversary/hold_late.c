/* hold_late.c - lets everything go until the policy is about to have what it
 * wants; then holds all plays, whichever arm they are of, until the budget is
 * full, lets them go at once, and starts over.
 *
 * The delay of a round is the same for all arms, and set by what has been
 * delivered before it: adaptive, and equal for all arms.  "About to": the
 * planned losses that are still to come are no more than sigma. */
#include "env/adversary.h"

#include "base/base.h"
#include "env/delay.h"

static const tarry_setting settings[] = {
    TARRY__ADVERSARY_BUDGET_SETTING,
    TARRY__SPEC_END,
};

typedef struct {
    uint64_t sigma, phase, wanted; /* losses of the plan still to come */
    bool started;
    uint64_t *needed; /* of them, per arm */
    size_t n_arms;
} holder;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__instance *instance, uint64_t *sigma,
                         tarry_error *error)
{
    holder *h = state;
    (void)spec;
    h->sigma = *sigma;
    h->n_arms = instance->n_arms;
    h->needed = tarry__base_zalloc(h->n_arms, sizeof *h->needed);
    return h->needed != NULL
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

static void clear(void *state)
{
    tarry__base_free(((holder *)state)->needed);
}

static void begin_phase(holder *h, const tarry__adversary_view *view)
{
    h->started = true;
    h->phase = view->phase;
    h->wanted = 0;
    for (size_t k = 0; k < h->n_arms; k++)
        h->needed[k] = 0;
    for (size_t i = 0; i < view->n_plan; i++) {
        h->needed[view->plan_arm[i]] = view->plan_target[i];
        h->wanted += view->plan_target[i];
    }
}

static uint64_t release(void *state, const tarry__adversary_view *view)
{
    holder *h = state;
    if (!h->started || h->phase != view->phase) {
        begin_phase(h, view);
        return view->outstanding;
    }
    return view->outstanding == h->sigma ? h->sigma : 0;
}

static uint64_t hold(void *state, const tarry__adversary_view *view, size_t arm)
{
    holder *h = state;
    const bool holds = h->wanted <= h->sigma && view->n_plan > 0;
    const bool counts = h->needed[arm] > 0;
    h->needed[arm] -= counts;
    h->wanted -= counts;
    return holds ? TARRY__DELAY_NEVER : view->round;
}

const tarry__adversary_type tarry__adversary_hold_late = {
    .entry = {"hold-late",
              "lets go until a phase is about to end, then holds\n"
              "everything and lets go in bursts",
              settings},
    .state_size = sizeof(holder),
    .init = init,
    .clear = clear,
    .release = release,
    .hold = hold,
};
