/* counts.h - what the plain MAB baselines share: per arm the plays, the losses
 * that have come back and their sum; the arms still active; and successive
 * elimination, which plays the active arms in turn and cuts between turns.
 *
 * Features are ignored and feedback has no age: a loss counts whenever it
 * comes.  Ties go to the lowest index. */
#ifndef TARRY_POLICY_PLAIN_COUNTS_H
#define TARRY_POLICY_PLAIN_COUNTS_H

#include <math.h>
#include <stdbool.h>
#include "base/elementary.h"
#include "policy/plain/plain.h"

typedef struct {
    uint64_t played, arrived;
    double sum;   /* of the losses that arrived */
    uint64_t cut; /* 1: not active any more */
} tarry__plain_count;

typedef struct {
    const tarry__policy_problem *problem;
    const void *rule;          /* of the policy's type */
    double scale;              /* setting: factor of all widths */
    size_t n_known;            /* arms that have a count */
    double log_horizon;        /* log T, or log(2 K / (1 - confidence)) */
    tarry__plain_count *count; /* per arm */
    size_t n_active;
    uint32_t *active; /* increasing */
    size_t cursor;    /* in the active arms: the next of this turn */
} tarry__counts;

/* All arms active; reads the setting `scale`. */
tarry_status tarry__counts_open(tarry__counts *counts,
                                const tarry__policy_type *type,
                                const tarry__policy_problem *problem,
                                const tarry__spec *spec, tarry_error *error);
void tarry__counts_clear(tarry__counts *counts);
void tarry__counts_archive(tarry__counts *counts,
                           const tarry__policy_type *type,
                           const tarry__policy_problem *problem,
                           tarry__archive *a);

/* Plays that have not come back. */
static inline uint64_t tarry__plain_missing(const tarry__plain_count *arm)
{
    return arm->played - arm->arrived;
}

/* The logarithm in the width of an arm's mean of n losses: log T; or with a
 * confidence, for ever, log(2 K n (n + 1) / (1 - confidence)): 1/(n(n+1)) sums
 * to 1. */
static inline double tarry__counts_log(const tarry__counts *counts, double n)
{
    return counts->problem->confidence > 0
               ? counts->log_horizon + tarry__ln(n * (n + 1))
               : counts->log_horizon;
}

/* Makes room for so many arms. */
tarry_status tarry__counts_reserve(tarry__counts *counts, size_t n_arms);

/* The arms that may be chosen have changed.  A new one is active; if an active
 * one has gone, those that were cut may have been cut because of it: all are
 * active again. */
void tarry__counts_rearrange(tarry__counts *counts);

/* A play that was not the policy's own, whose state begins with its counts:
 * fits tarry__policy_type. */
void tarry__counts_played(void *state, uint64_t round, size_t arm);

/* Takes in a loss; it is not needed if its arm has been cut. */
tarry__policy_use tarry__counts_add(tarry__counts *counts, size_t arm,
                                    double loss);

/* The active arm of smallest mean loss; one without losses comes last. */
size_t tarry__counts_best(const tarry__counts *counts);

/* Fills n_active, active and best. */
void tarry__counts_status(const tarry__counts *counts,
                          tarry_policy_status *status);

/* ---- elimination ----------------------------------------------------------*/

/* Where an arm's mean loss may lie. */
typedef tarry_estimate tarry__plain_bracket(const void *state,
                                            const tarry__plain_count *arm);

/* Keeps a iff lower(a) <= min_b upper(b). */
void tarry__counts_cut(tarry__counts *counts, tarry__plain_bracket *bracket,
                       const void *state);

typedef struct {
    tarry__plain_bracket *bracket;
} tarry__plain_elimination_rule;

/* Successive elimination.  These fit tarry__policy_type, whose `rule` is a
 * tarry__plain_elimination_rule and whose state is a tarry__counts. */
extern const tarry_setting tarry__plain_elimination_settings[];
tarry_status tarry__plain_elimination_init(void *state,
                                           const tarry__policy_type *type,
                                           const tarry__policy_problem *problem,
                                           const tarry__spec *spec,
                                           tarry_error *error);
tarry_status tarry__plain_elimination_choose(void *state, uint64_t round,
                                             size_t *arm);
tarry__policy_use tarry__plain_elimination_observe(void *state, uint64_t round,
                                                   size_t arm, double loss);
void tarry__plain_elimination_revise(void *state, uint64_t round, size_t arm,
                                     double old, double loss);
tarry_status tarry__plain_elimination_cancel(void *state, uint64_t round,
                                             size_t arm);
tarry_status tarry__plain_elimination_reserve(void *state, size_t n_arms);
tarry_status tarry__plain_elimination_rearranged(void *state);
void tarry__plain_elimination_status(const void *state,
                                     tarry_policy_status *status);
void tarry__plain_elimination_archive(void *state,
                                      const tarry__policy_type *type,
                                      const tarry__policy_problem *problem,
                                      tarry__archive *a);
void tarry__plain_elimination_clear(void *state);

/* What records of successive elimination have in common. */
#define TARRY__PLAIN_ELIMINATION                                               \
    .plain = true, .settings = tarry__plain_elimination_settings,              \
    .state_size = sizeof(tarry__counts),                                       \
    .init = tarry__plain_elimination_init,                                     \
    .choose = tarry__plain_elimination_choose,                                 \
    .observe = tarry__plain_elimination_observe,                               \
    .revise = tarry__plain_elimination_revise,                                 \
    .cancel = tarry__plain_elimination_cancel, .played = tarry__counts_played, \
    .status = tarry__plain_elimination_status,                                 \
    .archive = tarry__plain_elimination_archive,                               \
    .clear = tarry__plain_elimination_clear,                                   \
    .reserve = tarry__plain_elimination_reserve,                               \
    .rearranged = tarry__plain_elimination_rearranged

#endif
