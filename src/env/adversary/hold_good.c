/* hold_good.c - sees losses and knows the best arm a*: holds whatever speaks
 * for it.
 *
 * Beyond the paper: delays that depend on the loss and are set by an adversary,
 * its discussion's open question.  Of an arm b with <a*, b> > 0 it holds losses
 * below 0, of others those from 0 on, so that by what has arrived a* looks as
 * bad as can be.  A play is held for `longest` rounds or, with longest=0, until
 * the budget is full, when the oldest goes. */
#include "env/adversary.h"

#include "base/base.h"
#include "env/delay.h"

static const tarry_setting settings[] = {
    TARRY__ADVERSARY_BUDGET_SETTING,
    TARRY__SPEC_COUNT("longest", "0", 0, TARRY__DELAY_LONGEST,
                      "most rounds that a play is held; 0: any number"),
    TARRY__SPEC_END,
};

typedef struct {
    uint64_t sigma, longest;
    bool *like_best; /* per arm: <a*, b> > 0 */
} holder;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__instance *in, uint64_t *sigma,
                         tarry_error *error)
{
    holder *h = state;
    const double *best = in->arms + in->best * in->dim;
    h->sigma = *sigma;
    h->like_best = tarry__base_alloc(in->n_arms, sizeof *h->like_best);
    if (h->like_best == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    for (size_t k = 0; k < in->n_arms; k++) {
        double product = 0;
        for (size_t i = 0; i < in->dim; i++)
            product += best[i] * in->arms[k * in->dim + i];
        h->like_best[k] = product > 0;
    }
    return tarry__spec_count(spec, "longest", &h->longest, error);
}

static void clear(void *state)
{
    tarry__base_free(((holder *)state)->like_best);
}

static uint64_t release(void *state, const tarry__adversary_view *view)
{
    return view->outstanding == ((const holder *)state)->sigma;
}

static uint64_t hold(void *state, const tarry__adversary_view *view, size_t arm)
{
    const holder *h = state;
    if ((view->loss < 0) != h->like_best[arm])
        return view->round;
    return h->longest > 0 ? view->round + h->longest : TARRY__DELAY_NEVER;
}

static uint64_t longest(const void *state)
{
    const uint64_t rounds = ((const holder *)state)->longest;
    return rounds > 0 ? rounds : UINT64_MAX;
}

const tarry__adversary_type tarry__adversary_hold_good = {
    .entry = {"hold-good",
              "sees losses: holds those that speak for the best arm", settings},
    .by_arm = true,
    .by_loss = true,
    .state_size = sizeof(holder),
    .init = init,
    .clear = clear,
    .release = release,
    .hold = hold,
    .longest = longest,
};
