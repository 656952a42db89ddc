/* logrank.h - do groups of decisions wait alike for their outcomes?
 *
 * At each time t of an outcome let d of the n decisions that have been out for
 * t get their outcome then, and n_k of the n be of group k.  If groups are
 * alike, the number of outcomes of group k at t is hypergeometric (Mantel
 * 1966):
 *     E_k = d n_k / n,
 *     V_kl = d (n - d) / (n - 1) (n_k / n) ([k = l] - n_l / n).
 * With O the outcomes seen and all sums over t, (O - E)' V^-1 (O - E) over all
 * groups but one is about a chi-square with groups - 1 degrees of freedom. */
#ifndef TARRY_LOG_LOGRANK_H
#define TARRY_LOG_LOGRANK_H

#include "log/survival.h"

/* The p-value for `groups` groups, decision i being in group[i]; `curve` is
 * that of all decisions, made of the same times.  Groups of which fewer than 5
 * outcomes are expected count as one, with the smallest of the others if even
 * of all of them fewer than 5 are; and so do all but the 100 of which most are.
 * NaN if there is nothing to compare.  False: out of memory. */
bool tarry__logrank(const tarry__survival *curve, const double *time,
                    const bool *seen, const uint32_t *group, size_t count,
                    size_t groups, double *p_value);

#endif
