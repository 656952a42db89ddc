/* linalg.h - the dense algebra tarry needs; the one door to CBLAS and LAPACKE.
 *
 * Matrices are column-major without gaps: A(i,j) of an m by n matrix is
 * A[i + j*m].  Names say the formula.  Nothing here allocates except where a
 * `work` size is asked for by the caller's own buffers. */
#ifndef TARRY_LINALG_LINALG_H
#define TARRY_LINALG_LINALG_H

#include <stdbool.h>
#include <stddef.h>

/* BLAS stays on one thread between these calls, which nest and may come from
 * any thread; the host's own setting returns with the last `end`.  All use of
 * BLAS is between them, or in parallel regions between them.  There OpenMP's
 * own number of threads is 1 too: regions say how many they want. */
void tarry__linalg_blas_quiet_begin(void);
void tarry__linalg_blas_quiet_end(void);

/* Whether several threads may call BLAS at once. */
bool tarry__linalg_blas_is_shared(void);

/* Whether there is memory for what libraries take by themselves: OpenMP a stack
 * for each of `threads`, without which it would end the process, and OpenBLAS
 * a buffer for each of `callers` inside it, which it would wait for for ever.
 */
bool tarry__linalg_libraries_have_room(int threads, int callers);

/* `wanted`, or as many threads as OpenMP says if it is 0, but no more than can
 * be asked for anywhere: many thousands break OpenMP itself. */
enum { TARRY__LINALG_MOST_THREADS = 1024 };
int tarry__linalg_threads(int wanted);

/* As many of `wanted` threads that all call BLAS as there is memory for, but at
 * least one. */
int tarry__linalg_threads_with_room(int wanted);

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

/* Replaces m by n A (m >= n) by its R in the upper half; work: see below. */
bool tarry__linalg_qr(double *A, size_t m, size_t n, double *work,
                      size_t work_size);

/* A P = Q R with column pivoting for m by n A; pivot[j] is the column that
 * came to place j.  On return Q's min(m,n) columns are in Q (m by min). */
bool tarry__linalg_qr_pivoted(double *A, size_t m, size_t n, int *pivot,
                              double *Q, double *work, size_t work_size);

/* A = Q L for m by n A, m <= n: L(i,j) = 0 for j > n - m + i. */
bool tarry__linalg_ql(double *A, size_t m, size_t n, double *work,
                      size_t work_size);

/* Singular values of n by n A, largest first, and the rows of V'; A is lost. */
bool tarry__linalg_svd(double *A, size_t n, double *values, double *Vt,
                       double *work, size_t work_size);

/* Doubles of `work` that suffice for the four above on m by n matrices. */
size_t tarry__linalg_factor_work(size_t m, size_t n);

/* The largest eigenvalue of symmetric n by n A (lower half), which is lost;
 * `values` has room for n, `work` for tarry__linalg_factor_work(n, n). */
bool tarry__linalg_largest_eigenvalue(double *A, size_t n, double *values,
                                      double *work, size_t work_size,
                                      double *out);

#endif
