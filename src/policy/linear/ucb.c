/* ucb.c - see ucb.h. */
#include "policy/linear/ucb.h"

#include "base/base.h"

tarry_status tarry__ucb_init(void *state, const tarry__policy_type *type,
                             const tarry__policy_problem *problem,
                             const tarry__spec *spec, tarry_error *error)
{
    tarry__ucb *s = state;
    (void)type;
    s->problem = problem;
    tarry_status status =
        tarry__ridge_init_by(&s->ridge, problem->dim, spec, error);
    if (status == TARRY_OK &&
        tarry__spec_real(spec, "alpha", &s->alpha, error) != TARRY_OK)
        status = TARRY_BAD_ARGUMENT;
    return status == TARRY_OK ? tarry__optimist_init(&s->optimist, problem)
                              : status;
}

void tarry__ucb_status(const void *state, tarry_policy_status *status)
{
    const tarry__ucb *s = state;
    status->best = tarry__ridge_best(&s->ridge, s->problem);
}

void tarry__ucb_archive(void *state, const tarry__policy_type *type,
                        const tarry__policy_problem *problem, tarry__archive *a)
{
    tarry__ucb *s = state;
    (void)type;
    s->problem = problem;
    tarry__ridge_archive(&s->ridge, problem->dim, a);
    tarry__optimist_archive(&s->optimist, problem, &s->ridge, a);
    tarry__archive_field(a, s->alpha);
}

void tarry__ucb_clear(void *state)
{
    tarry__ucb *s = state;
    tarry__ridge_clear(&s->ridge);
    tarry__optimist_clear(&s->optimist);
}

tarry_status tarry__ucb_reserve(void *state, size_t n_arms)
{
    return tarry__optimist_reserve(&((tarry__ucb *)state)->optimist, n_arms);
}

void tarry__ucb_narrowed(void *state)
{
    tarry__optimist_narrow(&((tarry__ucb *)state)->optimist);
}

/* The arms have more features than before. */
static tarry_status widen(tarry__ucb *s)
{
    tarry__ridge wider;
    tarry_status status =
        tarry__ridge_widen(&s->ridge, s->problem->dim, &wider);
    if (status == TARRY_OK)
        status = tarry__optimist_reserve(&s->optimist, s->problem->n_arms);
    if (status != TARRY_OK) {
        tarry__ridge_clear(&wider);
        return status;
    }
    tarry__ridge_clear(&s->ridge);
    s->ridge = wider;
    return TARRY_OK;
}

tarry_status tarry__ucb_rearranged(void *state)
{
    tarry__ucb *s = state;
    if (s->ridge.n != s->problem->dim)
        return widen(s);
    tarry__ucb_narrowed(state);
    return TARRY_OK;
}

double tarry__ucb_radius(const tarry__ucb *s)
{
    return tarry__ridge_radius(&s->ridge, tarry__policy_failure(s->problem));
}

static const double *arm_at(const tarry__ucb *s, size_t arm)
{
    return s->problem->arms + arm * s->problem->dim;
}

void tarry__ucb_count(tarry__ucb *s, size_t arm)
{
    tarry__optimist_note(&s->optimist, &s->ridge,
                         tarry__ridge_count(&s->ridge, arm_at(s, arm)));
}

void tarry__ucb_uncount(tarry__ucb *s, size_t arm)
{
    tarry__ridge_uncount(&s->ridge, arm_at(s, arm));
    tarry__optimist_narrow(&s->optimist); /* norms have grown */
}

void tarry__ucb_credit(tarry__ucb *s, size_t arm, double loss)
{
    tarry__optimist_note(&s->optimist, &s->ridge,
                         tarry__ridge_credit(&s->ridge, arm_at(s, arm), loss));
}

void tarry__ucb_learn(tarry__ucb *s, size_t arm, double loss)
{
    tarry__optimist_note(&s->optimist, &s->ridge,
                         tarry__ridge_learn(&s->ridge, arm_at(s, arm), loss));
}
