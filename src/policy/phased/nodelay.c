/* nodelay.c - phased elimination that has never heard of delays.
 *
 * Source: Lattimore and Szepesvari, "Bandit Algorithms", 2020, chapter 22.
 * Phase m plays arm b of the design N(b) = ceil(2 n w(b) log(K m (m+1) T) /
 * eps^2) times, with eps = 2^-m and probability 1/T of failure, estimates, and
 * keeps a iff <theta, a> - min_b <theta, b> <= 2 eps.
 *
 * It waits for nothing: when the plays are done, it estimates from what has
 * arrived of them, V from what was seen.  Short samples then make poor
 * estimates that are trusted like the others, and losses that come early
 * because of what they are make biased ones: what goes wrong without the paper.
 * Only an arm of the design of which nothing at all has come is played until a
 * loss comes, as there would be no estimate.
 *
 * Departure: the design is the paper's balanced one with g <= 4r at worst (in
 * practice below 2r) where the book's has g <= n or 2n. */
#include <math.h>
#include "policy/phased/phased.h"

static double quota(const tarry__phased *ph, double min_weight)
{
    const double m = (double)ph->phase;
    (void)min_weight;
    return 2 * (double)ph->problem->dim *
           (tarry__phased_log_kt(ph) + log(m * (m + 1))) /
           (ph->epsilon * ph->epsilon);
}

/* One loss: its ceiling. */
static double share(const tarry__phased *ph)
{
    (void)ph;
    return 1e-300;
}

static const tarry__phased_rule rule = {
    .linear = true, .cut = 2, .quota = quota, .share = share};

/* The first arm of the plan of which no loss has come. */
static size_t unseen_arm(const tarry__phased *ph)
{
    size_t i = 0;
    while (i + 1 < ph->n_plan && ph->plan[i].observed > 0)
        i++;
    return ph->plan[i].arm;
}

/* V from what was seen: the phase ends as if no more had been planned.  The
 * plan is put back should the phase not end for want of memory. */
static tarry_status advance(tarry__phased *ph, uint64_t round)
{
    for (size_t i = 0; i < ph->n_plan; i++) {
        ph->tally[i].left = ph->plan[i].target;
        ph->plan[i].target = ph->plan[i].observed;
    }
    const tarry_status status = tarry__phased_advance(ph, round);
    for (size_t i = 0; status != TARRY_OK && i < ph->n_plan; i++) {
        ph->plan[i].target = ph->tally[i].left;
        ph->tally[i].left = 0;
    }
    return status;
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    tarry__phased *ph = state;
    while (ph->n_active > 1) {
        if (tarry__phased_sweep(ph, arm))
            return TARRY_OK;
        if (ph->n_short > 0) {
            *arm = unseen_arm(ph);
            return TARRY_OK;
        }
        const tarry_status status = advance(ph, round);
        if (status != TARRY_OK)
            return status;
    }
    *arm = ph->active[0];
    return TARRY_OK;
}

const tarry__policy_type tarry__phased_nodelay = {
    .name = "phased-nodelay",
    .source = "Lattimore and Szepesvari 2020, ch. 22",
    .summary = "phased elimination that waits for nothing",
    .settings = tarry__phased_paper_settings,
    .rule = &rule,
    .state_size = sizeof(tarry__phased),
    .init = tarry__phased_init,
    .choose = choose,
    .observe = tarry__phased_observe,
    .phase = tarry__phased_phase,
    .status = tarry__phased_status,
    .archive = tarry__phased_archive,
    .clear = tarry__phased_clear,
};
