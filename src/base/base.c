/* base.c - the one place that calls malloc, and the clock. */
#define _POSIX_C_SOURCE 200809L
#include "base.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ALIGNMENT = 64 }; /* a cache line, and the widest vector */

static atomic_uint_fast64_t allocations, failing;

static int must_fail(void)
{
    return atomic_fetch_add(&allocations, 1) + 1 == atomic_load(&failing);
}

uint64_t tarry__fail_alloc(uint64_t k)
{
    const uint64_t seen = atomic_exchange(&allocations, 0);
    atomic_store(&failing, k);
    return seen;
}

void *tarry__alloc(size_t count, size_t size)
{
    size_t bytes;
    if (must_fail() || __builtin_mul_overflow(count, size, &bytes) ||
        bytes > PTRDIFF_MAX - ALIGNMENT)
        return NULL;
    bytes = (bytes / ALIGNMENT + 1) * ALIGNMENT;
    return aligned_alloc(ALIGNMENT, bytes);
}

void *tarry__zalloc(size_t count, size_t size)
{
    void *block = tarry__alloc(count, size);
    if (block != NULL)
        memset(block, 0, count * size);
    return block;
}

void *tarry__grow(void *block, size_t old_count, size_t count, size_t size)
{
    void *bigger = tarry__alloc(count, size);
    if (bigger == NULL)
        return NULL;
    const size_t kept = old_count < count ? old_count : count;
    if (block != NULL && kept > 0)
        memcpy(bigger, block, kept * size);
    tarry__free(block);
    return bigger;
}

void tarry__free(void *block)
{
    free(block);
}

tarry_status tarry__fail(tarry_error *error, tarry_status status,
                         const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return status;
}

double tarry__seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
