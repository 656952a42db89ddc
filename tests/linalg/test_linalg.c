/* The algebra against plain loops, defining identities and GSL.  Halves of
 * symmetric and triangular matrices that must not be read hold NaN. */
#include "check.h"
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>
#include <stdlib.h>
#include <string.h>
#include "base/machine.h"
#include "linalg/linalg.h"
#include "linalg/linalg_kernel.h"

/* At 16 and 32 plain loops end. */
static const size_t sizes[] = {1, 2, 5, 16, 17, 32, 33, 70};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* ---- matrices ------------------------------------------------------------ */

static double *blocks[4096];
static size_t n_blocks;

/* Exactly `count` doubles, so that valgrind sees any step beyond them; ended
 * after the test. */
static double *take(size_t count)
{
    assert_true(n_blocks < sizeof blocks / sizeof *blocks);
    double *block = malloc(count * sizeof *block);
    assert_non_null(block);
    return blocks[n_blocks++] = block;
}

static int free_blocks(void **state)
{
    (void)state;
    while (n_blocks > 0)
        free(blocks[--n_blocks]);
    return 0;
}

static double *copy(const double *A, size_t count)
{
    return memcpy(take(count), A, count * sizeof *A);
}

static double *normal(size_t m, size_t n)
{
    static uint64_t seed = 2385;
    double *A = take(m * n);
    for (size_t i = 0; i < m * n; i++)
        A[i] = test_normal(&seed);
    return A;
}

static double *transposed(const double *A, size_t m, size_t n)
{
    double *B = take(n * m);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            B[j + i * n] = A[i + j * m];
    return B;
}

static double *product(const double *A, const double *B, size_t m, size_t k,
                       size_t n)
{
    double *C = take(m * n);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            long double sum = 0;
            for (size_t l = 0; l < k; l++)
                sum += (long double)A[i + l * m] * B[l + j * k];
            C[i + j * m] = (double)sum;
        }
    return C;
}

/* A' A: what no orthogonal map changes. */
static double *inner_products(const double *A, size_t m, size_t n)
{
    return product(transposed(A, m, n), A, n, m, n);
}

/* Symmetric, eigenvalues from about 1 up. */
static double *positive(size_t n)
{
    double *A = inner_products(normal(n, n), n, n);
    for (size_t i = 0; i < n; i++)
        A[i * (n + 1)] += 1;
    return A;
}

static bool is_lower(size_t i, size_t j)
{
    return i >= j;
}

static bool is_upper(size_t i, size_t j)
{
    return i <= j;
}

/* The half of n by n A with `other` in the rest. */
static double *half(const double *A, size_t n, bool (*is_in)(size_t, size_t),
                    double other)
{
    double *B = copy(A, n * n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            if (!is_in(i, j))
                B[i + j * n] = other;
    return B;
}

/* Lower triangular and far from singular. */
static double *lower_factor(size_t n)
{
    double *L = half(normal(n, n), n, is_lower, 0);
    for (size_t i = 0; i < n * n; i++)
        L[i] = i % (n + 1) == 0 ? 1.5 + fabs(L[i]) : L[i] / (double)n;
    return L;
}

static void check_same(const double *A, const double *B, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(B[i]));
    for (size_t i = 0; i < count; i++)
        CHECK_NEAR(A[i], B[i], 1e-12 * largest);
}

static void check_same_lower(const double *A, const double *B, size_t n)
{
    check_same(half(A, n, is_lower, 0), half(B, n, is_lower, 0), n * n);
}

static void check_identity(const double *A, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            CHECK_NEAR(A[i + j * n], i == j, 1e-11);
}

static void check_nan_above(const double *A, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < j; i++)
            assert_true(isnan(A[i + j * n]));
}

/* ---- products ------------------------------------------------------------ */

static void vector_products_agree_with_plain_loops(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++)
        for (size_t b = 0; b < N_SIZES; b++) {
            const size_t m = sizes[a], n = sizes[b];
            const double *A = normal(m, n), *x = normal(n, 1);
            const double *z = normal(m, 1);
            double *y = take(m), *u = take(n);
            tarry__linalg_times(A, m, n, x, y);
            check_same(y, product(A, x, m, n, 1), m);
            tarry__linalg_transposed_times(A, m, n, z, u);
            check_same(u, product(transposed(A, m, n), z, n, m, 1), n);
            const double dot = tarry__linalg_dot(z, y, m);
            CHECK_NEAR(dot, product(z, y, 1, m, 1)[0], 1e-12 * (1 + m * n));
        }
    assert_true(tarry__linalg_dot(NULL, NULL, 0) == 0);
}

static void matrix_products_agree_with_plain_loops(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++)
        for (size_t b = 0; b < N_SIZES; b++) {
            const size_t m = sizes[a], k = sizes[b],
                         n = sizes[(a + b) % N_SIZES];
            const double *A = normal(m, k), *B = normal(k, n);
            double *C = take(m * n);
            const double *expected = product(A, B, m, k, n);
            tarry__linalg_multiply(A, B, m, k, n, C);
            check_same(C, expected, m * n);
            tarry__linalg_transposed_multiply(transposed(A, m, k), B, m, k, n,
                                              C);
            check_same(C, expected, m * n);
        }
}

static void symmetric_products_fill_the_lower_half_only(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++)
        for (size_t b = 0; b < N_SIZES; b++) {
            const size_t m = sizes[a], n = sizes[b];
            const double *A = normal(m, n), *before = normal(m, m);
            double *outer = half(before, m, is_lower, NAN);
            double *sum = copy(outer, m * m);
            double *gram = half(normal(n, n), n, is_lower, NAN);
            double *expected = product(A, transposed(A, m, n), m, n, m);
            tarry__linalg_outer(A, m, n, outer);
            check_same_lower(outer, expected, m);
            check_nan_above(outer, m);
            tarry__linalg_gram(A, m, n, gram);
            check_same_lower(gram, inner_products(A, m, n), n);
            check_nan_above(gram, n);
            tarry__linalg_add_outer(A, m, n, sum);
            for (size_t i = 0; i < m * m; i++)
                expected[i] += before[i];
            check_same_lower(sum, expected, m);
            check_nan_above(sum, m);
        }
}

static void a_rank_one_change_reaches_both_halves(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++) {
        const size_t n = sizes[a];
        const double *x = normal(n, 1), alpha = -2.385;
        double *A = positive(n), *expected = copy(A, n * n);
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++)
                expected[i + j * n] += alpha * x[i] * x[j];
        tarry__linalg_rank_one(A, n, alpha, x);
        check_same(A, expected, n * n);
    }
}

static void mirroring_copies_the_lower_half_up(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++) {
        const size_t n = sizes[a];
        const double *S = positive(n);
        double *A = half(S, n, is_lower, NAN);
        tarry__linalg_mirror(A, n);
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++)
                assert_true(A[i + j * n] == S[i >= j ? i + j * n : j + i * n]);
    }
}

/* ---- Cholesky and triangles ---------------------------------------------- */

static void a_cholesky_factor_times_its_transpose_is_the_matrix(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++) {
        const size_t n = sizes[a];
        const double *A = positive(n);
        double *L = half(A, n, is_lower, NAN);
        assert_true(tarry__linalg_cholesky(L, n));
        check_nan_above(L, n);
        L = half(L, n, is_lower, 0);
        check_same(product(L, transposed(L, n, n), n, n, n), A, n * n);
    }
}

static void what_is_not_positive_definite_has_no_cholesky_factor(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++) {
        const size_t n = sizes[a];
        const double bad[] = {0, -2.385, NAN};
        for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
            for (size_t at = 0; at < n; at += n / 3 + 1) {
                double *A = positive(n);
                A[at * (n + 1)] = bad[b];
                assert_false(tarry__linalg_cholesky(A, n));
            }
    }
}

static void solving_with_a_cholesky_factor_undoes_the_matrix(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++) {
        const size_t n = sizes[a];
        const double *L = lower_factor(n), *x = normal(n, 1);
        const double *A = product(L, transposed(L, n, n), n, n, n);
        double *b = product(A, x, n, n, 1);
        tarry__linalg_cholesky_solve(half(L, n, is_lower, NAN), n, b);
        check_same(b, x, n);
        double *inverse = half(L, n, is_lower, NAN);
        tarry__linalg_cholesky_inverse(inverse, n);
        check_nan_above(inverse, n);
        tarry__linalg_mirror(inverse, n);
        check_identity(product(inverse, A, n, n, n), n);
    }
}

static void lower_triangles_are_solved_and_inverted(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++)
        for (size_t b = 0; b < N_SIZES; b++) {
            const size_t n = sizes[a], m = sizes[b];
            const double *L = lower_factor(n), *X = normal(n, m);
            double *B = product(L, X, n, n, m);
            double *inverse = half(L, n, is_lower, NAN);
            tarry__linalg_lower_solve(inverse, n, B, m);
            check_same(B, X, n * m);
            tarry__linalg_lower_inverse(inverse, n);
            check_nan_above(inverse, n);
            inverse = half(inverse, n, is_lower, 0);
            check_identity(product(L, inverse, n, n, n), n);
        }
}

/* R stands at the top of a taller matrix, as after a QR. */
static void upper_triangles_are_solved_inside_taller_matrices(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++)
        for (size_t extra = 0; extra < 8; extra += 7) {
            const size_t n = sizes[a], stride = n + extra, m = 6;
            const double *L = lower_factor(n), *U = transposed(L, n, n);
            const double *NaNs = half(U, n, is_upper, NAN), *X = normal(n, m);
            double *R = take(stride * n);
            for (size_t i = 0; i < stride * n; i++)
                R[i] = i % stride < n ? NaNs[i % stride + i / stride * n] : NAN;
            double *B = product(U, X, n, n, m), *C = product(L, X, n, n, m);
            tarry__linalg_upper_solve(R, stride, n, B, m);
            check_same(B, X, n * m);
            tarry__linalg_upper_transposed_solve(R, stride, n, C, m);
            check_same(C, X, n * m);
        }
}

/* ---- factors ------------------------------------------------------------- */

/* The upper triangle of the first k rows, zeros below. */
static double *upper_part(const double *A, size_t m, size_t n, size_t k)
{
    double *R = take(k * n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < k; i++)
            R[i + j * k] = i <= j ? A[i + j * m] : 0;
    return R;
}

static void qr_keeps_inner_products(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++)
        for (size_t b = 0; b <= a; b++) {
            const size_t m = sizes[a], n = sizes[b];
            const double *A = normal(m, n);
            double *R = copy(A, m * n);
            tarry__linalg_qr(R, m, n);
            R = upper_part(R, m, n, n);
            check_same(inner_products(R, n, n), inner_products(A, m, n), n * n);
        }
}

/* A P = Q R, Q'Q = I, and the diagonal of R falls. */
static void check_pivoted(const double *A, size_t m, size_t n)
{
    const size_t k = m < n ? m : n;
    double *R = copy(A, m * n), *Q = take(m * k), *AP = take(m * n);
    int pivot[128];
    tarry__linalg_qr_pivoted(R, m, n, pivot, Q,
                             take(tarry__linalg_factor_work(m, n)));
    check_identity(inner_products(Q, m, k), k);
    bool seen[128] = {false};
    for (size_t j = 0; j < n; j++) {
        assert_true(pivot[j] >= 0 && (size_t)pivot[j] < n && !seen[pivot[j]]);
        seen[pivot[j]] = true;
        memcpy(AP + j * m, A + (size_t)pivot[j] * m, m * sizeof *AP);
    }
    check_same(product(Q, upper_part(R, m, n, k), m, k, n), AP, m * n);
    for (size_t j = 1; j < k; j++)
        CHECK_AT_MOST(fabs(R[j * (m + 1)]),
                      fabs(R[(j - 1) * (m + 1)]) * (1 + 1e-12));
}

static void pivoted_qr_rebuilds_the_matrix(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++)
        for (size_t b = 0; b < N_SIZES; b++)
            check_pivoted(normal(sizes[a], sizes[b]), sizes[a], sizes[b]);
}

static void pivoted_qr_shows_a_lower_rank(void **state)
{
    (void)state;
    const size_t m = 17, n = 70, rank = 5;
    double *A = product(normal(m, rank), normal(rank, n), m, rank, n);
    check_pivoted(A, m, n);
    int pivot[128];
    tarry__linalg_qr_pivoted(A, m, n, pivot, take(m * m),
                             take(tarry__linalg_factor_work(m, n)));
    CHECK_AT_MOST(1e-3 * fabs(A[0]), fabs(A[(rank - 1) * (m + 1)]));
    CHECK_AT_MOST(fabs(A[rank * (m + 1)]), 1e-13 * fabs(A[0]));
}

/* M = Q L with L lower triangular at the right: |M a| = |L a| for every a. */
static void ql_keeps_inner_products_in_half_the_numbers(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++)
        for (size_t b = 0; b <= a; b++) {
            const size_t m = sizes[b], n = sizes[a];
            const double *M = normal(m, n);
            double *L = copy(M, m * n);
            tarry__linalg_ql(L, m, n);
            for (size_t i = 0; i < m; i++)
                for (size_t j = n - m + i + 1; j < n; j++)
                    assert_true(L[i + j * m] == 0);
            check_same(inner_products(L, m, n), inner_products(M, m, n), n * n);
        }
}

static gsl_vector *gsl_singular_values(const double *A, size_t n)
{
    gsl_matrix *U = gsl_matrix_alloc(n, n), *V = gsl_matrix_alloc(n, n);
    gsl_vector *S = gsl_vector_alloc(n);
    for (size_t i = 0; i < n * n; i++)
        gsl_matrix_set(U, i % n, i / n, A[i]);
    gsl_linalg_SV_decomp_jacobi(U, V, S);
    gsl_matrix_free(U);
    gsl_matrix_free(V);
    return S;
}

/* Columns of A down to 1e-8 of the first, as arms may have them. */
static void singular_values_and_vectors_are_right(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++) {
        const size_t n = sizes[a];
        double *A = normal(n, n), *values = take(n), *Vt = take(n * n);
        for (size_t i = 0; i < n * n; i++)
            A[i] *= pow(10, -8 * (double)(i / n) / (double)n);
        const double *kept = copy(A, n * n);
        assert_true(tarry__linalg_svd(A, n, values, Vt));
        gsl_vector *S = gsl_singular_values(kept, n);
        const double *V = transposed(Vt, n, n);
        check_identity(inner_products(V, n, n), n);
        for (size_t i = 0; i < n; i++) {
            const double *Av = product(kept, V + i * n, n, n, 1);
            CHECK_NEAR(values[i], gsl_vector_get(S, i), 1e-14 * values[0] * n);
            CHECK_NEAR(sqrt(tarry__linalg_dot(Av, Av, n)), values[i],
                       1e-14 * values[0] * n);
            assert_true(i == 0 || values[i] <= values[i - 1]);
        }
        gsl_vector_free(S);
    }
}

static double gsl_largest_eigenvalue(const double *A, size_t n)
{
    gsl_matrix *S = gsl_matrix_alloc(n, n);
    gsl_vector *values = gsl_vector_alloc(n);
    gsl_eigen_symm_workspace *work = gsl_eigen_symm_alloc(n);
    for (size_t i = 0; i < n * n; i++)
        gsl_matrix_set(S, i % n, i / n, A[i]);
    gsl_eigen_symm(S, values, work);
    const double largest = gsl_vector_max(values);
    gsl_eigen_symm_free(work);
    gsl_vector_free(values);
    gsl_matrix_free(S);
    return largest;
}

/* Also of matrices that are not positive. */
static void the_largest_eigenvalue_is_that_of_gsl(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++) {
        const size_t n = sizes[a];
        double *A = normal(n, n), largest;
        tarry__linalg_mirror(A, n);
        const double expected = gsl_largest_eigenvalue(A, n);
        assert_true(tarry__linalg_largest_eigenvalue(
            half(A, n, is_lower, NAN), n, take(n),
            take(tarry__linalg_factor_work(n, n)), &largest));
        CHECK_NEAR(largest, expected, 1e-12 * n);
    }
}

static double largest_of(const double *A, size_t n)
{
    double largest;
    assert_true(tarry__linalg_largest_eigenvalue(
        half(A, n, is_lower, NAN), n, take(n),
        take(tarry__linalg_factor_work(n, n)), &largest));
    return largest;
}

/* Diagonal, all alike, of rank one, next to nothing, and all of them large. */
static void the_largest_eigenvalue_of_special_matrices_is_known(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_SIZES; a++)
        for (int power = -30; power <= 30; power += 30) {
            const size_t n = sizes[a];
            const double scale = pow(10, power), *x = normal(n, 1);
            double *diagonal = half(normal(n, n), n, is_lower, 0);
            double *alike = copy(diagonal, n * n), *ones = copy(alike, n * n);
            for (size_t j = 0; j < n; j++)
                for (size_t i = 0; i < n; i++) {
                    diagonal[i + j * n] =
                        i == j ? scale * (double)((7 * i) % n) : 0;
                    alike[i + j * n] = i == j ? scale : 0;
                    ones[i + j * n] = scale * x[i] * x[j];
                }
            const double most = scale * (double)(n - 1), near = 1e-9 * scale;
            if (n % 7 != 0)
                CHECK_NEAR(largest_of(diagonal, n), most, near * (double)n);
            CHECK_NEAR(largest_of(alike, n), scale, near);
            CHECK_NEAR(largest_of(ones, n), scale * tarry__linalg_dot(x, x, n),
                       near * (double)n);
        }
}

/* ---- widths of vectors --------------------------------------------------- */

/* Sums in the order that linalg_kernel.h states. */
static double dot_in_lanes(const double *x, const double *y, size_t n)
{
    double lane[8] = {0};
    for (size_t i = 0; i < n; i++)
        lane[i % 8] += x[i] * y[i];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static void check_bytes(const double *found, const double *wanted, size_t count)
{
    assert_memory_equal(found, wanted, count * sizeof *found);
}

static void check_products(const tarry__linalg_kernels *kernel, size_t m,
                           size_t n, size_t k)
{
    const double *A = normal(m, k), *B = normal(k, n), *C = normal(m, n);
    for (int sign = -1; sign <= 1; sign += 2) {
        double *found = copy(C, m * n), *wanted = copy(C, m * n);
        kernel->add_product(
            &(tarry__linalg_product){m, n, k, A, m, B, 1, k, found, m, sign});
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < m; i++)
                for (size_t l = 0; l < k; l++)
                    wanted[i + j * m] += sign * A[i + l * m] * B[l + j * k];
        check_bytes(found, wanted, m * n);
    }
}

static void check_columns(const tarry__linalg_kernels *kernel, size_t n)
{
    const double *x = normal(n, 1), *y = normal(n, 1);
    double *u = copy(x, n), *v = copy(y, n), *p = copy(x, n), *q = copy(y, n);
    assert_true(kernel->dot(x, y, n) == dot_in_lanes(x, y, n));
    kernel->add(u, 2.385, y, n);
    for (size_t i = 0; i < n; i++)
        p[i] += 2.385 * y[i];
    check_bytes(u, p, n);
    kernel->rotate(u, v, 0.6, 0.8, n);
    for (size_t i = 0; i < n; i++) {
        const double before = p[i];
        p[i] = 0.6 * before - 0.8 * q[i];
        q[i] = 0.8 * before + 0.6 * q[i];
    }
    check_bytes(u, p, n);
    check_bytes(v, q, n);
}

static void check_solve(const tarry__linalg_kernels *kernel, size_t n, size_t m)
{
    const double *L = half(normal(n, n), n, is_lower, NAN);
    double *found = normal(n, m), *wanted = copy(found, n * m);
    kernel->solve_lower(L, n, n, found, n, m);
    for (size_t c = 0; c < m; c++)
        for (size_t j = 0; j < n; j++) {
            double *b = wanted + c * n;
            b[j] /= L[j * (n + 1)];
            for (size_t i = j + 1; i < n; i++)
                b[i] -= L[i + j * n] * b[j];
        }
    check_bytes(found, wanted, n * m);
}

/* Loops in the stated order give the same bytes as each width, at every size
 * that fills tiles or leaves some over. */
static void kernels_of_all_widths_give_the_bytes_of_plain_loops(void **state)
{
    (void)state;
    const tarry__linalg_kernels *width[] = {&tarry__linalg_base,
#ifdef __x86_64__
                                            &tarry__linalg_avx2,
                                            &tarry__linalg_avx512
#endif
    };
    for (size_t w = 0; 2u << w <= tarry__base_vector_lanes(); w++)
        for (size_t n = 1; n <= 60; n++) {
            check_products(width[w], n, n % 13 + 1, n % 7);
            check_products(width[w], n % 5 + 1, n, n % 3 + 1);
            check_columns(width[w], n);
            check_solve(width[w], n, n % 11 + 1);
            free_blocks(NULL);
        }
}

#define TEST(function) cmocka_unit_test_teardown(function, free_blocks)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(vector_products_agree_with_plain_loops),
        TEST(matrix_products_agree_with_plain_loops),
        TEST(symmetric_products_fill_the_lower_half_only),
        TEST(a_rank_one_change_reaches_both_halves),
        TEST(mirroring_copies_the_lower_half_up),
        TEST(a_cholesky_factor_times_its_transpose_is_the_matrix),
        TEST(what_is_not_positive_definite_has_no_cholesky_factor),
        TEST(solving_with_a_cholesky_factor_undoes_the_matrix),
        TEST(lower_triangles_are_solved_and_inverted),
        TEST(upper_triangles_are_solved_inside_taller_matrices),
        TEST(qr_keeps_inner_products),
        TEST(pivoted_qr_rebuilds_the_matrix),
        TEST(pivoted_qr_shows_a_lower_rank),
        TEST(ql_keeps_inner_products_in_half_the_numbers),
        TEST(singular_values_and_vectors_are_right),
        TEST(the_largest_eigenvalue_is_that_of_gsl),
        TEST(the_largest_eigenvalue_of_special_matrices_is_known),
        TEST(kernels_of_all_widths_give_the_bytes_of_plain_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
