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
int run_print_table(const tarry__experiment_results *results, double seconds);
int run_print_json(const tarry__batch *batch, bool partial);
int run_write_csv(const tarry__batch *batch, const char *path);
int run_write_curves(const tarry__batch *batch, const char *path);

/* Worlds by policies: regret over that of the world's best policy. */
int run_print_worlds(const tarry__batch *batch, double seconds);

#endif
