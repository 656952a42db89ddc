/* lines.c - see lines.h. */
#define _POSIX_C_SOURCE 200809L
#include "log/lines.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"
#include "base/input.h"

enum { BLOCK = 1 << 20, LONGEST_LINE = 1 << 24 };

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

tarry_status tarry__lines_next(tarry__lines *l, tarry__text *line,
                               tarry_error *error)
{
    size_t looked = 0; /* bytes without a line's end */
    *line = (tarry__text){NULL, NULL};
    for (;;) {
        const char *from = l->buffer + l->begin + looked;
        const size_t left = l->end - l->begin - looked;
        const char *stop = left > 0 ? memchr(from, '\n', left) : NULL;
        if (stop == NULL && l->at_end && l->end > l->begin)
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

void tarry__lines_back(tarry__lines *l, tarry__text line)
{
    l->begin = (size_t)(line.begin - l->buffer);
    l->number--;
}
