/* lock.c - the file holds lines of fixed length, so that it is rewritten in
 * place by one write, and ends with a digest of what stands before:
 *
 *     tarry store
 *     process               1234
 *     events                5678
 *     sum       0123456789abcdef
 *     check     0123456789abcdef */
#define _GNU_SOURCE
#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"

enum { LINE = 27, FIELD = 16, FIRST_FIELD = 22, SIZE = 12 + 4 * LINE };

typedef struct {
    uint64_t process, events, sum;
} content;

/* A number in the field of line i, its digits to the right. */
static void put_number(char *text, int i, uint64_t value, unsigned base,
                       char fill)
{
    char *field = text + FIRST_FIELD + i * LINE;
    for (int at = FIELD - 1; at >= 0; at--, value /= base)
        field[at] = value > 0 || at == FIELD - 1
                        ? "0123456789abcdef"[value % base]
                        : fill;
}

/* Fills exactly SIZE bytes and a NUL.  It is done at each commit, and printf
 * would take longer than all the rest of it. */
static void print(const content *c, char text[SIZE + 1])
{
    memcpy(text,
           "tarry store\nprocess   ________________\n"
           "events    ________________\nsum       ________________\n"
           "check     ________________\n",
           SIZE + 1);
    put_number(text, 0, c->process, 10, ' ');
    put_number(text, 1, c->events, 10, ' ');
    put_number(text, 2, c->sum, 16, '0');
    put_number(text, 3,
               tarry__base_digest(TARRY__BASE_DIGEST, text, SIZE - LINE), 16,
               '0');
}

/* What the file says must be what print() would have written. */
static bool parse(const char text[SIZE + 1], content *c)
{
    char again[SIZE + 1];
    if (sscanf(text,
               "tarry store process %" SCNu64 " events %" SCNu64
               " sum %" SCNx64,
               &c->process, &c->events, &c->sum) != 3)
        return false;
    print(c, again);
    return memcmp(text, again, SIZE) == 0;
}

typedef enum { NOTHING, SOUND, DAMAGED } finding;

/* A file that a crash left empty, or full of zeros, has never told. */
static finding read_content(int fd, content *c)
{
    static const char zeros[SIZE + 2];
    char text[SIZE + 2] = "";
    const ssize_t got = TEMP_FAILURE_RETRY(pread(fd, text, SIZE + 1, 0));
    if (got < 0)
        return DAMAGED;
    if (memcmp(text, zeros, sizeof text) == 0)
        return NOTHING;
    return got == SIZE && parse(text, c) ? SOUND : DAMAGED;
}

/* A write was cut short after so many bytes, by a limit on files: what was
 * there before, `old` or nothing, has room. */
static void take_back(int fd, const content *old, size_t size)
{
    char text[SIZE + 1];
    ssize_t done = 0;
    if (old == NULL) {
        done = ftruncate(fd, 0);
    } else {
        print(old, text);
        done = TEMP_FAILURE_RETRY(pwrite(fd, text, size, 0));
    }
    (void)done; /* there is nothing else to try */
    errno = EFBIG;
}

/* After a failure the file holds what it held. */
static bool write_content(int fd, const content *c, const content *old)
{
    char text[SIZE + 1];
    print(c, text);
    const ssize_t done = TEMP_FAILURE_RETRY(pwrite(fd, text, SIZE, 0));
    if (done > 0 && done < SIZE)
        take_back(fd, old, (size_t)done);
    return done == SIZE;
}

static tarry_status in_use(int fd, const char *path, tarry_error *error)
{
    content c;
    if (read_content(fd, &c) == SOUND)
        return tarry__base_fail(error, TARRY_CANCELLED,
                                "%s: in use by process %" PRIu64, path,
                                c.process);
    return tarry__base_fail(error, TARRY_CANCELLED,
                            "%s: in use by another process", path);
}

/* Another process may have removed what it had made. */
static bool is_gone(int fd)
{
    struct stat file;
    return fstat(fd, &file) == 0 && file.st_nlink == 0;
}

static tarry_status take(tarry__lock *lock, const char *path,
                         tarry_error *error)
{
    content c = {0};
    if (flock(lock->fd, LOCK_EX | LOCK_NB) != 0) {
        lock->is_new = false; /* the other's, by now */
        return errno == EWOULDBLOCK
                   ? in_use(lock->fd, path, error)
                   : tarry__base_fail(error, TARRY_IO_ERROR, "%s-lock: %s",
                                      path, strerror(errno));
    }
    if (is_gone(lock->fd))
        return in_use(lock->fd, path, error);
    const finding what = read_content(lock->fd, &c);
    if (what == DAMAGED)
        return tarry__base_fail(
            error, TARRY_BAD_STATE,
            "%s-lock: damaged, so that nobody knows how much was committed; "
            "without this file, what the store holds will be taken for all",
            path);
    lock->is_known = what == SOUND;
    lock->events = c.events;
    lock->sum = c.sum;
    const content mine = {(uint64_t)getpid(), c.events, c.sum};
    if (what == SOUND && !write_content(lock->fd, &mine, &c))
        return tarry__base_fail(error, TARRY_IO_ERROR,
                                "%s-lock: cannot write: %s", path,
                                strerror(errno));
    return TARRY_OK;
}

static void open_file(tarry__lock *lock)
{
    const int flags = O_RDWR | O_CLOEXEC;
    lock->fd =
        TEMP_FAILURE_RETRY(open(lock->name, flags | O_CREAT | O_EXCL, 0666));
    lock->is_new = lock->fd >= 0;
    if (lock->fd < 0 && errno == EEXIST)
        lock->fd = TEMP_FAILURE_RETRY(open(lock->name, flags));
}

tarry_status tarry__lock_take(tarry__lock *lock, const char *path,
                              tarry_error *error)
{
    const size_t length = strlen(path);
    *lock = (tarry__lock){
        .fd = -1, .store = -1, .name = tarry__base_alloc(length + 6, 1)};
    if (lock->name == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    memcpy(lock->name, path, length);
    memcpy(lock->name + length, "-lock", 6);
    open_file(lock);
    const tarry_status status =
        lock->fd >= 0 ? take(lock, path, error)
                      : tarry__base_fail(error, TARRY_IO_ERROR, "%s-lock: %s",
                                         path, strerror(errno));
    if (status != TARRY_OK)
        tarry__lock_give(lock);
    return status;
}

/* Over NFS these locks are of SQLite's kind and would keep it out; there a file
 * that is open for reading cannot have one, and FILE-lock has to do. */
tarry_status tarry__lock_hold(tarry__lock *lock, const char *path,
                              tarry_error *error)
{
    lock->store = TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC));
    return lock->store >= 0 && flock(lock->store, LOCK_EX | LOCK_NB) != 0 &&
                   errno == EWOULDBLOCK
               ? tarry__base_fail(error, TARRY_CANCELLED,
                                  "%s: in use by another process, under "
                                  "another name or without its %s-lock",
                                  path, path)
               : TARRY_OK;
}

void tarry__lock_note(tarry__lock *lock, uint64_t events, uint64_t sum)
{
    const content c = {(uint64_t)getpid(), events, sum};
    const content old = {c.process, lock->events, lock->sum};
    if (!write_content(lock->fd, &c, lock->is_known ? &old : NULL))
        return;
    lock->is_known = true;
    lock->events = events;
    lock->sum = sum;
}

void tarry__lock_give(tarry__lock *lock)
{
    if (lock->is_new && !lock->is_known)
        unlink(lock->name); /* it has never told, and its store was refused */
    if (lock->fd >= 0)
        close(lock->fd); /* ends the lock too */
    if (lock->store >= 0)
        close(lock->store);
    tarry__base_free(lock->name);
    *lock = (tarry__lock){.fd = -1, .store = -1};
}
