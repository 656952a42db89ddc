/* variance.c - packs M for the kernel and picks the kernel for this machine. */
#include "design/variance_kernel.h"

#include <string.h>
#include "base/machine.h"

static size_t n_groups(size_t r)
{
    const size_t rows = 3 * tarry__base_vector_lanes();
    return (r + rows - 1) / rows;
}

size_t tarry__design_panel_values(size_t r, size_t n)
{
    return n_groups(r) * 3 * tarry__base_vector_lanes() * n;
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

/* Packs rows first..last-1 (at most `lanes`) as vector v of its group. */
static void pack_vector(tarry__design_panel *p, size_t v, const double *M,
                        size_t r, size_t first, size_t last)
{
    const size_t lanes = tarry__base_vector_lanes(), n = p->n_columns;
    double *column = p->values + (v / 3 * 3 * n + v % 3) * lanes;
    for (size_t j = 0; j < n; j++, column += 3 * lanes)
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
    const size_t lanes = tarry__base_vector_lanes();
    p->n_columns = n;
    p->is_small = is_small(M, r, n);
    if (p->is_small) {
        memcpy(p->values, M, n * n * sizeof *M);
        return;
    }
    p->n_groups = n_groups(r);
    memset(p->values, 0, tarry__design_panel_values(r, n) * sizeof *p->values);
    memset(p->ends, 0, tarry__design_panel_ends(r) * sizeof *p->ends);
    const size_t used = (r + lanes - 1) / lanes;
    for (size_t u = 0; u < used; u++) { /* empty vectors lead the last group */
        const size_t last_group = 3 * (p->n_groups - 1);
        const size_t v = u < last_group ? u : u + 3 * p->n_groups - used;
        const size_t first = u * lanes;
        pack_vector(p, v, M, r, first, first + lanes < r ? first + lanes : r);
    }
}

void tarry__variances(const tarry__design_panel *panel, const double *arms,
                      const size_t *index, size_t count, double *variance)
{
    tarry__design_kernel *large = tarry__design_kernel_base,
                         *small = tarry__design_small_base;
#ifdef __x86_64__
    switch (tarry__base_vector_lanes()) {
    case 8:
        large = tarry__design_kernel_avx512;
        small = tarry__design_small_avx512;
        break;
    case 4:
        large = tarry__design_kernel_avx2;
        small = tarry__design_small_avx2;
    }
#endif
    (panel->is_small ? small : large)(panel, arms, index, count, variance);
}

void tarry__design_moments(const double *x, const double *weight, size_t count,
                           size_t r, double *V)
{
#ifdef __x86_64__
    switch (tarry__base_vector_lanes()) {
    case 8:
        tarry__design_moments_avx512(x, weight, count, r, V);
        return;
    case 4:
        tarry__design_moments_avx2(x, weight, count, r, V);
        return;
    }
#endif
    tarry__design_moments_base(x, weight, count, r, V);
}
