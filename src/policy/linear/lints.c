/* lints.c - linear Thompson sampling, learning from each loss as it arrives.
 *
 * Source: Agrawal and Goyal, "Thompson sampling for contextual bandits with
 * linear payoffs", 2013; in its Bayesian form with unit noise (v = 1), which is
 * what one plays in practice, not the v ~ sqrt(n log T) of their proof.  With
 * delays it draws from the posterior given what has arrived.  That is Thompson
 * sampling after Blanchet, Xu and Zhou, "Delay-adaptive learning in generalized
 * linear contextual bandits", 2024, for linear losses with normal prior and
 * noise; of the text only the abstract was at hand.
 *
 * Round t draws theta ~ N(theta_hat, v^2 V^-1) and plays the arm with the
 * smallest <a, theta>.  The draw is theta_hat + v S z (ridge.h), with z from
 * blocks t h, ..., t h + h - 1 of the policy's stream of normals, h = ceil(n/2)
 * being the blocks a round needs. */
#include "policy/linear/sampler.h"

#include "policy/linear/linear.h"

static tarry__policy_use observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    tarry__sampler *s = state;
    (void)round;
    tarry__ridge_learn(&s->ridge, s->problem->arms + arm * s->ridge.n, loss);
    return TARRY__POLICY_USED;
}

static void revise(void *state, uint64_t round, size_t arm, double old,
                   double loss)
{
    tarry__sampler *s = state;
    (void)round;
    tarry__ridge_credit(&s->ridge, s->problem->arms + arm * s->ridge.n,
                        loss - old);
    s->others_of = 0; /* drawn from the old estimate */
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    tarry__sampler *s = state;
    *arm = tarry__sampler_draw(s, round, s->v);
    return TARRY_OK;
}

static double probability(void *state, uint64_t round, size_t arm)
{
    return tarry__sampler_share(state, round, arm, false);
}

static const tarry_setting settings[] = {
    TARRY__RIDGE_SETTING,
    TARRY__SPEC_REAL("v", "1", 0, 1e6,
                     "standard deviation of the noise it assumes"),
    TARRY__SPEC_END,
};

const tarry__policy_type tarry__linear_lints = {
    .name = "lints",
    .source = "Agrawal and Goyal 2013",
    .summary = "Thompson sampling on what has arrived",
    .settings = settings,
    .state_size = sizeof(tarry__sampler),
    .init = tarry__sampler_init,
    .choose = choose,
    .observe = observe,
    .revise = revise,
    .probability = probability,
    .status = tarry__sampler_status,
    .archive = tarry__sampler_archive,
    .clear = tarry__sampler_clear,
    .narrowed = tarry__sampler_narrowed,
    .reserve = tarry__sampler_reserve,
    .rearranged = tarry__sampler_rearranged,
};
