/* scan.h - who violates?  Passes over all arms that remember what they saw.
 *
 * A full evaluation of arm a with the matrix V gives d = a' V^-1 a.  For any
 * later V', a' V'^-1 a <= rho d with rho = lambda_max(V'^-1 V): one small
 * eigenvalue tells for a whole block of arms that none of them can matter, so
 * a later pass touches only the few whose bound reaches the interesting range.
 * Bounds are kept as float, rounded up.
 *
 * Arms are taken in blocks of neighbours, in an order that is shuffled (the
 * same way every time): sorted input must not look uniform to the first
 * passes.  Which matrix a block was last evaluated with is its reference. */
#ifndef TARRY_DESIGN_SCAN_H
#define TARRY_DESIGN_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tarry/status.h"
#include "design/variance_kernel.h"

/* Arms times dim^2 below which a second thread does not pay: on a busy machine
 * it may be waited for. */
enum { TARRY__DESIGN_SERIAL_WORK = 5000000 };

typedef struct {
    double variance;
    size_t arm;
} tarry__design_hit;

/* The largest hits seen: by variance, then by lower arm. */
typedef struct {
    tarry__design_hit *hit; /* room for 2 * limit */
    size_t count, limit;
    double least; /* what a new one must reach */
} tarry__design_hits;

typedef struct {
    const double *arms;
    size_t n_arms, dim;
    int threads;
    size_t block_rows, n_blocks;
    uint32_t *order;     /* shuffled blocks */
    uint16_t *reference; /* per block */
    float *bound;        /* per arm: variance under the block's reference */
    float *block_bound;  /* per block: the largest of them */
    double *block_sum;   /* per block: the sum of variances */
    uint64_t evaluations;
    tarry__design_hits *hits; /* one list per thread */
} tarry__scan;

tarry_status tarry__scan_create(tarry__scan *scan, const double *arms,
                                size_t n_arms, size_t dim, size_t hit_limit,
                                int threads);
void tarry__scan_clear(tarry__scan *scan);

/* Evaluates all arms of the blocks order[first..last-1], which get reference
 * `reference`, and lists hits above `wanted` in scan->hits[0], sorted.
 * *largest is the largest variance.  TARRY_NOT_FINITE if an arm is. */
tarry_status tarry__scan_fresh(tarry__scan *scan,
                               const tarry__design_panel *panel, size_t first,
                               size_t last, uint16_t reference, double wanted,
                               double *largest);

/* The same over all blocks, but touches only arms with
 * rho[reference] * bound >= skip_below.  Blocks of which most arms are touched
 * are evaluated whole and get the new reference. */
tarry_status tarry__scan_again(tarry__scan *scan,
                               const tarry__design_panel *panel,
                               const double *rho, uint16_t reference,
                               double skip_below, double wanted,
                               double *largest);

#endif
