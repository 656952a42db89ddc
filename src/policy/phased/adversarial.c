/* adversarial.c - Algorithm 2, for delays that an adversary sets per
 * arm, without looking at losses.
 *
 * Phase m: N, N(b) and the cut as in Algorithm 1, but nothing is left to chance
 * that an adversary could starve.  Each arm b of the design is played N(b)
 * times; then, while some S(b) is short, a sweep plays each short arm as often
 * as it is short when the sweep starts.  A sweep is played to its end.
 *
 * Theorem (loss-independent adversarial): regret O(sqrt(n T log(KT)) +
 * sigma_max log sigma_max): sweep i has at most sigma_max / i plays.
 *
 * Departures from the printed text: as in stochastic.c. */
#include "policy/phased/phased.h"

/* A sweep: what is short now. */
static void start_sweep(tarry__phased_plan *p)
{
    for (size_t i = 0; i < p->n_entries; i++) {
        const tarry_plan_entry *e = &p->entry[i];
        p->tally[i].left =
            e->observed < e->target ? e->target - e->observed : 0;
    }
    p->cursor = 0;
}

static tarry_status choose(tarry__phased *ph, uint64_t round, size_t *arm)
{
    while (ph->plan.n_active > 1) {
        if (tarry__phased_plan_next(&ph->plan, arm))
            return TARRY_OK;
        if (ph->plan.n_short > 0) {
            start_sweep(&ph->plan);
            continue;
        }
        const tarry_status status = tarry__phased_advance(ph, round);
        if (status != TARRY_OK)
            return status;
    }
    *arm = ph->plan.active[0];
    return TARRY_OK;
}

static const tarry__phased_algorithm algorithm = {
    .linear = true,
    .cut = 2,
    .lay = tarry__phased_lay_balanced,
    .quota = tarry__phased_quota,
    .share = tarry__phased_share_all,
    .choose = choose,
    .rule = {{&tarry__phased_paper, &tarry__phased_paper},
             {&tarry__phased_tight_full, &tarry__phased_tight_guided}},
    .read = tarry__phased_read_practical,
};

const tarry__policy_type tarry__phased_adversarial = {
    .name = "phased-adversarial",
    .source = "Algorithm 2",
    .summary = "delays by an adversary who picks arms but sees no losses",
    .settings = tarry__phased_settings,
    .rule = &algorithm,
    .state_size = sizeof(tarry__phased),
    TARRY__PHASED_SHARED,
    .played = tarry__phased_played,
    .certify = tarry__phased_certify,
};
