/* journal.h - finished trials, kept in a file as they come, so that an
 * interrupted job can go on.
 *
 * The file is lines of JSON: first a heading that says what job it is, then per
 * trial {"trial": INDEX, "outcome": "..."}, the outcome's bytes as hexadecimal
 * digits.  A last line that was cut short by a crash is written anew. */
#ifndef TARRY_CLI_JOURNAL_H
#define TARRY_CLI_JOURNAL_H

#include <stdio.h>
#include "cli/cli.h"

typedef struct {
    const char *path;
    FILE *file;
    bool failed; /* a trial could not be added */
    size_t size; /* of an outcome */
    char *line;  /* room for one in digits */
} cli_journal;

/* Takes in a trial of the file; false if there is no such trial. */
typedef bool cli_journal_take(void *context, size_t index, const void *outcome);

/* Reads the trials of the file, if there is one, and goes on writing to it.  An
 * existing file must have the same heading, which is released.  NULL path: does
 * nothing, nor does adding.  Answers the exit code. */
int cli_journal_open(cli_journal *journal, const char *path, json_t *heading,
                     size_t size, cli_journal_take *take, void *context);
tarry_status cli_journal_add(cli_journal *journal, size_t index,
                             const void *outcome, tarry_error *error);
void cli_journal_close(cli_journal *journal);

#endif
