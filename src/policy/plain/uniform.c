/* uniform.c - plays arms at random and learns nothing: the yardstick of what
 * ignorance costs, T times the mean gap.
 *
 * Arm floor(K u) with the uniform u of the round. */
#include "policy/coins.h"
#include "policy/plain/plain.h"

typedef struct {
    const tarry__policy_problem *problem;
    tarry__coins coins;
} uniform;

static const tarry_setting settings[] = {TARRY__SPEC_END};

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__policy_problem *problem,
                         const tarry__spec *spec, tarry_error *error)
{
    uniform *s = state;
    (void)type;
    (void)spec;
    (void)error;
    s->problem = problem;
    return TARRY_OK;
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    uniform *s = state;
    double u, v;
    tarry__coins_of(&s->coins, s->problem, round, &u, &v);
    *arm = tarry__coins_arm(s->problem, u);
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

static void revise(void *state, uint64_t round, size_t arm, double old,
                   double loss)
{
    (void)state, (void)round, (void)arm, (void)old, (void)loss;
}

static double probability(void *state, uint64_t round, size_t arm)
{
    (void)round, (void)arm;
    return 1 / (double)tarry__policy_n_choices(((uniform *)state)->problem);
}

static void status(const void *state, tarry_policy_status *status)
{
    const uniform *s = state; /* it prefers no arm: the first */
    status->best = tarry__policy_choice(s->problem, 0);
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a)
{
    (void)type;
    (void)a; /* coins are functions of the round */
    ((uniform *)state)->problem = problem;
}

static void clear(void *state)
{
    (void)state;
}

static tarry_status reserve(void *state, size_t n_arms)
{
    (void)state, (void)n_arms;
    return TARRY_OK;
}

static tarry_status rearranged(void *state)
{
    (void)state;
    return TARRY_OK;
}

static void narrowed(void *state)
{
    (void)state; /* coins look at the arms themselves */
}

const tarry__policy_type tarry__plain_uniform = {
    .name = "uniform",
    .source = "no learning",
    .any_delays = true,
    .summary = "any arm, at random",
    .settings = settings,
    .state_size = sizeof(uniform),
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
