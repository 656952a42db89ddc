/* hold_all.c - holds every play and lets them go in bursts: when the budget is
 * full, and every `period` rounds. */
#include "env/adversary.h"

#include "env/delay.h"

static const tarry_setting settings[] = {
    TARRY__ADVERSARY_BUDGET_SETTING,
    TARRY__SPEC_COUNT("period", "0", 0, TARRY__DELAY_LONGEST,
                      "rounds between bursts; 0: only when the budget is full"),
    TARRY__SPEC_COUNT("burst", "0", 0, TARRY__DELAY_LONGEST,
                      "plays per burst, oldest first; 0: all"),
    TARRY__SPEC_END,
};

typedef struct {
    uint64_t sigma, period, burst;
} holder;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__instance *instance, uint64_t *sigma,
                         tarry_error *error)
{
    (void)instance;
    holder *h = state;
    h->sigma = *sigma;
    const tarry_status status =
        tarry__spec_count(spec, "period", &h->period, error);
    if (status != TARRY_OK)
        return status;
    return tarry__spec_count(spec, "burst", &h->burst, error);
}

static uint64_t release(void *state, const tarry__adversary_view *view)
{
    const holder *h = state;
    const bool full = view->outstanding == h->sigma;
    const bool on_time = h->period > 0 && view->round % h->period == 0;
    if (!full && !on_time)
        return 0;
    return h->burst > 0 ? h->burst : view->outstanding;
}

static uint64_t hold(void *state, const tarry__adversary_view *view, size_t arm)
{
    (void)state;
    (void)view;
    (void)arm;
    return TARRY__DELAY_NEVER;
}

const tarry__adversary_type tarry__adversary_hold_all = {
    .entry = {"hold-all", "holds everything and lets go in bursts", settings},
    .state_size = sizeof(holder),
    .init = init,
    .release = release,
    .hold = hold,
};
