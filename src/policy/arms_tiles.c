/* arms_tiles.c - puts arms into tiles; picks the kernels for this machine. */
#include "arms_kernel.h"

#include "base/machine.h"

void tarry__tiles_fill(double *tiles, const double *arms, size_t n,
                       const unsigned *rows, size_t from, size_t count)
{
    const size_t end = tarry__n_tiles(from + count) * TARRY__TILE;
    for (size_t at = from; count > 0 && at < end; at++) {
        const size_t i = at - from < count ? at - from : count - 1;
        const double *a = arms + (rows != NULL ? rows[i] : i) * n;
        double *place = tiles + at / TARRY__TILE * n * TARRY__TILE +
                        at % TARRY__TILE;
        for (size_t j = 0; j < n; j++)
            place[j * TARRY__TILE] = a[j];
    }
}

const tarry__arms_kernels *tarry__arms_kernel(void)
{
#ifdef __x86_64__
    switch (tarry__vector_lanes()) {
    case 8:
        return &tarry__arms_avx512;
    case 4:
        return &tarry__arms_avx2;
    }
#endif
    return &tarry__arms_base;
}
