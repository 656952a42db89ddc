/* geometric.c - by inversion of P(X >= k) = (1 - p)^k.
 *
 * X is the largest k with u <= (1 - p)^k.  The ends come out by themselves:
 * p = 1 divides by minus infinity and gives 0, p = 0 divides by minus zero and
 * gives infinity, which saturates. */
#include "base/elementary.h"
#include "random/philox.h"

#include <math.h>

uint64_t tarry_random_geometric(const tarry_random *at, double p)
{
    if (at == NULL || !(p >= 0 && p <= 1))
        return UINT64_MAX;
    const double failures =
        tarry__ln(tarry__random_uniform(at)) / tarry__log1p(-p);
    return failures < 0x1p64 ? (uint64_t)failures : UINT64_MAX;
}
