/* lanes.h - vectors as wide as the file is compiled for; for *_kernel.c.
 *
 * Results must not depend on that width.  So a lane never meets another one,
 * but in sums over eight lanes: `eight` holds eight numbers in as many vectors
 * as that takes, and sum_eight adds them in one order for all widths. */
#ifndef TARRY_BASE_LANES_H
#define TARRY_BASE_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
enum { LANES = 8 };
#elif defined(__AVX2__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif

typedef double reals __attribute__((vector_size(8 * LANES)));
typedef int64_t integers __attribute__((vector_size(8 * LANES)));

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

static inline reals load(const double *x)
{
    reals lanes;
    memcpy(&lanes, x, sizeof lanes);
    return lanes;
}

static inline void store(double *x, reals lanes)
{
    memcpy(x, &lanes, sizeof lanes);
}

/* The first `count` of a vector's numbers, at most LANES; the others are 0. */
static inline reals load_first(const double *x, size_t count)
{
#if defined(__AVX512F__)
    return (reals)_mm512_maskz_loadu_pd((__mmask8)((1u << count) - 1), x);
#elif defined(__AVX2__)
    const integers lane = {0, 1, 2, 3};
    return (reals)_mm256_maskload_pd(x, (__m256i)(lane < (int64_t)count));
#else
    reals lanes = {0};
    memcpy(&lanes, x, count * sizeof *x);
    return lanes;
#endif
}

static inline void store_first(double *x, reals lanes, size_t count)
{
#if defined(__AVX512F__)
    _mm512_mask_storeu_pd(x, (__mmask8)((1u << count) - 1), (__m512d)lanes);
#elif defined(__AVX2__)
    const integers lane = {0, 1, 2, 3};
    _mm256_maskstore_pd(x, (__m256i)(lane < (int64_t)count), (__m256d)lanes);
#else
    memcpy(x, &lanes, count * sizeof *x);
#endif
}

/* Where `mask` is -1, a; where it is 0, b. */
static inline reals pick(integers mask, reals a, reals b)
{
    return (reals)((mask & (integers)a) | (~mask & (integers)b));
}

static inline reals root(reals x)
{
#if defined(__AVX512F__)
    return (reals)_mm512_sqrt_pd((__m512d)x);
#elif defined(__AVX2__)
    return (reals)_mm256_sqrt_pd((__m256d)x);
#elif defined(__x86_64__)
    return (reals)_mm_sqrt_pd((__m128d)x);
#else
    for (int i = 0; i < LANES; i++)
        x[i] = sqrt(x[i]);
    return x;
#endif
}

/* step(x, x with its halves exchanged), then with those of each half, then
 * with those of each quarter. */
#if defined(__AVX512F__)
#define FOLD(x, step)                                                          \
    step(x, __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3));            \
    step(x, __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5));            \
    step(x, __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6))
#elif defined(__AVX2__)
#define FOLD(x, step)                                                          \
    step(x, __builtin_shufflevector(x, x, 2, 3, 0, 1));                        \
    step(x, __builtin_shufflevector(x, x, 1, 0, 3, 2))
#else
#define FOLD(x, step) step(x, __builtin_shufflevector(x, x, 1, 0))
#endif

/* Eight numbers: number i is lane i % LANES of part i / LANES. */
enum { PARTS = 8 / LANES };
typedef struct {
    reals part[PARTS];
} eight;

#define ADD_OTHER(x, other) x += other
/* ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)) */
static inline double sum_eight(eight x)
{
    for (int half = PARTS / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            x.part[i] += x.part[i + half];
    FOLD(x.part[0], ADD_OTHER);
    return x.part[0][0];
}

static inline reals smaller(reals a, reals b)
{
    return pick(a < b, a, b);
}

#define TAKE_SMALLER(x, other) x = smaller(other, x)
static inline double min_lanes(reals x)
{
    FOLD(x, TAKE_SMALLER);
    return x[0];
}

#endif
