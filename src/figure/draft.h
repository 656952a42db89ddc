/* draft.h - a file that appears whole or not at all.
 *
 * What is written goes to a file beside the path, which takes the path's name
 * when it is complete. */
#ifndef TARRY_FIGURE_DRAFT_H
#define TARRY_FIGURE_DRAFT_H

#include <stdio.h>
#include "tarry/status.h"

typedef struct {
    FILE *file;
    char *path, *name; /* the final name, and the one beside it */
} tarry__draft;

/* Begins a file; on failure there is nothing to end. */
tarry_status tarry__draft_begin(tarry__draft *draft, const char *path,
                                tarry_error *error);

/* Ends it: keeps the file if `status` is TARRY_OK and every byte was written,
 * else removes it.  Answers `status`, or what went wrong here. */
tarry_status tarry__draft_end(tarry__draft *draft, tarry_status status,
                              tarry_error *error);

/* A file with these bytes. */
tarry_status tarry__draft_save(const char *path, const char *bytes, size_t size,
                               tarry_error *error);

#endif
