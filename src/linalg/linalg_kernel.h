/* linalg_kernel.h - the loops behind linalg.c, compiled once per vector width.
 *
 * Every number is computed by one fixed sequence of operations: the sums of
 * `add_product` run over k in order, those of `dot` over eight lanes that are
 * added at the end.  So results depend neither on the width of vectors nor on
 * how matrices are cut into blocks. */
#ifndef TARRY_LINALG_LINALG_KERNEL_H
#define TARRY_LINALG_LINALG_KERNEL_H

#include <stddef.h>

/* C += sign A B with A m by k and B k by n; entry (k, j) of B is
 * B[k * next_row + j * next_column].  `sign` is 1 or -1. */
typedef struct {
    size_t m, n, k;
    const double *A;
    size_t stride;
    const double *B;
    size_t next_row, next_column;
    double *C;
    size_t stride_c;
    double sign;
} tarry__linalg_product;

typedef struct {
    void (*add_product)(const tarry__linalg_product *p);
    double (*dot)(const double *x, const double *y, size_t n);
    void (*add)(double *y, double a, const double *x, size_t n); /* y += a x */
    /* (x, y) = (c x - s y, s x + c y) */
    void (*rotate)(double *x, double *y, double c, double s, size_t n);
    /* B = L^-1 B for the lower half of n by n L and n by m B. */
    void (*solve_lower)(const double *L, size_t stride, size_t n, double *B,
                        size_t stride_b, size_t m);
} tarry__linalg_kernels;

extern const tarry__linalg_kernels tarry__linalg_base, tarry__linalg_avx2,
    tarry__linalg_avx512;

#endif
