/* greedy.c - the arm with the smallest ridge estimate of what has arrived, and
 * no exploration but what chance brings.
 *
 * Source: folklore; how far it goes when arms are diverse enough: Bastani,
 * Bayati and Khosravi, "Mostly exploration-free algorithms for contextual
 * bandits", 2021.  Ties go to the lowest index, so before any loss has arrived
 * it plays arm 0.  With epsilon > 0 each round is, with that probability, a
 * round of uniform play (epsilon-greedy). */
#include "base/base.h"
#include "policy/coins.h"
#include "policy/linear/ridge.h"
#include "policy/linear/linear.h"

typedef struct {
    const tarry__policy_problem *problem;
    tarry__ridge ridge;
    double epsilon;
    double *tiles;
    bool settled; /* `best` is that of theta */
    size_t best;
    tarry__coins coins;
} greedy;

static const tarry_setting settings[] = {
    TARRY__RIDGE_SETTING,
    TARRY__SPEC_REAL("epsilon", "0", 0, 1,
                     "probability of a round of uniform play"),
    TARRY__SPEC_END,
};

static void narrowed(void *state)
{
    greedy *s = state;
    s->settled = false;
    tarry__linear_tiles_fill(s->tiles, s->problem->arms, s->problem->dim,
                             s->problem->active, 0,
                             tarry__policy_n_choices(s->problem));
}

static tarry_status open_memory(greedy *s, const tarry__policy_problem *problem)
{
    const size_t n = problem->dim, K = problem->n_arms;
    s->problem = problem;
    s->tiles = tarry__base_alloc(
        tarry__linear_n_tiles(K) * TARRY__LINEAR_TILE * n, sizeof *s->tiles);
    if (s->tiles == NULL)
        return TARRY_NO_MEMORY;
    narrowed(s);
    return TARRY_OK;
}

static tarry_status reserve(void *state, size_t n_arms)
{
    greedy *s = state;
    double *tiles = tarry__base_alloc(tarry__linear_n_tiles(n_arms) *
                                          TARRY__LINEAR_TILE * s->problem->dim,
                                      sizeof *tiles);
    if (tiles == NULL)
        return TARRY_NO_MEMORY;
    tarry__base_free(s->tiles);
    s->tiles = tiles;
    narrowed(s);
    return TARRY_OK;
}

static tarry_status rearranged(void *state)
{
    greedy *s = state;
    tarry__ridge wider;
    tarry_status status = TARRY_OK;
    if (s->ridge.n != s->problem->dim) {
        status = tarry__ridge_widen(&s->ridge, s->problem->dim, &wider);
        if (status == TARRY_OK)
            status = reserve(state, s->problem->n_arms);
        tarry__ridge_clear(status == TARRY_OK ? &s->ridge : &wider);
        if (status == TARRY_OK)
            s->ridge = wider;
    }
    if (status == TARRY_OK)
        narrowed(state);
    return status;
}

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__policy_problem *problem,
                         const tarry__spec *spec, tarry_error *error)
{
    greedy *s = state;
    (void)type;
    tarry_status status =
        tarry__ridge_init_by(&s->ridge, problem->dim, spec, error);
    if (status == TARRY_OK &&
        tarry__spec_real(spec, "epsilon", &s->epsilon, error) != TARRY_OK)
        status = TARRY_BAD_ARGUMENT;
    return status == TARRY_OK ? open_memory(s, problem) : status;
}

static void settle(greedy *s)
{
    double value;
    if (s->settled)
        return;
    const size_t place = s->ridge.kernels->lowest(
        s->tiles, tarry__linear_n_tiles(tarry__policy_n_choices(s->problem)),
        s->ridge.n, s->ridge.theta, &value);
    s->best = tarry__policy_choice(s->problem, place);
    s->settled = true;
}

static double probability(void *state, uint64_t round, size_t arm)
{
    greedy *s = state;
    (void)round;
    settle(s);
    return (arm == s->best ? 1 - s->epsilon : 0) +
           s->epsilon / (double)tarry__policy_n_choices(s->problem);
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    greedy *s = state;
    if (s->epsilon > 0) {
        double u, v;
        tarry__coins_of(&s->coins, s->problem, round, &u, &v);
        if (u < s->epsilon) {
            *arm = tarry__coins_arm(s->problem, v);
            return TARRY_OK;
        }
    }
    settle(s);
    *arm = s->best;
    return TARRY_OK;
}

static tarry__policy_use observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    greedy *s = state;
    (void)round;
    tarry__ridge_learn(&s->ridge, s->problem->arms + arm * s->ridge.n, loss);
    s->settled = false;
    return TARRY__POLICY_USED;
}

static void revise(void *state, uint64_t round, size_t arm, double old,
                   double loss)
{
    greedy *s = state;
    (void)round;
    tarry__ridge_credit(&s->ridge, s->problem->arms + arm * s->ridge.n,
                        loss - old);
    s->settled = false;
}

static void status(const void *state, tarry_policy_status *status)
{
    const greedy *s = state;
    status->best = tarry__ridge_best(&s->ridge, s->problem);
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a)
{
    greedy *s = state;
    (void)type;
    tarry__ridge_archive(&s->ridge, problem->dim, a);
    tarry__archive_field(a, s->epsilon);
    if (a->loading && a->status == TARRY_OK)
        a->status = open_memory(s, problem);
}

static void clear(void *state)
{
    greedy *s = state;
    tarry__ridge_clear(&s->ridge);
    tarry__base_free(s->tiles);
}

const tarry__policy_type tarry__linear_greedy = {
    .name = "greedy",
    .source = "folklore",
    .summary = "smallest ridge estimate of what has arrived",
    .settings = settings,
    .state_size = sizeof(greedy),
    .init = init,
    .choose = choose,
    .observe = observe,
    .revise = revise,
    .probability = probability,
    .status = status,
    .archive = archive,
    .clear = clear,
    .narrowed = narrowed,
    .reserve = reserve,
    .rearranged = rearranged,
};
