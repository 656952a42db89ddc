/* normal.c - standard normal by the method of Box and Muller (1958).
 *
 * In polar coordinates a pair of normals has a squared radius of -2 log u and
 * a uniform angle.  One block gives both; the sine, a second normal, is left
 * unused so that each draw is its own block.  |z| reaches at most 8.57. */
#include "random/philox.h"

#include <math.h>

static const double two_pi = 6.283185307179586477;

double tarry_random_normal(const tarry_random *at)
{
    if (at == NULL)
        return NAN;
    const philox4x32_ctr_t block = tarry__random_block(at);
    const double radius = sqrt(-2 * log(tarry__random_unit(block, 0)));
    return radius * cos(two_pi * tarry__random_unit(block, 1));
}
