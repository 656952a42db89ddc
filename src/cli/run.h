/* run.h - the parts of `tarry run`. */
#ifndef TARRY_CLI_RUN_H
#define TARRY_CLI_RUN_H

#include <stdio.h>
#include "cli/cli.h"
#include "lab/results.h"

/* Fills what a JSON object says; texts are kept in `keep`, an array that must
 * live as long as the plan.  Answers the exit code, 0 for success. */
int run_read_config(const char *path, json_t *keep, tarry__batch_plan *plan);

/* Puts the policies of the groups all, linear and mab in their place. */
int run_expand_groups(tarry__experiment *experiment);

/* Answer the exit code. */
/* How the runs of each policy differ: a line each, after the world's name in
 * `width` columns (0: none); `values` has room for a number per run. */
void run_print_spread_head(const tarry__experiment *e, int width);
void run_print_spreads(const tarry__experiment_results *results,
                       const char *world, int width, double *values);

int run_print_table(const tarry__experiment_results *results, double seconds);
int run_print_json(const tarry__batch *batch, bool partial, bool limit);
int run_write_csv(const tarry__batch *batch, const char *path);
int run_write_curves(const tarry__batch *batch, const char *path);

/* The limit c log T of an experiment's world; NaN: not known. */
typedef struct {
    double constant;    /* c, the mean over instances */
    uint64_t instances; /* that were looked at */
} run_limit;
run_limit run_find_limit(const tarry__experiment *experiment);

/* Adds the limit to a result, or to each of its worlds; takes the result over
 * and answers it, NULL when out of memory. */
json_t *run_add_limits(const tarry__batch *batch, json_t *result);

/* One line. */
void run_print_limit(const tarry__experiment *experiment, const char *name);

/* Worlds by policies: regret over that of the world's best policy. */
int run_print_worlds(const tarry__batch *batch, double seconds);

#endif
