/* loss_dependent.c - Algorithm 3, for delays that may depend on the loss
 * itself: late because it was bad, or good, or never.
 *
 * What arrives early is then no fair sample, so the sample is fixed before any
 * of it is seen.  Phase m: N = max(16 n log(KT) / eps^2, 24 sqrt(n) log(T) /
 * (eps w_min)).  Each arm b of the design is played N(b) = ceil(N w(b)) times;
 * these plays, and only these, count.  Then the best arm so far is played until
 * every b has (1 - eps / sqrt(n)) N(b) of its designated losses.  The missing
 * ones are completed both ways (estimate.c), which brackets each arm's loss:
 * keep a iff lower(a) - min_b upper(b) <= 6 eps.
 *
 * Theorem (loss-dependent): regret O(sqrt(n T log(KT)) + log(T)^2 n^{3/2}
 * loglog n + sqrt(n) log(T) max_a E[d(a)]); sqrt(n) is needed (lower bound).
 *
 * Departures from the printed text: the pessimistic estimator has its minus
 * sign, which the display lacks; the cut is that of the appendix, in the main
 * text a and b, plus and minus are exchanged; the second quota uses the
 * measured smallest weight where the paper bounds it by 1 / (2 n log log n);
 * with g <= 4n the bracket is up to 2 sqrt(2) eps wide each way, not eps, so
 * arms that survive are within a larger multiple of eps: the cut stays safe. */
#include "policy/phased/phased.h"

#include <math.h>

static double quota(const tarry__phased_task *task, double min_weight)
{
    const double wait = 24 * sqrt((double)task->problem->dim) *
                        tarry__phased_log_t(task) /
                        (task->epsilon * min_weight);
    return fmax(tarry__phased_quota(task, min_weight), wait);
}

static double share(const tarry__phased_task *task)
{
    return 1 - task->epsilon / sqrt((double)task->problem->dim);
}

static const tarry__phased_algorithm algorithm = {
    .linear = true,
    .designated_only = true,
    .cut = 6,
    .lay = tarry__phased_lay_balanced,
    .quota = quota,
    .share = share,
    .choose = tarry__phased_choose_designated,
    .rule = {{&tarry__phased_paper, &tarry__phased_paper},
             {&tarry__phased_tight_bracketed, &tarry__phased_tight_guided}},
    .read = tarry__phased_read_practical,
};

const tarry__policy_type tarry__phased_loss_dependent = {
    .name = "phased-loss-dependent",
    .source = "Algorithm 3",
    .any_delays = true,
    .summary = "delays that may depend on the loss, delay as payoff included",
    .settings = tarry__phased_settings,
    .rule = &algorithm,
    .state_size = sizeof(tarry__phased),
    TARRY__PHASED_SHARED,
    .revise = tarry__phased_revise,
    .played = tarry__phased_played,
    .certify = tarry__phased_certify,
};
