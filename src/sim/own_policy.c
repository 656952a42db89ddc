/* own_policy.c - see own_policy.h.  A failure while a loss is taken in ends the
 * run at the next choice. */
#include "sim/own_policy.h"

#include <math.h>
#include "base/base.h"

typedef struct {
    const tarry_own_policy *own;
    tarry_problem problem;
    void *run; /* what its start has made */
    tarry_status failed;
    tarry_error error;
} state;

static tarry_status fail(state *s, tarry_status status, const char *what,
                         uint64_t round)
{
    if (s->failed == TARRY_OK)
        s->failed = tarry__base_fail(&s->error, status, "%s: %s round %ju: %s",
                                     s->own->name, what, (uintmax_t)round,
                                     tarry_status_text(status));
    return s->failed;
}

static tarry_status choose(void *context, uint64_t round, size_t *arm)
{
    state *s = context;
    *arm = SIZE_MAX;
    if (s->failed != TARRY_OK)
        return s->failed;
    const tarry_status status = s->own->choose(s->run, round, arm);
    if (status != TARRY_OK)
        return fail(s, status, "choose in", round);
    if (*arm < s->problem.n_arms)
        return TARRY_OK;
    s->failed = tarry__base_fail(
        &s->error, TARRY_BAD_ARGUMENT, "%s: arm %zu of %zu chosen in round %ju",
        s->own->name, *arm, s->problem.n_arms, (uintmax_t)round);
    return s->failed;
}

static tarry__policy_use observe(void *context, uint64_t round, size_t arm,
                                 double loss)
{
    state *s = context;
    if (s->own->observe == NULL)
        return TARRY__POLICY_IGNORED;
    if (s->failed != TARRY_OK)
        return TARRY__POLICY_IGNORED;
    const tarry_status status = s->own->observe(s->run, round, arm, loss);
    if (status != TARRY_OK)
        fail(s, status, "observe of", round);
    return TARRY__POLICY_USED;
}

static void get_status(const void *context, tarry_policy_status *status)
{
    status->name = ((const state *)context)->own->name;
}

static tarry_status certify(const void *context, size_t *arm, double *gap)
{
    const state *s = context;
    *gap = NAN;
    const tarry_status status = s->own->certify(s->run, arm, gap);
    if (status == TARRY_OK && *arm < s->problem.n_arms)
        return TARRY_OK;
    *gap = NAN;
    return status == TARRY_OK ? TARRY_BAD_ARGUMENT : status;
}

static void clear(void *context)
{
    const state *s = context;
    if (s->own->end != NULL)
        s->own->end(s->run);
}

static const tarry__policy_type silent = {.name = "own",
                                          .state_size = sizeof(state),
                                          .choose = choose,
                                          .observe = observe,
                                          .status = get_status,
                                          .clear = clear};
static const tarry__policy_type certified = {.name = "own",
                                             .state_size = sizeof(state),
                                             .choose = choose,
                                             .observe = observe,
                                             .status = get_status,
                                             .clear = clear,
                                             .certify = certify};

tarry_status tarry__own_policy_open(const tarry_own_policy *own,
                                    const tarry__policy_problem *problem,
                                    const tarry__policy_type **type, void **out,
                                    tarry_error *error)
{
    state *s = tarry__base_zalloc(1, sizeof *s);
    *out = NULL;
    *type = own->certify != NULL ? &certified : &silent;
    if (s == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    *s = (state){.own = own,
                 .problem = {.n_arms = problem->n_arms,
                             .dim = problem->dim,
                             .arms = problem->arms,
                             .horizon = problem->horizon,
                             .seed = problem->seed,
                             .run = problem->run},
                 .run = own->context};
    const tarry_status status =
        own->start != NULL ? own->start(own->context, &s->problem, &s->run)
                           : TARRY_OK;
    if (status == TARRY_OK) {
        *out = s;
        return status;
    }
    tarry__base_free(s);
    return tarry__base_fail(error, status, "%s: start: %s", own->name,
                            tarry_status_text(status));
}

tarry_status tarry__own_policy_failure(const void *context, tarry_error *error)
{
    const state *s = context;
    return s->failed == TARRY_OK
               ? TARRY_OK
               : tarry__base_fail(error, s->failed, "%s", s->error.text);
}
