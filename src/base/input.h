/* input.h - files to read, whoever wrote them: pipes and devices as well, of
 * which some never begin and some never end. */
#ifndef TARRY_BASE_INPUT_H
#define TARRY_BASE_INPUT_H

#include <stddef.h>
#include <stdio.h>
#include "tarry/status.h"

/* Opens a file to read; -1 or NULL with errno, EISDIR for a folder.  A pipe
 * that has no writer after five seconds is empty. */
int tarry__input_open(const char *path);
FILE *tarry__input_stream(const char *path);

/* All that comes from `fd`; `label` is for error lines.  The caller frees
 * *bytes, which are aligned to 64 and followed by a zero, with
 * tarry__base_free, also after a failure.  TARRY_IO_ERROR (errno says which),
 * TARRY_NO_MEMORY, TARRY_BAD_INPUT: more than 1 GB comes, 1 MB from a device,
 * and it is no file of that size. */
tarry_status tarry__input_take(int fd, const char *label, char **bytes,
                               size_t *size, tarry_error *error);

/* The same for the file at `path`. */
tarry_status tarry__input_read(const char *path, char **bytes, size_t *size,
                               tarry_error *error);

#endif
