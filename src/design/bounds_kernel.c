/* bounds_kernel.c - compiled once per vector width, see bounds_kernel.h. */
#include "design/bounds_kernel.h"

#include "base/lanes.h"

enum { FLOATS = 2 * LANES };

typedef float floats __attribute__((vector_size(4 * LANES)));

tarry__design_summary PASTE(tarry__bounds_set_, KERNEL)(const double *variance,
                                                        size_t count,
                                                        float *bound)
{
    eight sum = {{{0}}};
    reals opposite = {0}; /* minus the largest */
    const size_t whole = count - count % 8;
    for (size_t i = 0; i < whole; i += LANES) {
        const reals v = load(variance + i);
        const floats up =
            __builtin_convertvector(v * TARRY__DESIGN_ROUND_UP, floats) +
            FLT_MIN;
        memcpy(bound + i, &up, sizeof up);
        sum.part[i / LANES % PARTS] += v;
        opposite = smaller(-v, opposite);
    }
    tarry__design_summary s = {sum_eight(sum), -min_lanes(opposite)};
    for (size_t i = whole; i < count; i++) {
        bound[i] = (float)(variance[i] * TARRY__DESIGN_ROUND_UP) + FLT_MIN;
        s.sum += variance[i];
        s.largest = variance[i] > s.largest ? variance[i] : s.largest;
    }
    return s;
}

/* Bit i: bound[i] >= limit, i < FLOATS. */
static inline unsigned mask_above(const float *bound, float limit)
{
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask(_mm512_loadu_ps(bound), _mm512_set1_ps(limit),
                              _CMP_GE_OQ);
#elif defined(__AVX2__)
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(
        _mm256_loadu_ps(bound), _mm256_set1_ps(limit), _CMP_GE_OQ));
#elif defined(__x86_64__)
    return (unsigned)_mm_movemask_ps(
        _mm_cmpge_ps(_mm_loadu_ps(bound), _mm_set1_ps(limit)));
#else
    unsigned mask = 0;
    for (int i = 0; i < FLOATS; i++)
        mask |= (unsigned)(bound[i] >= limit) << i;
    return mask;
#endif
}

size_t PASTE(tarry__bounds_list_, KERNEL)(const float *bound, size_t count,
                                          float limit, size_t first,
                                          size_t *list)
{
    const size_t whole = count - count % FLOATS;
    size_t found = 0;
    for (size_t i = 0; i < whole; i += FLOATS)
        for (unsigned mask = mask_above(bound + i, limit); mask != 0;
             mask &= mask - 1)
            list[found++] = first + i + (unsigned)__builtin_ctz(mask);
    for (size_t i = whole; i < count; i++)
        if (bound[i] >= limit)
            list[found++] = first + i;
    return found;
}
