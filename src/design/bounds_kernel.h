/* bounds_kernel.h - loops over the scan's bounds, one float per arm. */
#ifndef TARRY_DESIGN_BOUNDS_KERNEL_H
#define TARRY_DESIGN_BOUNDS_KERNEL_H

#include <float.h>
#include <stddef.h>

/* A float above the variance; for vectors too. */
#define TARRY__DESIGN_ROUND_UP (1 + 2e-7)

/* Of `count` variances >= 0.  Not finite: one of them is not, or too large. */
typedef struct {
    double sum, largest;
} tarry__design_summary;

/* Sums up, and sets the bounds, rounded up. */
tarry__design_summary tarry__bounds_set(const double *variance, size_t count,
                                        float *bound);

/* Lists `first` + i for all i < count with bound[i] >= limit, in order, and
 * answers how many. */
size_t tarry__bounds_list(const float *bound, size_t count, float limit,
                          size_t first, size_t *list);

typedef tarry__design_summary tarry__bounds_set_kernel(const double *, size_t,
                                                       float *);
typedef size_t tarry__bounds_list_kernel(const float *, size_t, float, size_t,
                                         size_t *);
tarry__bounds_set_kernel tarry__bounds_set_base, tarry__bounds_set_avx2,
    tarry__bounds_set_avx512;
tarry__bounds_list_kernel tarry__bounds_list_base, tarry__bounds_list_avx2,
    tarry__bounds_list_avx512;

#endif
