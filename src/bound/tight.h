/* tight.h - the practical settings of a policy and what they promise. */
#ifndef TARRY_BOUND_TIGHT_H
#define TARRY_BOUND_TIGHT_H

#include "bound/bound.h"
#include "policy/phased/phased.h"

/* A bound's question. */
typedef struct {
    const tarry__world *world;
    double n, K, T, log_kt, promised_weight;
    int algorithm;                         /* 1 to 4 */
    const tarry__phased_algorithm *phased; /* the algorithm's record */
    tarry__phased_choices choices;         /* what the policy was told */
    bool tight, regret, guided;
    double share;       /* c */
    double rank;        /* of the arms; set once the plan is there */
    double first_quota; /* N of the first plan */
    double late_mean;   /* sum_k max_a P(d(a) >= k), Algorithm 2 by chance */
} tarry__bound_question;

/* max_a Q(q; a), infinite where feedback may never come; sigma of an adversary,
 * or what the mean of chance delays says of it; sigma (1 + log sigma). */
double tarry__bound_largest_quantile(const tarry__world *world, double q);
double tarry__bound_sigma(const tarry__bound_question *question);
double tarry__bound_sweeps(double sigma);

/* N_m with tight constants, for a set of rank `rank`. */
double tarry__tight_quota(const tarry__bound_question *question, double eps);

/* Fills the phases' lengths and the upper bound; phases have eps and N. */
void tarry__bound_tight(const tarry__bound_question *question,
                        tarry__env_delay_model model, tarry__bound *bound);

#endif
