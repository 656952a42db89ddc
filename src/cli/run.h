/* run.h - the parts of `tarry run`. */
#ifndef TARRY_CLI_RUN_H
#define TARRY_CLI_RUN_H

#include <stdio.h>
#include "cli/journal.h"
#include "lab/experiment.h"

enum { RUN_MAX_WORLDS = 64 };

typedef struct {
    const char *name, *instance, *loss, *delay;
} run_world;

/* What is to be done: the experiment in its own world or, if there is a list
 * of worlds, in each of them. */
typedef struct {
    tarry__experiment experiment;
    size_t n_worlds; /* 0: no list */
    run_world world[RUN_MAX_WORLDS];
} run_plan;

/* The plan as JSON, with the same keys as the options; a new value. */
json_t *run_config(const run_plan *plan);

/* The experiment alone, as if it had no list of worlds. */
json_t *run_experiment_config(const tarry__experiment *experiment);

/* Fills what a JSON object says; texts are kept in `keep`, an array that must
 * live as long as the plan.  Answers the exit code, 0 for success. */
int run_read_config(const char *path, json_t *keep, run_plan *plan);

/* Puts the policies of the groups all, linear and mab in their place. */
int run_expand_groups(tarry__experiment *experiment);

/* ---- results --------------------------------------------------------------*/

/* One per world of the plan, or just one. */
typedef struct {
    const run_plan *plan;
    size_t count;
    tarry__experiment *experiment;
    tarry__experiment_results *results;
} run_batch;

/* False: out of memory; run_batch_clear is due in either case. */
bool run_batch_create(run_batch *batch, const run_plan *plan);
void run_batch_clear(run_batch *batch);

/* Trials to be done in all, without those of refused policies; finished. */
size_t run_batch_trials(const run_batch *batch);
size_t run_batch_finished(const run_batch *batch);

int run_print_table(const tarry__experiment_results *results, double seconds);
int run_print_json(const run_batch *batch, bool partial);
int run_write_csv(const run_batch *batch, const char *path);
int run_write_curves(const run_batch *batch, const char *path);

/* The bounds policy p states on the gap of the arm it would exploit: their mean
 * with its interval over time and the mean gap, and how often they held; null
 * if it states none.  `values` has room for a number per run. */
json_t *run_certificate_json(const tarry__experiment_results *results, size_t p,
                             double *values);

/* Worlds by policies: regret over that of the world's best policy. */
int run_print_worlds(const run_batch *batch, double seconds);

/* The policy of smallest mean regret among those with finished runs; SIZE_MAX
 * if there is none; and the regret of a policy. */
size_t run_best_policy(const tarry__experiment_results *results,
                       double *values);
tarry__experiment_summary run_regret(const tarry__experiment_results *results,
                                     size_t policy, double *values);

/* Whether some finished run of a policy has cut all best arms. */
bool run_lost_best(const tarry__experiment_results *results, size_t policy);

/* ---- resuming -------------------------------------------------------------*/

/* Trials are numbered through all worlds. */
int run_journal_open(cli_journal *journal, const char *path, run_batch *batch);

#endif
