/* variance_kernel.c - the kernel itself, compiled once per vector width.  For
 * few dimensions see small_kernel.c.
 *
 * R rows by three vectors of M's rows are accumulated in registers: for each
 * column j, three loads of M serve R rows, and each entry of a row serves
 * three products.  Short groups carry empty vectors in front (end 0), which
 * the first loops then skip. */
#include "variance_kernel.h"

#if defined(__AVX512F__)
enum { LANES = 8, R = 8 };
#elif defined(__AVX2__)
enum { LANES = 4, R = 4 };
#else
enum { LANES = 2, R = 4 };
#endif

enum { AHEAD = 3 };

typedef double vector __attribute__((vector_size(LANES * sizeof(double))));
typedef long long lanes __attribute__((vector_size(LANES * sizeof(double))));

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

static inline double sum_lanes(vector x)
{
#if defined(__AVX512F__)
    x += __builtin_shuffle(x, (lanes){4, 5, 6, 7, 0, 1, 2, 3});
    x += __builtin_shuffle(x, (lanes){2, 3, 0, 1, 6, 7, 4, 5});
    x += __builtin_shuffle(x, (lanes){1, 0, 3, 2, 5, 4, 7, 6});
#elif defined(__AVX2__)
    x += __builtin_shuffle(x, (lanes){2, 3, 0, 1});
    x += __builtin_shuffle(x, (lanes){1, 0, 3, 2});
#else
    x += __builtin_shuffle(x, (lanes){1, 0});
#endif
    return x[0];
}

/* z[r][v] += a_r[j] * column[v] for columns from..to and vectors v >= first. */
static inline __attribute__((always_inline)) void
accumulate(vector z[R][3], const vector *columns, const double *const row[R],
           size_t from, size_t to, int first)
{
    for (size_t j = from; j < to; j++)
        for (int r = 0; r < R; r++) {
            const double a = row[r][j];
            for (int v = first; v < 3; v++)
                z[r][v] += a * columns[3 * j + v];
        }
}

static inline __attribute__((always_inline)) void
add_group(const vector *columns, const size_t *end, const double *const row[R],
          double variance[R])
{
    vector z[R][3] = {{{0}}};
    accumulate(z, columns, row, 0, end[0], 0);
    accumulate(z, columns, row, end[0], end[1], 1);
    accumulate(z, columns, row, end[1], end[2], 2);
    for (int r = 0; r < R; r++)
        variance[r] += sum_lanes(z[r][0] * z[r][0] + z[r][1] * z[r][1] +
                                 z[r][2] * z[r][2]);
}

/* Asks for the rows of the tile that comes AHEAD tiles later. */
static inline void prefetch(const double *arms, size_t n, size_t i,
                            size_t count)
{
    if (i + (AHEAD + 1) * R > count)
        return;
    const char *next = (const char *)(arms + (i + AHEAD * R) * n);
    for (size_t byte = 0; byte < R * n * sizeof *arms; byte += 64)
        __builtin_prefetch(next + byte);
}

void PASTE(tarry__kernel_, KERNEL)(const tarry__panel *panel,
                                   const double *arms, const size_t *index,
                                   size_t count, double *variance)
{
    const size_t n = panel->n_columns;
    for (size_t i = 0; i < count; i += R) {
        const double *row[R];
        double sum[R] = {0};
        if (index == NULL)
            prefetch(arms, n, i, count);
        for (size_t r = 0; r < R; r++) { /* the last tile repeats its row */
            const size_t at = i + r < count ? i + r : count - 1;
            row[r] = arms + (index != NULL ? index[at] : at) * n;
        }
        for (size_t g = 0; g < panel->n_groups; g++)
            add_group((const vector *)panel->values + 3 * n * g,
                      panel->ends + 3 * g, row, sum);
        for (size_t r = 0; r < R && i + r < count; r++)
            variance[i + r] = sum[r];
    }
}
