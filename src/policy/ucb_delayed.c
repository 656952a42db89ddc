/* ucb_delayed.c - UCB1 on what has arrived.
 *
 * Source: Joulani, Gyorgy, Szepesvari, "Online learning under delayed
 * feedback", 2013 (delayed UCB1).
 *
 * Idea: run UCB1 as if the losses that have arrived were all there are: in
 * round t play the arm of least
 *     mean(a) - sqrt(2 log t / n(a)),  n(a) losses of a arrived,
 * where an arm of which nothing has arrived comes first.  Regret grows by
 * about K E[d]: arms in which little is known are played again and again
 * before their losses come.
 *
 * Uncertain: written from the idea, not from the text.  Several arms without
 * losses are played in turn, the least played first; UCB1 leaves that open, and
 * without delays it never matters.  The width is UCB1's for [0, 1]; on [-1, 1]
 * it is that of a sub-Gaussian bound of probability 1/t.
 *
 * A choice reads two numbers per arm, in order. */
#include "counts.h"

#include <math.h>
#include "base/base.h"

static const tarry__setting settings[] = {
    {"scale", "1", "factor of the width sqrt(2 log t / n)"},
    {NULL, NULL, NULL},
};

typedef struct {
    tarry__counts counts;
    size_t n_silent;       /* arms of which nothing has arrived */
    size_t next;           /* where to look for the next of them */
    double *mean, *spread; /* per arm: mean loss, scale * sqrt(2 / n) */
} ucb;

static void update(ucb *u, size_t arm)
{
    const tarry__count *count = &u->counts.count[arm];
    const double n = (double)count->arrived;
    u->mean[arm] = count->sum / n;
    u->spread[arm] = u->counts.scale * sqrt(2 / n);
}

static tarry_status take_memory(ucb *u, size_t n_arms)
{
    u->mean = tarry__zalloc(n_arms, sizeof *u->mean);
    u->spread = tarry__zalloc(n_arms, sizeof *u->spread);
    return u->mean && u->spread ? TARRY_OK : TARRY_NO_MEMORY;
}

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__problem *problem, const tarry__spec *spec,
                         tarry_error *error)
{
    ucb *u = state;
    const tarry_status status =
        tarry__counts_open(&u->counts, type, problem, spec, error);
    u->n_silent = problem->n_arms;
    return status == TARRY_OK ? take_memory(u, problem->n_arms) : status;
}

/* The next arm in turn of which nothing has arrived; there is one.  Arms are
 * played only in this way until something arrives, so it is one of the least
 * played. */
static size_t next_silent(ucb *u)
{
    const size_t K = u->counts.problem->n_arms;
    while (u->counts.count[u->next].arrived > 0)
        u->next = u->next + 1 < K ? u->next + 1 : 0;
    const size_t arm = u->next;
    u->next = arm + 1 < K ? arm + 1 : 0;
    return arm;
}

static size_t least_index(const ucb *u, uint64_t round)
{
    const size_t K = u->counts.problem->n_arms;
    const double root = sqrt(log((double)round));
    size_t best = 0;
    double least = INFINITY;
    for (size_t k = 0; k < K; k++) {
        const double index = u->mean[k] - root * u->spread[k];
        if (index < least) {
            least = index;
            best = k;
        }
    }
    return best;
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    ucb *u = state;
    *arm = u->n_silent > 0 ? next_silent(u) : least_index(u, round);
    u->counts.count[*arm].played++;
    return TARRY_OK;
}

static tarry__use observe(void *state, uint64_t round, size_t arm, double loss)
{
    ucb *u = state;
    (void)round;
    u->n_silent -= u->counts.count[arm].arrived == 0;
    const tarry__use use = tarry__counts_add(&u->counts, arm, loss);
    update(u, arm);
    return use;
}

static void status(const void *state, tarry_policy_status *status)
{
    const ucb *u = state;
    tarry__counts_status(&u->counts, status);
}

/* Means and spreads follow from the counts. */
static void remake(ucb *u, tarry__archive *a)
{
    const size_t K = u->counts.problem->n_arms;
    if (!a->loading || a->status != TARRY_OK)
        return;
    a->status = take_memory(u, K);
    u->n_silent = 0;
    for (size_t k = 0; a->status == TARRY_OK && k < K; k++) {
        if (u->counts.count[k].arrived > 0)
            update(u, k);
        else
            u->n_silent++;
    }
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__problem *problem, tarry__archive *a)
{
    ucb *u = state;
    tarry__counts_archive(&u->counts, type, problem, a);
    tarry__archive_field(a, u->next);
    tarry__archive_require(a, u->next < problem->n_arms);
    remake(u, a);
}

static void clear(void *state)
{
    ucb *u = state;
    tarry__counts_clear(&u->counts);
    tarry__free(u->mean);
    tarry__free(u->spread);
}

const tarry__policy_type tarry__ucb_delayed = {
    .name = "ucb-delayed",
    .source = "Joulani et al. 2013",
    .summary = "UCB1 on arrivals; delays that do not depend on losses",
    .plain = true,
    .settings = settings,
    .state_size = sizeof(ucb),
    .init = init,
    .choose = choose,
    .observe = observe,
    .status = status,
    .archive = archive,
    .clear = clear,
};
