/* journal.c - see journal.h. */
#include "cli/journal.h"

#include <stdio.h>

int cli_journal_opened(const tarry__journal *j, tarry_status status,
                       const tarry_error *error)
{
    if (status != TARRY_OK)
        return cli_error(cli_code(status), "%s", error->text);
    if (j->n_dropped > 0)
        cli_error(EXIT_DONE, "note: %s: %zu damaged %s left out; run again",
                  j->path, j->n_dropped, j->n_dropped == 1 ? "line" : "lines");
    return EXIT_DONE;
}
