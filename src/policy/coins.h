/* coins.h - the uniforms of a policy's rounds, drawn together for speed.
 *
 * Each is a function of (seed, run, round), so they need not be saved: a
 * cleared record draws them again. */
#ifndef TARRY_POLICY_COINS_H
#define TARRY_POLICY_COINS_H

#include <stdbool.h>
#include "policy/policy_type.h"
#include "random/rounds.h"

enum { TARRY__COINS = 256 };

typedef struct {
    uint64_t from; /* coins are those of rounds from.. */
    bool drawn;
    double u[TARRY__COINS], v[TARRY__COINS];
} tarry__coins;

static inline void tarry__coins_of(tarry__coins *c,
                                   const tarry__policy_problem *problem,
                                   uint64_t round, double *u, double *v)
{
    const uint64_t from = round / TARRY__COINS * TARRY__COINS;
    if (!c->drawn || c->from != from) {
        const tarry_random at = {.seed = problem->seed,
                                 .run = problem->run,
                                 .round = from,
                                 .stream = TARRY__POLICY_STREAM_COINS};
        tarry__random_uniform_rounds(&at, TARRY__COINS, c->u, c->v);
        c->from = from;
        c->drawn = true;
    }
    *u = c->u[round - from];
    *v = c->v[round - from];
}

/* An arm, all alike; u < 1 but K u may round up to K. */
static inline size_t tarry__coins_arm(const tarry__policy_problem *problem,
                                      double u)
{
    const size_t count = tarry__policy_n_choices(problem);
    const size_t i = (size_t)(u * (double)count);
    return tarry__policy_choice(problem, i < count ? i : count - 1);
}

#endif
