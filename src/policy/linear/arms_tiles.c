/* arms_tiles.c - puts arms into tiles; picks the kernels for this machine. */
#include "policy/linear/arms_kernel.h"

#include "base/machine.h"

void tarry__linear_tiles_fill(double *tiles, const double *arms, size_t n,
                              const unsigned *rows, size_t from, size_t count)
{
    const size_t end = tarry__linear_n_tiles(from + count) * TARRY__LINEAR_TILE;
    for (size_t at = from; count > 0 && at < end; at++) {
        const size_t i = at - from < count ? at - from : count - 1;
        const double *a = arms + (rows != NULL ? rows[i] : i) * n;
        double *place = tiles +
                        at / TARRY__LINEAR_TILE * n * TARRY__LINEAR_TILE +
                        at % TARRY__LINEAR_TILE;
        for (size_t j = 0; j < n; j++)
            place[j * TARRY__LINEAR_TILE] = a[j];
    }
}

const tarry__arms_kernels *tarry__arms_kernel(void)
{
    return TARRY__BASE_VARIANT(&tarry__arms);
}
