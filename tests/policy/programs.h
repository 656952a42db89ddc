/* programs.h - what random programs of every policy share: two policies that
 * must stay alike, the descriptions, the draws. */
#ifndef TARRY_TEST_PROGRAMS_H
#define TARRY_TEST_PROGRAMS_H

#include <stdlib.h>
#include "play.h"

typedef struct {
    const char *text;
    const game *g;
    tarry_policy *policy, *twin;
    uint64_t seed;
} program;

static inline uint64_t below(program *p, uint64_t limit)
{
    return test_bits(&p->seed) % limit;
}

/* Every policy of the list, and some with settings; NULL behind the last. */
static inline const char *description(size_t k)
{
    static const char *const more[] = {
        "phased-stochastic:constants=tight",
        "phased-adversarial:constants=tight,design=regret",
        "phased-loss-dependent:constants=tight,guide=lints,guide_share=9",
        "phased-stochastic:constants=tight,guide=linucb,design=regret",
        "phased-adversarial:guide=otf-lints",
        "phased-adversarial:guide=queued",
        "queued:base=foresight",
        "phased-mab:constants=tight,guide=queued/base=foresight",
        "phased-mab:constants=tight,guide=ucb-delayed",
        "phased-stochastic:constants=tight,guide=phased-mab/"
        "constants=tight,width=0.05",
        "phased-adversarial:constants=tight,guide=lints,cuts=always,width=0.3",
    };
    size_t names = 0;
    while (tarry_policy_name(names) != NULL)
        names++;
    if (k < names)
        return tarry_policy_name(k);
    return k - names < sizeof more / sizeof *more ? more[k - names] : NULL;
}

/* Of the first program: TARRY_SEED=n for other ones. */
static inline uint64_t first_seed(void)
{
    const char *seed = getenv("TARRY_SEED");
    return seed != NULL ? strtoull(seed, NULL, 10) : 2385;
}

#endif
