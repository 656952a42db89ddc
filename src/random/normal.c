/* normal.c - standard normal by the method of Box and Muller (1958).
 *
 * In polar coordinates a pair of normals has a squared radius of -2 log u and
 * a uniform angle.  One block gives both; the sine, a second normal, is left
 * unused so that each draw is its own block.  |z| reaches at most 8.57. */
#include "base/elementary.h"
#include "random/philox.h"

#include <math.h>

double tarry_random_normal(const tarry_random *at)
{
    if (at == NULL)
        return NAN;
    const philox4x32_ctr_t block = tarry__random_block(at);
    const double radius = sqrt(-2 * tarry__ln(tarry__random_unit(block, 0)));
    return radius * tarry__cos_turns(tarry__random_unit(block, 1));
}
