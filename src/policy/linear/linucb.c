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
#include "policy/linear/linear.h"
#include "policy/linear/ucb.h"

static const tarry_setting settings[] = {
    TARRY__RIDGE_SETTING,
    TARRY__LINEAR_ALPHA_SETTING,
    TARRY__SPEC_END,
};

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    tarry__ucb *s = state;
    (void)round;
    *arm = tarry__optimist_choose(&s->optimist, &s->ridge,
                                  s->alpha * tarry__ucb_radius(s));
    return TARRY_OK;
}

static tarry__policy_use observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    (void)round;
    tarry__ucb_learn(state, arm, loss);
    return TARRY__POLICY_USED;
}

static void revise(void *state, uint64_t round, size_t arm, double old,
                   double loss)
{
    (void)round;
    tarry__ucb_credit(state, arm, loss - old);
}

const tarry__policy_type tarry__linear_linucb = {
    .name = "linucb",
    .source = "Abbasi-Yadkori et al. 2011",
    .summary = "optimism on what has arrived",
    .settings = settings,
    .state_size = sizeof(tarry__ucb),
    .init = tarry__ucb_init,
    .choose = choose,
    .observe = observe,
    .revise = revise,
    .status = tarry__ucb_status,
    .archive = tarry__ucb_archive,
    .clear = tarry__ucb_clear,
    .narrowed = tarry__ucb_narrowed,
    .reserve = tarry__ucb_reserve,
    .rearranged = tarry__ucb_rearranged,
};
