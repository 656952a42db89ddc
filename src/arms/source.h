/* source.h - the bytes of a file, and how error lines speak of them. */
#ifndef TARRY_ARMS_SOURCE_H
#define TARRY_ARMS_SOURCE_H

#include <stddef.h>
#include "tarry/status.h"

typedef struct {
    const char *bytes; /* aligned to 64 */
    size_t size;
    int is_mapped;   /* else `bytes` is from tarry__base_alloc */
    char label[256]; /* the file's name on one line, cut at the front */
} source;

/* Maps a regular file; reads all of anything else, and of standard input if
 * `path` is "-".  The caller ends *s with tarry__source_close, which may be
 * called twice, and also after a failure.  TARRY_IO_ERROR, TARRY_NO_MEMORY. */
tarry_status tarry__source_open(source *s, const char *path,
                                tarry_error *error);
void tarry__source_close(source *s);

/* The start of a value for an error line: one line of printable ASCII, '?'
 * standing for each other byte, "..." for what was cut off. */
typedef struct {
    char text[44];
} shown_value;
shown_value tarry__arms_show(const char *begin, const char *end);

#endif
