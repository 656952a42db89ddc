/* tight.h - the practical settings of a policy and what they promise. */
#ifndef TARRY_BOUND_TIGHT_H
#define TARRY_BOUND_TIGHT_H

#include "bound/bound.h"
#include "policy/phased/phased.h"

enum { TARRY__BOUND_SHARES = 200 }; /* quantiles tried for Algorithm 1 */

/* A bound's question. */
typedef struct {
    const tarry__world *world;
    double n, K, T, log_kt, promised_weight;
    int algorithm;                         /* 1 to 4 */
    const tarry__phased_algorithm *phased; /* the algorithm's record */
    tarry__phased_choices choices;         /* what the policy was told */
    bool tight, regret, guided;
    double share;                  /* c */
    double rank;                   /* of the arms; set once the plan is there */
    double first_g, first_stretch; /* of the first plan; see plan.h */
    double late_mean; /* sum_k max_a P(d(a) >= k), Algorithm 2 by chance */
    double *waits;    /* quantiles found so far, for tarry__bound_wait */
} tarry__bound_question;

/* max_a Q(q; a), infinite where feedback may never come; sigma of an adversary,
 * or what the mean of chance delays says of it; sigma (1 + log sigma). */
double tarry__bound_largest_quantile(const tarry__world *world, double q);
double tarry__bound_sigma(const tarry__bound_question *question);
double tarry__bound_sweeps(double sigma);

/* max_a Q(q; a), found once for a slot, of 0 to TARRY__BOUND_SHARES; and
 * max_a Q(1 - eps / share; a) of the phase with this eps. */
double tarry__bound_wait(const tarry__bound_question *question, size_t slot,
                         double q);
double tarry__bound_wait_by_phase(const tarry__bound_question *question,
                                  double eps, double share);

/* Fills the delay model, the phases and the upper bound for the question's
 * T. */
void tarry__bound_find_upper(const tarry__bound_question *question,
                             tarry__bound *bound);

/* N_m with tight constants, for a set of rank `rank`. */
double tarry__tight_quota(const tarry__bound_question *question, double eps);

/* Fills the phases' lengths and the upper bound; phases have eps and N. */
void tarry__bound_tight(const tarry__bound_question *question,
                        tarry__env_delay_model model, tarry__bound *bound);

/* The upper bound of Algorithm 1 by itself, for this alpha and beta. */
double tarry__bound_tight_alone(const tarry__bound_question *question,
                                const tarry__bound *bound, double alpha,
                                double beta);

#endif
