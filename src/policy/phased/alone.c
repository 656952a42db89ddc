/* alone.c - an algorithm that makes all plays itself.
 *
 * Where only designated plays count they are the first of the phase, so a round
 * tells whether a play was one. */
#include "policy/phased/phased.h"

static void start(tarry__phased *ph, uint64_t round)
{
    ph->plan.designated_end = ph->algorithm->designated_only
                                  ? round + tarry__phased_plan_plays(&ph->plan)
                                  : UINT64_MAX;
}

static tarry_status choose(tarry__phased *ph, uint64_t round, size_t *arm)
{
    return ph->algorithm->choose(ph, round, arm);
}

static tarry__policy_use observe(tarry__phased *ph, uint64_t round, size_t arm,
                                 double loss, tarry__policy_use use)
{
    (void)ph, (void)round, (void)arm, (void)loss;
    return use;
}

static void revised(tarry__phased *ph, uint64_t round, size_t arm, double old,
                    double loss)
{
    (void)ph, (void)round, (void)arm, (void)old, (void)loss;
}

/* After the last planned play of an arm none of it counts, but those that take
 * the place of cancelled ones. */
static void note_last(tarry__phased *ph, uint64_t round, uint32_t i)
{
    tarry__phased_tally *t = &ph->plan.tally[i];
    if (ph->algorithm->designated_only && t->left == 0 && t->last == UINT64_MAX)
        t->last = round;
}

/* A play by others is a planned one if its arm has some left.  Else, where only
 * designated plays count, those go on for a round longer. */
static void played(tarry__phased *ph, uint64_t round, size_t arm)
{
    tarry__phased_plan *p = &ph->plan;
    const uint32_t i = p->entry_of[arm];
    const bool designated = ph->algorithm->designated_only;
    if (i == TARRY__PHASED_NO_ENTRY || p->tally[i].left == 0) {
        p->designated_end += designated && round < p->designated_end;
        return;
    }
    if (designated &&
        (round >= p->designated_end || p->tally[i].last != UINT64_MAX))
        tarry__phased_plan_replace(p, round);
    p->tally[i].left--;
    note_last(ph, round, i);
}

static void cancelled(tarry__phased *ph, uint64_t round, size_t arm,
                      bool counted)
{
    (void)ph, (void)round, (void)arm, (void)counted;
}

static void expired(tarry__phased *ph, uint64_t round, size_t arm, bool gone)
{
    (void)ph, (void)round, (void)arm, (void)gone;
}

static size_t best(const tarry__phased *ph)
{
    return ph->best;
}

const tarry__phased_company tarry__phased_alone = {
    .draws = true,
    .start = start,
    .choose = choose,
    .observe = observe,
    .revised = revised,
    .played = played,
    .cancelled = cancelled,
    .expired = expired,
    .best = best,
};

/* An active arm to play while waiting: the best so far, or the plan in turn
 * while there are no estimates. */
static size_t waiting_arm(tarry__phased *ph)
{
    return ph->n_estimates > 0 ? ph->best : tarry__phased_plan_turn(&ph->plan);
}

/* Algorithms 3 and 4: the designated plays, then the wait. */
tarry_status tarry__phased_choose_designated(tarry__phased *ph, uint64_t round,
                                             size_t *arm)
{
    bool enough;
    while (ph->plan.n_active > 1) {
        if (tarry__phased_plan_next(&ph->plan, arm)) {
            const uint32_t i = ph->plan.entry_of[*arm];
            if (round >= ph->plan.designated_end ||
                ph->plan.tally[i].last != UINT64_MAX)
                tarry__phased_plan_replace(&ph->plan, round);
            note_last(ph, round, i);
            return TARRY_OK;
        }
        tarry_status status = ph->rule->has_enough(ph, &enough);
        if (status == TARRY_OK && !enough) {
            *arm = waiting_arm(ph);
            return TARRY_OK;
        }
        if (status == TARRY_OK)
            status = tarry__phased_advance(ph, round);
        if (status != TARRY_OK)
            return status;
    }
    *arm = ph->plan.active[0];
    return TARRY_OK;
}
