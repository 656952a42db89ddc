/* philox.h - address to bits to uniforms, inline for the distributions.
 *
 * The one place that calls Random123.  random.h states which bits go where;
 * nothing here may change without changing every stream ever drawn. */
#ifndef TARRY_RANDOM_PHILOX_H
#define TARRY_RANDOM_PHILOX_H

#include <stdint.h>
#include <Random123/philox.h>
#include "tarry/random.h"

static inline philox4x32_ctr_t tarry__random_block(const tarry_random *at)
{
    const philox4x32_key_t key = {
        {(uint32_t)at->seed, (uint32_t)(at->seed >> 32)}};
    const philox4x32_ctr_t counter = {
        {(uint32_t)at->round, (uint32_t)(at->round >> 32), at->run,
         at->stream | (uint32_t)at->attempt << 16}};
    return philox4x32(counter, key);
}

/* Uniform i (0 or 1) of a block.  52 bits, not 53: k + 1/2 then still fits a
 * double exactly, while with 53 the largest would round to 1. */
static inline double tarry__random_unit(philox4x32_ctr_t block, int i)
{
    const uint64_t bits = block.v[2 * i] | (uint64_t)block.v[2 * i + 1] << 32;
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

static inline double tarry__random_uniform(const tarry_random *at)
{
    return tarry__random_unit(tarry__random_block(at), 0);
}

#endif
