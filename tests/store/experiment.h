/* experiment.h - what a small experiment is made with, for tests of stores and
 * sessions.  Whoever wants something else says so behind it. */
#ifndef TARRY_TEST_EXPERIMENT_H
#define TARRY_TEST_EXPERIMENT_H

#include "store/store.h"

static inline tarry__store_experiment small_experiment(const char *name,
                                                       const char *policy,
                                                       uint64_t n_arms,
                                                       uint64_t dim)
{
    return (tarry__store_experiment){.name = name,
                                     .prefix = "",
                                     .policy = policy,
                                     .expire_after = "",
                                     .n_arms = n_arms,
                                     .dim = dim,
                                     .low = -1,
                                     .high = 1,
                                     .horizon = 1000,
                                     .created_at = 1};
}

#endif
