/* away_step.h - the yardstick: the classical method of published codes. */
#ifndef BENCH_AWAY_STEP_H
#define BENCH_AWAY_STEP_H

#include <stdbool.h>
#include "arm_set.h"

typedef struct {
    double tolerance;     /* done when g <= (1 + tolerance) n */
    double limit_seconds; /* or when this much time has passed */
    bool eliminates;      /* drops arms proven to have no part in the optimum */
} away_step_options;

typedef struct {
    size_t n_support;
    size_t *arm; /* n_support supported arms */
    double *weight;
    double seconds; /* of processor time: other programs do not count */
    size_t steps;
    double reads; /* variances evaluated or updated, divided by K */
    bool converged;
} away_step_design;

/* Uses one thread.  Ends the program if memory runs out or the arms do not
 * span R^n.  The caller ends the result with away_step_free. */
away_step_design away_step_solve(const arm_set *set, away_step_options options);
void away_step_free(away_step_design *design);

#endif
