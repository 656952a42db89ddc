/* faults.c - a library to preload: lets the k-th call of one kind fail.
 *
 *     FAULT_CALL   alloc open read write fsync rename close
 *     FAULT_AT     the first that fails, from 1; 0: none, only count
 *     FAULT_ERROR  errno of the failure; 0: a short write or read
 *     FAULT_EVER   1: all later ones fail too
 *     FAULT_KILL   1: the process is killed instead, before the call
 *     FAULT_COUNT  a file that gets the numbers of calls at the end, of each
 *                  kind in a line: "open 3"
 *
 * Calls count from the start of main, in this process only, and those of
 * other libraries (JSON, OpenMP, the C library's streams as far as they
 * come by here) count as well. */
#include "instead.h"
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ALLOC, OPEN, READ, WRITE, FSYNC, RENAME, CLOSE, N_CALLS };
static const char *const names[] = {"alloc", "open",   "read", "write",
                                    "fsync", "rename", "close"};

static atomic_int active;
static atomic_ulong count[N_CALLS];
static int chosen = -1, error, ever, kills;
static unsigned long at;
static pid_t owner;

/* Whether this call is to fail. */
static int fails(int call)
{
    if (!active || getpid() != owner)
        return 0;
    const unsigned long n = atomic_fetch_add(&count[call], 1) + 1;
    if (call != chosen)
        return 0;
    if (n == at && kills)
        kill(owner, SIGKILL);
    return at > 0 && (n == at || (ever && n > at));
}

/* ---- the calls ------------------------------------------------------------*/

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static int no_memory(void)
{
    if (!fails(ALLOC))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return no_memory() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return no_memory() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *block, size_t size)
{
    return no_memory() ? NULL : __libc_realloc(block, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    if (no_memory())
        return ENOMEM;
    *block = __libc_memalign(alignment, size);
    return *block != NULL ? 0 : ENOMEM;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return no_memory() ? NULL : __libc_memalign(alignment, size);
}

static int failed(int call)
{
    if (!fails(call))
        return 0;
    errno = error;
    return 1;
}

static int open_any(const char *which, const char *path, int flags, mode_t mode)
{
    return failed(OPEN) ? -1 : open_really(which, path, flags, mode);
}
OPEN_BY(open_any)

FILE *fopen(const char *path, const char *mode)
{
    if (failed(OPEN))
        return NULL;
    return REAL(FILE * (*)(const char *, const char *), "fopen")(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
}

ssize_t read(int fd, void *bytes, size_t size)
{
    const int fault = fails(READ);
    if (fault && error != 0) {
        errno = error;
        return -1;
    }
    if (fault && size > 1)
        size /= 2;
    return REAL(ssize_t(*)(int, void *, size_t), "read")(fd, bytes, size);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    const int fault = fd != STDERR_FILENO && fails(WRITE);
    if (fault && error != 0) {
        errno = error;
        return -1;
    }
    if (fault && size > 1)
        size /= 2;
    return REAL(ssize_t(*)(int, const void *, size_t), "write")(fd, bytes,
                                                                size);
}

/* As databases write.  A short one is theirs to go on with. */
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
    const int fault = fails(WRITE);
    if (fault && error != 0) {
        errno = error;
        return -1;
    }
    if (fault && size > 1)
        size /= 2;
    return REAL(ssize_t(*)(int, const void *, size_t, off64_t),
                "pwrite64")(fd, bytes, size, offset);
}

int fsync(int fd)
{
    return failed(FSYNC) ? -1 : REAL(int (*)(int), "fsync")(fd);
}

int fdatasync(int fd)
{
    return failed(FSYNC) ? -1 : REAL(int (*)(int), "fdatasync")(fd);
}

int rename(const char *old, const char *new)
{
    return failed(RENAME)
               ? -1
               : REAL(int (*)(const char *, const char *), "rename")(old, new);
}

/* The descriptor is closed all the same, as it is on Linux. */
int close(int fd)
{
    const int fault = fails(CLOSE);
    const int result = REAL(int (*)(int), "close")(fd);
    if (fault) {
        errno = error;
        return -1;
    }
    return result;
}

/* ---- from the start of main -----------------------------------------------*/

static int (*real_main)(int, char **, char **);

static void tell_counts(void)
{
    const char *path = getenv("FAULT_COUNT");
    active = 0;
    if (path == NULL || getpid() != owner)
        return;
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; fd >= 0 && i < N_CALLS; i++)
        dprintf(fd, "%s %lu\n", names[i], (unsigned long)count[i]);
    if (fd >= 0)
        close(fd);
}

static int counted_main(int argc, char **argv, char **environment)
{
    const char *call = getenv("FAULT_CALL");
    for (int i = 0; call != NULL && i < N_CALLS; i++)
        if (strcmp(call, names[i]) == 0)
            chosen = i;
    at = getenv("FAULT_AT") ? strtoul(getenv("FAULT_AT"), NULL, 10) : 0;
    error = getenv("FAULT_ERROR") ? atoi(getenv("FAULT_ERROR")) : EIO;
    ever = getenv("FAULT_EVER") != NULL;
    kills = getenv("FAULT_KILL") != NULL;
    owner = getpid();
    atexit(tell_counts);
    active = 1;
    const int code = real_main(argc, argv, environment);
    active = 0;
    return code;
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    real_main = main;
    return REAL(int (*)(int (*)(int, char **, char **), int, char **,
                        void (*)(void), void (*)(void), void (*)(void), void *),
                "__libc_start_main")(counted_main, argc, argv, init, fini,
                                     rtld_fini, stack_end);
}
