/* experiment.h - policies side by side in one world, over many runs.
 *
 * All policies of a run meet the same instance and the same luck, so their
 * differences have small errors. */
#ifndef TARRY_EXPERIMENT_H
#define TARRY_EXPERIMENT_H

#include "sim.h"

enum { TARRY__MAX_POLICIES = 64 };

typedef struct {
    const char *instance, *loss, *delay;
    size_t n_policies;
    const char *policy[TARRY__MAX_POLICIES]; /* descriptions */
    uint64_t horizon, runs, seed;
    int threads;
    uint64_t points; /* wanted on the curves; the grid has them */
    size_t n_grid;
    uint64_t grid[TARRY__MAX_GRID];
} tarry__experiment;

/* Results so far; outcome p * runs + i is that of policy p in run i. */
typedef struct {
    const tarry__experiment *experiment;
    tarry__outcome *outcome;
    bool *finished;
    size_t n_finished;
    tarry_error *refused; /* per policy: why it cannot run here; "": it can */
} tarry__results;

tarry_status tarry__results_create(tarry__results *results,
                                   const tarry__experiment *experiment);
void tarry__results_clear(tarry__results *results);

/* Finds the policies that cannot run in this world: fills `refused`, so that
 * they are left out.  Fails if the world itself cannot be made. */
tarry_status tarry__experiment_check(const tarry__experiment *experiment,
                                     tarry__results *results,
                                     tarry_error *error);

/* What is told while it runs.  Both may be NULL. */
typedef struct {
    void *context;
    /* Now and then, from one thread at a time: rounds played in this call;
     * true cancels. */
    bool (*progress)(void *context, uint64_t rounds);
    /* After each finished trial, one at a time. */
    tarry_status (*finished)(void *context, size_t index,
                             const tarry__outcome *outcome,
                             tarry_error *error);
} tarry__observer;

/* Runs the trials that are not finished yet.  TARRY_CANCELLED leaves those
 * finished so far. */
tarry_status tarry__experiment_run(const tarry__experiment *experiment,
                                   const tarry__observer *observer,
                                   tarry__results *results,
                                   tarry_error *error);

/* ---- summaries ------------------------------------------------------------*/

typedef struct {
    size_t count;
    double mean, ci95; /* half-width of the 95 % interval (Student); 0 for one */
} tarry__summary;

/* The 97.5 % point of Student's t. */
double tarry__student(size_t freedom);

tarry__summary tarry__summarise(const double *values, size_t count);

/* A number of each finished run of policy p, in order; answers how many. */
typedef double tarry__pick(const tarry__outcome *outcome, size_t i);
size_t tarry__results_pick(const tarry__results *results, size_t p,
                           tarry__pick *pick, size_t i, double *values);

/* The regret of policy p less that of policy q, over runs both finished. */
size_t tarry__results_difference(const tarry__results *results, size_t p,
                                 size_t q, double *values);

#endif
