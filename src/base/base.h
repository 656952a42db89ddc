/* base.h - allocation that tests can make fail, error lines, the clock.
 *
 * All memory of the library is taken here.  Each function takes counts and
 * element sizes, and treats a product that overflows as out of memory. */
#ifndef TARRY_BASE_BASE_H
#define TARRY_BASE_BASE_H

#include <stddef.h>
#include <stdint.h>
#include "tarry/status.h"

/* Room for `count` elements of `size` bytes, at least one byte, aligned to 64;
 * NULL when out of memory.  `zalloc` clears it. */
void *tarry__base_alloc(size_t count, size_t size);
void *tarry__base_zalloc(size_t count, size_t size);

/* Room for so many bytes of any kind, aligned as malloc does: for many small
 * things. */
void *tarry__base_small(size_t size);

/* Moves a block to a new size, keeping the first `old_count` elements; on
 * failure returns NULL and the old block stays. */
void *tarry__base_grow(void *block, size_t old_count, size_t count,
                       size_t size);

/* free(NULL) is fine, as in C. */
void tarry__base_free(void *block);

/* For tests: the k-th allocation from now fails, counting from 1, and only
 * that one; 0 switches this off.  Answers how many allocations happened since
 * the last call. */
uint64_t tarry__base_fail_alloc(uint64_t k);

/* Writes one line into `error` (NULL is fine) and returns `status`. */
tarry_status tarry__base_fail(tarry_error *error, tarry_status status,
                              const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds bytes to a digest, which starts as TARRY__BASE_DIGEST: against
 * accidents, not against forgery.  Every bit counts, and so does order. */
#define TARRY__BASE_DIGEST 0x243f6a8885a308d3u
uint64_t tarry__base_digest(uint64_t digest, const void *bytes, size_t size);

/* Seconds of a clock that only goes forward. */
double tarry__base_seconds(void);

#endif
