/* run.h - the parts of `tarry run`. */
#ifndef TARRY_CLI_RUN_H
#define TARRY_CLI_RUN_H

#include <stdio.h>
#include "cli.h"
#include "sim/experiment.h"

/* The experiment as JSON, with the same keys as the options; a new value. */
json_t *run_config(const tarry__experiment *experiment);

/* Fills what a JSON object says; texts are kept in `keep`, an array that must
 * live as long as the experiment.  Answers the exit code, 0 for success. */
int run_read_config(const char *path, json_t *keep,
                    tarry__experiment *experiment);

/* ---- results ---------------------------------------------------------------*/

int run_print_table(const tarry__results *results, double seconds);
int run_print_json(const tarry__results *results, bool partial);
int run_write_csv(const tarry__results *results, const char *path);
int run_write_curves(const tarry__results *results, const char *path);

/* ---- resuming --------------------------------------------------------------*/

/* Reads the finished trials of a file, if there is one, and goes on writing to
 * it.  NULL path: does nothing. */
typedef struct {
    const char *path;
    FILE *file;
    bool failed; /* a trial could not be added */
} run_journal;

int run_journal_open(run_journal *journal, const char *path,
                     tarry__results *results);
tarry_status run_journal_add(run_journal *journal, size_t index,
                             const tarry__outcome *outcome,
                             tarry_error *error);
void run_journal_close(run_journal *journal);

#endif
