/* source.c - opens, maps and reads files.
 *
 * Mapping costs no memory of ours and lets .npy data be used in place.  What
 * cannot be mapped (pipes, terminals, empty files, some file systems) is read
 * until it ends. */
#define _POSIX_C_SOURCE 200809L
#include "arms/source.h"
#include "base/base.h"
#include "base/input.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void set_label(source *s, const char *path)
{
    const size_t length = strlen(path), room = sizeof s->label - 1;
    if (strcmp(path, "-") == 0)
        path = "<stdin>";
    if (length > room)
        path += length - room;
    strcpy(s->label, path);
    if (length > room)
        memcpy(s->label, "...", 3);
    for (char *c = s->label; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
}

static tarry_status io_error(const source *s, tarry_error *error)
{
    return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", s->label,
                            strerror(errno));
}

static int map_file(source *s, int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0)
        return 0;
    const size_t size = (size_t)info.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return 0;
    s->bytes = bytes;
    s->size = size;
    s->is_mapped = 1;
    return 1;
}

static tarry_status read_all(source *s, int fd, tarry_error *error)
{
    char *bytes;
    const tarry_status status =
        tarry__input_take(fd, s->label, &bytes, &s->size, error);
    s->bytes = bytes;
    return status;
}

tarry_status tarry__source_open(source *s, const char *path, tarry_error *error)
{
    *s = (source){0};
    set_label(s, path);
    if (strcmp(path, "-") == 0)
        return read_all(s, STDIN_FILENO, error);
    const int fd = tarry__input_open(path);
    if (fd < 0)
        return io_error(s, error);
    tarry_status status = TARRY_OK;
    if (!map_file(s, fd))
        status = read_all(s, fd, error);
    close(fd);
    return status;
}

void tarry__source_close(source *s)
{
    if (s->is_mapped)
        munmap((void *)s->bytes, s->size);
    else
        tarry__base_free((void *)s->bytes);
    s->bytes = NULL;
    s->size = 0;
    s->is_mapped = 0;
}

shown_value tarry__arms_show(const char *begin, const char *end)
{
    enum { SHOWN = 40 };
    const int is_cut = end - begin > SHOWN;
    const size_t length = is_cut ? SHOWN : (size_t)(end - begin);
    shown_value shown;
    for (size_t i = 0; i < length; i++)
        shown.text[i] = begin[i] < ' ' || begin[i] > '~' ? '?' : begin[i];
    strcpy(shown.text + length, is_cut ? "..." : "");
    return shown;
}
