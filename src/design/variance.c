/* variance.c - packs M for the kernel and picks the kernel for this machine. */
#include "design/variance_kernel.h"

#include <string.h>
#include "base/machine.h"

enum { STRIP = TARRY__DESIGN_STRIP, GROUP = 3 * STRIP };

static size_t n_groups(size_t r)
{
    return (r + GROUP - 1) / GROUP;
}

size_t tarry__design_panel_values(size_t r, size_t n)
{
    return n_groups(r) * GROUP * n;
}

size_t tarry__design_panel_ends(size_t r)
{
    return 3 * n_groups(r);
}

/* One past the last column in which rows first..last-1 of M are not zero. */
static size_t end_of(const double *M, size_t r, size_t n, size_t first,
                     size_t last)
{
    for (size_t j = n; j > 0; j--)
        for (size_t i = first; i < last; i++)
            if (M[i + (j - 1) * r] != 0)
                return j;
    return 0;
}

/* Packs rows first..last-1 (at most STRIP) as strip v of its group. */
static void pack_strip(tarry__design_panel *p, size_t v, const double *M,
                       size_t r, size_t first, size_t last)
{
    const size_t n = p->n_columns;
    double *column = p->values + (v / 3 * 3 * n + v % 3) * STRIP;
    for (size_t j = 0; j < n; j++, column += GROUP)
        for (size_t i = first; i < last; i++)
            column[i - first] = M[i + j * r];
    const size_t before = v % 3 > 0 ? p->ends[v - 1] : 0;
    const size_t end = end_of(M, r, n, first, last);
    p->ends[v] = end > before ? end : before;
}

static bool is_small(const double *M, size_t r, size_t n)
{
    if (r != n || n > TARRY__DESIGN_SMALL_DIM)
        return false;
    for (size_t j = 1; j < n; j++)
        for (size_t i = 0; i < j; i++)
            if (M[i + j * n] != 0)
                return false;
    return true;
}

void tarry__design_panel_pack(tarry__design_panel *p, const double *M, size_t r,
                              size_t n)
{
    p->n_columns = n;
    p->is_small = is_small(M, r, n);
    if (p->is_small) {
        memcpy(p->values, M, n * n * sizeof *M);
        return;
    }
    p->n_groups = n_groups(r);
    memset(p->values, 0, tarry__design_panel_values(r, n) * sizeof *p->values);
    memset(p->ends, 0, tarry__design_panel_ends(r) * sizeof *p->ends);
    const size_t used = (r + STRIP - 1) / STRIP;
    for (size_t u = 0; u < used; u++) { /* empty strips lead the last group */
        const size_t last_group = 3 * (p->n_groups - 1);
        const size_t v = u < last_group ? u : u + 3 * p->n_groups - used;
        const size_t first = u * STRIP;
        pack_strip(p, v, M, r, first, first + STRIP < r ? first + STRIP : r);
    }
}

void tarry__variances(const tarry__design_panel *panel, const double *arms,
                      const size_t *index, size_t count, double *variance)
{
    (panel->is_small ? TARRY__BASE_VARIANT(tarry__design_small)
                     : TARRY__BASE_VARIANT(tarry__design_kernel))(
        panel, arms, index, count, variance);
}

void tarry__design_moments(const double *x, const double *weight, size_t count,
                           size_t r, double *V)
{
    TARRY__BASE_VARIANT(tarry__design_moments)(x, weight, count, r, V);
}
