/* exchange_kernel.h - the arithmetic of one vertex step.
 *
 * V changes by the outer products of two points x_k and x_l; with u = V^-1 x_k,
 * v = V^-1 x_l, c_i = x_i'u, e_i = x_i'v everything follows by rank-one updates
 * (Sherman-Morrison).  The points are read once per step. */
#ifndef TARRY_DESIGN_EXCHANGE_KERNEL_H
#define TARRY_DESIGN_EXCHANGE_KERNEL_H

#include <stddef.h>

enum {
    TARRY__EXCHANGE_PAD = 8
}; /* room behind the last point, for whole vectors */

/* All arrays of `count` have TARRY__EXCHANGE_PAD more. */
typedef struct {
    size_t rank, count;
    const double *x; /* r by m */
    double *rows;    /* x by rows, `stride` apart, zeros at the end */
    size_t stride;
    double *weight, *variance, *c, *e; /* m */
    double *inverse, *u, *v;           /* r by r; r */
    size_t most, least; /* the largest variance, the least with weight */
} tarry__exchange;

/* V^-1 = scale (V^-1 - s u u' - t v' v''), v' = v - f u; weights times keep. */
typedef struct {
    double scale, s, t, f, keep;
} tarry__exchange_change;

/* Copies x to rows. */
void tarry__exchange_begin(tarry__exchange *ex);

/* u, v, c and e of points k and l. */
void tarry__exchange_look(tarry__exchange *ex, size_t k, size_t l);

/* Makes the change of V^-1, weights and variances; sets most and least. */
void tarry__exchange_make(tarry__exchange *ex, tarry__exchange_change change);

typedef void tarry__exchange_look_kernel(tarry__exchange *, size_t, size_t);
typedef void tarry__exchange_make_kernel(tarry__exchange *,
                                         tarry__exchange_change);
tarry__exchange_look_kernel tarry__exchange_look_base,
    tarry__exchange_look_avx2, tarry__exchange_look_avx512;
tarry__exchange_make_kernel tarry__exchange_make_base,
    tarry__exchange_make_avx2, tarry__exchange_make_avx512;

#endif
