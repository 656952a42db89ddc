/* linucb.c - optimism for linear losses, learning from each loss as it arrives.
 *
 * Source: Abbasi-Yadkori, Pal and Szepesvari, "Improved algorithms for linear
 * stochastic bandits", 2011 (OFUL, there for any convex arm set; here the arms
 * are listed, so it is LinUCB with their confidence set).  With delays: Howson,
 * Pike-Burke and Filippi, "Delayed feedback in generalised linear bandits
 * revisited", 2023, in the linear case: V and b of what has arrived, and the
 * width stays valid as long as delays do not depend on losses.
 *
 * Plays the arm with the smallest <theta, a> - alpha beta |a| in the norm of
 * V^-1, beta = sqrt(2 log(1/delta) + log det(V / lambda)) + sqrt(lambda), for
 * noise of proxy 1 and |theta| <= 1, delta = 1/T.
 *
 * Departure: delta is 1/T rather than a parameter. */
#include "base/base.h"
#include "optimist.h"
#include "rivals.h"

typedef struct {
    const tarry__problem *problem;
    tarry__ridge ridge;
    tarry__optimist optimist;
    double alpha;
} linucb;

static const tarry__setting settings[] = {
    TARRY__RIDGE_SETTING,
    {"alpha", "1", "width, as a share of the one that is valid"},
    {NULL, NULL, NULL},
};

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__problem *problem,
                         const tarry__spec *spec, tarry_error *error)
{
    linucb *s = state;
    (void)type;
    s->problem = problem;
    tarry_status status =
        tarry__ridge_init_by(&s->ridge, problem->dim, spec, error);
    if (status == TARRY_OK &&
        tarry__spec_real(spec, "alpha", 0, 1e6, &s->alpha, error) != TARRY_OK)
        status = TARRY_BAD_ARGUMENT;
    return status == TARRY_OK
               ? tarry__optimist_init(&s->optimist, problem, false)
               : status;
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    linucb *s = state;
    (void)round;
    const double beta =
        tarry__ridge_radius(&s->ridge, 1 / (double)s->problem->horizon);
    *arm = tarry__optimist_choose(&s->optimist, &s->ridge, s->alpha * beta);
    return TARRY_OK;
}

static tarry__use observe(void *state, uint64_t round, size_t arm, double loss)
{
    linucb *s = state;
    (void)round;
    const double *a = s->problem->arms + arm * s->problem->dim;
    tarry__optimist_note(&s->optimist, &s->ridge,
                         tarry__ridge_learn(&s->ridge, a, loss));
    return TARRY__USED;
}

static void status(const void *state, tarry_policy_status *status)
{
    const linucb *s = state;
    status->best = tarry__ridge_best(&s->ridge, s->problem);
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__problem *problem, tarry__archive *a)
{
    linucb *s = state;
    (void)type;
    s->problem = problem;
    tarry__ridge_archive(&s->ridge, problem->dim, a);
    tarry__optimist_archive(&s->optimist, problem, &s->ridge, a);
    tarry__archive_field(a, s->alpha);
}

static void clear(void *state)
{
    linucb *s = state;
    tarry__ridge_clear(&s->ridge);
    tarry__optimist_clear(&s->optimist);
}

const tarry__policy_type tarry__linucb = {
    .name = "linucb",
    .source = "Abbasi-Yadkori et al. 2011",
    .summary = "optimism on what has arrived",
    .settings = settings,
    .state_size = sizeof(linucb),
    .init = init,
    .choose = choose,
    .observe = observe,
    .status = status,
    .archive = archive,
    .clear = clear,
};
