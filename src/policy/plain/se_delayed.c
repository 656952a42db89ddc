/* se_delayed.c - successive elimination on what has arrived.
 *
 * Source: Lancewicki, Segal, Koren, Mansour, "Stochastic multi-armed bandits
 * with unrestricted delay distributions", 2021.
 *
 * Idea: play the active arms in turn; after each turn, with n(a) losses of arm
 * a arrived, cut a iff
 *     mean(a) - w(a) > min_b (mean(b) + w(b)),  w(a) = sqrt(2 log T / n(a)).
 * An arm without losses is neither cut nor a reason to cut.  For delays that
 * are independent of the losses; if low losses come late the means are biased,
 * and the best arm can be cut (see opse).
 *
 * Uncertain: written from the idea as later papers state it, not from the
 * text.  The width is for rewards in [0, 1] there, where one interval fails
 * with probability T^-4; for losses in [-1, 1] it is T^-1, and scale=2 gives
 * T^-4 back. */
#include "policy/plain/counts.h"

#include <math.h>

static tarry_estimate bracket(const void *state, const tarry__plain_count *arm)
{
    const tarry__counts *c = state;
    const double n = (double)arm->arrived;
    if (arm->arrived == 0)
        return (tarry_estimate){-INFINITY, INFINITY};
    const double mean = arm->sum / n;
    const double width = c->scale * sqrt(2 * tarry__counts_log(c, n) / n);
    return (tarry_estimate){mean - width, mean + width};
}

static const tarry__plain_elimination_rule rule = {bracket};

const tarry__policy_type tarry__plain_se_delayed = {
    .name = "se-delayed",
    .source = "Lancewicki et al. 2021",
    .summary = "successive elimination on arrivals; delays that do not depend "
               "on losses",
    .rule = &rule,
    TARRY__PLAIN_ELIMINATION,
};
