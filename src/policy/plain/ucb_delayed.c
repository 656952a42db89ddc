/* ucb_delayed.c - UCB1 on what has arrived.
 *
 * Source: Joulani, Gyorgy, Szepesvari, "Online learning under delayed
 * feedback", 2013 (delayed UCB1).
 *
 * Idea: run UCB1 as if the losses that have arrived were all there are: in
 * round t play the arm of least
 *     mean(a) - 2 sqrt(2 log t / n(a)),  n(a) losses of a arrived,
 * where an arm of which nothing has arrived comes first.  Regret grows by
 * about K E[d]: arms in which little is known are played again and again
 * before their losses come.
 *
 * Uncertain: written from the idea, not from the text.  Several arms without
 * losses are played in turn, the least played first; UCB1 leaves that open, and
 * without delays it never matters.  UCB1's width sqrt(2 log t / n) is for
 * rewards in [0, 1]; losses in [-1, 1] have twice that range, so it is doubled
 * here, and the choices are those of UCB1 on (1 - loss) / 2.
 *
 * Arms lie in blocks of 64 with their least mean and largest spread, which
 * bound the block's indices; a choice looks into those blocks only that might
 * hold the least.  (Rounding is monotone, so the bound holds to the last bit.)
 */
#include "policy/plain/counts.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("scale", "1", 0, 1e6,
                     "factor of the width 2 sqrt(2 log t / n)"),
    TARRY__SPEC_END,
};

enum { BLOCK = 64 };

typedef struct {
    double mean, spread; /* mean loss, 2 scale sqrt(2 / n) */
} term;

typedef struct {
    tarry__counts counts; /* first, for shared functions */
    size_t n_silent;      /* arms of which nothing has arrived */
    size_t next;          /* where to look for the next of them */
    term *arm;            /* per arm */
    term *block;          /* per block: least mean, largest spread */
} ucb;

static size_t n_blocks(size_t n_arms)
{
    return (n_arms + BLOCK - 1) / BLOCK;
}

static double index_of(const term *t, double root)
{
    return t->mean - root * t->spread;
}

static size_t block_end(const ucb *u, size_t block)
{
    const size_t K = u->counts.problem->n_arms, end = (block + 1) * BLOCK;
    return end < K ? end : K;
}

static void bound_block(ucb *u, size_t block)
{
    term t = {INFINITY, 0};
    for (size_t k = block * BLOCK; k < block_end(u, block); k++) {
        t.mean = u->arm[k].mean < t.mean ? u->arm[k].mean : t.mean;
        t.spread = u->arm[k].spread > t.spread ? u->arm[k].spread : t.spread;
    }
    u->block[block] = t;
}

/* The arm's term from its counts; something has arrived, or it has been
 * withdrawn. */
static void set_term(ucb *u, size_t arm)
{
    const tarry__plain_count *count = &u->counts.count[arm];
    const double n = (double)count->arrived;
    if (count->cut) { /* it has been withdrawn: never the least */
        u->arm[arm] = (term){INFINITY, 0};
        return;
    }
    u->arm[arm].mean = count->sum / n;
    u->arm[arm].spread = 2 * u->counts.scale * sqrt(2 / n);
}

static tarry_status take_memory(ucb *u, size_t n_arms)
{
    u->arm = tarry__base_zalloc(n_arms, sizeof *u->arm);
    u->block = tarry__base_zalloc(n_blocks(n_arms), sizeof *u->block);
    return u->arm && u->block ? TARRY_OK : TARRY_NO_MEMORY;
}

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__policy_problem *problem,
                         const tarry__spec *spec, tarry_error *error)
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
    while (u->counts.count[u->next].arrived > 0 || u->counts.count[u->next].cut)
        u->next = u->next + 1 < K ? u->next + 1 : 0;
    const size_t arm = u->next;
    u->next = arm + 1 < K ? arm + 1 : 0;
    return arm;
}

static size_t least_index(const ucb *u, uint64_t round)
{
    const size_t blocks = n_blocks(u->counts.problem->n_arms);
    const double root = sqrt(tarry__ln((double)round));
    size_t best = 0;
    double least = INFINITY;
    for (size_t b = 0; b < blocks; b++) {
        if (!(index_of(&u->block[b], root) < least))
            continue;
        for (size_t k = b * BLOCK; k < block_end(u, b); k++) {
            const double index = index_of(&u->arm[k], root);
            if (index < least) {
                least = index;
                best = k;
            }
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

static tarry__policy_use observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    ucb *u = state;
    (void)round;
    u->n_silent -=
        u->counts.count[arm].arrived == 0 && !u->counts.count[arm].cut;
    const tarry__policy_use use = tarry__counts_add(&u->counts, arm, loss);
    set_term(u, arm);
    bound_block(u, arm / BLOCK);
    return use;
}

static void revise(void *state, uint64_t round, size_t arm, double old,
                   double loss)
{
    ucb *u = state;
    (void)round;
    u->counts.count[arm].sum += loss - old;
    set_term(u, arm);
    bound_block(u, arm / BLOCK);
}

static tarry_status cancel(void *state, uint64_t round, size_t arm)
{
    ucb *u = state;
    (void)round;
    u->counts.count[arm].played--;
    return TARRY_OK;
}

static void status(const void *state, tarry_policy_status *status)
{
    const ucb *u = state;
    tarry__counts_status(&u->counts, status);
}

/* The terms follow from the counts. */
static void set_terms(ucb *u)
{
    const size_t K = u->counts.problem->n_arms;
    u->n_silent = 0;
    for (size_t k = 0; k < K; k++) {
        u->arm[k] = (term){0, 0};
        if (u->counts.count[k].arrived > 0 || u->counts.count[k].cut)
            set_term(u, k);
        else
            u->n_silent++;
    }
    for (size_t b = 0; b < n_blocks(K); b++)
        bound_block(u, b);
}

static tarry_status reserve(void *state, size_t n_arms)
{
    ucb *u = state;
    const size_t K = u->counts.problem->n_arms;
    ucb wider = {0};
    tarry_status status = take_memory(&wider, n_arms);
    if (status == TARRY_OK)
        status = tarry__counts_reserve(&u->counts, n_arms);
    if (status != TARRY_OK) {
        tarry__base_free(wider.arm);
        tarry__base_free(wider.block);
        return status;
    }
    memcpy(wider.arm, u->arm, K * sizeof *u->arm);
    memcpy(wider.block, u->block, n_blocks(K) * sizeof *u->block);
    tarry__base_free(u->arm);
    tarry__base_free(u->block);
    u->arm = wider.arm;
    u->block = wider.block;
    return TARRY_OK;
}

static tarry_status rearranged(void *state)
{
    ucb *u = state;
    tarry__counts_rearrange(&u->counts);
    set_terms(u);
    if (u->next >= u->counts.problem->n_arms)
        u->next = 0;
    return TARRY_OK;
}

static void remake(ucb *u, tarry__archive *a)
{
    if (!a->loading || a->status != TARRY_OK)
        return;
    a->status = take_memory(u, u->counts.problem->n_arms);
    if (a->status == TARRY_OK)
        set_terms(u);
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a)
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
    tarry__base_free(u->arm);
    tarry__base_free(u->block);
}

const tarry__policy_type tarry__plain_ucb_delayed = {
    .name = "ucb-delayed",
    .source = "Joulani et al. 2013",
    .summary = "UCB1 on arrivals; delays that do not depend on losses",
    .plain = true,
    .settings = settings,
    .state_size = sizeof(ucb),
    .init = init,
    .choose = choose,
    .observe = observe,
    .revise = revise,
    .cancel = cancel,
    .played = tarry__counts_played,
    .status = status,
    .archive = archive,
    .clear = clear,
    .reserve = reserve,
    .rearranged = rearranged,
};
