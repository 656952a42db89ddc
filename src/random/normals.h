/* normals.h - standard normals of many rounds at once.
 *
 * Each round's block gives the pair of Box and Muller: z[2i], which is what
 * tarry_random_normal answers at round at->round + i up to rounding, and
 * z[2i+1], the sine that it leaves unused.  The same bits on every machine and
 * whatever the count. */
#ifndef TARRY_RANDOM_NORMALS_H
#define TARRY_RANDOM_NORMALS_H

#include <stddef.h>
#include "tarry/random.h"

/* z[2i], z[2i+1] for i < count. */
void tarry__random_normal_rounds(const tarry_random *at, size_t count,
                                 double *z);

typedef void tarry__random_normal_kernel(const tarry_random *, size_t,
                                         double *);
tarry__random_normal_kernel tarry__normals_base, tarry__normals_avx2,
    tarry__normals_avx512;

#endif
