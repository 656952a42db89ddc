/* rounds.c - picks the kernels for this machine. */
#include "random/rounds.h"

#include "base/machine.h"

void tarry__random_uniform_rounds(const tarry_random *at, size_t count,
                                  double *u, double *v)
{
    TARRY__BASE_VARIANT(tarry__random_uniforms)(at, count, u, v);
}

void tarry__random_minus_log(double *x, size_t count)
{
    TARRY__BASE_VARIANT(tarry__random_logs)(x, count);
}
