/* random.h - random draws that are functions of an address.
 *
 * A draw depends on (seed, run, round, stream) alone: never on earlier draws,
 * on the thread, or on the order of calls.  There is no state, so all
 * functions may be called from any thread at any time.  Two draws at one
 * address see the same bits; values that are to be independent need addresses
 * that differ in some field.  For n values per round, count them through: draw
 * i of round t has round t*n + i, in a stream of its own.
 *
 * The bits are a promise: they are those of Philox4x32-10 (Salmon, Moraes,
 * Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011) with
 *     key     = { seed low, seed high }
 *     counter = { round low, round high, run, stream + 65536 attempt }
 * where low and high are 32-bit halves.  A block is the four output words
 * w[0..3].  Its uniforms are
 *     u[i] = (k + 1/2) / 2^52,  k = the top 52 bits of w[2i] + 2^32 w[2i+1],
 * exact in a double, from 2^-53 to 1 - 2^-53: never 0, never 1.  Bits and
 * uniforms are the same on every machine; the other draws are fixed functions
 * of them, up to the rounding of the C library's exp, log, cos and pow.
 *
 * Parameters outside the range given, NaN and a NULL address answer NaN where a
 * double is returned and UINT64_MAX where a count is; arrays stay as they are.
 * Draws too large for a double are infinite; only extreme parameters give any.
 */
#ifndef TARRY_RANDOM_H
#define TARRY_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include "tarry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The address of a draw. */
typedef struct {
    uint64_t seed;
    uint64_t round;
    uint32_t run;
    uint16_t stream;  /* what the draw is for: noise, delay, ... */
    uint16_t attempt; /* 0; rejection methods count it up for more blocks */
} tarry_random;

/* The block at an address, four words of 32 random bits. */
TARRY_API void tarry_random_bits(const tarry_random *at, uint32_t words[4]);

/* Uniform on (0, 1), both ends open: u[0] of the block, or both. */
TARRY_API double tarry_random_uniform(const tarry_random *at);
TARRY_API void tarry_random_uniform_pair(const tarry_random *at, double u[2]);

/* Normal with mean 0 and variance 1. */
TARRY_API double tarry_random_normal(const tarry_random *at);

/* Exponential; finite mean >= 0. */
TARRY_API double tarry_random_exponential(const tarry_random *at, double mean);

/* Log-normal: the exponential of a normal with mean mu and standard deviation
 * sigma >= 0, both finite.  Its median is exp(mu). */
TARRY_API double tarry_random_lognormal(const tarry_random *at, double mu,
                                        double sigma);

/* Weibull: P(X > x) = exp(-(x / scale)^shape); finite shape, scale > 0. */
TARRY_API double tarry_random_weibull(const tarry_random *at, double shape,
                                      double scale);

/* Pareto of type I: P(X > x) = (scale / x)^shape for x >= scale; finite shape,
 * scale > 0.  The mean is infinite for shape <= 1. */
TARRY_API double tarry_random_pareto(const tarry_random *at, double shape,
                                     double scale);

/* Lomax, a Pareto moved to start at 0: P(X > x) = (1 + x / scale)^-shape;
 * otherwise as tarry_random_pareto. */
TARRY_API double tarry_random_lomax(const tarry_random *at, double shape,
                                    double scale);

/* Geometric: failures before the first success when each trial succeeds with
 * probability p in [0, 1]; 0, 1, 2, ... with mean (1 - p) / p.  Counts beyond
 * 64 bits, and all counts for p = 0, are UINT64_MAX. */
TARRY_API uint64_t tarry_random_geometric(const tarry_random *at, double p);

/* Poisson; mean from 0 to 1e9.  From mean 10 on it may take further blocks, at
 * attempts above that of `at`. */
TARRY_API uint64_t tarry_random_poisson(const tarry_random *at, double mean);

/* A law on 0..count-1 with given weights, made once and drawn from in constant
 * time.  Read-only once made, so threads may share it. */
typedef struct tarry_discrete tarry_discrete;

/* Makes the law that draws i with probability weights[i] / sum of weights; an
 * index of weight 0 is never drawn.  The weights are only read, during the
 * call.  The caller owns *out and ends it with tarry_discrete_free; on failure
 * *out is NULL.
 * TARRY_BAD_ARGUMENT: count is 0, a weight is negative, NaN or infinite, or
 * all are zero; TARRY_NO_MEMORY. */
TARRY_API tarry_status tarry_discrete_create(const double *weights,
                                             size_t count,
                                             tarry_discrete **out);

/* SIZE_MAX if either is NULL. */
TARRY_API size_t tarry_discrete_draw(const tarry_discrete *law,
                                     const tarry_random *at);

/* NULL is fine. */
TARRY_API void tarry_discrete_free(tarry_discrete *law);

#ifdef __cplusplus
}
#endif
#endif
