/* calls.h - calls that fail: the k-th of a kind does, once or from then on.
 *
 * The functions below take the place of those of the system, of SQLite's
 * allocator and of libpq.  The clock can be put forward, and nobody sleeps.
 * Include it in one file of a program, before anything else. */
#ifndef TARRY_TESTS_CALLS_H
#define TARRY_TESTS_CALLS_H

#include "instead.h"
#include "check.h"
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/base.h"
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#endif

typedef enum {
    CALLS_NONE,
    CALLS_BLOCKS, /* memory taken by the library itself */
    CALLS_MEMORY, /* by SQLite, and copies of texts */
    CALLS_FILES,
    CALLS_LINK,  /* to PostgreSQL */
    CALLS_SERVE, /* sockets of a server */
    CALLS_ASK    /* and of its client */
} calls_kind;

static struct {
    calls_kind kind;
    uint64_t at, count;
    int error;
    bool ever;
    double ahead_s; /* of the clock */
} calls;

static bool call_fails(calls_kind kind)
{
    if (kind != calls.kind)
        return false;
    calls.count++;
    errno = calls.error;
    return calls.ever ? calls.count >= calls.at : calls.count == calls.at;
}

/* From now on the k-th call of this kind fails with `error`. */
static void calls_begin(calls_kind kind, uint64_t k, int error, bool ever)
{
    calls.at = k;
    calls.count = 0;
    calls.error = error;
    calls.ever = ever;
    calls.kind = kind;
    tarry__base_fail_alloc(kind == CALLS_BLOCKS ? k : 0);
}

/* No more; whether there were as many calls as that. */
static bool calls_end(void)
{
    const uint64_t blocks = tarry__base_fail_alloc(0);
    if (calls.kind == CALLS_BLOCKS)
        calls.count = blocks;
    calls.kind = CALLS_NONE;
    return calls.count >= calls.at;
}

/* ---- memory ---------------------------------------------------------------*/

static sqlite3_mem_methods real_memory;

static void *take_memory(int size)
{
    return call_fails(CALLS_MEMORY) ? NULL : real_memory.xMalloc(size);
}

static void *take_more(void *block, int size)
{
    return call_fails(CALLS_MEMORY) ? NULL : real_memory.xRealloc(block, size);
}

/* Before SQLite is used. */
static void calls_prepare(void)
{
    sqlite3_mem_methods mine;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory), 0);
    mine = real_memory;
    mine.xMalloc = take_memory;
    mine.xRealloc = take_more;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), 0);
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &mine), 0);
}

SHARED char *strdup(const char *text)
{
    return call_fails(CALLS_MEMORY)
               ? NULL
               : REAL(char *(*)(const char *), "strdup")(text);
}

SHARED char *strndup(const char *text, size_t size)
{
    return call_fails(CALLS_MEMORY)
               ? NULL
               : REAL(char *(*)(const char *, size_t), "strndup")(text, size);
}

static int print_copy(char **out, const char *format, va_list values)
{
    return call_fails(CALLS_MEMORY) ? -1 : vasprintf(out, format, values);
}

SHARED int asprintf(char **out, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const int size = print_copy(out, format, values);
    va_end(values);
    return size;
}

SHARED int __asprintf_chk(char **out, int flag, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)flag;
    const int size = print_copy(out, format, values);
    va_end(values);
    return size;
}

/* ---- files ----------------------------------------------------------------*/

static int try_open(const char *which, const char *path, int flags, mode_t mode)
{
    return call_fails(CALLS_FILES) ? -1 : open_really(which, path, flags, mode);
}
OPEN_BY(try_open)

#define CALLS_AT(name, bytes_type)                                             \
    SHARED ssize_t name(int fd, bytes_type bytes, size_t size, off_t at)       \
    {                                                                          \
        return call_fails(CALLS_FILES)                                         \
                   ? -1                                                        \
                   : REAL(ssize_t(*)(int, bytes_type, size_t, off_t),          \
                          #name)(fd, bytes, size, at);                         \
    }
CALLS_AT(pread, void *)
CALLS_AT(pread64, void *)
CALLS_AT(pwrite, const void *)
CALLS_AT(pwrite64, const void *)

/* Real disks are not waited for. */
SHARED int fsync(int fd)
{
    (void)fd;
    return call_fails(CALLS_FILES) ? -1 : 0;
}

SHARED int fdatasync(int fd)
{
    (void)fd;
    return call_fails(CALLS_FILES) ? -1 : 0;
}

#define CALLS_CUT(name)                                                        \
    SHARED int name(int fd, off_t size)                                        \
    {                                                                          \
        return call_fails(CALLS_FILES)                                         \
                   ? -1                                                        \
                   : REAL(int (*)(int, off_t), #name)(fd, size);               \
    }
CALLS_CUT(ftruncate)
CALLS_CUT(ftruncate64)

SHARED int flock(int fd, int how)
{
    return call_fails(CALLS_FILES) ? -1
                                   : REAL(int (*)(int, int), "flock")(fd, how);
}

SHARED int rename(const char *from, const char *to)
{
    return call_fails(CALLS_FILES)
               ? -1
               : REAL(int (*)(const char *, const char *), "rename")(from, to);
}

SHARED char *realpath(const char *path, char *out)
{
    return call_fails(CALLS_FILES)
               ? NULL
               : REAL(char *(*)(const char *, char *), "realpath")(path, out);
}

SHARED FILE *fopen(const char *path, const char *mode)
{
    return call_fails(CALLS_FILES)
               ? NULL
               : REAL(FILE * (*)(const char *, const char *), "fopen")(path,
                                                                       mode);
}

/* ---- the clock ------------------------------------------------------------*/

SHARED int clock_gettime(clockid_t which, struct timespec *now)
{
    const int code = REAL(int (*)(clockid_t, struct timespec *),
                          "clock_gettime")(which, now);
    now->tv_sec += (time_t)calls.ahead_s;
    return code;
}

SHARED int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)wanted, (void)left;
    calls.ahead_s += 1;
    return 0;
}

/* ---- sockets --------------------------------------------------------------*/

/* name(parameters) by these arguments */
#define CALLS_SOCKET(kind, type, name, parameters, arguments)                  \
    SHARED type name parameters                                                \
    {                                                                          \
        return call_fails(kind) ? -1                                           \
                                : REAL(type(*) parameters, #name) arguments;   \
    }
CALLS_SOCKET(CALLS_SERVE, int, bind,
             (int fd, const struct sockaddr *a, socklen_t size), (fd, a, size))
CALLS_SOCKET(CALLS_SERVE, int, listen, (int fd, int n), (fd, n))
CALLS_SOCKET(CALLS_SERVE, int, epoll_create1, (int flags), (flags))
CALLS_SOCKET(CALLS_SERVE, int, eventfd, (unsigned start, int flags),
             (start, flags))
CALLS_SOCKET(CALLS_SERVE, int, epoll_ctl,
             (int fd, int what, int on, struct epoll_event *event),
             (fd, what, on, event))
CALLS_SOCKET(CALLS_SERVE, int, accept4,
             (int fd, struct sockaddr *a, socklen_t *size, int flags),
             (fd, a, size, flags))
CALLS_SOCKET(CALLS_SERVE, ssize_t, recv,
             (int fd, void *bytes, size_t size, int flags),
             (fd, bytes, size, flags))
CALLS_SOCKET(CALLS_SERVE, ssize_t, sendmsg,
             (int fd, const struct msghdr *message, int flags),
             (fd, message, flags))
CALLS_SOCKET(CALLS_SERVE, int, setsockopt,
             (int fd, int level, int name, const void *value, socklen_t size),
             (fd, level, name, value, size))
CALLS_SOCKET(CALLS_ASK, int, connect,
             (int fd, const struct sockaddr *a, socklen_t size), (fd, a, size))
CALLS_SOCKET(CALLS_ASK, int, getsockopt,
             (int fd, int level, int name, void *value, socklen_t *size),
             (fd, level, name, value, size))
CALLS_SOCKET(CALLS_ASK, ssize_t, send,
             (int fd, const void *bytes, size_t size, int flags),
             (fd, bytes, size, flags))
CALLS_SOCKET(CALLS_ASK, ssize_t, read, (int fd, void *bytes, size_t size),
             (fd, bytes, size))
CALLS_SOCKET(CALLS_ASK, int, poll, (struct pollfd * fds, nfds_t n, int ms),
             (fds, n, ms))

SHARED int socket(int family, int type, int protocol)
{
    return call_fails((type & SOCK_NONBLOCK) != 0 ? CALLS_ASK : CALLS_SERVE)
               ? -1
               : REAL(int (*)(int, int, int), "socket")(family, type, protocol);
}

SHARED int getaddrinfo(const char *host, const char *port,
                       const struct addrinfo *hints, struct addrinfo **list)
{
    return call_fails(CALLS_ASK)
               ? EAI_AGAIN
               : REAL(int (*)(const char *, const char *,
                              const struct addrinfo *, struct addrinfo **),
                      "getaddrinfo")(host, port, hints, list);
}

/* ---- the link to PostgreSQL -----------------------------------------------*/

#ifdef LIBPQ_FE_H

SHARED PGconn *PQconnectdbParams(const char *const *words,
                                 const char *const *values, int expand)
{
    return call_fails(CALLS_LINK)
               ? NULL
               : REAL(PGconn *
                          (*)(const char *const *, const char *const *, int),
                      "PQconnectdbParams")(words, values, expand);
}

#define CALLS_PQ(name, failure)                                                \
    SHARED int name(PGconn *link)                                              \
    {                                                                          \
        return call_fails(CALLS_LINK) ? (failure)                              \
                                      : REAL(int (*)(PGconn *), #name)(link);  \
    }
CALLS_PQ(PQpipelineSync, 0)
CALLS_PQ(PQenterPipelineMode, 0)
CALLS_PQ(PQflush, -1)
CALLS_PQ(PQconsumeInput, 0)
CALLS_PQ(PQsetSingleRowMode, 0)

SHARED int PQserverVersion(const PGconn *link)
{
    return call_fails(CALLS_LINK)
               ? 0
               : REAL(int (*)(const PGconn *), "PQserverVersion")(link);
}

SHARED ConnStatusType PQstatus(const PGconn *link)
{
    return call_fails(CALLS_LINK)
               ? CONNECTION_BAD
               : REAL(ConnStatusType(*)(const PGconn *), "PQstatus")(link);
}

SHARED int PQsetnonblocking(PGconn *link, int on)
{
    return call_fails(CALLS_LINK)
               ? -1
               : REAL(int (*)(PGconn *, int), "PQsetnonblocking")(link, on);
}

SHARED int PQsendQueryPrepared(PGconn *link, const char *name, int n,
                               const char *const *values, const int *lengths,
                               const int *formats, int format)
{
    return call_fails(CALLS_LINK)
               ? 0
               : REAL(int (*)(PGconn *, const char *, int, const char *const *,
                              const int *, const int *, int),
                      "PQsendQueryPrepared")(link, name, n, values, lengths,
                                             formats, format);
}

SHARED int PQsendQueryParams(PGconn *link, const char *sql, int n,
                             const Oid *types, const char *const *values,
                             const int *lengths, const int *formats, int format)
{
    return call_fails(CALLS_LINK)
               ? 0
               : REAL(int (*)(PGconn *, const char *, int, const Oid *,
                              const char *const *, const int *, const int *,
                              int),
                      "PQsendQueryParams")(link, sql, n, types, values, lengths,
                                           formats, format);
}

SHARED int PQsendPrepare(PGconn *link, const char *name, const char *sql, int n,
                         const Oid *types)
{
    return call_fails(CALLS_LINK)
               ? 0
               : REAL(int (*)(PGconn *, const char *, const char *, int,
                              const Oid *),
                      "PQsendPrepare")(link, name, sql, n, types);
}

/* The network is gone from here on. */
SHARED PGresult *PQgetResult(PGconn *link)
{
    if (call_fails(CALLS_LINK))
        shutdown(PQsocket(link), SHUT_RDWR);
    return REAL(PGresult * (*)(PGconn *), "PQgetResult")(link);
}
#endif

#endif
