/* ucb.h - a ridge and an optimist: what the policies of the LinUCB family
 * share.  They differ in what they count when, and in the width. */
#ifndef TARRY_POLICY_LINEAR_UCB_H
#define TARRY_POLICY_LINEAR_UCB_H

#include "policy/linear/optimist.h"

typedef struct {
    const tarry__policy_problem *problem;
    tarry__ridge ridge;
    tarry__optimist optimist;
    double alpha; /* width, as a share of the one that is valid */
} tarry__ucb;

#define TARRY__LINEAR_ALPHA_SETTING                                            \
    TARRY__SPEC_REAL("alpha", "1", 0, 1e6,                                     \
                     "width, as a share of the one that is valid")

/* Reads the settings lambda and alpha; the optimist has norms, not squares. */
tarry_status tarry__ucb_init(void *state, const tarry__policy_type *type,
                             const tarry__policy_problem *problem,
                             const tarry__spec *spec, tarry_error *error);
void tarry__ucb_status(const void *state, tarry_policy_status *status);
void tarry__ucb_archive(void *state, const tarry__policy_type *type,
                        const tarry__policy_problem *problem,
                        tarry__archive *a);
void tarry__ucb_clear(void *state);

tarry_status tarry__ucb_reserve(void *state, size_t n_arms);
tarry_status tarry__ucb_rearranged(void *state);
void tarry__ucb_narrowed(void *state);

/* The valid radius with delta = 1/T (or 1 - confidence), for noise of proxy 1
 * and |theta| <= 1. */
double tarry__ucb_radius(const tarry__ucb *ucb);

/* Changes of the ridge that the optimist hears of: a play counts in V, a loss
 * in b, or both together. */
void tarry__ucb_count(tarry__ucb *ucb, size_t arm);
void tarry__ucb_uncount(tarry__ucb *ucb, size_t arm);
void tarry__ucb_credit(tarry__ucb *ucb, size_t arm, double loss);
void tarry__ucb_learn(tarry__ucb *ucb, size_t arm, double loss);

#endif
