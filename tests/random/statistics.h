/* statistics.h - is a sample what it claims to be?
 *
 * Seeds are fixed, so a verdict never changes by luck.  A sample fails when
 * its Kolmogorov-Smirnov or chi-square p-value is below 1e-3, or its mean is
 * off by more than 4 standard errors. */
#ifndef TARRY_TEST_STATISTICS_H
#define TARRY_TEST_STATISTICS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <gsl/gsl_cdf.h>
#include "tarry/random.h"

enum { DRAWS = 200000 };
static const double smallest_p = 1e-3, widest_error = 4;

/* A law with at most two parameters: how to draw, and what GSL says of it. */
typedef struct {
    double (*draw)(const tarry_random *at, const double *parameters);
    double (*cdf)(double x, const double *parameters);
    double parameters[2], mean, deviation;
} continuous_law;

typedef struct {
    uint64_t (*draw)(const tarry_random *at, double parameter);
    double (*cdf)(uint64_t k, double parameter);
    double parameter, mean, deviation;
} count_law;

static inline tarry_random at_round(uint64_t round)
{
    return (tarry_random){.seed = 2385, .run = 17, .stream = 3, .round = round};
}

static inline int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* P(D > distance) for a sample of n, by Kolmogorov's series with Stephens's
 * correction for finite n. */
static inline double kolmogorov_p(double distance, double n)
{
    const double x = (sqrt(n) + 0.12 + 0.11 / sqrt(n)) * distance;
    double p = 0;
    for (int j = 1; j <= 100; j++)
        p += (j % 2 ? 2 : -2) * exp(-2 * j * j * x * x);
    return fmin(p, 1);
}

/* Kolmogorov-Smirnov p-value; sorts the sample. */
static inline double ks_p(double *sample, const continuous_law *law)
{
    qsort(sample, DRAWS, sizeof *sample, compare_doubles);
    double distance = 0;
    for (int i = 0; i < DRAWS; i++) {
        const double cdf = law->cdf(sample[i], law->parameters);
        distance = fmax(distance, cdf - (double)i / DRAWS);
        distance = fmax(distance, (double)(i + 1) / DRAWS - cdf);
    }
    return kolmogorov_p(distance, DRAWS);
}

static inline void check_mean(double sum, double mean, double deviation)
{
    const double error = (sum / DRAWS - mean) / (deviation / sqrt(DRAWS));
    assert_true(fabs(error) < widest_error);
}

static inline double continuous_p(const continuous_law *law, double *sum)
{
    static double sample[DRAWS];
    *sum = 0;
    for (int i = 0; i < DRAWS; i++) {
        const tarry_random at = at_round(i);
        sample[i] = law->draw(&at, law->parameters);
        *sum += sample[i];
    }
    return ks_p(sample, law);
}

static inline void check_continuous(const continuous_law *law)
{
    double sum;
    assert_true(continuous_p(law, &sum) > smallest_p);
    check_mean(sum, law->mean, law->deviation);
}

/* Chi-square p-value over n cells.  Neighbours are pooled until they, and all
 * that follow, expect 10 draws or more. */
static inline double chi_square_p(const double *observed,
                                  const double *expected, size_t n)
{
    double chi2 = 0, o = 0, e = 0, rest = DRAWS;
    int groups = 0;
    for (size_t i = 0; i < n; i++) {
        o += observed[i];
        e += expected[i];
        rest -= expected[i];
        if ((e >= 10 && rest >= 10) || i == n - 1) {
            chi2 += (o - e) * (o - e) / e;
            groups++;
            o = e = 0;
        }
    }
    assert_true(groups > 1);
    return gsl_cdf_chisq_Q(chi2, groups - 1);
}

/* Cells of one width that cover the mean and 5 deviations either side, or
 * start at 0; the first takes in what is below, the last what is above. */
enum { CELLS = 100 };

typedef struct {
    double begin, width;
} cell_grid;

static inline cell_grid grid_of(const count_law *law)
{
    const double begin = fmax(0, floor(law->mean - 5 * law->deviation));
    const double end = law->mean + 5 * law->deviation;
    return (cell_grid){begin, fmax(1, ceil((end - begin) / CELLS))};
}

static inline size_t cell_of(cell_grid grid, double k)
{
    return (size_t)fmin(fmax(0, floor((k - grid.begin) / grid.width)),
                        CELLS - 1);
}

static inline double cdf_below_cell(const count_law *law, cell_grid grid,
                                    int cell)
{
    if (cell == 0)
        return 0;
    if (cell == CELLS)
        return 1;
    const double end = grid.begin + cell * grid.width; /* at least 1 */
    return law->cdf((uint64_t)end - 1, law->parameter);
}

static inline double counts_p(const count_law *law, double *sum)
{
    const cell_grid grid = grid_of(law);
    double observed[CELLS] = {0}, expected[CELLS];
    *sum = 0;
    for (int i = 0; i < DRAWS; i++) {
        const tarry_random at = at_round(i);
        const double k = (double)law->draw(&at, law->parameter);
        observed[cell_of(grid, k)]++;
        *sum += k;
    }
    for (int c = 0; c < CELLS; c++)
        expected[c] = DRAWS * (cdf_below_cell(law, grid, c + 1) -
                               cdf_below_cell(law, grid, c));
    return chi_square_p(observed, expected, CELLS);
}

static inline void check_counts(const count_law *law)
{
    double sum;
    assert_true(counts_p(law, &sum) > smallest_p);
    check_mean(sum, law->mean, law->deviation);
}

#endif
