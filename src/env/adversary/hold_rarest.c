/* hold_rarest.c - holds the arm with the smallest design weight of the phase,
 * and lets everything go when the next phase begins.
 *
 * The arm whose samples take longest to replace: under Algorithm 1 each costs
 * 1 / weight rounds.  Of several smallest weights the first counts.  A policy
 * without a plan loses nothing to this adversary. */
#include "env/adversary.h"

#include "env/delay.h"

static const tarry_setting settings[] = {
    TARRY__ADVERSARY_BUDGET_SETTING,
    TARRY__SPEC_END,
};

typedef struct {
    uint64_t phase;
    bool started;
    size_t rarest; /* SIZE_MAX: none */
} holder;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__instance *instance, uint64_t *sigma,
                         tarry_error *error)
{
    (void)instance;
    (void)spec;
    (void)sigma;
    (void)error;
    ((holder *)state)->rarest = SIZE_MAX;
    return TARRY_OK;
}

static size_t rarest_of(const tarry__adversary_view *view)
{
    size_t rarest = SIZE_MAX;
    for (size_t i = 0; i < view->n_plan; i++)
        if (view->plan_weight[i] > 0 &&
            (rarest == SIZE_MAX ||
             view->plan_weight[i] < view->plan_weight[rarest]))
            rarest = i;
    return rarest == SIZE_MAX ? SIZE_MAX : view->plan_arm[rarest];
}

static uint64_t release(void *state, const tarry__adversary_view *view)
{
    holder *h = state;
    if (h->started && h->phase == view->phase)
        return 0;
    h->started = true;
    h->phase = view->phase;
    h->rarest = rarest_of(view);
    return view->outstanding;
}

static uint64_t hold(void *state, const tarry__adversary_view *view, size_t arm)
{
    return arm == ((const holder *)state)->rarest ? TARRY__DELAY_NEVER
                                                  : view->round;
}

const tarry__adversary_type tarry__adversary_hold_rarest = {
    .entry = {"hold-rarest",
              "holds the arm with the smallest design weight\n"
              "until the phase ends",
              settings},
    .by_arm = true,
    .state_size = sizeof(holder),
    .init = init,
    .release = release,
    .hold = hold,
};
