/* variance_kernel.c - the kernel itself, compiled once per vector width.  For
 * few dimensions see small_kernel.c.
 *
 * R rows by three strips of M's rows are accumulated in registers: for each
 * column j, three loads of M serve R rows, and each entry of a row serves
 * three products.  Short groups carry empty strips in front (end 0), which
 * the first loops then skip. */
#include "design/variance_kernel.h"

#include "base/lanes.h"

/* As many rows as registers hold. */
enum { R = LANES == 8 ? 8 : LANES / 2, VECTORS = 3 * PARTS, AHEAD = 3 };

/* z[r][v] += a_r[j] * column[v] for columns from..to, from strip `first` on. */
static inline __attribute__((always_inline)) void
accumulate(reals z[R][VECTORS], const reals *columns,
           const double *const row[R], size_t from, size_t to, int first)
{
    for (size_t j = from; j < to; j++)
        for (int r = 0; r < R; r++) {
            const double a = row[r][j];
            for (int v = first * PARTS; v < VECTORS; v++)
                z[r][v] += a * columns[VECTORS * j + v];
        }
}

static inline __attribute__((always_inline)) void
add_group(const reals *columns, const size_t *end, const double *const row[R],
          double variance[R])
{
    reals z[R][VECTORS] = {{{0}}};
    accumulate(z, columns, row, 0, end[0], 0);
    accumulate(z, columns, row, end[0], end[1], 1);
    accumulate(z, columns, row, end[1], end[2], 2);
    for (int r = 0; r < R; r++) {
        eight sum;
        for (int i = 0; i < PARTS; i++)
            sum.part[i] = z[r][i] * z[r][i] +
                          z[r][i + PARTS] * z[r][i + PARTS] +
                          z[r][i + 2 * PARTS] * z[r][i + 2 * PARTS];
        variance[r] += sum_eight(sum);
    }
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

void PASTE(tarry__design_kernel_,
           KERNEL)(const tarry__design_panel *panel, const double *arms,
                   const size_t *index, size_t count, double *variance)
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
            add_group((const reals *)panel->values + VECTORS * n * g,
                      panel->ends + 3 * g, row, sum);
        for (size_t r = 0; r < R && i + r < count; r++)
            variance[i + r] = sum[r];
    }
}
