/* lines.c - see lines.h. */
#define _POSIX_C_SOURCE 200809L
#include "log/lines.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"
#include "base/input.h"

enum { BLOCK = 1 << 20, LONGEST_LINE = 1 << 24, MOST_IN_RECORD = 100 };

tarry_status tarry__lines_open(tarry__lines *l, const char *path,
                               tarry_error *error)
{
    struct stat info;
    const bool is_input = strcmp(path, "-") == 0;
    *l = (tarry__lines){.fd = -1, .path = is_input ? "<stdin>" : path};
    l->room = BLOCK;
    l->buffer = tarry__base_alloc(l->room, 1);
    if (l->buffer == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    l->fd = is_input ? dup(STDIN_FILENO) : tarry__input_open(path);
    if (l->fd < 0)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", l->path,
                                strerror(errno));
    if (fstat(l->fd, &info) == 0 && S_ISREG(info.st_mode))
        l->size = (double)info.st_size;
    return TARRY_OK;
}

void tarry__lines_close(tarry__lines *l)
{
    if (l->fd >= 0)
        close(l->fd);
    tarry__base_free(l->buffer);
    *l = (tarry__lines){.fd = -1};
}

/* Room behind the unread bytes: moves them to the front, or grows. */
static tarry_status make_room(tarry__lines *l, tarry_error *error)
{
    memmove(l->buffer, l->buffer + l->begin, l->end - l->begin);
    l->end -= l->begin;
    l->begin = 0;
    if (l->end < (l->room < LONGEST_LINE ? l->room / 2 : l->room))
        return TARRY_OK;
    if (l->room >= LONGEST_LINE)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s:%zu: a line of more than 16 MB", l->path,
                                l->number + 1);
    char *larger = tarry__base_grow(l->buffer, l->end, 2 * l->room, 1);
    if (larger == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    l->buffer = larger;
    l->room *= 2;
    return TARRY_OK;
}

static tarry_status fill(tarry__lines *l, tarry_error *error)
{
    const tarry_status status = make_room(l, error);
    if (status != TARRY_OK)
        return status;
    ssize_t count;
    do
        count = read(l->fd, l->buffer + l->end, l->room - l->end);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", l->path,
                                strerror(errno));
    l->at_end = count == 0;
    l->end += (size_t)count;
    return TARRY_OK;
}

static tarry__text cut(tarry__lines *l, const char *stop)
{
    tarry__text line = {l->buffer + l->begin, stop};
    l->begin = (size_t)(stop - l->buffer) + (stop < l->buffer + l->end);
    if (l->number++ == 0 && tarry__text_size(line) >= 3 &&
        memcmp(line.begin, "\xef\xbb\xbf", 3) == 0)
        line.begin += 3;
    if (line.begin < line.end && line.end[-1] == '\r')
        line.end--;
    return line;
}

/* The line from l->begin on; its end is sought behind `known` bytes, of which
 * there must be more. */
static tarry_status find_line(tarry__lines *l, size_t known, tarry__text *line,
                              tarry_error *error)
{
    size_t looked = known;
    *line = (tarry__text){NULL, NULL};
    for (;;) {
        const char *from = l->buffer + l->begin + looked;
        const size_t left = l->end - l->begin - looked;
        const char *stop = left > 0 ? memchr(from, '\n', left) : NULL;
        if (stop == NULL && l->at_end && l->end - l->begin > known)
            stop = l->buffer + l->end;
        if (stop != NULL) {
            *line = cut(l, stop);
            return TARRY_OK;
        }
        if (l->at_end)
            return TARRY_OK;
        looked += left;
        const tarry_status status = fill(l, error);
        if (status != TARRY_OK)
            return status;
    }
}

tarry_status tarry__lines_next(tarry__lines *l, tarry__text *line,
                               tarry_error *error)
{
    return find_line(l, 0, line, error);
}

/* ---- records --------------------------------------------------------------*/

/* How far the quotes of a record were followed. */
typedef struct {
    size_t at;
    enum { BEGIN, PLAIN, QUOTED, CLOSED } field;
} quotes;

/* Whether a field in quotes is open at the record's end.  Quotes open a field
 * only at its begin; "" inside closes it and opens it again. */
static bool is_open(quotes *q, tarry__text record, char separator)
{
    const size_t size = tarry__text_size(record);
    for (; q->at < size; q->at++) {
        const char c = record.begin[q->at];
        if (q->field == QUOTED)
            q->field = c == '"' ? CLOSED : QUOTED;
        else if (c == separator)
            q->field = BEGIN;
        else if (c == '"' && q->field != PLAIN)
            q->field = QUOTED;
        else if (c != ' ')
            q->field = PLAIN;
    }
    return q->field == QUOTED;
}

tarry_status tarry__lines_next_record(tarry__lines *l, char separator,
                                      tarry__text *record, tarry_error *error)
{
    tarry_status status = tarry__lines_next(l, record, error);
    if (status != TARRY_OK || record->begin == NULL ||
        memchr(record->begin, '"', tarry__text_size(*record)) == NULL)
        return status;
    quotes q = {0};
    const size_t size = tarry__text_size(*record), number = l->number;
    const size_t read = l->begin - (size_t)(record->begin - l->buffer);
    size_t begin = l->begin - read, known = read;
    for (int n = 1; is_open(&q, *record, separator); n++) {
        l->begin = begin;
        status = find_line(l, known, record, error);
        if (status != TARRY_OK)
            return status;
        begin = record->begin != NULL ? (size_t)(record->begin - l->buffer)
                                      : l->begin;
        known = l->begin - begin;
        if (record->begin == NULL || n == MOST_IN_RECORD) {
            l->begin = begin + read;
            l->number = number;
            *record =
                (tarry__text){l->buffer + begin, l->buffer + begin + size};
            return TARRY_OK;
        }
    }
    return TARRY_OK;
}

void tarry__lines_back(tarry__lines *l, tarry__text line)
{
    l->begin = (size_t)(line.begin - l->buffer);
    l->number--;
}
