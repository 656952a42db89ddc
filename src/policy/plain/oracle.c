/* oracle.c - knows the means and plays the best arm: pays nothing.  Only
 * simulations can tell it the means; it is the other end of the scale. */
#include "base/base.h"
#include "policy/plain/plain.h"

typedef struct {
    size_t best; /* the first of them */
} oracle;

static const tarry_setting settings[] = {TARRY__SPEC_END};

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__policy_problem *problem,
                         const tarry__spec *spec, tarry_error *error)
{
    oracle *s = state;
    (void)spec;
    if (problem->means == NULL)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "%s needs to know every arm's mean loss, so it "
                                "plays only in simulations (tarry run)",
                                type->name);
    for (size_t k = 1; k < problem->n_arms; k++)
        if (problem->means[k] < problem->means[s->best])
            s->best = k;
    return TARRY_OK;
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    (void)round;
    *arm = ((oracle *)state)->best;
    return TARRY_OK;
}

static tarry__policy_use observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    (void)state;
    (void)round;
    (void)arm;
    (void)loss;
    return TARRY__POLICY_IGNORED;
}

static void status(const void *state, tarry_policy_status *status)
{
    status->best = ((const oracle *)state)->best;
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a)
{
    oracle *s = state;
    (void)type;
    tarry__archive_field(a, s->best);
    tarry__archive_require(a, s->best < problem->n_arms);
}

static void clear(void *state)
{
    (void)state;
}

const tarry__policy_type tarry__plain_oracle = {
    .name = "oracle",
    .source = "all knowledge",
    .any_delays = true,
    .summary = "the best arm always; only in simulations",
    .settings = settings,
    .needs_means = true,
    .state_size = sizeof(oracle),
    .init = init,
    .choose = choose,
    .observe = observe,
    .status = status,
    .archive = archive,
    .clear = clear,
};
