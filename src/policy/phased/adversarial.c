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
 * Departures from the printed text: as in phased_stochastic.c. */
#include "policy/phased/phased.h"

static const tarry__phased_rule rule = {
    .linear = true, .cut = 2, .quota = tarry__phased_quota};

static void start_sweep(tarry__phased *ph)
{
    for (size_t i = 0; i < ph->n_plan; i++) {
        const tarry_plan_entry *e = &ph->plan[i];
        ph->tally[i].left =
            e->observed < e->target ? e->target - e->observed : 0;
    }
    ph->cursor = 0;
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    tarry__phased *ph = state;
    if (tarry__phased_is_guided(ph))
        return tarry__phased_guided_choose(ph, round, arm);
    while (ph->n_active > 1) {
        if (tarry__phased_sweep(ph, arm))
            return tarry__phased_note(ph, *arm);
        if (ph->n_short > 0) {
            start_sweep(ph);
            continue;
        }
        const tarry_status status = tarry__phased_advance(ph, round);
        if (status != TARRY_OK)
            return status;
    }
    *arm = ph->active[0];
    return tarry__phased_note(ph, *arm);
}

const tarry__policy_type tarry__phased_adversarial = {
    .name = "phased-adversarial",
    .source = "Algorithm 2",
    .summary = "delays by an adversary who picks arms but sees no losses",
    .settings = tarry__phased_settings,
    .rule = &rule,
    .state_size = sizeof(tarry__phased),
    .init = tarry__phased_init,
    .choose = choose,
    .observe = tarry__phased_observe,
    .phase = tarry__phased_phase,
    .status = tarry__phased_status,
    .archive = tarry__phased_archive,
    .clear = tarry__phased_clear,
    .played = tarry__phased_played,
    .certify = tarry__phased_certify,
};
