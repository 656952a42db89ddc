/* hold_in_turn.c - keeps every planned arm short of its target, and gives arms
 * up one after the other when the budget is full: hold-in-turn, hold-staggered.
 *
 * Algorithm 2 replays in sweeps what it is short of.  An arm that is kept short
 * of u losses costs u replays in each sweep, all of which are held too: after i
 * sweeps i u of its plays are.  When sigma are held altogether one arm is given
 * up, with everything that is held of it; what it gets beyond its target is
 * wasted, and its share goes to the others.  So while arms are short of U
 * together in sweep i, i U <= sigma: Lemma "U bound" with equality.
 *
 * hold-in-turn: u = 1 for each of psi arms.  The first sigma/psi sweeps take
 * psi plays, sweep i after them sigma/i: sigma (1 + log psi) in all.
 *
 * hold-staggered: the arm that is given up k-th has u_k such that what is left
 * is sigma r^k, r = sigma^(-1/(psi - 1)), the last arm having u = 1.  If the
 * k-th is given up after sweep i_k the total is sigma sum_k (1 - i_{k-1}/i_k),
 * which for i_1 = 1, i_psi = sigma is largest when all these ratios are alike:
 * sigma (1 + (psi - 1)(1 - r)), and for many arms sigma (1 + log sigma), all
 * that the lemma allows.  No adversary that keeps an arm evenly short until it
 * gives it up does better.
 *
 * When a phase ends everything is let go.  Policies without a plan lose
 * nothing. */
#include "env/adversary.h"

#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "base/elementary.h"
#include "env/delay.h"

static const tarry_setting settings[] = {
    TARRY__ADVERSARY_BUDGET_SETTING,
    TARRY__SPEC_END,
};

typedef struct {
    uint64_t target, keep, delivered;
    bool planned; /* and not given up */
} book;

/* An arm of the plan, those to be given up first in front. */
typedef struct {
    uint64_t target;
    size_t arm;
} planned_arm;

typedef struct {
    uint64_t sigma, phase;
    bool staggered, started;
    book *books; /* per arm */
    planned_arm *order;
    size_t n_order, next;
} holder;

static tarry_status open_holder(holder *h, const tarry__instance *instance,
                                uint64_t sigma, bool staggered,
                                tarry_error *error)
{
    h->sigma = sigma;
    h->staggered = staggered;
    h->books = tarry__base_zalloc(instance->n_arms, sizeof *h->books);
    h->order = tarry__base_alloc(instance->n_arms, sizeof *h->order);
    return h->books != NULL && h->order != NULL
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

static tarry_status init_in_turn(void *state, const tarry__spec *spec,
                                 const tarry__instance *instance,
                                 uint64_t *sigma, tarry_error *error)
{
    (void)spec;
    return open_holder(state, instance, *sigma, false, error);
}

static tarry_status init_staggered(void *state, const tarry__spec *spec,
                                   const tarry__instance *instance,
                                   uint64_t *sigma, tarry_error *error)
{
    (void)spec;
    return open_holder(state, instance, *sigma, true, error);
}

static void clear(void *state)
{
    tarry__base_free(((holder *)state)->books);
    tarry__base_free(((holder *)state)->order);
}

static int larger_first(const void *a, const void *b)
{
    const planned_arm *x = a, *y = b;
    if (x->target != y->target)
        return x->target < y->target ? 1 : -1;
    return (x->arm > y->arm) - (x->arm < y->arm);
}

/* What the k-th arm is kept short of, and what is left after it. */
static uint64_t keep_of(const holder *h, size_t k)
{
    const double sigma = (double)h->sigma, psi = (double)h->n_order;
    if (!h->staggered || h->n_order < 2 || h->sigma == 0)
        return h->sigma > k;
    const double r = tarry__pow(sigma, -1 / (psi - 1));
    const double before = sigma * tarry__pow(r, (double)k);
    return (uint64_t)fmax(1, floor(k + 1 < h->n_order ? before * (1 - r) : 1));
}

static void begin_phase(holder *h, const tarry__adversary_view *view)
{
    uint64_t left = h->sigma;
    for (size_t i = 0; i < h->n_order; i++)
        h->books[h->order[i].arm].planned = false;
    h->n_order = h->next = 0;
    for (size_t i = 0; i < view->n_plan; i++)
        if (view->plan_target[i] > 0)
            h->order[h->n_order++] =
                (planned_arm){view->plan_target[i], view->plan_arm[i]};
    if (h->n_order > 0)
        qsort(h->order, h->n_order, sizeof *h->order, larger_first);
    for (size_t k = 0; k < h->n_order; k++) {
        const planned_arm *p = &h->order[k];
        uint64_t keep = keep_of(h, k);
        keep = keep < p->target ? keep : p->target;
        keep = keep < left ? keep : left;
        left -= keep;
        h->books[p->arm] = (book){p->target, keep, 0, keep > 0};
    }
}

static uint64_t release(void *state, const tarry__adversary_view *view)
{
    holder *h = state;
    if (h->started && h->phase == view->phase)
        return 0;
    h->started = true;
    h->phase = view->phase;
    begin_phase(h, view);
    return view->outstanding;
}

static bool is_wanted(const book *b)
{
    return b->planned && b->delivered + b->keep >= b->target;
}

static size_t give_up(void *state, const tarry__adversary_view *view,
                      size_t arm)
{
    holder *h = state;
    if (view->outstanding < h->sigma || !is_wanted(&h->books[arm]))
        return SIZE_MAX;
    while (h->next < h->n_order) {
        const size_t lost = h->order[h->next++].arm;
        if (h->books[lost].planned) {
            h->books[lost].planned = false;
            return lost;
        }
    }
    return SIZE_MAX;
}

static uint64_t hold(void *state, const tarry__adversary_view *view, size_t arm)
{
    const holder *h = state;
    book *b = &h->books[arm];
    if (is_wanted(b) && view->outstanding < h->sigma)
        return TARRY__DELAY_NEVER;
    b->delivered++;
    return view->round;
}

#define HOLDER(text, words, function)                                          \
    {                                                                          \
        .entry = {text, words, settings}, .by_arm = true,                      \
        .state_size = sizeof(holder), .init = function, .clear = clear,        \
        .release = release, .give_up = give_up, .hold = hold                   \
    }

const tarry__adversary_type tarry__adversary_hold_in_turn =
    HOLDER("hold-in-turn",
           "keeps every planned arm short of one loss and holds\n"
           "its replays; gives up an arm when the budget is full",
           init_in_turn);

const tarry__adversary_type tarry__adversary_hold_staggered =
    HOLDER("hold-staggered",
           "the same with more losses of the arms given up first:\n"
           "the worst there is for Algorithm 2",
           init_staggered);
