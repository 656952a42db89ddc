/* fit.h - power laws through measured points, and what they say of a claim. */
#ifndef TARRY_PAPER_FIT_H
#define TARRY_PAPER_FIT_H

#include <stddef.h>
#include <stdint.h>

enum { TARRY__FIT_SERIES_POINTS = 24, TARRY__FIT_BLOCKS = 16 };

/* What some runs gave at x.  Runs are also split into blocks, the same at every
 * point of a series: what runs share, such as their instance, then cancels from
 * the error of a slope. */
typedef struct {
    double x, mean, ci95;
    size_t n_blocks; /* 0: not known */
    double block[TARRY__FIT_BLOCKS];
} tarry__fit_point;

typedef struct {
    const char *name;
    size_t n;
    tarry__fit_point point[TARRY__FIT_SERIES_POINTS];
} tarry__fit_series;

/* y = scale * x^exponent.  Points whose mean is not positive have no place on
 * logarithmic axes and are left out. */
typedef struct {
    size_t used; /* points; fewer than 3: nothing else is said */
    double exponent, ci95, scale;
} tarry__fit_law;

/* Least squares on logarithms.  The interval is Student's with the larger of
 * two errors: that of the residuals, and that of the runs, from the slopes of
 * blocks or, where these cannot be had, from the points' own intervals. */
tarry__fit_law tarry__fit_power(const tarry__fit_series *series);

/* The point that `count` runs give. */
tarry__fit_point tarry__fit_point_of(double x, const double *values,
                                     size_t count);

/* The point with its numbers divided by something. */
tarry__fit_point tarry__fit_point_over(tarry__fit_point point, double divisor);

typedef enum {
    TARRY__FIT_SUPPORTED,
    TARRY__FIT_UNRESOLVED,
    TARRY__FIT_CONTRADICTED,
} tarry__fit_verdict;

extern const char *const tarry__fit_verdict_names[];

/* What a theory may say of a number. */
typedef enum {
    TARRY__FIT_EQUALS,
    TARRY__FIT_AT_MOST,
    TARRY__FIT_AT_LEAST,
    TARRY__FIT_REPORTED, /* nothing */
} tarry__fit_relation;

/* Exponents that differ by less than this count as equal: logarithms and lower
 * order terms bend every series a little. */
#define TARRY__FIT_EXPONENT_MARGIN 0.15

/* Supported if the whole interval fulfils the relation, give or take the
 * margin; contradicted if no part of it does; else unresolved. */
tarry__fit_verdict tarry__fit_judge(double measured, double ci95, double theory,
                                    tarry__fit_relation relation,
                                    double margin);

/* Exact 95 % interval of a probability after `hits` of `runs` (Clopper and
 * Pearson). */
void tarry__fit_probability_interval(uint64_t hits, uint64_t runs, double *low,
                                     double *high);

#endif
