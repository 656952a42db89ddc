/* opse.c - optimistic-pessimistic successive elimination.
 *
 * Source: Lancewicki, Segal, Koren, Mansour, "Stochastic multi-armed bandits
 * with unrestricted delay distributions", 2021, for delays that depend on the
 * reward.
 *
 * Idea: play the active arms in turn; complete the missing losses of an arm
 * with the least and the largest loss, -1 and +1.  With m(a) plays of arm a,
 * S(a) the sum of the losses that arrived, and missing(a) the others, cut a iff
 *     (S(a) - missing(a)) / m(a) - w(a) >
 *         min_b (S(b) + missing(b)) / m(b) + w(b),  w = sqrt(2 log T / m).
 * All plays count, arrived or not, so no choice of which losses come late can
 * bias it: the best arm is safe under any delays.  Algorithm 4 (phased-mab) is
 * this idea in phases.
 *
 * Uncertain: written from the idea as later papers state it, not from the
 * text; on the width see se_delayed.c. */
#include "policy/plain/counts.h"

#include <math.h>

/* After a turn, so that every arm was played, if not all its plays have been
 * called off. */
static tarry_estimate bracket(const void *state, const tarry__plain_count *arm)
{
    const tarry__counts *c = state;
    const double m = (double)arm->played;
    const double missing = (double)tarry__plain_missing(arm);
    if (arm->played == 0)
        return (tarry_estimate){-INFINITY, INFINITY};
    const double width = c->scale * sqrt(2 * tarry__counts_log(c, m) / m);
    return (tarry_estimate){(arm->sum - missing) / m - width,
                            (arm->sum + missing) / m + width};
}

static const tarry__plain_elimination_rule rule = {bracket};

const tarry__policy_type tarry__plain_opse = {
    .name = "opse",
    .source = "Lancewicki et al. 2021",
    .any_delays = true,
    .summary = "successive elimination with missing losses completed by -1 "
               "and +1; any delays",
    .rule = &rule,
    TARRY__PLAIN_ELIMINATION,
};
