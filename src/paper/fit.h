/* fit.h - power laws through measured points, and what they say of a claim. */
#ifndef TARRY_PAPER_FIT_H
#define TARRY_PAPER_FIT_H

#include <stddef.h>
#include <stdint.h>

enum { TARRY__SWEEP_POINTS = 24, TARRY__BLOCKS = 16 };

/* What some runs gave at x.  Runs are also split into blocks, the same at every
 * point of a sweep: what runs share, such as their instance, then cancels from
 * the error of a slope. */
typedef struct {
    double x, mean, ci95;
    size_t n_blocks; /* 0: not known */
    double block[TARRY__BLOCKS];
} tarry__point;

typedef struct {
    const char *name;
    size_t n;
    tarry__point point[TARRY__SWEEP_POINTS];
} tarry__sweep;

/* y = scale * x^exponent.  Points whose mean is not positive have no place on
 * logarithmic axes and are left out. */
typedef struct {
    size_t used; /* points; fewer than 3: nothing else is said */
    double exponent, ci95, scale;
} tarry__power;

/* Least squares on logarithms.  The interval is Student's with the larger of
 * two errors: that of the residuals, and that of the runs, from the slopes of
 * blocks or, where these cannot be had, from the points' own intervals. */
tarry__power tarry__fit_power(const tarry__sweep *sweep);

/* The point that `count` runs give. */
tarry__point tarry__point_of(double x, const double *values, size_t count);

/* The point with its numbers divided by something. */
tarry__point tarry__point_over(tarry__point point, double divisor);

typedef enum {
    TARRY__SUPPORTED,
    TARRY__UNRESOLVED,
    TARRY__CONTRADICTED,
} tarry__verdict;

extern const char *const tarry__verdict_names[];

/* What a theory may say of a number. */
typedef enum {
    TARRY__EQUALS,
    TARRY__AT_MOST,
    TARRY__AT_LEAST,
    TARRY__REPORTED, /* nothing */
} tarry__relation;

/* Exponents that differ by less than this count as equal: logarithms and lower
 * order terms bend every sweep a little. */
#define TARRY__EXPONENT_MARGIN 0.15

/* Supported if the whole interval fulfils the relation, give or take the
 * margin; contradicted if no part of it does; else unresolved. */
tarry__verdict tarry__judge(double measured, double ci95, double theory,
                            tarry__relation relation, double margin);

/* Exact 95 % interval of a probability after `hits` of `runs` (Clopper and
 * Pearson). */
void tarry__probability_interval(uint64_t hits, uint64_t runs, double *low,
                                 double *high);

#endif
