/* phased.h - what the paper's four algorithms share: phased elimination.
 *
 * Phase m keeps a set of active arms, of which the best is one, and works for
 * accuracy eps = 2^-m.  It plans a number of losses N(b) to be counted for each
 * arm b of a design, plays until enough of them have arrived, estimates, and
 * cuts the arms that cannot be best.  Phases differ between algorithms in the
 * size of N, in how missing losses are played for, in how many must arrive and
 * in the width of the cut; these are the fields of a rule.
 *
 * A phase ends when the next arm is asked for, not while losses are still being
 * reported, just as the paper's loops look at all that has arrived in a round.
 * All four record what they count in the same way, so `observe` is shared. */
#ifndef TARRY_PHASED_H
#define TARRY_PHASED_H

#include <stdbool.h>
#include "policy_type.h"
#include "tarry/random.h"

extern const tarry__policy_type tarry__phased_stochastic,
    tarry__phased_adversarial, tarry__phased_loss_dependent, tarry__phased_mab;

typedef struct tarry__phased tarry__phased;

typedef struct {
    bool linear; /* arms have features: design; else each arm for itself */
    bool designated_only; /* only the first N(b) plays of b count */
    double cut; /* keep a iff lower(a) - min upper <= cut * eps */
    /* N of this phase, the design's smallest weight being given. */
    double (*quota)(const tarry__phased *phased, double min_weight);
    /* The share of N(b) that must have arrived; NULL for all. */
    double (*share)(const tarry__phased *phased);
} tarry__phased_rule;

/* Beside each plan entry. */
typedef struct {
    double sum;      /* of the losses counted */
    uint64_t needed; /* how many must have been counted */
    uint64_t left;   /* plays left in this sweep */
} tarry__tally;

struct tarry__phased {
    const tarry__problem *problem;
    const tarry__phased_rule *rule;
    double rank_tolerance;
    uint64_t phase;
    double epsilon;
    uint64_t phase_start;    /* its first round */
    uint64_t designated_end; /* one past the last designated round */
    size_t n_active;
    uint32_t *active; /* increasing */
    size_t n_plan, rank; /* rank of the design */
    tarry_plan_entry *plan;
    tarry__tally *tally;
    uint32_t *entry_of; /* per arm: its plan entry, or TARRY__NO_ENTRY */
    size_t n_short;     /* plan entries that need more */
    size_t cursor;      /* the plan entry of this sweep */
    size_t turn;        /* of plays that only wait */
    size_t best;        /* active arm of smallest estimate */
    size_t n_estimates;
    tarry_estimate *estimates; /* per arm */
    uint64_t first_phase_rounds;
    tarry_discrete *law; /* the design, to draw from; only where needed */
};

#define TARRY__NO_ENTRY UINT32_MAX

/* Estimates, cuts, and starts the next phase, whose first round is `round`.
 * On failure nothing has changed. */
tarry_status tarry__phased_advance(tarry__phased *phased, uint64_t round);

/* The next arm of the sweep, if there is one left: each plan entry `left`
 * times, one after the other. */
bool tarry__phased_sweep(tarry__phased *phased, size_t *arm);

/* These fit tarry__policy_type, whose `rule` is a tarry__phased_rule. */
extern const tarry__setting tarry__phased_settings[];
tarry_status tarry__phased_init(void *state, const tarry__policy_type *type,
                                const tarry__problem *problem,
                                const tarry__spec *spec, tarry_error *error);
tarry_status tarry__phased_choose_designated(void *state, uint64_t round,
                                             size_t *arm);
tarry__use tarry__phased_observe(void *state, uint64_t round, size_t arm,
                                 double loss);
const uint64_t *tarry__phased_phase(const void *state);
void tarry__phased_status(const void *state, tarry_policy_status *status);
void tarry__phased_archive(void *state, const tarry__policy_type *type,
                           const tarry__problem *problem, tarry__archive *a);
void tarry__phased_clear(void *state);

/* The quota of Algorithms 1 and 2: 16 n log(KT) / eps^2. */
double tarry__phased_quota(const tarry__phased *phased, double min_weight);

/* Lower and upper estimates of the active arms from what was counted. */
tarry_status tarry__estimate_linear(const tarry__phased *phased,
                                    tarry_estimate *estimates);
void tarry__estimate_mab(const tarry__phased *phased,
                         tarry_estimate *estimates);

/* log(K T), which all quotas contain. */
double tarry__log_kt(const tarry__phased *phased);

#endif
