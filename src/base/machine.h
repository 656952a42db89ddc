/* machine.h - how wide this machine's vectors are; kernels that are compiled
 * for several widths are chosen by it.  All widths give the same bytes. */
#ifndef TARRY_BASE_MACHINE_H
#define TARRY_BASE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

/* Doubles per vector: 8 (AVX-512 with DQ), 4 (AVX2 and FMA) or 2.  The variable
 * TARRY_VECTORS of the environment (plain, avx2, avx512) lowers it; what it
 * says is read once. */
size_t tarry__base_vector_lanes(void);

/* The value of TARRY_VECTORS if it is none of the three, else NULL. */
const char *tarry__base_vectors_unknown(void);

/* The variant of a kernel for this machine. */
#ifdef __x86_64__
#define TARRY__BASE_VARIANT(kernel)                                            \
    (tarry__base_vector_lanes() == 8   ? kernel##_avx512                       \
     : tarry__base_vector_lanes() == 4 ? kernel##_avx2                         \
                                       : kernel##_base)
#else
#define TARRY__BASE_VARIANT(kernel) kernel##_base
#endif

#endif
