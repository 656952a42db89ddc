/* plain.c - see plain.h. */
#include "plain.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include "base/base.h"
#include "linalg/linalg.h"

enum { LANES = 32 };

#ifdef __x86_64__ /* vectors as wide as the machine has them */
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

/* Several running sums: with one, the latency of additions would be measured
 * instead of the memory. */
WIDE static double sum_of(const double *x, size_t n)
{
    double lane[LANES] = {0}, sum = 0;
    for (; n >= LANES; n -= LANES, x += LANES)
        for (int j = 0; j < LANES; j++)
            lane[j] += x[j];
    for (size_t i = 0; i < n; i++)
        lane[i] += x[i];
    for (int j = 0; j < LANES; j++)
        sum += lane[j];
    return sum;
}

double plain_sum(const arm_set *set)
{
    const size_t count = set->n_arms * set->dim;
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        const size_t threads = (size_t)omp_get_num_threads();
        const size_t t = (size_t)omp_get_thread_num();
        const size_t first = count / threads * t;
        const size_t last = t + 1 < threads ? first + count / threads : count;
        sum = sum_of(set->arms + first, last - first);
    }
    return sum;
}

static double variance(const double *inverse, const double *arm, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        double product = 0;
        for (size_t i = 0; i < n; i++)
            product += inverse[i + j * n] * arm[i];
        sum += product * arm[j];
    }
    return sum;
}

static double largest_variance(const arm_set *set, const double *inverse)
{
    double g = 0;
#pragma omp parallel for reduction(max : g)
    for (size_t k = 0; k < set->n_arms; k++)
        g = fmax(g, variance(inverse, set->arms + k * set->dim, set->dim));
    return g;
}

double plain_worst_variance(const arm_set *set, const size_t *arm,
                            const double *weight, size_t n_support)
{
    const size_t n = set->dim;
    double g = NAN, *V = tarry__base_zalloc(n * n, sizeof *V);
    if (V == NULL)
        return g;
    for (size_t i = 0; i < n_support; i++)
        tarry__linalg_rank_one(V, n, weight[i], set->arms + arm[i] * n);
    if (tarry__linalg_cholesky(V, n)) {
        tarry__linalg_cholesky_inverse(V, n);
        tarry__linalg_mirror(V, n);
        g = largest_variance(set, V);
    }
    tarry__base_free(V);
    return g;
}
