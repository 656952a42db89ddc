/* bounds.c - picks the loops over bounds for this machine. */
#include "base/machine.h"
#include "design/bounds_kernel.h"

tarry__design_summary tarry__bounds_set(const double *variance, size_t count,
                                        float *bound)
{
    return TARRY__BASE_VARIANT(tarry__bounds_set)(variance, count, bound);
}

size_t tarry__bounds_list(const float *bound, size_t count, float limit,
                          size_t first, size_t *list)
{
    return TARRY__BASE_VARIANT(tarry__bounds_list)(bound, count, limit, first,
                                                   list);
}
