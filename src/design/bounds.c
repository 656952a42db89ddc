/* bounds.c - picks the loops over bounds for this machine. */
#include "base/machine.h"
#include "design/bounds_kernel.h"

tarry__design_summary tarry__bounds_set(const double *variance, size_t count,
                                        float *bound)
{
#ifdef __x86_64__
    switch (tarry__base_vector_lanes()) {
    case 8:
        return tarry__bounds_set_avx512(variance, count, bound);
    case 4:
        return tarry__bounds_set_avx2(variance, count, bound);
    }
#endif
    return tarry__bounds_set_base(variance, count, bound);
}

size_t tarry__bounds_list(const float *bound, size_t count, float limit,
                          size_t first, size_t *list)
{
#ifdef __x86_64__
    switch (tarry__base_vector_lanes()) {
    case 8:
        return tarry__bounds_list_avx512(bound, count, limit, first, list);
    case 4:
        return tarry__bounds_list_avx2(bound, count, limit, first, list);
    }
#endif
    return tarry__bounds_list_base(bound, count, limit, first, list);
}
