/* guided.c - the phases of phased.h with another policy's plays in between.
 *
 * The proofs need that every play is of an active arm and that a phase is not
 * much longer than the N(b) plays it plans.  So up to c plays between two
 * designated ones may be anybody's: the guide's, who learns from all losses and
 * chooses among the active arms.
 *
 * The first N(b) plays of arm b in a phase are its designated ones, whoever
 * chose them; that is decided at the play, before its loss exists.  A play is
 * forced when less than one in 1 + c had an open quota, and then it is of the
 * arm that looks best among those with one.  If delays do not look at losses
 * (Algorithms 1 and 2), the first N(b) losses of b to arrive count, and once
 * all quotas are played what is missing is asked for again.  Where they may
 * (3 and 4), the losses of the designated plays count, and the guide plays
 * while they are waited for.
 *
 * A phase forces nothing if it may end only in the second half of what is left
 * of the horizon: it would teach too late.  The guide plays on, and should it
 * fill the quotas by itself, the phase ends all the same.
 *
 * With design=regret phase 1 starts with as many plays of the guide alone as
 * its near design would make, so that there are gaps to go by. */
#include "policy/phased/phased.h"

#include <math.h>

/* ---- a new phase ----------------------------------------------------------*/

static void ask_for(tarry__phased *ph, uint64_t round, uint64_t left)
{
    ph->pace.start = round;
    ph->pace.made = 0;
    ph->pace.left = left;
}

/* What each arm of the plan costs, as far as is known. */
static void price(tarry__phased *ph)
{
    if (!tarry__books_fit(&ph->books))
        return; /* the order is then that of the plan, or the old one */
    for (size_t i = 0; i < ph->plan.n_entries; i++)
        ph->plan.tally[i].mean = ph->books.means[ph->plan.entry[i].arm];
}

/* In the prelude no play is designated. */
static void start(tarry__phased *ph, uint64_t round)
{
    tarry__phased_pace *pace = &ph->pace;
    tarry__guide_narrow(&ph->guide, ph->plan.active, ph->plan.n_active);
    ask_for(ph, round, ph->plan.missing);
    const double needed = (1 + ph->choices.share) * (double)ph->plan.missing;
    pace->idle = ph->choices.confidence == 0 && ph->problem->confidence == 0 &&
                 (double)round + 2 * needed > (double)ph->problem->horizon + 1;
    pace->prelude = ph->choices.regret && ph->phase == 1 && round == 1;
    ph->plan.designated_end = pace->prelude ? 0 : UINT64_MAX;
    price(ph);
}

/* ---- within a phase -------------------------------------------------------*/

/* Algorithms 1 and 2: what has not arrived is asked for again. */
static void ask_again(tarry__phased *ph, uint64_t round)
{
    tarry__phased_plan *p = &ph->plan;
    uint64_t left = 0;
    for (size_t i = 0; i < p->n_entries; i++) {
        p->tally[i].left = p->entry[i].target - p->entry[i].observed;
        left += p->tally[i].left;
    }
    ask_for(ph, round, left);
    price(ph);
}

static bool is_due(const tarry__phased *ph, uint64_t round)
{
    const tarry__phased_pace *p = &ph->pace;
    return p->left > 0 && !p->idle && !p->prelude &&
           (1 + ph->choices.share) * (double)(p->made + 1) <=
               (double)(round - p->start + 1);
}

/* Among the arms with an open quota the one that looks best. */
static size_t cheapest(const tarry__phased_plan *p)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < p->n_entries; i++)
        if (p->tally[i].left > 0 && p->tally[i].mean < least) {
            least = p->tally[i].mean;
            best = i;
        }
    return p->entry[best].arm;
}

/* The play is one that the plan asks for, if its arm has a quota open. */
static void use_quota(tarry__phased *ph, uint64_t round, size_t arm)
{
    const uint32_t i = ph->plan.entry_of[arm];
    if (i == TARRY__PHASED_NO_ENTRY || ph->plan.tally[i].left == 0)
        return;
    ph->pace.made++;
    ph->pace.left--;
    if (ph->plan.tally[i].last != UINT64_MAX)
        tarry__phased_plan_replace(&ph->plan, round);
    if (--ph->plan.tally[i].left == 0 && ph->algorithm->designated_only &&
        ph->plan.tally[i].last == UINT64_MAX)
        ph->plan.tally[i].last = round;
}

/* After as many rounds as the near design has plays, if half as many losses are
 * there; or when as many rounds are over as the phase may last. */
static bool ends_prelude(const tarry__phased *ph, uint64_t round)
{
    const tarry__phased_pace *p = &ph->pace;
    return (round > p->left && ph->books.learned >= p->left / 2) ||
           (double)round > (1 + ph->choices.share) * (double)p->left;
}

/* Whether the plan's plays have been made, though some may be asked for
 * again. */
static bool all_played(const tarry__phased *ph)
{
    return ph->pace.left == 0 || ph->pace.start != ph->phase_start;
}

/* Ends phases that can end; asks again. */
static tarry_status move_on(tarry__phased *ph, uint64_t round)
{
    tarry_status status = TARRY_OK;
    if (ph->pace.prelude && ends_prelude(ph, round))
        status = tarry__phased_replan(ph, round, NULL);
    while (status == TARRY_OK && ph->plan.n_active > 1) {
        bool enough = false;
        if (all_played(ph))
            status = ph->rule->has_enough(ph, &enough);
        if (status != TARRY_OK || !enough)
            break;
        status = tarry__phased_advance(ph, round);
    }
    if (status == TARRY_OK && ph->plan.n_active > 1 && ph->pace.left == 0 &&
        !ph->algorithm->designated_only)
        ask_again(ph, round);
    return status;
}

static tarry_status choose(tarry__phased *ph, uint64_t round, size_t *arm)
{
    tarry_status status = move_on(ph, round);
    if (status == TARRY_OK)
        status = tarry__phased_cut(ph, round);
    if (status != TARRY_OK)
        return status;
    const bool forced = ph->plan.n_active == 1 || is_due(ph, round);
    if (ph->plan.n_active == 1)
        *arm = ph->plan.active[0];
    else if (forced)
        *arm = cheapest(&ph->plan);
    else
        status = tarry__guide_choose(&ph->guide, round, ph->best, arm);
    ph->chance = forced ? 1 : -1;
    if (status != TARRY_OK)
        return status;
    if (forced)
        tarry__guide_played(&ph->guide, round, *arm);
    if (!ph->pace.prelude)
        use_quota(ph, round, *arm);
    return TARRY_OK;
}

/* ---- the guide learns from everything -------------------------------------*/

static tarry__policy_use observe(tarry__phased *ph, uint64_t round, size_t arm,
                                 double loss, tarry__policy_use use)
{
    tarry__guide_observe(&ph->guide, round, arm, loss);
    return use == TARRY__POLICY_IGNORED ? TARRY__POLICY_USED : use;
}

static void revised(tarry__phased *ph, uint64_t round, size_t arm, double old,
                    double loss)
{
    tarry__guide_revise(&ph->guide, round, arm, old, loss);
}

/* Whoever chose it: it is designated if its arm has a quota open. */
static void played(tarry__phased *ph, uint64_t round, size_t arm)
{
    tarry__guide_played(&ph->guide, round, arm);
    if (!ph->pace.prelude && ph->plan.n_active > 1)
        use_quota(ph, round, arm);
}

static void cancelled(tarry__phased *ph, uint64_t round, size_t arm,
                      bool counted)
{
    if (counted) {
        ph->pace.left++;
        ph->pace.made -= ph->pace.made > 0;
    }
    tarry__guide_cancel(&ph->guide, round, arm);
}

static void expired(tarry__phased *ph, uint64_t round, size_t arm, bool gone)
{
    tarry__guide_expire(&ph->guide, round, arm, gone);
}

/* An arm that is gone stays in the plan until the next choice, which never
 * comes when the horizon is over. */
static size_t best(const tarry__phased *ph)
{
    const size_t arm = ph->plan.n_active > 1
                           ? tarry__guide_best(&ph->guide, ph->best)
                           : ph->best;
    return tarry__policy_may_choose(ph->problem, arm) ? arm : ph->best;
}

const tarry__phased_company tarry__phased_guided = {
    .draws = false,
    .start = start,
    .choose = choose,
    .observe = observe,
    .revised = revised,
    .played = played,
    .cancelled = cancelled,
    .expired = expired,
    .best = best,
};
