/* view_kernel.h - the hottest loop of foresight: all arms against one vector.
 *
 * Entry j of arm i is columns[j * stride + i]. */
#ifndef TARRY_POLICY_FORESIGHT_VIEW_KERNEL_H
#define TARRY_POLICY_FORESIGHT_VIEW_KERNEL_H

#include <stddef.h>

/* out(i) = sum over j < rank of x(j) times entry j of arm i < count. */
typedef void tarry__view_kernel(const double *columns, size_t stride,
                                size_t rank, const double *x, size_t count,
                                double *out);

tarry__view_kernel tarry__view_base, tarry__view_avx2, tarry__view_avx512;

#endif
