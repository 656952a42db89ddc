/* instead.h - functions that stand before those of the C library.  Include it
 * before anything else. */
#ifndef TARRY_TESTS_INSTEAD_H
#define TARRY_TESTS_INSTEAD_H

#undef _FORTIFY_SOURCE /* its inline functions would be in the way */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>

/* Libraries shall find our calls as well. */
#define SHARED __attribute__((visibility("default")))
#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))

/* open and open64 by one function, which is told whose place it takes. */
#define OPEN_BY(by)                                                            \
    OPEN_BY_(open, by)                                                         \
    OPEN_BY_(open64, by)
#define OPEN_BY_(name, by)                                                     \
    SHARED int name(const char *path, int flags, ...)                          \
    {                                                                          \
        va_list more;                                                          \
        va_start(more, flags);                                                 \
        const mode_t mode =                                                    \
            (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;   \
        va_end(more);                                                          \
        return by(#name, path, flags, mode);                                   \
    }

static inline int open_really(const char *which, const char *path, int flags,
                              mode_t mode)
{
    return REAL(int (*)(const char *, int, ...), which)(path, flags, mode);
}

#endif
