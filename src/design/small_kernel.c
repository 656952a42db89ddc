/* small_kernel.c - |M a|^2 for lower triangular M, and sums of w a a', in up to
 * 16 dimensions; compiled once per vector width.
 *
 * For |M a|^2 lanes are arms: a tile of rows is transposed in registers, x_j
 * being column j; then z_i = sum over j <= i of M_ij x_j costs no more than its
 * products, and |z|^2 needs no sums across lanes.  All loops have constant
 * bounds, one copy of the code for each dimension, and are written out by the
 * compiler. */
#include "design/variance_kernel.h"

#include "base/lanes.h"

/* Vectors in a tile: as many as registers hold. */
enum { VECTORS = LANES == 8 ? 2 : 1, R = VECTORS * LANES, ROWS = 4, AHEAD = 3 };

/* Sanitizers look at every access.  One copy of the code does for them; of one
 * for each dimension they make megabytes, and a minute's work. */
#ifdef __SANITIZE_ADDRESS__
#define INLINE static __attribute__((noinline))
#else
#define INLINE static inline __attribute__((always_inline))
#endif

/* Columns j and j+1 of LANES rows: pairs of even and of odd rows side by side,
 * then the first of each pair and the second. */
INLINE void two_columns(const double *a, size_t n, size_t j, reals *first,
                        reals *second)
{
#if defined(__AVX512F__)
#define PAIR(row) _mm_loadu_pd(a + row * n + j)
#define FOUR(row)                                                              \
    _mm512_insertf64x2(                                                        \
        _mm512_insertf64x2(                                                    \
            _mm512_insertf64x2(_mm512_castpd128_pd512(PAIR(row)),              \
                               PAIR((row + 2)), 1),                            \
            PAIR((row + 4)), 2),                                               \
        PAIR((row + 6)), 3)
    const __m512d even = FOUR(0), odd = FOUR(1);
    *first = (reals)_mm512_unpacklo_pd(even, odd);
    *second = (reals)_mm512_unpackhi_pd(even, odd);
#elif defined(__AVX2__)
    const __m256d even = _mm256_loadu2_m128d(a + 2 * n + j, a + j);
    const __m256d odd = _mm256_loadu2_m128d(a + 3 * n + j, a + n + j);
    *first = (reals)_mm256_unpacklo_pd(even, odd);
    *second = (reals)_mm256_unpackhi_pd(even, odd);
#else
    *first = (reals){a[j], a[n + j]};
    *second = (reals){a[j + 1], a[n + j + 1]};
#endif
}

INLINE void transpose(const double *a, size_t n,
                      reals x[TARRY__DESIGN_SMALL_DIM][VECTORS])
{
    for (size_t v = 0; v < VECTORS; v++, a += LANES * n) {
#pragma GCC unroll 16
        for (size_t j = 0; j + 1 < n; j += 2)
            two_columns(a, n, j, &x[j][v], &x[j + 1][v]);
        double last[LANES];
        for (size_t i = 0; i < LANES; i++)
            last[i] = a[i * n + n - 1];
        if (n % 2 == 1)
            x[n - 1][v] = load(last);
    }
}

/* variance[i] = |M a_i|^2 for R rows. */
INLINE void tile(const double *M, const double *a, const size_t n,
                 double *variance)
{
    reals x[TARRY__DESIGN_SMALL_DIM][VECTORS], sum[VECTORS] = {{0}};
    transpose(a, n, x);
#pragma GCC unroll 16
    for (size_t first = 0; first < n; first += ROWS) { /* some rows of M */
        const size_t rows = n - first < ROWS ? n - first : ROWS;
        reals z[ROWS][VECTORS] = {{{0}}};
#pragma GCC unroll 16
        for (size_t j = 0; j < first + rows; j++)
#pragma GCC unroll 4
            for (size_t i = j > first ? j - first : 0; i < rows; i++)
                for (size_t v = 0; v < VECTORS; v++)
                    z[i][v] += M[first + i + j * n] * x[j][v];
        for (size_t i = 0; i < rows; i++)
            for (size_t v = 0; v < VECTORS; v++)
                sum[v] += z[i][v] * z[i][v];
    }
    memcpy(variance, sum, sizeof sum);
}

INLINE void prefetch(const double *from, size_t count)
{
    for (size_t i = 0; i < count + 7; i += 8)
        __builtin_prefetch((const void *)((uintptr_t)from + 8 * i));
}

/* Rows that are not side by side, or too few, are brought together first; the
 * last one fills up the tile. */
INLINE void run(const double *M, const double *arms, const size_t n,
                const size_t *index, size_t count, double *variance)
{
    for (size_t i = 0; i < count; i += R) {
        const size_t left = count - i;
        if (index == NULL && left >= R) {
            prefetch(arms + (i + AHEAD * R) * n, R * n);
            tile(M, arms + i * n, n, variance + i);
            continue;
        }
        double rows[R * TARRY__DESIGN_SMALL_DIM], out[R];
        for (size_t k = 0; k < R; k++) {
            const size_t at = i + (k < left ? k : left - 1);
            if (index != NULL && k + AHEAD * R < left)
                prefetch(arms + index[at + AHEAD * R] * n, n);
            memcpy(rows + k * n, arms + (index != NULL ? index[at] : at) * n,
                   n * sizeof *rows);
        }
        tile(M, rows, n, out);
        memcpy(variance + i, out, (left < R ? left : R) * sizeof *out);
    }
}

/* Lower half of V = sum of w_k x_k x_k'.  Lanes are rows of V; those of an
 * incomplete vector take what lies behind the point, and are not kept. */
INLINE void add_up(const double *x, const double *weight, size_t count,
                   const size_t r, double *V)
{
    enum { MOST = (TARRY__DESIGN_SMALL_DIM + LANES - 1) / LANES };
    const size_t vectors = (r + LANES - 1) / LANES;
    reals sum[TARRY__DESIGN_SMALL_DIM][MOST] = {{{0}}};
    for (size_t k = 0; k < count; k++, x += r) {
        if (!(weight[k] > 0))
            continue;
#pragma GCC unroll 16
        for (size_t j = 0; j < r; j++) {
            const double scaled = weight[k] * x[j];
#pragma GCC unroll 8
            for (size_t v = j / LANES; v < vectors; v++)
                sum[j][v] += scaled * load(x + v * LANES);
        }
    }
    for (size_t j = 0; j < r; j++)
        for (size_t i = j; i < r; i++)
            V[i + j * r] = sum[j][i / LANES][i % LANES];
}

/* clang-format off */
#define CASES                                                                  \
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)            \
    CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15) CASE(16)
/* clang-format on */

void PASTE(tarry__design_small_,
           KERNEL)(const tarry__design_panel *panel, const double *arms,
                   const size_t *index, size_t count, double *variance)
{
#define CASE(n)                                                                \
    case n:                                                                    \
        run(panel->values, arms, n, index, count, variance);                   \
        break;
    switch (panel->n_columns) {
        CASES
    }
#undef CASE
}

void PASTE(tarry__design_moments_, KERNEL)(const double *x,
                                           const double *weight, size_t count,
                                           size_t r, double *V)
{
#define CASE(r)                                                                \
    case r:                                                                    \
        add_up(x, weight, count, r, V);                                        \
        break;
    switch (r) {
        CASES
    }
#undef CASE
}
