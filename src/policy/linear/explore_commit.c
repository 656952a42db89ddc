/* explore_commit.c - explore first, then commit.
 *
 * Source: Lattimore and Szepesvari, "Bandit algorithms", 2020, chapter 6, with
 * uniform exploration of linear arms.  For m rounds arms are drawn all alike;
 * after that the arm with the smallest estimate is played.  m = n^(1/3) T^(2/3)
 * unless set, which is the order that the worst case asks for.
 *
 * Delays: the estimate goes on learning from exploration's losses as they
 * arrive, and from no others; until half of them are there, or of m without a
 * horizon, it explores on. */
#include <math.h>
#include "policy/coins.h"
#include "base/elementary.h"
#include "policy/linear/linear.h"
#include "policy/linear/ridge.h"

typedef struct {
    const tarry__policy_problem *problem;
    tarry__ridge ridge;
    double explore;   /* m, or one of the two below */
    uint64_t until;   /* the last round of exploration so far */
    uint64_t arrived; /* of its losses */
    size_t best;
    uint32_t settled; /* `best` is that of the estimate */
    tarry__coins coins;
} committer;

static const tarry_setting settings[] = {
    TARRY__RIDGE_SETTING,
    TARRY__SPEC_REAL("explore", "0", 0, 1e12,
                     "rounds of exploration; 0: n^(1/3) T^(2/3)"),
    TARRY__SPEC_END,
};

/* m grows with the rounds; as in states of old, in which all rounds up to the
 * last of exploration counted for explored ones, so that half of all were. */
static const double GROWING = -2, GROWING_BY_HALVES = -1;

/* m for a horizon of t rounds. */
static double exploration(const tarry__policy_problem *problem, double t)
{
    return ceil(tarry__cbrt((double)problem->dim * t * t));
}

/* Without a horizon it explores in those rounds in which m grows. */
static bool is_asked_for(const committer *s, uint64_t round)
{
    const double t = (double)round;
    return s->explore >= 0
               ? t <= s->explore
               : exploration(s->problem, t) > exploration(s->problem, t - 1);
}

/* Whether its loss is one of exploration's.  Rounds that were explored while
 * losses were missing follow the others where there is a horizon; else they are
 * none of those in which m grows, and do not count. */
static bool is_exploration(const committer *s, uint64_t round)
{
    return round <= s->until &&
           (s->explore != GROWING || is_asked_for(s, round));
}

/* Half of so many losses are waited for. */
static double explored(const committer *s)
{
    return s->explore == GROWING ? exploration(s->problem, (double)s->until)
                                 : (double)s->until;
}

static bool explores(const committer *s, uint64_t round)
{
    return 2 * (double)s->arrived < explored(s) || is_asked_for(s, round);
}

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__policy_problem *problem,
                         const tarry__spec *spec, tarry_error *error)
{
    committer *s = state;
    (void)type;
    s->problem = problem;
    const tarry_status status =
        tarry__ridge_init_by(&s->ridge, problem->dim, spec, error);
    if (status != TARRY_OK)
        return status;
    if (tarry__spec_real(spec, "explore", &s->explore, error) != TARRY_OK)
        return TARRY_BAD_ARGUMENT;
    if (s->explore == 0)
        s->explore = problem->confidence > 0
                         ? GROWING
                         : exploration(problem, (double)problem->horizon);
    return TARRY_OK;
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    committer *s = state;
    if (explores(s, round)) {
        double u, v;
        tarry__coins_of(&s->coins, s->problem, round, &u, &v);
        *arm = tarry__coins_arm(s->problem, u);
        s->until = round;
        return TARRY_OK;
    }
    if (!s->settled)
        s->best = tarry__ridge_best(&s->ridge, s->problem);
    s->settled = 1;
    *arm = s->best;
    return TARRY_OK;
}

static tarry__policy_use observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    committer *s = state;
    if (!is_exploration(s, round))
        return TARRY__POLICY_IGNORED;
    tarry__ridge_learn(&s->ridge, s->problem->arms + arm * s->ridge.n, loss);
    s->arrived++;
    s->settled = 0;
    return TARRY__POLICY_USED;
}

static tarry_status cancel(void *state, uint64_t round, size_t arm)
{
    committer *s = state;
    (void)arm;
    s->arrived += is_exploration(s, round); /* it is not waited for */
    return TARRY_OK;
}

static double probability(void *state, uint64_t round, size_t arm)
{
    const committer *s = state;
    (void)arm;
    return round == s->until ? 1 / (double)tarry__policy_n_choices(s->problem)
                             : 1;
}

static tarry_status reserve(void *state, size_t n_arms)
{
    (void)state, (void)n_arms;
    return TARRY_OK;
}

static tarry_status rearranged(void *state)
{
    committer *s = state;
    tarry__ridge wider;
    if (s->ridge.n != s->problem->dim) {
        const tarry_status status =
            tarry__ridge_widen(&s->ridge, s->problem->dim, &wider);
        if (status != TARRY_OK)
            return status;
        tarry__ridge_clear(&s->ridge);
        s->ridge = wider;
    }
    s->settled = 0;
    return TARRY_OK;
}

static void narrowed(void *state)
{
    ((committer *)state)->settled = 0;
}

static void status(const void *state, tarry_policy_status *status)
{
    const committer *s = state;
    status->best = tarry__ridge_best(&s->ridge, s->problem);
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a)
{
    committer *s = state;
    (void)type;
    s->problem = problem;
    tarry__ridge_archive(&s->ridge, problem->dim, a);
    tarry__archive_field(a, s->explore);
    tarry__archive_field(a, s->until);
    tarry__archive_field(a, s->arrived);
    tarry__archive_require(a, s->explore >= 0 || s->explore == GROWING ||
                                  s->explore == GROWING_BY_HALVES);
}

static void clear(void *state)
{
    tarry__ridge_clear(&((committer *)state)->ridge);
}

const tarry__policy_type tarry__linear_explore_commit = {
    .name = "explore-commit",
    .source = "Lattimore and Szepesvari 2020, ch. 6",
    .summary = "explores uniformly, then stays with what looked best",
    .settings = settings,
    .state_size = sizeof(committer),
    .init = init,
    .choose = choose,
    .observe = observe,
    .cancel = cancel,
    .probability = probability,
    .reserve = reserve,
    .rearranged = rearranged,
    .status = status,
    .archive = archive,
    .clear = clear,
    .narrowed = narrowed,
};
