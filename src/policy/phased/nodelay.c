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
#include "base/elementary.h"
#include "policy/phased/phased.h"

static double quota(const tarry__phased_task *task, double min_weight)
{
    const double m = (double)task->phase;
    (void)min_weight;
    return 2 * (double)task->problem->dim *
           (tarry__phased_log_kt(task) + tarry__ln(m * (m + 1))) /
           (task->epsilon * task->epsilon);
}

/* One loss: its ceiling. */
static double share(const tarry__phased_task *task)
{
    (void)task;
    return 1e-300;
}

/* V from what was seen: as if no more had been planned. */
static const tarry__phased_rule rule = {
    .counting = TARRY__PHASED_COUNT_SEEN,
    .plan = tarry__phased_paper_plan,
    .measure = tarry__phased_paper_measure,
    .judge = tarry__phased_paper_judge,
    .has_enough = tarry__phased_is_full,
};

/* The first arm of the plan of which no loss has come. */
static size_t unseen_arm(const tarry__phased_plan *p)
{
    size_t i = 0;
    while (i + 1 < p->n_entries && p->entry[i].observed > 0)
        i++;
    return p->entry[i].arm;
}

static tarry_status choose(tarry__phased *ph, uint64_t round, size_t *arm)
{
    while (ph->plan.n_active > 1) {
        if (tarry__phased_plan_next(&ph->plan, arm))
            return TARRY_OK;
        if (ph->plan.n_short > 0) {
            *arm = unseen_arm(&ph->plan);
            return TARRY_OK;
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
    .quota = quota,
    .share = share,
    .choose = choose,
    .rule = {{&rule, NULL}, {NULL, NULL}},
    .read = tarry__phased_read_paper,
};

const tarry__policy_type tarry__phased_nodelay = {
    .name = "phased-nodelay",
    .source = "Lattimore and Szepesvari 2020, ch. 22",
    .summary = "phased elimination that waits for nothing",
    .settings = tarry__phased_paper_settings,
    .rule = &algorithm,
    .state_size = sizeof(tarry__phased),
    TARRY__PHASED_SHARED,
};
