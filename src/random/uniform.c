/* uniform.c - bits and uniforms as they come from the generator. */
#include "random/philox.h"

#include <math.h>
#include <string.h>

void tarry_random_bits(const tarry_random *at, uint32_t words[4])
{
    if (at == NULL || words == NULL)
        return;
    const philox4x32_ctr_t block = tarry__random_block(at);
    memcpy(words, block.v, sizeof block.v);
}

double tarry_random_uniform(const tarry_random *at)
{
    return at != NULL ? tarry__random_uniform(at) : NAN;
}

void tarry_random_uniform_pair(const tarry_random *at, double u[2])
{
    if (at == NULL || u == NULL)
        return;
    const philox4x32_ctr_t block = tarry__random_block(at);
    u[0] = tarry__random_unit(block, 0);
    u[1] = tarry__random_unit(block, 1);
}
