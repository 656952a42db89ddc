/* span.h - the span of the arms: its dimension and coordinates in it.
 *
 * Coordinates are x = T a with T r by n.  Any T that is one to one on the span
 * gives the same variances, so T is free to be chosen for good arithmetic. */
#ifndef TARRY_DESIGN_SPAN_H
#define TARRY_DESIGN_SPAN_H

#include <stddef.h>
#include "tarry/status.h"

/* The rank r by singular values (those above `tolerance` times the largest
 * count) and T (room for n by n) such that the coordinates of all arms
 * together have the identity as their matrix of second moments.  All arms are
 * read once.  r = 0 if all are zero.  TARRY_NOT_FINITE if some are not. */
tarry_status tarry__span(const double *arms, size_t n_arms, size_t dim,
                         double tolerance, int threads, size_t *rank,
                         double *T);

/* Fewer arms than dimensions, written in n_arms dimensions: if Q R are the arms
 * as columns, the k-th becomes column k of R, times a power of two.  Inner
 * products, so variances too, stay what they are.  *out, n_arms by n_arms, is
 * for the caller to free.  TARRY_NOT_FINITE as above. */
tarry_status tarry__span_squeeze(const double *arms, size_t n_arms, size_t dim,
                                 double **out);

/* Arms whose largest entry is below this, and not 0, cannot be scaled: they are
 * TARRY_BAD_ARGUMENT. */
#define TARRY__DESIGN_LEAST 1e-290

/* The power of two that brings `largest` to about 1; 0 for 0. */
double tarry__design_unit_scale(double largest);

/* The largest absolute value of `count` numbers; NaN if one is not finite. */
double tarry__design_largest(const double *values, size_t count);

#endif
