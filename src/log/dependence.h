/* dependence.h - does the delay depend on the loss?
 *
 * Of a decision with delay d, loss l and age A both d and l are seen if d <= A.
 * Two such decisions are comparable if both delays are at most both ages: then
 * either could have had the other's delay and would still have been seen.  If
 * delay and loss are independent given the arm, which of the two comparable
 * ones was later says nothing about which lost more, however the ages cut the
 * data.  The statistic of a stratum is
 *
 *     T = sum over comparable pairs of sign(d_i - d_j) (R_i - R_j)
 *       = sum over i of R_i a_i,   a_i = sum over j of sign(d_i - d_j),
 *
 * with R the midranks of the losses.  With +/-1 losses it is Kendall's tau over
 * comparable pairs; ties in either count for nothing.  Since d_j < d_i and
 * comparable means d_j < d_i <= A_j, and likewise the other way round,
 *
 *     a_i = #{A_j >= d_i} - #{d_j >= d_i} - #{d_i < d_j <= A_i}:
 *
 * three counts in sorted lists, so all of it takes N log N.
 *
 * Strata are arms, and stretches of time within an arm, so that losses and
 * delays may both drift slowly.  The null is that of permuting losses within a
 * stratum: exact whatever set the delays (heavy tails, a law per arm, bursts,
 * an adversary that does not see losses), given that the losses of an arm are
 * exchangeable within a stretch.
 *
 * Three numbers look for three kinds of dependence: T pooled over all strata
 * (the same direction in every arm), the sum of its squares by arm (any
 * direction in any arm), and T pooled with the distance of R from the middle
 * in place of R (extreme losses late).  The smallest of their three p-values,
 * by normal and chi-square limits, is the statistic whose place among
 * permutations is the p-value; they stop once a hundred were as extreme (Besag
 * and Clifford 1991).  From some million outcomes on three times the smallest
 * will do.  p-values are given 1.4 times as large as they are, so that at most
 * 5 % false alarms is not only what is expected but what is counted. */
#ifndef TARRY_DEPENDENCE_H
#define TARRY_DEPENDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    size_t count; /* decisions whose outcome is seen */
    size_t n_arms;
    const uint32_t *arm; /* each below n_arms; in order of the decisions */
    const double *loss, *delay, *age;
    uint64_t seed; /* of the permutations */
} tarry__dependence_pairs;

/* What was found in one arm. */
typedef struct {
    size_t count;       /* outcomes */
    double pairs;       /* comparable, with different delays */
    double correlation; /* rank correlation: above 0, high losses are late */
    double z, p_value;  /* NaN: nothing to compare */
} tarry__dependence_arm;

typedef struct {
    double p_value;     /* 1 if there is nothing to compare */
    double correlation; /* pooled: above 0, high losses are late */
    double z;           /* of the pooled T */
    double low, high;   /* 95 % interval of the correlation */
    size_t compared;    /* outcomes in strata where both vary */
    size_t grouped;     /* outcomes with another in their stratum */
    size_t strata;
    uint64_t permutations;         /* 0: normal and chi-square limits instead */
    tarry__dependence_arm *by_arm; /* n_arms of them */
} tarry__dependence_found;

/* Tests; the caller ends *found with tarry__dependence_clear.  False: out of
 * memory. */
bool tarry__dependence_test(const tarry__dependence_pairs *pairs,
                            tarry__dependence_found *found);
void tarry__dependence_clear(tarry__dependence_found *found);

/* Puts numbers into an order drawn from *state, which moves on. */
void tarry__dependence_shuffle(double *x, size_t count, uint64_t *state);

#endif
