/* rounds.c - picks the kernels for this machine. */
#include "random/rounds.h"

#include "base/machine.h"

void tarry__random_uniform_rounds(const tarry_random *at, size_t count,
                                  double *u, double *v)
{
#ifdef __x86_64__
    switch (tarry__base_vector_lanes()) {
    case 8:
        tarry__random_uniforms_avx512(at, count, u, v);
        return;
    case 4:
        tarry__random_uniforms_avx2(at, count, u, v);
        return;
    }
#endif
    tarry__random_uniforms_base(at, count, u, v);
}

void tarry__random_minus_log(double *x, size_t count)
{
#ifdef __x86_64__
    switch (tarry__base_vector_lanes()) {
    case 8:
        tarry__random_logs_avx512(x, count);
        return;
    case 4:
        tarry__random_logs_avx2(x, count);
        return;
    }
#endif
    tarry__random_logs_base(x, count);
}
