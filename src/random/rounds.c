/* rounds.c - picks the kernels for this machine. */
#include "rounds.h"

#include "base/machine.h"

void tarry__uniform_rounds(const tarry_random *at, size_t count, double *u,
                           double *v)
{
#ifdef __x86_64__
    switch (tarry__vector_lanes()) {
    case 8:
        tarry__uniforms_avx512(at, count, u, v);
        return;
    case 4:
        tarry__uniforms_avx2(at, count, u, v);
        return;
    }
#endif
    tarry__uniforms_base(at, count, u, v);
}

void tarry__minus_log(double *x, size_t count)
{
#ifdef __x86_64__
    switch (tarry__vector_lanes()) {
    case 8:
        tarry__logs_avx512(x, count);
        return;
    case 4:
        tarry__logs_avx2(x, count);
        return;
    }
#endif
    tarry__logs_base(x, count);
}
