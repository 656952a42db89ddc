/* linalg.c - thin names over CBLAS and LAPACKE.
 *
 * The `_work` forms of LAPACKE are used: they neither allocate nor scan for
 * NaN.  OpenBLAS would start threads for large products, which changes sums
 * by rounding; tarry does its own threading, so inside a solve BLAS has one.
 * An OpenBLAS built without threads takes no locks: two threads that call it
 * at once spoil each other's numbers, so there solves take turns. */
#define _DEFAULT_SOURCE
#include "linalg/linalg.h"

#include <assert.h>
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum {
    SMALL = 1024,    /* elements below which a call of BLAS costs more */
    SMALL_ORDER = 16 /* the same for a factorisation */
};

static pthread_mutex_t quiet_lock = PTHREAD_MUTEX_INITIALIZER;
static int quiet_depth, host_threads;

/* Held through a whole solve where BLAS cannot be shared. */
static pthread_mutex_t turn;
static pthread_once_t turn_made = PTHREAD_ONCE_INIT;

static void make_turn(void)
{
    pthread_mutexattr_t nests;
    pthread_mutexattr_init(&nests);
    pthread_mutexattr_settype(&nests, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&turn, &nests);
    pthread_mutexattr_destroy(&nests);
}

bool tarry__linalg_blas_is_shared(void)
{
    return openblas_get_parallel() != OPENBLAS_SEQUENTIAL;
}

/* The OpenMP flavour does not ask itself how many threads to use, but OpenMP,
 * whose setting each thread has for itself. */
static _Thread_local int quiet_here, host_omp_threads;

static void quiet_here_begin(int omp_threads)
{
    if (quiet_here++ == 0)
        host_omp_threads = omp_threads;
    omp_set_num_threads(1);
}

static void quiet_here_end(void)
{
    assert(quiet_here > 0);
    omp_set_num_threads(--quiet_here == 0 ? host_omp_threads : 1);
}

void tarry__linalg_blas_quiet_begin(void)
{
    const int omp_threads = omp_get_max_threads();
    pthread_once(&turn_made, make_turn);
    if (!tarry__linalg_blas_is_shared())
        pthread_mutex_lock(&turn);
    pthread_mutex_lock(&quiet_lock);
    if (quiet_depth++ == 0) {
        host_threads = openblas_get_num_threads();
        if (host_threads != 1)
            openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&quiet_lock);
    quiet_here_begin(omp_threads);
}

void tarry__linalg_blas_quiet_end(void)
{
    pthread_mutex_lock(&quiet_lock);
    assert(quiet_depth > 0);
    if (--quiet_depth == 0 && host_threads != 1)
        openblas_set_num_threads(host_threads);
    pthread_mutex_unlock(&quiet_lock);
    if (!tarry__linalg_blas_is_shared())
        pthread_mutex_unlock(&turn);
    quiet_here_end();
}

static bool has_room(size_t bytes)
{
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block != MAP_FAILED && munmap(block, bytes) == 0;
}

static size_t stack_bytes(void)
{
    pthread_attr_t attributes;
    size_t bytes = 0;
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &bytes);
        pthread_attr_destroy(&attributes);
    }
    return bytes + (1 << 16); /* a guard page, and what else a thread has */
}

bool tarry__linalg_libraries_have_room(int threads, int callers)
{
    const size_t buffer_bytes = 1 << 27; /* of OpenBLAS on 64-bit machines */
    static bool has_one;
    double x = 1, y = 0;
    pthread_mutex_lock(&quiet_lock);
    const size_t buffers = (size_t)callers - has_one;
    const bool ok =
        has_room((size_t)threads * stack_bytes() + buffers * buffer_bytes);
    if (ok && !has_one)
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, 1, 1, 1, &x, 1, 0,
                    &y, 1); /* takes it, while it is there */
    has_one |= ok;
    pthread_mutex_unlock(&quiet_lock);
    return ok;
}

int tarry__linalg_threads(int wanted)
{
    const int said = wanted > 0 ? wanted : omp_get_max_threads();
    return said < TARRY__LINALG_MOST_THREADS ? said
                                             : TARRY__LINALG_MOST_THREADS;
}

/* Twice as many, since malloc sets space apart for each as well. */
int tarry__linalg_threads_with_room(int wanted)
{
    while (wanted > 1 &&
           !tarry__linalg_libraries_have_room(2 * wanted, 2 * wanted))
        wanted--;
    return wanted;
}

double tarry__linalg_dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

void tarry__linalg_times(const double *A, size_t m, size_t n, const double *x,
                         double *y)
{
    if (m * n <= SMALL) {
        for (size_t i = 0; i < m; i++)
            y[i] = A[i] * x[0];
        for (size_t j = 1; j < n; j++)
            for (size_t i = 0; i < m; i++)
                y[i] += A[i + j * m] * x[j];
        return;
    }
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)m, (int)n, 1, A, (int)m, x, 1,
                0, y, 1);
}

void tarry__linalg_transposed_times(const double *A, size_t m, size_t n,
                                    const double *x, double *y)
{
    if (m * n <= SMALL) {
        for (size_t j = 0; j < n; j++)
            y[j] = tarry__linalg_dot(A + j * m, x, m);
        return;
    }
    cblas_dgemv(CblasColMajor, CblasTrans, (int)m, (int)n, 1, A, (int)m, x, 1,
                0, y, 1);
}

void tarry__linalg_rank_one(double *A, size_t n, double alpha, const double *x)
{
    for (size_t j = 0; j < n; j++) {
        const double scale = alpha * x[j];
        for (size_t i = 0; i < n; i++)
            A[i + j * n] += scale * x[i];
    }
}

void tarry__linalg_multiply(const double *A, const double *B, size_t m,
                            size_t k, size_t n, double *C)
{
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n,
                (int)k, 1, A, (int)m, B, (int)k, 0, C, (int)m);
}

void tarry__linalg_transposed_multiply(const double *A, const double *B,
                                       size_t m, size_t k, size_t n, double *C)
{
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)m, (int)n, (int)k,
                1, A, (int)k, B, (int)k, 0, C, (int)m);
}

static void small_add_outer(const double *A, size_t m, size_t n, double *C)
{
    for (size_t k = 0; k < n; k++, A += m)
        for (size_t j = 0; j < m; j++)
            for (size_t i = j; i < m; i++)
                C[i + j * m] += A[i] * A[j];
}

/* C = A A' + beta C. */
static void large_outer(const double *A, size_t m, size_t n, double beta,
                        double *C)
{
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)m, (int)n, 1, A,
                (int)m, beta, C, (int)m);
}

void tarry__linalg_add_outer(const double *A, size_t m, size_t n, double *C)
{
    if (m <= SMALL_ORDER)
        small_add_outer(A, m, n, C);
    else
        large_outer(A, m, n, 1, C);
}

void tarry__linalg_outer(const double *A, size_t m, size_t n, double *C)
{
    if (m > SMALL_ORDER) {
        large_outer(A, m, n, 0, C);
        return;
    }
    for (size_t j = 0; j < m; j++)
        memset(C + j * (m + 1), 0, (m - j) * sizeof *C);
    small_add_outer(A, m, n, C);
}

void tarry__linalg_gram(const double *A, size_t m, size_t n, double *C)
{
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)n, (int)m, 1, A,
                (int)m, 0, C, (int)n);
}

void tarry__linalg_mirror(double *A, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++)
            A[j + i * n] = A[i + j * n];
}

/* Column by column, of what the earlier ones leave. */
static bool small_cholesky(double *A, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        double *column = A + j * n;
        for (size_t k = 0; k < j; k++)
            for (size_t i = j; i < n; i++)
                column[i] -= A[i + k * n] * A[j + k * n];
        if (!(column[j] > 0))
            return false;
        const double root = sqrt(column[j]);
        for (size_t i = j; i < n; i++)
            column[i] /= root;
    }
    return true;
}

bool tarry__linalg_cholesky(double *A, size_t n)
{
    if (n <= SMALL_ORDER)
        return small_cholesky(A, n);
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)n, A, (int)n) != 0)
        return false;
    for (size_t i = 0; i < n; i++) /* OpenBLAS lets NaN pass */
        if (!(A[i * (n + 1)] > 0))
            return false;
    return true;
}

/* b = L^-1 b, the first `from` entries being zero. */
static void small_lower_solve(const double *L, size_t n, double *b, size_t from)
{
    for (size_t j = from; j < n; j++) {
        b[j] /= L[j * (n + 1)];
        for (size_t i = j + 1; i < n; i++)
            b[i] -= b[j] * L[i + j * n];
    }
}

void tarry__linalg_lower_solve(const double *L, size_t n, double *B, size_t m)
{
    if (n <= SMALL_ORDER) {
        for (size_t k = 0; k < m; k++)
            small_lower_solve(L, n, B + k * n, 0);
        return;
    }
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans,
                CblasNonUnit, (int)n, (int)m, 1, L, (int)n, B, (int)n);
}

void tarry__linalg_cholesky_solve(const double *L, size_t n, double *b)
{
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)n,
                L, (int)n, b, 1);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, (int)n, L,
                (int)n, b, 1);
}

/* Column k of L^-1 needs the columns of L from k on: first columns first. */
static void small_lower_inverse(double *L, size_t n)
{
    double b[SMALL_ORDER];
    for (size_t k = 0; k < n; k++) {
        memset(b, 0, sizeof b);
        b[k] = 1;
        small_lower_solve(L, n, b, k);
        memcpy(L + k * (n + 1), b + k, (n - k) * sizeof *b);
    }
}

void tarry__linalg_lower_inverse(double *L, size_t n)
{
    if (n <= SMALL_ORDER)
        small_lower_inverse(L, n);
    else
        LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', (int)n, L, (int)n);
}

/* With K = L^-1: A^-1 = K'K, entries in an order that spares what is needed. */
static void small_cholesky_inverse(double *L, size_t n)
{
    small_lower_inverse(L, n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = 0;
            for (size_t k = i; k < n; k++)
                sum += L[k + i * n] * L[k + j * n];
            L[i + j * n] = sum;
        }
}

void tarry__linalg_cholesky_inverse(double *L, size_t n)
{
    if (n <= SMALL_ORDER)
        small_cholesky_inverse(L, n);
    else
        LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', (int)n, L, (int)n);
}

void tarry__linalg_upper_solve(const double *R, size_t stride, size_t n,
                               double *B, size_t m)
{
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans,
                CblasNonUnit, (int)n, (int)m, 1, R, (int)stride, B, (int)n);
}

void tarry__linalg_upper_transposed_solve(const double *R, size_t stride,
                                          size_t n, double *B, size_t m)
{
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit,
                (int)n, (int)m, 1, R, (int)stride, B, (int)n);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Block size 64 serves LAPACK's blocked forms; the SVD wants 5 min + max, and
 * the scalars of the reflections stand in front. */
size_t tarry__linalg_factor_work(size_t m, size_t n)
{
    return 70 * (m + n) + 64;
}

bool tarry__linalg_qr(double *A, size_t m, size_t n, double *work,
                      size_t work_size)
{
    const size_t k = smaller(m, n);
    return LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, (int)m, (int)n, A, (int)m,
                               work, work + k, (int)(work_size - k)) == 0;
}

bool tarry__linalg_qr_pivoted(double *A, size_t m, size_t n, int *pivot,
                              double *Q, double *work, size_t work_size)
{
    const size_t k = smaller(m, n);
    const int left = (int)(work_size - k);
    memset(pivot, 0, n * sizeof *pivot);
    if (LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, (int)m, (int)n, A, (int)m, pivot,
                            work, work + k, left) != 0)
        return false;
    for (size_t j = 0; j < n; j++)
        pivot[j]--; /* LAPACK counts from 1 */
    memcpy(Q, A, m * k * sizeof *Q);
    return LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, (int)m, (int)k, (int)k, Q,
                               (int)m, work, work + k, left) == 0;
}

bool tarry__linalg_ql(double *A, size_t m, size_t n, double *work,
                      size_t work_size)
{
    const size_t k = smaller(m, n);
    if (LAPACKE_dgeqlf_work(LAPACK_COL_MAJOR, (int)m, (int)n, A, (int)m, work,
                            work + k, (int)(work_size - k)) != 0)
        return false;
    for (size_t i = 0; i < m; i++) /* the reflections stand above L */
        for (size_t j = n - m + i + 1; j < n; j++)
            A[i + j * m] = 0;
    return true;
}

bool tarry__linalg_svd(double *A, size_t n, double *values, double *Vt,
                       double *work, size_t work_size)
{
    return LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'N', 'A', (int)n, (int)n, A,
                               (int)n, values, NULL, 1, Vt, (int)n, work,
                               (int)work_size) == 0;
}

/* Householder's reflections bring A to tridiagonal form, diagonal `a` and
 * squares `b2` of what stands beside it (b2[0] = 0). */
static void tridiagonal(double *A, size_t n, double *a, double *b2, double *p)
{
    b2[0] = 0;
    for (size_t k = 0; k + 1 < n; k++) {
        const size_t m = n - k - 1;
        double *v = A + (k + 1) + k * n, *B = A + (k + 1) * (n + 1);
        const double norm2 = tarry__linalg_dot(v, v, m);
        a[k] = A[k * (n + 1)];
        b2[k + 1] = norm2;
        const double tail2 = norm2 - v[0] * v[0];
        if (!(tail2 > 1e-32 * norm2))
            continue; /* nothing to reflect */
        v[0] += copysign(sqrt(norm2), v[0]);
        const double scale = 2 / (tail2 + v[0] * v[0]);
        for (size_t i = 0; i < m; i++) /* p = scale B v, B's lower half */
            p[i] = 0;
        for (size_t j = 0; j < m; j++) {
            p[j] += B[j * (n + 1)] * v[j];
            for (size_t i = j + 1; i < m; i++) {
                p[i] += B[i + j * n] * v[j];
                p[j] += B[i + j * n] * v[i];
            }
        }
        for (size_t i = 0; i < m; i++)
            p[i] *= scale;
        const double half = scale / 2 * tarry__linalg_dot(p, v, m);
        for (size_t i = 0; i < m; i++)
            p[i] -= half * v[i];
        for (size_t j = 0; j < m; j++)
            for (size_t i = j; i < m; i++)
                B[i + j * n] -= v[i] * p[j] + p[i] * v[j];
    }
    a[n - 1] = A[n * n - 1];
}

/* The circles of Gershgorin. */
static double above_all_eigenvalues(const double *a, const double *b2, size_t n)
{
    double bound = -INFINITY;
    for (size_t i = 0; i < n; i++)
        bound =
            fmax(bound, a[i] + sqrt(b2[i]) + (i + 1 < n ? sqrt(b2[i + 1]) : 0));
    return bound;
}

/* Laguerre's steps on the characteristic polynomial p, which fall towards its
 * largest root from above.  With q_i the ratio of the leading minors of x - A,
 * q_i = x - a_i - b2_i / q_(i-1), G = p'/p = sum q_i'/q_i and H = -G'. */
static double largest_root(const double *a, const double *b2, size_t n)
{
    double x = above_all_eigenvalues(a, b2, n);
    for (int step = 0; step < 100; step++) {
        double q = 1, q1 = 0, q2 = 0, G = 0, H = 0; /* q and derivatives */
        for (size_t i = 0; i < n; i++) {
            const double f = b2[i] / q, g = q1 / q;
            q2 = f * (q2 / q - 2 * g * g);
            q1 = 1 + f * g;
            q = x - a[i] - f;
            if (!(q > 0))
                return x; /* at the root, up to rounding */
            G += q1 / q;
            H += q1 / q * (q1 / q) - q2 / q;
        }
        const double m = (double)n;
        const double fall = m / (G + sqrt((m - 1) * fmax(m * H - G * G, 0)));
        x -= fall;
        if (fall <= 1e-10 * fabs(x))
            break;
    }
    return x;
}

bool tarry__linalg_largest_eigenvalue(double *A, size_t n, double *values,
                                      double *work, size_t work_size,
                                      double *out)
{
    if (n <= 2 * SMALL_ORDER) {
        tridiagonal(A, n, values, work, work + n);
        *out = largest_root(values, work, n);
        return isfinite(*out);
    }
    double *beside = work + 1, *reflections = work + n;
    if (LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'L', (int)n, A, (int)n, values,
                            beside, reflections, work + 2 * n,
                            (int)(work_size - 2 * n)) != 0)
        return false;
    work[0] = 0;
    for (size_t i = 1; i < n; i++)
        work[i] *= work[i];
    *out = largest_root(values, work, n);
    return isfinite(*out);
}
