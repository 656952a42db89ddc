/* variance_kernel.h - |M a|^2 for many rows a, the hottest loop of the design.
 *
 * M (r by n) is packed once into a panel; then any number of rows can be
 * measured.  A row's result does not depend on its neighbours, so it is the
 * same whatever the order, the blocking or the number of threads. */
#ifndef TARRY_DESIGN_VARIANCE_KERNEL_H
#define TARRY_DESIGN_VARIANCE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

enum { TARRY__DESIGN_SMALL_DIM = 16, TARRY__DESIGN_STRIP = 8 };

/* M cut into groups of three strips of 8 rows.  Within a group column j is 24
 * doubles; strip v has zeros from column end[v] on, and the ends of a group
 * increase, so a triangular M costs half. */
typedef struct {
    size_t n_columns, n_groups;
    bool is_small; /* `values` are M itself: n by n, lower triangular, n <= 16,
                      columns n apart; for the kernel of small_kernel.c */
    double *values;
    size_t *ends; /* three per group */
} tarry__design_panel;

/* Doubles in panel.values, sizes in panel.ends, for r by n M. */
size_t tarry__design_panel_values(size_t r, size_t n);
size_t tarry__design_panel_ends(size_t r);

/* Packs column-major r by n M; `values` and `ends` have been set. */
void tarry__design_panel_pack(tarry__design_panel *panel, const double *M,
                              size_t r, size_t n);

/* variance[i] = |M a|^2 of rows a = arms + k n with k = index[i], or
 * k = i if index is NULL, for i < count. */
void tarry__variances(const tarry__design_panel *panel, const double *arms,
                      const size_t *index, size_t count, double *variance);

/* Lower half of V = sum of w_k x_k x_k' for r by `count` x, r <= 16; behind x
 * there is room for 16 more numbers. */
void tarry__design_moments(const double *x, const double *weight, size_t count,
                           size_t r, double *V);

typedef void tarry__design_kernel(const tarry__design_panel *, const double *,
                                  const size_t *, size_t, double *);
tarry__design_kernel tarry__design_kernel_base, tarry__design_kernel_avx2,
    tarry__design_kernel_avx512;
tarry__design_kernel tarry__design_small_base, tarry__design_small_avx2,
    tarry__design_small_avx512;
typedef void tarry__design_moments_kernel(const double *, const double *,
                                          size_t, size_t, double *);
tarry__design_moments_kernel tarry__design_moments_base,
    tarry__design_moments_avx2, tarry__design_moments_avx512;

#endif
