/* rounds_kernel.c - compiled once per vector width, see rounds.h.
 *
 * Philox on 64-bit lanes that hold 32-bit words: a product of two words is one
 * instruction, and what stands above the low word is never looked at before
 * the end.  Contraction of products and sums is off for this file, so that all
 * variants round alike. */
#include "random/rounds.h"

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#include <immintrin.h>
enum { LANES = 8 };
typedef __m512i native;
#define PRODUCT(a, b) _mm512_mul_epu32(a, b)
#elif defined(__AVX2__)
#include <immintrin.h>
enum { LANES = 4 };
typedef __m256i native;
#define PRODUCT(a, b) _mm256_mul_epu32(a, b)
#else
enum { LANES = 2 };
#define PRODUCT(a, b) ((a & 0xffffffffu) * (b & 0xffffffffu))
#endif

typedef uint64_t words __attribute__((vector_size(8 * LANES)));
typedef int64_t integers __attribute__((vector_size(8 * LANES)));
typedef double reals __attribute__((vector_size(8 * LANES)));
#ifndef __AVX2__
typedef words native;
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

static inline words product(words a, uint32_t b)
{
    return (words)PRODUCT((native)a, (native)((words){0} + b));
}

/* Philox4x32-10 (Salmon et al. 2011) on words c[0..3]. */
static inline void philox(words c[4], uint32_t key0, uint32_t key1)
{
    for (int round = 0; round < 10; round++) {
        const words p = product(c[0], 0xD2511F53u);
        const words q = product(c[2], 0xCD9E8D57u);
        c[0] = (q >> 32) ^ c[1] ^ key0;
        c[2] = (p >> 32) ^ c[3] ^ key1;
        c[1] = q;
        c[3] = p;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

/* (k + 1/2) / 2^52 for the top 52 bits k: 1 + k/2^52 by its bits, less what is
 * too much; the difference is exact. */
static inline reals unit(words low, words high)
{
    const words bits = (high << 32 | (low & 0xffffffffu)) >> 12;
    return (reals)(bits | 0x3ff0000000000000u) - (1 - 0x1p-53);
}

/* The lanes that fit below `count`, at x + i. */
static inline void store(double *x, size_t i, size_t count, reals lanes)
{
    if (count - i >= LANES)
        memcpy(x + i, &lanes, sizeof lanes);
    else
        memcpy(x + i, &lanes, (count - i) * sizeof *x);
}

static inline words counting(void)
{
    words lanes;
    for (int i = 0; i < LANES; i++)
        lanes[i] = (uint64_t)i;
    return lanes;
}

void PASTE(tarry__random_uniforms_, KERNEL)(const tarry_random *at,
                                            size_t count, double *u, double *v)
{
    const words lanes = counting();
    for (size_t i = 0; i < count; i += LANES) {
        const words round = lanes + (at->round + i);
        words c[4] = {round, round >> 32, (words){0} + at->run,
                      (words){0} + (at->stream | (uint32_t)at->attempt << 16)};
        philox(c, (uint32_t)at->seed, (uint32_t)(at->seed >> 32));
        store(u, i, count, unit(c[0], c[1]));
        store(v, i, count, unit(c[2], c[3]));
    }
}

/* x = 2^e m with m from sqrt(1/2) to sqrt(2); with s = (m - 1)/(m + 1),
 * log m = 2 (s + s^3/3 + s^5/5 + ...), |s| < 0.1716. */
static inline reals minus_log(reals x)
{
    const integers root_half = (integers){0} + 0x3fe6a09e667f3bcd;
    const integers e = ((integers)x - root_half) >> 52;
    const reals m = (reals)((integers)x - (e << 52));
    const reals magic = (reals){0} + 0x1.8p52; /* integers by their bits */
    const reals exponent = (reals)(e + (integers)magic) - magic;
    const reals s = (m - 1) / (m + 1), z = s * s;
    reals sum = (reals){0} + 1.0 / 23;
    for (int k = 21; k >= 1; k -= 2)
        sum = sum * z + 1.0 / k;
    return -(exponent * 0.693147180559945309417 + 2 * s * sum);
}

void PASTE(tarry__random_logs_, KERNEL)(double *x, size_t count)
{
    for (size_t i = 0; i < count; i += LANES) {
        reals part = (reals){0} + 1;
        if (count - i >= LANES)
            memcpy(&part, x + i, sizeof part);
        else
            memcpy(&part, x + i, (count - i) * sizeof *x);
        store(x, i, count, minus_log(part));
    }
}
