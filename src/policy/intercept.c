/* intercept.c - see intercept.h. */
#include "policy/intercept.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include "base/base.h"
#include "design/span.h"
#include "linalg/linalg.h"

/* Directions of the arms that count, by their singular value's share of the
 * largest; ten times that of the designs, which must see the constant too. */
static const double RANK_TOLERANCE = 1e-10;

/* What <a, x> may differ from 1: the mean of an arm is then wrong by no more
 * than this share of the range. */
static const double MOST_ERROR = 1e-9;

/* Features up to this size, or down to its inverse, get 1 beside them. */
static const double USUAL = 1024;

/* x = T' sum of T a, the vector whose <a, x> are nearest to 1 for all arms
 * together. */
static void fit_one(const double *arms, size_t n_arms, size_t n,
                    const double *T, size_t rank, double *t, double *x)
{
    double *sum = x; /* of all arms, until it is x */
    memset(sum, 0, n * sizeof *sum);
    for (size_t k = 0; k < n_arms; k++)
        for (size_t i = 0; i < n; i++)
            sum[i] += arms[k * n + i];
    tarry__linalg_times(T, rank, n, sum, t);
    tarry__linalg_transposed_times(T, rank, n, t, x);
}

static bool is_one(const double *arms, size_t n_arms, size_t n, const double *x)
{
    for (size_t k = 0; k < n_arms; k++)
        if (!(fabs(tarry__linalg_dot(arms + k * n, x, n) - 1) <= MOST_ERROR))
            return false;
    return true;
}

/* A constant that is not lost beside the other features. */
static double fitting(const double *arms, size_t count)
{
    const double largest = tarry__design_largest(arms, count);
    return largest == 0 || (largest <= USUAL && largest >= 1 / USUAL)
               ? 1
               : ldexp(1, ilogb(largest));
}

tarry_status tarry__intercept_find(const double *arms, size_t n_arms, size_t n,
                                   double *constant, double *x)
{
    double *memory = tarry__base_alloc(n * n + n, sizeof *memory);
    size_t rank;
    if (memory == NULL)
        return TARRY_NO_MEMORY;
    double *T = memory, *t = T + n * n;
    const tarry_status status =
        tarry__span(arms, n_arms, n, RANK_TOLERANCE, 1, &rank, T);
    *constant = 0;
    if (status == TARRY_OK) {
        fit_one(arms, n_arms, n, T, rank, t, x);
        if (rank == 0 || !is_one(arms, n_arms, n, x))
            *constant = fitting(arms, n_arms * n);
    }
    tarry__base_free(memory);
    return status;
}

double tarry__intercept_rest(const double *a, const double *x, size_t dim)
{
    const double rest = 1 - tarry__linalg_dot(a, x, dim);
    return fabs(rest) <= MOST_ERROR ? 0 : rest;
}

void tarry__intercept_add(const double *arms, size_t n_arms, size_t n,
                          double constant, double *out)
{
    for (size_t k = 0; k < n_arms; k++) {
        memcpy(out + k * (n + 1), arms + k * n, n * sizeof *out);
        out[k * (n + 1) + n] = constant;
    }
}

void tarry__intercept_drop(const double *arms, size_t n_arms, size_t n,
                           double *out)
{
    for (size_t k = 0; k < n_arms; k++)
        memcpy(out + k * n, arms + k * (n + 1), n * sizeof *out);
}
