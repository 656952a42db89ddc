/* sampler.h - a ridge, all arms in tiles and normals to draw with: what
 * Thompson sampling needs. */
#ifndef TARRY_POLICY_LINEAR_SAMPLER_H
#define TARRY_POLICY_LINEAR_SAMPLER_H

#include "policy/linear/ridge.h"

typedef struct {
    const tarry__policy_problem *problem;
    tarry__ridge ridge;
    double v;
    double *tiles;
    size_t n_tiles;
    double *normals;  /* of `span` rounds from `from` on, 2 h each */
    double *z, *draw; /* one round's, with a stride; theta */
    uint64_t from;
    size_t span;    /* 0: none drawn yet */
    double *before; /* theta and scale of the last draw, which plays may move;
                       and room for a vector */
    uint32_t last;  /* the arm of the last draw */
    /* Draws that might have been: normals, the arms chosen, and the round that
     * they belong to; 0: none. */
    double *normals_others;
    uint32_t others[TARRY_PROBABILITY_DRAWS];
    uint64_t others_of;
} tarry__sampler;

/* Reads the settings lambda and v. */
tarry_status tarry__sampler_init(void *state, const tarry__policy_type *type,
                                 const tarry__policy_problem *problem,
                                 const tarry__spec *spec, tarry_error *error);
void tarry__sampler_status(const void *state, tarry_policy_status *status);
void tarry__sampler_archive(void *state, const tarry__policy_type *type,
                            const tarry__policy_problem *problem,
                            tarry__archive *a);
void tarry__sampler_clear(void *state);

tarry_status tarry__sampler_reserve(void *state, size_t n_arms);
tarry_status tarry__sampler_rearranged(void *state);
void tarry__sampler_narrowed(void *state);

/* The arm with the smallest <a, theta_hat + scale S z>. */
size_t tarry__sampler_draw(tarry__sampler *sampler, uint64_t round,
                           double scale);

/* The share of an arm among the last draw, that of `round`, and
 * TARRY_PROBABILITY_DRAWS others.  All of them are drawn alike and the one that
 * was played may be any of them: given which arms they chose, but not which
 * draw was played, the share is the probability, and the shares of all arms sum
 * to 1.  `counted`: its play is in V already, and has to be taken out of it. */
double tarry__sampler_share(tarry__sampler *sampler, uint64_t round, size_t arm,
                            bool counted);

/* Where the normals of a round come from: this round of the stream on. */
static inline uint64_t tarry__sampler_address(size_t n, uint64_t round)
{
    return round * ((n + 1) / 2);
}

#endif
