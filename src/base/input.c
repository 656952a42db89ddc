/* input.c - see input.h.
 *
 * A pipe is opened without waiting, as its writer may never come; the writer
 * is given some time, since a shell may have started it just now.  From then on
 * reading waits as usual: where there is no writer it finds the end. */
#define _GNU_SOURCE
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"

enum { PATIENCE_MS = 5000, FIRST_ROOM = 1 << 16 };

/* Bytes that may come from what is no file: a terminal, or a pipe. */
enum { OF_DEVICE = 1 << 20, OF_PIPE = 1 << 30 };

static int check_open(int fd)
{
    struct stat what;
    if (fstat(fd, &what) != 0)
        return errno;
    if (S_ISDIR(what.st_mode))
        return EISDIR;
    if (S_ISFIFO(what.st_mode))
        (void)poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1,
                   PATIENCE_MS);
    const int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0 ? 0
                                                                      : errno;
}

int tarry__input_open(const char *path)
{
    const int fd =
        TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    const int code = fd >= 0 ? check_open(fd) : 0;
    if (code == 0)
        return fd;
    close(fd);
    errno = code;
    return -1;
}

FILE *tarry__input_stream(const char *path)
{
    const int fd = tarry__input_open(path);
    FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (file == NULL && fd >= 0)
        close(fd);
    return file;
}

/* ---- all of it ------------------------------------------------------------*/

/* The size of a file, 0 if it is not known, and how much may come. */
static size_t size_of(int fd, size_t *most)
{
    struct stat what;
    const bool is_told = fstat(fd, &what) == 0;
    const size_t size =
        is_told && S_ISREG(what.st_mode) ? (size_t)what.st_size : 0;
    *most = is_told && S_ISCHR(what.st_mode) ? OF_DEVICE
            : size > OF_PIPE                 ? size
                                             : OF_PIPE;
    return size;
}

/* Room for one byte more than there may be, in the end. */
static size_t more_than(size_t room, size_t known, size_t most)
{
    if (room == 0)
        return known > 0 ? known + 1 : FIRST_ROOM;
    return room > most / 2 ? most + 1 : 2 * room;
}

tarry_status tarry__input_take(int fd, const char *label, char **bytes,
                               size_t *size, tarry_error *error)
{
    size_t room = 0, most;
    const size_t known = size_of(fd, &most);
    *bytes = NULL;
    *size = 0;
    for (;;) {
        if (*size > most)
            return tarry__base_fail(error, TARRY_BAD_INPUT,
                                    "%s: more than %zu MB, and not a file",
                                    label, most >> 20);
        if (*size == room) {
            const size_t more = more_than(room, known, most);
            char *bigger = tarry__base_grow(*bytes, room, more, 1);
            if (bigger == NULL)
                return tarry__base_fail(error, TARRY_NO_MEMORY,
                                        "%s: out of memory", label);
            *bytes = bigger;
            room = more;
        }
        const ssize_t got = read(fd, *bytes + *size, room - *size);
        if (got == 0) {
            (*bytes)[*size] = '\0';
            return TARRY_OK;
        }
        if (got < 0 && errno != EINTR)
            return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", label,
                                    strerror(errno));
        *size += got > 0 ? (size_t)got : 0;
    }
}

tarry_status tarry__input_read(const char *path, char **bytes, size_t *size,
                               tarry_error *error)
{
    const int fd = tarry__input_open(path);
    *bytes = NULL;
    *size = 0;
    if (fd < 0)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", path,
                                strerror(errno));
    const tarry_status status = tarry__input_take(fd, path, bytes, size, error);
    const int code = errno;
    close(fd);
    errno = code;
    return status;
}
