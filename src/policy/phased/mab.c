/* mab.c - Algorithm 4, Algorithm 3 for arms without features.
 *
 * Phase m: every active arm is played N = ceil(24 log(KT) / eps^2) times; then
 * the best arm so far is played until each has (1 - eps) N of these losses.
 * mu-/+ (a) = (sum -/+ missing) / N; keep a iff mu-(a) - min_b mu+(b) <= 4 eps.
 *
 * Theorem (MAB, loss-dependent): regret O(sqrt(K T log(KT)) + log(T) max_a
 * E[d(a)]): no factor sqrt(n), because each arm is learned by itself.
 *
 * Departures from the printed text: the theorem's n is the number of arms. */
#include "policy/phased/phased.h"

#include <math.h>

static double quota(const tarry__phased_task *task, double min_weight)
{
    (void)min_weight;
    return 24 * tarry__phased_log_kt(task) / (task->epsilon * task->epsilon);
}

static double share(const tarry__phased_task *task)
{
    return 1 - task->epsilon;
}

static const tarry__phased_algorithm algorithm = {
    .per_arm = true,
    .designated_only = true,
    .cut = 4,
    .lay = tarry__phased_lay_all,
    .quota = quota,
    .share = share,
    .choose = tarry__phased_choose_designated,
    .rule = {{&tarry__phased_paper, &tarry__phased_paper},
             {&tarry__phased_tight_bracketed, &tarry__phased_tight_guided}},
    .read = tarry__phased_read_practical,
};

const tarry__policy_type tarry__phased_mab = {
    .name = "phased-mab",
    .source = "Algorithm 4",
    .any_delays = true,
    .summary = "as phased-loss-dependent, for arms whose features mean nothing",
    .plain = true,
    .settings = tarry__phased_settings,
    .rule = &algorithm,
    .state_size = sizeof(tarry__phased),
    TARRY__PHASED_SHARED,
    .revise = tarry__phased_revise,
    .played = tarry__phased_played,
    .certify = tarry__phased_certify,
};
