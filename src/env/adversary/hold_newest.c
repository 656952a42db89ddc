/* hold_newest.c - keeps the newest sigma plays outstanding: each is let go in
 * the round in which the sigma-th newer play is made, a constant delay. */
#include "env/adversary.h"

#include "env/delay.h"

static const tarry_setting settings[] = {
    TARRY__ADVERSARY_BUDGET_SETTING,
    TARRY__SPEC_END,
};

typedef struct {
    uint64_t sigma;
} holder;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__instance *instance, uint64_t *sigma,
                         tarry_error *error)
{
    (void)instance;
    (void)spec;
    (void)error;
    ((holder *)state)->sigma = *sigma;
    return TARRY_OK;
}

static uint64_t release(void *state, const tarry__adversary_view *view)
{
    return view->outstanding == ((const holder *)state)->sigma;
}

static uint64_t hold(void *state, const tarry__adversary_view *view, size_t arm)
{
    (void)state;
    (void)view;
    (void)arm;
    return TARRY__DELAY_NEVER;
}

const tarry__adversary_type tarry__adversary_hold_newest = {
    .entry = {"hold-newest", "keeps the newest sigma plays outstanding",
              settings},
    .state_size = sizeof(holder),
    .init = init,
    .release = release,
    .hold = hold,
};
