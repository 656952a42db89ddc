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
 * all quotas are played a sweep asks again for what is missing.  Where they may
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

static void open_sweep(tarry__phased *ph, uint64_t round, uint64_t left)
{
    ph->pace.start = round;
    ph->pace.made = 0;
    ph->pace.left = left;
}

/* What each arm of the plan costs, as far as is known. */
static void price(tarry__phased *ph)
{
    if (tarry__books_fit(&ph->books) != TARRY_OK)
        return; /* the order is then that of the plan, or the old one */
    for (size_t i = 0; i < ph->n_plan; i++)
        ph->tally[i].mean = ph->books.means[ph->plan[i].arm];
}

void tarry__phased_guided_start(tarry__phased *ph, uint64_t round)
{
    if (!tarry__phased_is_guided(ph))
        return;
    tarry__guide_narrow(&ph->guide, ph->active, ph->n_active);
    open_sweep(ph, round, ph->missing);
    const double needed = (1 + ph->pace.share) * (double)ph->missing;
    ph->pace.idle =
        (double)round + 2 * needed > (double)ph->problem->horizon + 1;
    ph->pace.warm = ph->practice.regret && ph->phase == 1 && round == 1;
    if (ph->books.plays != NULL)
        price(ph);
}

/* ---- within a phase -------------------------------------------------------*/

/* Algorithms 1 and 2: what has not arrived is asked for again. */
static void ask_again(tarry__phased *ph, uint64_t round)
{
    uint64_t left = 0;
    for (size_t i = 0; i < ph->n_plan; i++) {
        ph->tally[i].left = ph->plan[i].target - ph->plan[i].observed;
        left += ph->tally[i].left;
    }
    open_sweep(ph, round, left);
    price(ph);
}

static bool is_due(const tarry__phased *ph, uint64_t round)
{
    const tarry__phased_pace *p = &ph->pace;
    return p->left > 0 && !p->idle && !p->warm &&
           (1 + p->share) * (double)(p->made + 1) <=
               (double)(round - p->start + 1);
}

/* Among the arms with an open quota the one that looks best. */
static size_t cheapest(const tarry__phased *ph)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < ph->n_plan; i++)
        if (ph->tally[i].left > 0 && ph->tally[i].mean < least) {
            least = ph->tally[i].mean;
            best = i;
        }
    return ph->plan[best].arm;
}

static void use_quota(tarry__phased *ph, uint64_t round, size_t arm)
{
    const uint32_t i = ph->entry_of[arm];
    if (i == TARRY__PHASED_NO_ENTRY || ph->tally[i].left == 0)
        return;
    ph->pace.made++;
    ph->pace.left--;
    if (--ph->tally[i].left == 0 && ph->tally[i].last == UINT64_MAX)
        ph->tally[i].last = round;
}

/* After as many rounds as the near design has plays, if half as many losses are
 * there; or when as many rounds are over as the phase may last. */
static bool is_warm_enough(const tarry__phased *ph, uint64_t round)
{
    const tarry__phased_pace *p = &ph->pace;
    return (round > p->left && ph->books.learned >= p->left / 2) ||
           (double)round > (1 + p->share) * (double)p->left;
}

/* Whether the plan's plays have been made, though some may be asked for
 * again. */
static bool all_played(const tarry__phased *ph)
{
    return ph->pace.left == 0 || ph->pace.start != ph->phase_start;
}

/* Ends phases that can end; opens sweeps. */
static tarry_status move_on(tarry__phased *ph, uint64_t round)
{
    tarry_status status = TARRY_OK;
    if (ph->pace.warm && is_warm_enough(ph, round))
        status = tarry__phased_replan(ph, round);
    while (status == TARRY_OK && ph->n_active > 1) {
        bool enough = false;
        if (all_played(ph))
            status = tarry__phased_has_enough(ph, &enough);
        if (status != TARRY_OK || !enough)
            break;
        status = tarry__phased_advance(ph, round);
    }
    if (status == TARRY_OK && ph->n_active > 1 && ph->pace.left == 0 &&
        !ph->rule->designated_only)
        ask_again(ph, round);
    return status;
}

tarry_status tarry__phased_guided_choose(tarry__phased *ph, uint64_t round,
                                         size_t *arm)
{
    tarry_status status = move_on(ph, round);
    if (status != TARRY_OK)
        return status;
    const bool forced = ph->n_active == 1 || is_due(ph, round);
    if (ph->n_active == 1)
        *arm = ph->active[0];
    else if (forced)
        *arm = cheapest(ph);
    else
        status = tarry__guide_choose(&ph->guide, round, ph->best, arm);
    if (status != TARRY_OK)
        return status;
    if (forced)
        tarry__guide_played(&ph->guide, round, *arm);
    if (!ph->pace.warm)
        use_quota(ph, round, *arm);
    return tarry__phased_note(ph, *arm);
}
