/* view_kernel.c - compiled once per vector width, see view_kernel.h. */
#include "policy/foresight/view_kernel.h"

#include "base/lanes.h"

enum { VECTORS = 4, BLOCK = VECTORS * LANES };

void PASTE(tarry__view_, KERNEL)(const double *columns, size_t stride,
                                 size_t rank, const double *x, size_t count,
                                 double *out)
{
    size_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK) {
        reals sum[VECTORS] = {{0}};
        for (size_t j = 0; j < rank; j++)
            for (int v = 0; v < VECTORS; v++)
                sum[v] += x[j] * load(columns + j * stride + i + v * LANES);
        for (int v = 0; v < VECTORS; v++)
            store(out + i + v * LANES, sum[v]);
    }
    for (; i < count; i++) {
        out[i] = 0;
        for (size_t j = 0; j < rank; j++)
            out[i] += x[j] * columns[j * stride + i];
    }
}
