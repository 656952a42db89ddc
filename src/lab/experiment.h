/* experiment.h - policies side by side in one world, over many runs.
 *
 * All policies of a run meet the same instance and the same luck, so their
 * differences have small errors. */
#ifndef TARRY_LAB_EXPERIMENT_H
#define TARRY_LAB_EXPERIMENT_H

#include "lab/trials.h"
#include "sim/sim.h"

enum { TARRY__EXPERIMENT_MAX_POLICIES = 64 };

typedef struct {
    const char *instance, *loss, *delay;
    tarry__sim_reports reports;
    size_t n_policies;
    const char *policy[TARRY__EXPERIMENT_MAX_POLICIES]; /* descriptions */
    /* Where not NULL, in place of a description, which is then a name: */
    const tarry_own_policy *own_policy[TARRY__EXPERIMENT_MAX_POLICIES];
    const tarry__own_world *own_world;
    uint64_t horizon, runs, seed;
    int threads;
    uint64_t part, parts; /* runs i with i % parts == part; parts 0: all */
    uint64_t points;      /* wanted on the curves; the grid has them */
    size_t n_grid;
    uint64_t grid[TARRY__SIM_MAX_GRID];
} tarry__experiment;

/* Results so far; trial p * runs + i is run i of policy p. */
typedef struct {
    const tarry__experiment *experiment;
    tarry__trials trials;        /* owns the next two: */
    tarry__sim_outcome *outcome; /*   per trial */
    bool *finished;
    tarry_error *refused; /* per policy: why it cannot run here; "": it can */
} tarry__experiment_results;

tarry_status
tarry__experiment_results_create(tarry__experiment_results *results,
                                 const tarry__experiment *experiment);
void tarry__experiment_results_clear(tarry__experiment_results *results);

/* Adds a policy by description, or all members of the group all, linear or mab
 * that are not there yet, in the order of the list.  The text is not copied.
 * TARRY_BAD_ARGUMENT: there are too many. */
tarry_status tarry__experiment_add(tarry__experiment *experiment,
                                   const char *policy, tarry_error *error);

/* The description that policy p's name is short for in this world; NULL: it is
 * a policy of its own.  Lives for ever. */
const char *tarry__experiment_meaning(const tarry__experiment *experiment,
                                      size_t p);

/* Finds the policies that cannot run in this world: fills `refused`, so that
 * they are left out.  Fails if the world itself cannot be made. */
tarry_status tarry__experiment_check(const tarry__experiment *experiment,
                                     tarry__experiment_results *results,
                                     tarry_error *error);

/* Runs the trials that are not finished yet.  TARRY_CANCELLED leaves those
 * finished so far. */
tarry_status tarry__experiment_run(const tarry__experiment *experiment,
                                   const tarry__trials_observer *observer,
                                   tarry__experiment_results *results,
                                   tarry_error *error);

/* ---- summaries ------------------------------------------------------------*/

typedef struct {
    size_t count;
    double mean,
        ci95; /* half-width of the 95 % interval (Student); 0 for one */
} tarry__experiment_summary;

/* The 97.5 % point of Student's t. */
double tarry__experiment_student(size_t freedom);

tarry__experiment_summary tarry__experiment_summarise(const double *values,
                                                      size_t count);

/* A number of each finished run of policy p, in order; answers how many. */
typedef double tarry__experiment_pick(const tarry__sim_outcome *outcome,
                                      size_t i);
size_t tarry__experiment_results_pick(const tarry__experiment_results *results,
                                      size_t p, tarry__experiment_pick *pick,
                                      size_t i, double *values);

/* The regret of policy p less that of policy q, over runs both finished. */
size_t
tarry__experiment_results_difference(const tarry__experiment_results *results,
                                     size_t p, size_t q, double *values);

#endif
