/* span.c - rank and basis by QR in strips, then an SVD of the small R.
 *
 * The rows are cut into a number of strips that depends only on the sizes, so
 * that the result does not depend on the threads that share them.  Each strip
 * keeps its R and stacks the next rows under it; the strips' factors are then
 * stacked in order.  Householder QR does not square the condition of the arms
 * as a Gram matrix would, so a direction of relative size 1e-11 is seen. */
#include "design/span.h"

#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"

enum {
    MAX_STRIPS = 64,
    STACK_ROWS = 4,         /* rows stacked at once, times n */
    SERIAL_NUMBERS = 20000, /* below this a second thread does not pay */
    LINE = 8                /* numbers in a cache line */
};

double tarry__design_largest(const double *values, size_t count)
{
    double largest = 0, zeros = 0;
    for (size_t i = 0; i < count; i++) {
        zeros += values[i] * 0; /* NaN for NaN and infinity */
        largest = fabs(values[i]) > largest ? fabs(values[i]) : largest;
    }
    return zeros == 0 ? largest : NAN;
}

double tarry__design_unit_scale(double largest)
{
    return largest > 0 ? ldexp(1, -ilogb(largest)) : 0;
}

/* The factor R of a strip of rows, in the upper half of the top of `stack`,
 * which holds n + STACK_ROWS n rows. */
static void factor_strip(const double *arms, size_t n_rows, size_t n,
                         double scale, double *stack)
{
    const size_t tall = n + STACK_ROWS * n;
    memset(stack, 0, tall * n * sizeof *stack);
    for (size_t first = 0; first < n_rows; first += STACK_ROWS * n) {
        for (size_t i = 0; i < STACK_ROWS * n; i++)
            for (size_t j = 0; j < n; j++)
                stack[n + i + j * tall] =
                    first + i < n_rows ? scale * arms[(first + i) * n + j] : 0;
        tarry__linalg_qr(stack, tall, n);
        for (size_t j = 0; j < n; j++) /* the reflections stand below R */
            memset(stack + j * tall + j + 1, 0, (n - j - 1) * sizeof *stack);
    }
}

/* R of all rows; n by n, zeros below. */
static tarry_status factor_all(const double *arms, size_t n_arms, size_t n,
                               double scale, int threads, double *R)
{
    size_t strips = n_arms / (64 * n) + 1;
    strips = strips < MAX_STRIPS ? strips : MAX_STRIPS;
    const size_t tall = n + STACK_ROWS * n;
    const size_t stack_size = (tall * n + LINE - 1) / LINE * LINE;
    double *memory =
        tarry__base_alloc((size_t)threads, stack_size * sizeof *memory);
    double *factors = tarry__base_zalloc(strips * n * n, sizeof *factors);
    const bool ok = memory != NULL && factors != NULL;
    if (ok) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (size_t s = 0; s < strips; s++) {
            const size_t from = n_arms * s / strips;
            const size_t to = n_arms * (s + 1) / strips;
            double *stack = memory + (size_t)omp_get_thread_num() * stack_size;
            factor_strip(arms + from * n, to - from, n, scale, stack);
            for (size_t j = 0; j < n; j++) /* as rows of the next factor */
                for (size_t i = 0; i <= j; i++)
                    factors[(s * n + i) * n + j] = stack[i + j * tall];
        }
        factor_strip(factors, strips * n, n, 1, memory);
        for (size_t j = 0; j < n; j++)
            memcpy(R + j * n, memory + j * tall, n * sizeof *R);
    }
    tarry__base_free(factors);
    tarry__base_free(memory);
    return ok ? TARRY_OK : TARRY_NO_MEMORY;
}

static double largest_of_all(const double *arms, size_t count, int threads)
{
    enum { PIECE = 1 << 16 };
    double largest = 0, zeros = 0;
#pragma omp parallel for num_threads(threads) reduction(max : largest)         \
    reduction(+ : zeros)
    for (size_t first = 0; first < count; first += PIECE) {
        const size_t left = count - first;
        const double here =
            tarry__design_largest(arms + first, left < PIECE ? left : PIECE);
        zeros += here * 0;
        largest = fmax(largest, here);
    }
    return zeros == 0 ? largest : NAN;
}

tarry_status tarry__span(const double *arms, size_t n_arms, size_t n,
                         double tolerance, int threads, size_t *rank, double *T)
{
    *rank = 0;
    if (n_arms * n < SERIAL_NUMBERS)
        threads = 1;
    const double largest = largest_of_all(arms, n_arms * n, threads);
    if (isnan(largest))
        return TARRY_NOT_FINITE;
    if (largest < TARRY__DESIGN_LEAST)
        return largest == 0 ? TARRY_OK : TARRY_BAD_ARGUMENT;
    const double scale = tarry__design_unit_scale(largest);
    double *R = tarry__base_alloc(n * n * 2 + n, sizeof *R);
    if (R == NULL)
        return TARRY_NO_MEMORY;
    double *Vt = R + n * n, *values = Vt + n * n;
    tarry_status status = factor_all(arms, n_arms, n, scale, threads, R);
    if (status == TARRY_OK && !tarry__linalg_svd(R, n, values, Vt))
        status = TARRY_TARGET_NOT_MET;
    size_t r = 0;
    while (status == TARRY_OK && r < n && values[r] > tolerance * values[0])
        r++;
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < n; j++)
            T[i + j * r] = scale * Vt[i + j * n] / values[i];
    *rank = r;
    tarry__base_free(R);
    return status;
}

tarry_status tarry__span_squeeze(const double *arms, size_t n_arms, size_t n,
                                 double **out)
{
    *out = NULL;
    const double largest = tarry__design_largest(arms, n_arms * n);
    if (isnan(largest))
        return TARRY_NOT_FINITE;
    if (largest > 0 && largest < TARRY__DESIGN_LEAST)
        return TARRY_BAD_ARGUMENT;
    const double scale = tarry__design_unit_scale(largest);
    double *A = tarry__base_alloc(n_arms * n, sizeof *A);
    double *squeezed = tarry__base_zalloc(n_arms * n_arms, sizeof *squeezed);
    if (A == NULL || squeezed == NULL) {
        tarry__base_free(A);
        tarry__base_free(squeezed);
        return TARRY_NO_MEMORY;
    }
    for (size_t i = 0; i < n_arms * n; i++)
        A[i] = scale * arms[i];
    tarry__linalg_qr(A, n, n_arms);
    for (size_t k = 0; k < n_arms; k++)
        memcpy(squeezed + k * n_arms, A + k * n, (k + 1) * sizeof *A);
    tarry__base_free(A);
    *out = squeezed;
    return TARRY_OK;
}
