/* referee.h - follows a game of one of the paper's four algorithms play by
 * play, and counts what the algorithm as it is written would not have done.
 *
 * It has its own copy of the four algorithms.  Of the policy it takes the arms
 * and weights of each phase's design, which it holds against the lemma, and
 * nothing else: N_m(a), which plays are due, which losses count, when a phase
 * is over, the estimates and the cut are its own.  There is no chance in any of
 * this, so a single wrong play is seen; only the draws of Algorithm 1 are
 * judged by how often each arm came. */
#ifndef TARRY_PAPER_REFEREE_H
#define TARRY_PAPER_REFEREE_H

#include "env/world.h"
#include "tarry/policy.h"

/* What was found in a game; all 0 but `draws` and `phases` if all is well. */
typedef struct {
    double plans; /* a weight, g, N_m(a) or an arm of a plan that is wrong */
    double plays; /* of an arm that was not due, or not to be waited with */
    double early; /* phases that ended while losses or plays were wanting */
    double late;  /* plays in a phase that should have ended before */
    double estimates; /* the largest error of a lower or upper one, over eps */
    double cuts;      /* arms kept or cut against the rule */
    double draws;     /* of Algorithm 1: chi square of the arms drawn over its
                         degrees of freedom, 1 on average; else 0 */
    double phases;    /* that have ended */
} tarry__referee_findings;

typedef struct {
    uint32_t arm;
    double weight;
    uint64_t target;  /* N_m(a) */
    uint64_t left;    /* plays that are due */
    uint64_t counted; /* losses */
    uint64_t drawn;
    double sum; /* of the losses counted */
} tarry__referee_entry;

typedef struct {
    tarry__world *world;
    int algorithm; /* 1 to 4 */
    double horizon;
    tarry__referee_findings found;
    double chi_square, freedom;
    /* of the phase that is played */
    double epsilon, share; /* the share of N_m(a) that must have come */
    size_t n_active, n_entries, rank;
    uint32_t *active;
    tarry__referee_entry *entry;
    uint32_t *entry_of; /* of each arm; UINT32_MAX: none */
    bool fresh;         /* nothing has been played yet */
    uint64_t start, designated, left, drawn, to_draw;
    /* of the last phase: estimates per arm, and the smallest of active ones */
    tarry_estimate *estimate;
    double least;
    double *basis, *inverse, *x, *y, *theta; /* scratch */
} tarry__referee;

/* TARRY_BAD_ARGUMENT: `policy` is none of the four by its bare name. */
tarry_status tarry__referee_open(tarry__referee *referee, const char *instance,
                                 const char *loss, const char *policy,
                                 uint64_t horizon, uint64_t seed, uint32_t run,
                                 tarry_error *error);
void tarry__referee_close(tarry__referee *referee);

/* What happens in the game, in this order. */
void tarry__referee_ended(tarry__referee *referee,
                          const tarry_policy_status *status);
void tarry__referee_began(tarry__referee *referee,
                          const tarry_policy_status *status);
void tarry__referee_played(tarry__referee *referee, uint64_t round, size_t arm);
void tarry__referee_seen(tarry__referee *referee, uint64_t round, size_t arm,
                         double loss);

tarry__referee_findings tarry__referee_conclude(const tarry__referee *referee);

#endif
