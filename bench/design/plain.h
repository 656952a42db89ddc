/* plain.h - what the solver is held against, in the plainest form: one read of
 * the matrix, and g by the formula. */
#ifndef BENCH_PLAIN_H
#define BENCH_PLAIN_H

#include "arm_set.h"

/* The sum of all entries, read by all threads. */
double plain_sum(const arm_set *set);

/* g = max of a' V^-1 a over all arms with V = sum of weight[i] a a' over the
 * arms arm[i]; NaN if V is singular. */
double plain_worst_variance(const arm_set *set, const size_t *arm,
                            const double *weight, size_t n_support);

#endif
