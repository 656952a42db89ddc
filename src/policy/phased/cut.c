/* cut.c - cuts=always: arms are cut as soon as all data together say so.
 *
 * Phases cut at their ends, by their own losses.  The bounds of books.h hold at
 * all times at once whoever chose the plays, the guide's included: an arm whose
 * difference to another they place above 0 is not the best, and going without
 * it needs no play and no further failure probability than the certificate has
 * anyway.  The phases remain what keeps the bound on the regret.
 *
 * If plays of such an arm are still planned, and the plan forces plays, the
 * phase is planned anew, for fewer arms; to keep phases short, only when a
 * tenth of the arms goes, and before the phase has lasted as long as its plan
 * may take.  Otherwise such arms stay until it ends.
 *
 * Looks are at rounds m 2^k, m = 8 .. 15, from round K on: a look costs as much
 * as some rounds' choices among K arms. */
#include "policy/phased/phased.h"

static bool is_time_to_look(const tarry__phased *ph, uint64_t round)
{
    const int octave = 63 - __builtin_clzll(round);
    return octave >= 5 && round >= ph->problem->n_arms &&
           (round & ((UINT64_C(1) << (octave - 3)) - 1)) == 0;
}

static bool may_be_best(const tarry__phased *ph, size_t i)
{
    return ph->books.bounds[i] >= 0;
}

static bool is_planned(const tarry__phased *ph, size_t i)
{
    return ph->plan.entry_of[ph->plan.active[i]] != TARRY__PHASED_NO_ENTRY;
}

/* How many arms can go, and how many of them are planned. */
static size_t count_bad(const tarry__phased *ph, size_t *planned)
{
    size_t bad = 0;
    *planned = 0;
    for (size_t i = 0; i < ph->plan.n_active; i++)
        if (!may_be_best(ph, i)) {
            bad++;
            *planned += is_planned(ph, i);
        }
    return bad;
}

static bool is_worth_a_plan(const tarry__phased *ph, uint64_t round, size_t bad)
{
    const double longest =
        (1 + ph->choices.share) * (double)tarry__phased_plan_plays(&ph->plan);
    return 10 * bad >= ph->plan.n_active &&
           (double)(round - ph->entered) <= longest;
}

/* The arms that stay, in their order. */
static void shrink(tarry__phased *ph)
{
    tarry__phased_plan *p = &ph->plan;
    size_t n = 0;
    for (size_t i = 0; i < p->n_active; i++)
        if (may_be_best(ph, i) || (!ph->pace.idle && is_planned(ph, i)))
            p->active[n++] = p->active[i];
    p->n_active = n;
    tarry__guide_narrow(&ph->guide, p->active, p->n_active);
}

/* What the phases thought best may be gone. */
static void look_up(tarry__phased *ph, size_t arm, double gap)
{
    if (!tarry__phased_is_active(ph, ph->best))
        ph->best = arm;
    if (tarry__phased_is_active(ph, ph->exploit))
        return;
    ph->exploit = arm;
    ph->certificate = gap < 2 ? gap : 2;
}

tarry_status tarry__phased_cut(tarry__phased *ph, uint64_t round)
{
    size_t arm, planned;
    double gap;
    if (!ph->choices.cuts || ph->plan.n_active == 1 || ph->pace.prelude ||
        !is_time_to_look(ph, round))
        return TARRY_OK;
    tarry_status status = TARRY_OK;
    tarry__phased_books_bound(ph, &arm, &gap);
    const size_t bad = count_bad(ph, &planned);
    if (bad == 0)
        return TARRY_OK;
    if (planned > 0 && !ph->pace.idle && is_worth_a_plan(ph, round, bad))
        status = tarry__phased_replan(ph, round, may_be_best);
    else
        shrink(ph);
    if (status == TARRY_OK)
        look_up(ph, arm, gap);
    return status;
}
