/* machine.h - how wide this machine's vectors are; kernels that are compiled
 * for several widths are chosen by it. */
#ifndef TARRY_BASE_MACHINE_H
#define TARRY_BASE_MACHINE_H

#include <stddef.h>

/* Doubles per vector: 8 (AVX-512 with DQ), 4 (AVX2 and FMA) or 2. */
static inline size_t tarry__base_vector_lanes(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return 8;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return 4;
#endif
    return 2;
}

#endif
