/* file.h - a file that appears whole or not at all.
 *
 * What is written goes to a file of a new name in the same folder, which takes
 * the path's name when it is complete and on the disk.  So a crash leaves the
 * old file or the new one.  The new one has the old one's mode; a symbolic
 * link at the path stays, and the file it leads to is replaced.  What is no
 * regular file (a terminal, a pipe, /dev/null) is written to as it is. */
#ifndef TARRY_BASE_FILE_H
#define TARRY_BASE_FILE_H

#include <stddef.h>
#include <stdio.h>
#include "tarry/status.h"

typedef struct {
    FILE *stream; /* to write to, until the end */
    char *path;   /* what it is for, as the user called it */
    char *target; /* the file to be replaced */
    char *beside; /* the new file's first name; "" if written in place */
    int fd;
    int failure; /* errno of the first write that failed */
} tarry__file;

/* Begins a file; on failure there is nothing to end.  *file must stay where it
 * is until then.  TARRY_IO_ERROR (errno says which), TARRY_NO_MEMORY. */
tarry_status tarry__file_begin(tarry__file *file, const char *path,
                               tarry_error *error);

/* Ends it: puts the file in place if `status` is TARRY_OK and every byte was
 * written, else removes it.  Answers `status`, or what went wrong here, as
 * tarry__file_begin does. */
tarry_status tarry__file_end(tarry__file *file, tarry_status status,
                             tarry_error *error);

/* A file with these bytes. */
tarry_status tarry__file_save(const char *path, const void *bytes, size_t size,
                              tarry_error *error);

/* The file `name` in a folder, which is made if it is not there; `write` is
 * given the context and where to write. */
tarry_status tarry__file_put(const char *folder, const char *name,
                             void (*write)(const void *context, FILE *file),
                             const void *context, tarry_error *error);

/* Whether a file could be written there now; leaves nothing behind. */
tarry_status tarry__file_check(const char *path, tarry_error *error);

#endif
