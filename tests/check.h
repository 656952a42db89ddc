/* check.h - what all unit tests include: cmocka and a few shared checks. */
#ifndef TARRY_CHECK_H
#define TARRY_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>

/* BRIEF is 1 in a build with sanitizers and in that of tools/coverage, else 0.
 * Those look for errors of memory and for lines that no test runs, and need few
 * of the runs that statistics want.  Tests in Python: TARRY_BRIEF. */

/* How much a test does: `all` in `make campaign` (TARRY_CAMPAIGN=1), else
 * `brief` where BRIEF is 1, else `usual`.  tests/CMakeLists.txt gives the label
 * `campaign` to a test that has this word. */
static inline size_t amount(size_t brief, size_t usual, size_t all)
{
    return getenv("TARRY_CAMPAIGN") != NULL ? all : BRIEF ? brief : usual;
}

/* |a - b| <= tolerance, printing both. */
#define CHECK_NEAR(a, b, tolerance)                                            \
    do {                                                                       \
        const double check_a = (a), check_b = (b);                             \
        if (!(fabs(check_a - check_b) <= (tolerance)))                         \
            fail_msg("%s = %.17g, expected %.17g", #a, check_a, check_b);      \
    } while (0)

/* a <= b, printing both. */
#define CHECK_AT_MOST(a, b)                                                    \
    do {                                                                       \
        const double check_a = (a), check_b = (b);                             \
        if (!(check_a <= check_b))                                             \
            fail_msg("%s = %.17g, expected at most %.17g", #a, check_a,        \
                     check_b);                                                 \
    } while (0)

/* Numbers for test data: splitmix64, uniform in (0,1), and normal. */
static inline uint64_t test_bits(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline double test_uniform(uint64_t *state)
{
    return ((double)(test_bits(state) >> 12) + 0.5) * 0x1p-52;
}

static inline double test_normal(uint64_t *state)
{
    const double radius = sqrt(-2 * log(test_uniform(state)));
    return radius * cos(6.283185307179586 * test_uniform(state));
}

#endif
