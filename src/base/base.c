/* base.c - the one place that calls malloc, and the clock. */
#define _DEFAULT_SOURCE
#include "base/base.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    ALIGNMENT = 64, /* a cache line, and the widest vector */
    LARGE_PAGE = 1 << 21
};

static atomic_uint_fast64_t allocations, failing;

static int must_fail(void)
{
    return atomic_fetch_add(&allocations, 1) + 1 == atomic_load(&failing);
}

uint64_t tarry__base_fail_alloc(uint64_t k)
{
    const uint64_t seen = atomic_exchange(&allocations, 0);
    atomic_store(&failing, k);
    return seen;
}

/* Blocks of many large pages ask for them: random access is then faster. */
static void *take(size_t bytes)
{
    void *block;
    const int large = bytes >= 8 * (size_t)LARGE_PAGE;
    if (posix_memalign(&block, large ? LARGE_PAGE : ALIGNMENT, bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (large)
        madvise(block, bytes, MADV_HUGEPAGE); /* a wish only */
#endif
    return block;
}

void *tarry__base_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (must_fail() || __builtin_mul_overflow(count, size, &bytes) ||
        bytes > PTRDIFF_MAX - ALIGNMENT)
        return NULL;
    return take(bytes > 0 ? bytes : 1);
}

void *tarry__base_zalloc(size_t count, size_t size)
{
    void *block = tarry__base_alloc(count, size);
    if (block != NULL)
        memset(block, 0, count * size);
    return block;
}

void *tarry__base_small(size_t size)
{
    return must_fail() ? NULL : malloc(size > 0 ? size : 1);
}

void *tarry__base_grow(void *block, size_t old_count, size_t count, size_t size)
{
    void *bigger = tarry__base_alloc(count, size);
    if (bigger == NULL)
        return NULL;
    const size_t kept = old_count < count ? old_count : count;
    if (block != NULL && kept > 0)
        memcpy(bigger, block, kept * size);
    tarry__base_free(block);
    return bigger;
}

void tarry__base_free(void *block)
{
    free(block);
}

tarry_status tarry__base_fail(tarry_error *error, tarry_status status,
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

uint64_t tarry__base_digest(uint64_t digest, const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    digest ^= size;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, b + i, size - i < 8 ? size - i : 8);
        digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
        digest ^= digest >> 29;
    }
    return digest;
}

double tarry__base_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
