/* linalg.h - the dense algebra tarry needs.
 *
 * Results are the same bytes on every processor and for any number of threads.
 * Matrices are column-major without gaps: A(i,j) of an m by n matrix is
 * A[i + j*m].  Names say the formula.  Nothing here allocates except where a
 * `work` size is asked for by the caller's own buffers. */
#ifndef TARRY_LINALG_LINALG_H
#define TARRY_LINALG_LINALG_H

#include <stdbool.h>
#include <stddef.h>

double tarry__linalg_dot(const double *x, const double *y, size_t n);

/* y = A x and y = A' x for A m by n. */
void tarry__linalg_times(const double *A, size_t m, size_t n, const double *x,
                         double *y);
void tarry__linalg_transposed_times(const double *A, size_t m, size_t n,
                                    const double *x, double *y);

/* A += alpha x x' for symmetric n by n A, all of it. */
void tarry__linalg_rank_one(double *A, size_t n, double alpha, const double *x);

/* C = A B with A m by k, B k by n. */
void tarry__linalg_multiply(const double *A, const double *B, size_t m,
                            size_t k, size_t n, double *C);

/* C = A' B with A k by m, B k by n. */
void tarry__linalg_transposed_multiply(const double *A, const double *B,
                                       size_t m, size_t k, size_t n, double *C);

/* C = A A', C += A A' (m by m) and C = A' A (n by n) for A m by n; lower half
 * only. */
void tarry__linalg_add_outer(const double *A, size_t m, size_t n, double *C);
void tarry__linalg_outer(const double *A, size_t m, size_t n, double *C);
void tarry__linalg_gram(const double *A, size_t m, size_t n, double *C);

/* Copies the lower half of n by n A into the upper. */
void tarry__linalg_mirror(double *A, size_t n);

/* A = L L' in the lower half; false if A is not positive definite. */
bool tarry__linalg_cholesky(double *A, size_t n);

/* With the factor L: B = L^-1 B for n by m B, b = A^-1 b, L = L^-1, and
 * L = A^-1 (lower half). */
void tarry__linalg_lower_solve(const double *L, size_t n, double *B, size_t m);
void tarry__linalg_cholesky_solve(const double *L, size_t n, double *b);
void tarry__linalg_lower_inverse(double *L, size_t n);
void tarry__linalg_cholesky_inverse(double *L, size_t n);

/* B = R^-1 B and B = R'^-1 B for the upper half of the n by n block at the top
 * of R, whose columns are `stride` apart, and n by m B. */
void tarry__linalg_upper_solve(const double *R, size_t stride, size_t n,
                               double *B, size_t m);
void tarry__linalg_upper_transposed_solve(const double *R, size_t stride,
                                          size_t n, double *B, size_t m);

/* Replaces m by n A (m >= n) by its R in the upper half; below it lie the
 * reflections. */
void tarry__linalg_qr(double *A, size_t m, size_t n);

/* A P = Q R with column pivoting for m by n A; pivot[j] is the column that
 * came to place j.  On return Q's min(m,n) columns are in Q (m by min), and R
 * in the upper half of A. */
void tarry__linalg_qr_pivoted(double *A, size_t m, size_t n, int *pivot,
                              double *Q, double *work);

/* A = Q L for m by n A, m <= n: L(i,j) = 0 for j > n - m + i. */
void tarry__linalg_ql(double *A, size_t m, size_t n);

/* Singular values of n by n A, largest first, and the rows of V', zeros
 * for a value of 0; A is lost.  False if A is not finite. */
bool tarry__linalg_svd(double *A, size_t n, double *values, double *Vt);

/* The largest eigenvalue of symmetric n by n A (lower half), which is lost;
 * `values` has room for n. */
bool tarry__linalg_largest_eigenvalue(double *A, size_t n, double *values,
                                      double *work, double *out);

/* Doubles of `work` that suffice for those above on m by n matrices. */
size_t tarry__linalg_factor_work(size_t m, size_t n);

#endif
