/* linalg.c - the dense algebra of tarry, written for one purpose: the same
 * bytes on every processor.
 *
 * Each function is a fixed sequence of operations.  Long loops are those of
 * linalg_kernel.c, whose results do not depend on the width of vectors;
 * matrices of a few rows take plain loops, as a call would cost more. */
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include "base/machine.h"
#include "linalg/linalg_kernel.h"

enum {
    SMALL = 64,       /* elements below which plain loops are quicker */
    SMALL_ORDER = 16, /* the same for a factorisation */
    BLOCK = 8,        /* columns that are factored together */
    STRIP = 24,       /* columns of A that are transposed together, */
    DEPTH = 128,      /*   and rows */
    MOST_SWEEPS = 60
};

static const double NOTHING = 1e-50; /* a square, of the largest one */

static const tarry__linalg_kernels *kernels(void)
{
    return TARRY__BASE_VARIANT(&tarry__linalg);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- products -------------------------------------------------------------*/

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
    memset(y, 0, m * sizeof *y);
    if (m * n > SMALL) {
        kernels()->add_product(
            &(tarry__linalg_product){m, 1, n, A, m, x, 1, n, y, m, 1});
        return;
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++)
            y[i] += A[i + j * m] * x[j];
}

void tarry__linalg_transposed_times(const double *A, size_t m, size_t n,
                                    const double *x, double *y)
{
    const tarry__linalg_kernels *k = kernels();
    for (size_t j = 0; j < n; j++)
        y[j] = m > 8 ? k->dot(A + j * m, x, m)
                     : tarry__linalg_dot(A + j * m, x, m);
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
    memset(C, 0, m * n * sizeof *C);
    kernels()->add_product(
        &(tarry__linalg_product){m, n, k, A, m, B, 1, k, C, m, 1});
}

/* The lower part of a product whose C begins on the diagonal: the columns of a
 * block one by one down to its end, then what lies below all of them. */
static void add_lower(const tarry__linalg_kernels *kernel,
                      tarry__linalg_product p)
{
    for (size_t j = 0; j < p.n; j += BLOCK) {
        const size_t end = smaller(j + BLOCK, p.n);
        tarry__linalg_product part = p;
        for (size_t c = j; c <= end; c++) {
            const size_t first = c < end ? c : j;
            part.m = (c < end ? end : p.m) - c;
            part.n = c < end ? 1 : end - j;
            part.A = p.A + c;
            part.B = p.B + first * p.next_column;
            part.C = p.C + c + first * p.stride_c;
            if (part.m > 0)
                kernel->add_product(&part);
        }
    }
}

static void small_add_outer(const double *A, size_t m, size_t n, double *C)
{
    for (size_t k = 0; k < n; k++, A += m)
        for (size_t j = 0; j < m; j++)
            for (size_t i = j; i < m; i++)
                C[i + j * m] += A[i] * A[j];
}

void tarry__linalg_add_outer(const double *A, size_t m, size_t n, double *C)
{
    if (m <= SMALL_ORDER)
        small_add_outer(A, m, n, C);
    else
        add_lower(kernels(),
                  (tarry__linalg_product){m, m, n, A, m, A, m, 1, C, m, 1});
}

void tarry__linalg_outer(const double *A, size_t m, size_t n, double *C)
{
    for (size_t j = 0; j < m; j++)
        memset(C + j * (m + 1), 0, (m - j) * sizeof *C);
    tarry__linalg_add_outer(A, m, n, C);
}

/* Rows from..from + rows - 1 of columns i..i + STRIP - 1, side by side. */
static void transpose_strip(const double *A, size_t m, size_t n, size_t i,
                            size_t from, size_t rows, double *strip)
{
    const size_t columns = smaller(n - i, STRIP);
    for (size_t c = 0; c < columns; c++)
        for (size_t k = 0; k < rows; k++)
            strip[c + k * STRIP] = A[from + k + (i + c) * m];
}

/* C = A' B with A k by m, B k by n; or its lower half only, for B = A. */
static void transposed_product(const double *A, const double *B, size_t m,
                               size_t k, size_t n, bool lower, double *C)
{
    const tarry__linalg_kernels *kernel = kernels();
    double strip[STRIP * DEPTH];
    for (size_t j = 0; j < n; j++)
        for (size_t i = lower ? j : 0; i < m; i++)
            C[i + j * m] = 0;
    for (size_t i = 0; i < m; i += STRIP) {
        const size_t columns = smaller(m - i, STRIP);
        for (size_t from = 0; from < k; from += DEPTH) {
            const size_t rows = smaller(k - from, DEPTH);
            transpose_strip(A, k, m, i, from, rows, strip);
            tarry__linalg_product p = {
                columns, lower ? i : n, rows, strip, STRIP, B + from, 1,
                k,       C + i,         m,    1};
            kernel->add_product(&p);
            if (!lower)
                continue;
            p.n = columns;
            p.B += i * k;
            p.C += i * m;
            add_lower(kernel, p);
        }
    }
}

void tarry__linalg_transposed_multiply(const double *A, const double *B,
                                       size_t m, size_t k, size_t n, double *C)
{
    transposed_product(A, B, m, k, n, false, C);
}

void tarry__linalg_gram(const double *A, size_t m, size_t n, double *C)
{
    transposed_product(A, A, n, m, n, true, C);
}

void tarry__linalg_mirror(double *A, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++)
            A[j + i * n] = A[i + j * n];
}

/* ---- Cholesky -------------------------------------------------------------*/

/* Columns from..end-1, of what the earlier ones leave. */
static bool factor_columns(double *A, size_t n, size_t from, size_t end)
{
    for (size_t j = from; j < end; j++) {
        double *column = A + j * n;
        for (size_t k = from; k < j; k++)
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
    const size_t block = n <= SMALL_ORDER ? SMALL_ORDER : BLOCK;
    for (size_t j = 0; j < n; j += block) {
        const size_t end = smaller(j + block, n);
        if (j > 0)
            add_lower(kernels(), (tarry__linalg_product){
                                     n - j, end - j, j, A + j, n, A + j, n, 1,
                                     A + j * (n + 1), n, -1});
        if (!factor_columns(A, n, j, end))
            return false;
    }
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
    if (n > SMALL_ORDER)
        kernels()->solve_lower(L, n, n, B, n, m);
    else
        for (size_t k = 0; k < m; k++)
            small_lower_solve(L, n, B + k * n, 0);
}

void tarry__linalg_cholesky_solve(const double *L, size_t n, double *b)
{
    const tarry__linalg_kernels *k = kernels();
    tarry__linalg_lower_solve(L, n, b, 1);
    for (size_t j = n; j-- > 0;)
        b[j] = (b[j] - k->dot(L + j + 1 + j * n, b + j + 1, n - j - 1)) /
               L[j * (n + 1)];
}

/* Columns from..end-1 of L^-1 but for what the columns of L from `end` on do:
 * column k needs L's columns from k on, so the first go first. */
static void invert_columns(double *L, size_t n, size_t from, size_t end)
{
    for (size_t k = from; k < end; k++) {
        double *b = L + k * n;
        b[k] = 1 / b[k];
        for (size_t i = k + 1; i < n; i++)
            b[i] = -(b[k] * b[i]);
        for (size_t j = k + 1; j < end; j++) {
            b[j] /= L[j * (n + 1)];
            for (size_t i = j + 1; i < n; i++)
                b[i] -= b[j] * L[i + j * n];
        }
    }
}

void tarry__linalg_lower_inverse(double *L, size_t n)
{
    const size_t block = n <= SMALL_ORDER ? SMALL_ORDER : BLOCK;
    for (size_t k = 0; k < n; k += block) {
        const size_t end = smaller(k + block, n);
        invert_columns(L, n, k, end);
        if (end < n)
            kernels()->solve_lower(L + end * (n + 1), n, n - end,
                                   L + end + k * n, n, end - k);
    }
}

/* With K = L^-1: A^-1 = K'K, entries in an order that spares what is needed. */
void tarry__linalg_cholesky_inverse(double *L, size_t n)
{
    const tarry__linalg_kernels *k = kernels();
    tarry__linalg_lower_inverse(L, n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            L[i + j * n] =
                n <= SMALL_ORDER
                    ? tarry__linalg_dot(L + i * (n + 1), L + i + j * n, n - i)
                    : k->dot(L + i * (n + 1), L + i + j * n, n - i);
}

void tarry__linalg_upper_solve(const double *R, size_t stride, size_t n,
                               double *B, size_t m)
{
    const tarry__linalg_kernels *k = kernels();
    for (size_t c = 0; c < m; c++, B += n)
        for (size_t j = n; j-- > 0;) {
            B[j] /= R[j * (stride + 1)];
            k->add(B, -B[j], R + j * stride, j);
        }
}

void tarry__linalg_upper_transposed_solve(const double *R, size_t stride,
                                          size_t n, double *B, size_t m)
{
    const tarry__linalg_kernels *k = kernels();
    for (size_t c = 0; c < m; c++, B += n)
        for (size_t j = 0; j < n; j++)
            B[j] = (B[j] - k->dot(R + j * stride, B, j)) / R[j * (stride + 1)];
}

/* ---- reflections ----------------------------------------------------------*/

/* Householder's I - tau v v', v = (1, tail), which maps (pivot, x) to (beta,
 * 0): beta takes the place of the pivot and the tail that of x.  Answers tau.
 */
static double make_reflection(const tarry__linalg_kernels *k, double *pivot,
                              double *x, size_t size)
{
    const double rest = k->dot(x, x, size);
    if (!(rest > 0))
        return 0;
    const double beta = -copysign(sqrt(*pivot * *pivot + rest), *pivot);
    const double tau = (beta - *pivot) / beta, scale = 1 / (*pivot - beta);
    for (size_t i = 0; i < size; i++)
        x[i] *= scale;
    *pivot = beta;
    return tau;
}

static void reflect(const tarry__linalg_kernels *k, const double *tail,
                    size_t size, double tau, double *pivot, double *x)
{
    const double share = tau * (*pivot + k->dot(tail, x, size));
    *pivot -= share;
    k->add(x, -share, tail, size);
}

size_t tarry__linalg_factor_work(size_t m, size_t n)
{
    return 3 * (m + n) + 8;
}

/* Reflects column j of m by n A and all later ones. */
static double reflect_column(const tarry__linalg_kernels *k, double *A,
                             size_t m, size_t n, size_t j)
{
    double *v = A + j * (m + 1);
    const double tau = make_reflection(k, v, v + 1, m - j - 1);
    for (size_t c = j + 1; tau != 0 && c < n; c++) {
        double *x = A + j + c * m;
        reflect(k, v + 1, m - j - 1, tau, x, x + 1);
    }
    return tau;
}

void tarry__linalg_qr(double *A, size_t m, size_t n)
{
    const tarry__linalg_kernels *k = kernels();
    for (size_t j = 0; j < smaller(m, n); j++)
        reflect_column(k, A, m, n, j);
}

static void swap_columns(double *A, size_t m, size_t i, size_t j)
{
    for (size_t k = 0; k < m && i != j; k++) {
        const double swapped = A[k + i * m];
        A[k + i * m] = A[k + j * m];
        A[k + j * m] = swapped;
    }
}

/* Squared lengths of what is left of columns: now, and when last summed up. */
typedef struct {
    double *now, *summed;
} lengths;

static void swap_lengths(lengths *l, int *pivot, size_t i, size_t j)
{
    l->now[j] = l->now[i]; /* place i is done with */
    l->summed[j] = l->summed[i];
    const int swapped = pivot[i];
    pivot[i] = pivot[j];
    pivot[j] = swapped;
}

/* Row j has left columns j + 1 to n - 1; where little stays, rounding has most
 * of it, and it is summed up anew. */
static void shorten(const tarry__linalg_kernels *k, const double *A, size_t m,
                    size_t n, size_t j, lengths *l)
{
    for (size_t c = j + 1; c < n; c++) {
        const double *x = A + j + c * m;
        l->now[c] -= *x * *x;
        if (!(l->now[c] > 1e-6 * l->summed[c]))
            l->now[c] = l->summed[c] = k->dot(x + 1, x + 1, m - j - 1);
    }
}

/* Q's columns from the reflections below the diagonal of A, the last first. */
static void form_q(const tarry__linalg_kernels *k, const double *A, size_t m,
                   size_t count, const double *tau, double *Q)
{
    memset(Q, 0, m * count * sizeof *Q);
    for (size_t j = count; j-- > 0;) {
        Q[j * (m + 1)] = 1;
        for (size_t c = j; c < count; c++) {
            double *x = Q + j + c * m;
            reflect(k, A + j * (m + 1) + 1, m - j - 1, tau[j], x, x + 1);
        }
    }
}

void tarry__linalg_qr_pivoted(double *A, size_t m, size_t n, int *pivot,
                              double *Q, double *work)
{
    const tarry__linalg_kernels *k = kernels();
    const size_t count = smaller(m, n);
    double *tau = work;
    lengths l = {work + count, work + count + n};
    for (size_t j = 0; j < n; j++) {
        pivot[j] = (int)j;
        l.now[j] = l.summed[j] = k->dot(A + j * m, A + j * m, m);
    }
    for (size_t j = 0; j < count; j++) {
        size_t longest = j;
        for (size_t c = j + 1; c < n; c++)
            if (l.now[c] > l.now[longest])
                longest = c;
        swap_columns(A, m, j, longest);
        swap_lengths(&l, pivot, j, longest);
        tau[j] = reflect_column(k, A, m, n, j);
        shorten(k, A, m, n, j, &l);
    }
    form_q(k, A, m, count, tau, Q);
}

/* From the last row up: what stands above the pivots goes. */
void tarry__linalg_ql(double *A, size_t m, size_t n)
{
    const tarry__linalg_kernels *k = kernels();
    for (size_t i = m; i-- > 0;) {
        double *v = A + (n - m + i) * m;
        const double tau = make_reflection(k, v + i, v, i);
        for (double *x = A; tau != 0 && x < v; x += m)
            reflect(k, v, i, tau, x + i, x);
        memset(v, 0, i * sizeof *v);
    }
}

/* ---- singular values ------------------------------------------------------*/

static void transpose(double *A, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < j; i++) {
            const double swapped = A[i + j * n];
            A[i + j * n] = A[j + i * n];
            A[j + i * n] = swapped;
        }
}

/* Turns columns x and y, whose squared lengths are *xx and *yy, until they are
 * orthogonal; false if they are. */
static bool turn(const tarry__linalg_kernels *k, double *x, double *y, size_t n,
                 double *xx, double *yy)
{
    const double xy = k->dot(x, y, n);
    const double rounding = DBL_EPSILON / 2 * (double)(n + 10);
    if (!(fabs(xy) > rounding * sqrt(fmax(*xx, 0)) * sqrt(fmax(*yy, 0))))
        return false;
    const double zeta = (*yy - *xx) / (2 * xy);
    const double t = copysign(1 / (fabs(zeta) + sqrt(1 + zeta * zeta)), zeta);
    const double c = 1 / sqrt(1 + t * t);
    k->rotate(x, y, c, c * t, n);
    *xx -= t * xy;
    *yy += t * xy;
    return true;
}

/* Squared lengths of the columns; of what is next to nothing beside the longest
 * column, and would be turned for ever, nothing is left. */
static void sum_squares(const tarry__linalg_kernels *k, double *A, size_t n,
                        double *squares)
{
    double most = 0;
    for (size_t j = 0; j < n; j++) {
        squares[j] = k->dot(A + j * n, A + j * n, n);
        most = fmax(most, squares[j]);
    }
    for (size_t j = 0; j < n; j++)
        if (squares[j] < NOTHING * most) {
            memset(A + j * n, 0, n * sizeof *A);
            squares[j] = 0;
        }
}

/* All pairs of columns once; answers whether one was turned. */
static bool sweep(const tarry__linalg_kernels *k, double *A, size_t n,
                  double *squares)
{
    bool turned = false;
    sum_squares(k, A, n, squares);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            turned |=
                turn(k, A + i * n, A + j * n, n, &squares[i], &squares[j]);
    return turned;
}

/* Jacobi's method from one side: turns make the columns of A' orthogonal, A' W
 * = V S; so their lengths are the singular values, and they the rows of V'.  It
 * sees small values to a share of their own size (Demmel, Veselic 1992). */
bool tarry__linalg_svd(double *A, size_t n, double *values, double *Vt)
{
    const tarry__linalg_kernels *k = kernels();
    int sweeps = 0;
    transpose(A, n);
    while (sweep(k, A, n, values))
        if (++sweeps == MOST_SWEEPS)
            return false;
    for (size_t j = 0; j < n; j++)
        values[j] = sqrt(values[j]);
    for (size_t i = 0; i < n; i++) { /* the largest of those left */
        size_t most = i;
        for (size_t j = i + 1; j < n; j++)
            if (values[j] > values[most])
                most = j;
        const double value = values[most];
        values[most] = values[i];
        values[i] = value;
        swap_columns(A, n, i, most);
        for (size_t j = 0; j < n; j++)
            Vt[i + j * n] = value > 0 ? A[j + i * n] / value : 0;
    }
    return isfinite(values[0]);
}

/* ---- the largest eigenvalue -----------------------------------------------*/

/* p = scale B v for the lower half of m by m B, whose columns are n apart. */
static void symmetric_times(const tarry__linalg_kernels *k, const double *B,
                            size_t n, size_t m, double scale, const double *v,
                            double *p)
{
    memset(p, 0, m * sizeof *p);
    for (size_t j = 0; j < m; j++, B += n + 1) {
        p[j] += k->dot(B, v + j, m - j);
        k->add(p + j + 1, v[j], B + 1, m - j - 1);
    }
    for (size_t i = 0; i < m; i++)
        p[i] *= scale;
}

/* Householder's reflections bring A to tridiagonal form, diagonal `a` and
 * squares `b2` of what stands beside it (b2[0] = 0). */
static void tridiagonal(double *A, size_t n, double *a, double *b2, double *p)
{
    const tarry__linalg_kernels *kernel = kernels();
    b2[0] = 0;
    for (size_t k = 0; k + 1 < n; k++) {
        const size_t m = n - k - 1;
        double *v = A + (k + 1) + k * n, *B = A + (k + 1) * (n + 1);
        const double norm2 = kernel->dot(v, v, m);
        a[k] = A[k * (n + 1)];
        b2[k + 1] = norm2;
        const double tail2 = kernel->dot(v + 1, v + 1, m - 1);
        if (!(tail2 > 1e-32 * norm2))
            continue; /* nothing to reflect */
        v[0] += copysign(sqrt(norm2), v[0]);
        const double scale = 2 / (tail2 + v[0] * v[0]);
        symmetric_times(kernel, B, n, m, scale, v, p);
        kernel->add(p, -(scale / 2 * kernel->dot(p, v, m)), v, m);
        for (size_t j = 0; j < m; j++) {
            kernel->add(B + j * (n + 1), -p[j], v + j, m - j);
            kernel->add(B + j * (n + 1), -v[j], p + j, m - j);
        }
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
                                      double *work, double *out)
{
    tridiagonal(A, n, values, work, work + n);
    *out = largest_root(values, work, n);
    return isfinite(*out);
}
