/* shares.h - shares of the decisions that the user sets: floor, control, cap.
 *
 * The policy proposes an arm in every round, with a probability p(a).  A coin
 * that knows nothing but the round decides what is played: with the share s
 * the control arm c; with the share e each other arm that may be chosen; else,
 * with R = 1 - s - e (n - 1), the proposal.  A proposal that may not have all
 * of R p(a), the control arm or one with a cap, is kept with the probability
 * that makes its share right, or else replaced by one of the unlimited arms,
 * all alike.  A proposal that is not played is called off, as if it had not
 * been made, and the policy is told what was played instead. */
#ifndef TARRY_POLICY_SHARES_H
#define TARRY_POLICY_SHARES_H

#include "policy/policy_type.h"

/* What became of the last proposal. */
typedef struct {
    double chance; /* of the arm that was played; negative: it is asked for */
    uint32_t proposed, played;
} tarry__shares_choice;

/* Chooses, in place of type->choose.  What stays of the choice is in *last. */
tarry_status tarry__shares_choose(const tarry__policy_edge *edge,
                                  const tarry__policy_type *type, void *state,
                                  const tarry__policy_problem *problem,
                                  uint64_t round, tarry__shares_choice *last,
                                  size_t *arm);

/* The probability of the arm that was played in this round, the last. */
double tarry__shares_probability(const tarry__policy_edge *edge,
                                 const tarry__policy_type *type, void *state,
                                 const tarry__policy_problem *problem,
                                 uint64_t round,
                                 const tarry__shares_choice *last);

/* Whether arms are there in such numbers that the shares are possible; else
 * `error` says why not. */
tarry_status tarry__shares_check(const tarry__policy_edge *edge, size_t n_arms,
                                 tarry_error *error);

#endif
