/* normals.c - picks the kernel for this machine. */
#include "random/normals.h"

#include "base/machine.h"

void tarry__random_normal_rounds(const tarry_random *at, size_t count,
                                 double *z)
{
    TARRY__BASE_VARIANT(tarry__normals)(at, count, z);
}
