/* linalg_kernel.c - compiled once per vector width, see linalg_kernel.h.
 *
 * A tile of C, three vectors of rows by COLUMNS columns, stays in registers
 * while k runs: three loads of A's column serve COLUMNS products each. */
#include "linalg/linalg_kernel.h"

#include "base/lanes.h"

enum { VECTORS = 3, COLUMNS = LANES == 8 ? 8 : 4, SOLVED = 8 };

#define INLINE static inline __attribute__((always_inline))

/* ---- products -------------------------------------------------------------*/

INLINE reals load_rows(const double *x, size_t rows)
{
    return rows >= LANES ? load(x) : load_first(x, rows);
}

INLINE void store_rows(double *x, reals lanes, size_t rows)
{
    if (rows >= LANES)
        store(x, lanes);
    else
        store_first(x, lanes, rows);
}

/* `vectors` vectors from row i on, of which the last may be short: `last` rows
 * of it count.  Columns j to j + columns - 1. */
INLINE void tile(const tarry__linalg_product *p, size_t i, size_t j,
                 const size_t vectors, const size_t columns, size_t last)
{
    reals c[VECTORS][COLUMNS];
    double *C = p->C + i + j * p->stride_c;
    const double *A = p->A + i, *B = p->B + j * p->next_column;
#define ROWS(v) ((v) + 1 < vectors ? (size_t)LANES : last)
    for (size_t v = 0; v < vectors; v++)
        for (size_t q = 0; q < columns; q++)
            c[v][q] = load_rows(C + v * LANES + q * p->stride_c, ROWS(v));
    for (size_t k = 0; k < p->k; k++, A += p->stride, B += p->next_row) {
        reals a[VECTORS];
        for (size_t v = 0; v < vectors; v++)
            a[v] = p->sign * load_rows(A + v * LANES, ROWS(v));
        for (size_t q = 0; q < columns; q++)
            for (size_t v = 0; v < vectors; v++)
                c[v][q] += a[v] * B[q * p->next_column];
    }
    for (size_t v = 0; v < vectors; v++)
        for (size_t q = 0; q < columns; q++)
            store_rows(C + v * LANES + q * p->stride_c, c[v][q], ROWS(v));
#undef ROWS
}

/* All rows of `columns` columns from j on. */
INLINE void strip(const tarry__linalg_product *p, size_t j,
                  const size_t columns)
{
    size_t i = 0;
    for (; i + VECTORS * LANES <= p->m; i += VECTORS * LANES)
        tile(p, i, j, VECTORS, columns, LANES);
    const size_t left = p->m - i;
    if (left > 2 * LANES)
        tile(p, i, j, 3, columns, left - 2 * LANES);
    else if (left > LANES)
        tile(p, i, j, 2, columns, left - LANES);
    else if (left > 0)
        tile(p, i, j, 1, columns, left);
}

static void many_columns(const tarry__linalg_product *p, size_t j)
{
    strip(p, j, COLUMNS);
}

static void one_column(const tarry__linalg_product *p, size_t j)
{
    strip(p, j, 1);
}

static void add_product(const tarry__linalg_product *p)
{
    size_t j = 0;
    for (; j + COLUMNS <= p->n; j += COLUMNS)
        many_columns(p, j);
    for (; j < p->n; j++)
        one_column(p, j);
}

/* ---- columns --------------------------------------------------------------*/

static double dot(const double *x, const double *y, size_t n)
{
    eight sum = {{{0}}};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < PARTS; k++)
            sum.part[k] += load(x + i + k * LANES) * load(y + i + k * LANES);
    for (size_t k = 0; i < n; k++, i += LANES)
        sum.part[k] += load_rows(x + i, n - i) * load_rows(y + i, n - i);
    return sum_eight(sum);
}

static void add(double *y, double a, const double *x, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store(y + i, load(y + i) + a * load(x + i));
    if (i < n)
        store_first(y + i,
                    load_first(y + i, n - i) + a * load_first(x + i, n - i),
                    n - i);
}

static void rotate(double *x, double *y, double c, double s, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        const reals u = load_rows(x + i, n - i), v = load_rows(y + i, n - i);
        store_rows(x + i, c * u - s * v, n - i);
        store_rows(y + i, s * u + c * v, n - i);
    }
}

/* ---- triangular systems ---------------------------------------------------*/

/* Blocks of SOLVED rows: what is solved before goes off all of them at once. */
static void solve_lower(const double *L, size_t stride, size_t n, double *B,
                        size_t stride_b, size_t m)
{
    for (size_t from = 0; from < n; from += SOLVED) {
        const size_t rows = n - from < SOLVED ? n - from : SOLVED;
        if (from > 0)
            add_product(&(tarry__linalg_product){rows, m, from, L + from,
                                                 stride, B, 1, stride_b,
                                                 B + from, stride_b, -1});
        for (size_t k = 0; k < m; k++) {
            double *b = B + from + k * stride_b;
            const double *diagonal = L + from * (stride + 1);
            for (size_t j = 0; j < rows; j++, diagonal += stride + 1) {
                b[j] /= *diagonal;
                for (size_t i = j + 1; i < rows; i++)
                    b[i] += -diagonal[i - j] * b[j];
            }
        }
    }
}

const tarry__linalg_kernels PASTE(tarry__linalg_, KERNEL) = {
    add_product, dot, add, rotate, solve_lower};
