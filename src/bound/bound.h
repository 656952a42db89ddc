/* bound.h - what the paper promises for a policy in a world, in numbers. */
#ifndef TARRY_BOUND_BOUND_H
#define TARRY_BOUND_BOUND_H

#include "env/world.h"

enum { TARRY__BOUND_PHASES = 40 };

typedef struct {
    double epsilon;
    double quota;   /* N_m */
    double longest; /* what the proof allows the phase to last; or infinite */
} tarry__bound_phase;

typedef struct {
    const char *meaning;  /* what the policy's name is short for; NULL: nothing,
                             it is a policy of its own */
    const char *model;    /* the world's delay model, in words */
    const char *upper_by; /* the theorem; NULL: none holds here */
    double upper;         /* bound on the expected regret; infinite if the
                             delay's law gives no better */
    double useful_from;   /* 0: upper is at most 2T and says something; else the
                             smallest T0 so that it is at every T from T0 to
                             2^39 - 1; infinite: it is at no T; NaN: there is
                             no T0, though at some T it may be */
    double spare;         /* at smaller T, with as many phases, the bound may be
                             higher than `upper` by this */
    double alpha, beta;   /* phases last at most alpha N + beta; 0 if the
                             theorem has another form */
    double q;             /* the best quantile, Algorithm 1 */
    const char *lower_by; /* of this instance; NULL: none */
    double lower;         /* every policy pays at least this, on average */
    double min_weight, support; /* of the design over all arms */
    double first_phase;         /* plays that phase 1 plans */
    double horizon_needed;      /* the smallest horizon in which they fit */
    size_t n_phases;            /* those that begin within the horizon */
    tarry__bound_phase phase[TARRY__BOUND_PHASES];
} tarry__bound;

/* `policy` is one of the paper's four, or short for one.  TARRY_BAD_INPUT if it
 * is another. */
tarry_status tarry__bound_evaluate(const tarry__world *world,
                                   const char *policy, uint64_t horizon,
                                   tarry__bound *bound, tarry_error *error);

#endif
