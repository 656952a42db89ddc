/* lines.h - a file line by line, in blocks: the file may be larger than
 * memory, and may be a pipe. */
#ifndef TARRY_LOG_LINES_H
#define TARRY_LOG_LINES_H

#include "log/text.h"
#include "tarry/status.h"

typedef struct {
    int fd;
    const char *path; /* for error lines; "<stdin>" for "-" */
    char *buffer;
    size_t room, begin, end; /* unread bytes are buffer[begin .. end-1] */
    bool at_end;
    size_t number; /* of the line last read, from 1 */
    double size;   /* of the file in bytes, 0 if it is not known */
} tarry__lines;

/* Opens a file, or standard input for "-"; `path` must live on.  The caller
 * ends it with tarry__lines_close, also after a failure.  TARRY_IO_ERROR,
 * TARRY_NO_MEMORY. */
tarry_status tarry__lines_open(tarry__lines *lines, const char *path,
                               tarry_error *error);
void tarry__lines_close(tarry__lines *lines);

/* The next line without its end (LF or CR LF), valid until the next call; a
 * byte order mark before the first is left out.  line->begin is NULL when
 * there is none.  TARRY_BAD_INPUT: a line of more than 16 MB. */
tarry_status tarry__lines_next(tarry__lines *lines, tarry__text *line,
                               tarry_error *error);

/* The next record of CSV: a line, and those behind it while a field in quotes
 * is open, at most 100 lines.  Quotes that do not close within them are a
 * mistake of the first line, which then comes alone.  lines->number is that of
 * the last line. */
tarry_status tarry__lines_next_record(tarry__lines *lines, char separator,
                                      tarry__text *record, tarry_error *error);

/* Makes the line last read the next one again. */
void tarry__lines_back(tarry__lines *lines, tarry__text line);

#endif
