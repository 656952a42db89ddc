/* normals.c - picks the kernel for this machine. */
#include "random/normals.h"

#include "base/machine.h"

void tarry__random_normal_rounds(const tarry_random *at, size_t count,
                                 double *z)
{
#ifdef __x86_64__
    switch (tarry__base_vector_lanes()) {
    case 8:
        tarry__normals_avx512(at, count, z);
        return;
    case 4:
        tarry__normals_avx2(at, count, z);
        return;
    }
#endif
    tarry__normals_base(at, count, z);
}
