/* journal.h - what the program says of a journal that was opened. */
#ifndef TARRY_CLI_JOURNAL_H
#define TARRY_CLI_JOURNAL_H

#include "cli/cli.h"
#include "lab/journal.h"

/* Prints why it could not be, or how many damaged lines were left out; answers
 * the exit code. */
int cli_journal_opened(const tarry__journal *journal, tarry_status status,
                       const tarry_error *error);

#endif
