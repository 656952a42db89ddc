/* made_log.h - logs of worlds whose truth is known. */
#ifndef TARRY_MADE_LOG_H
#define TARRY_MADE_LOG_H

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include "env/world.h"
#include "log/dependence.h"
#include "tarry/policy.h"

/* How a log comes about. */
typedef struct {
    const char *instance, *loss, *delay;
    const char *policy; /* who decides; NULL: any arm, at random */
    uint64_t burst;     /* not 0: all feedback waits for the next multiple */
    size_t count;       /* decisions, one a round */
    uint64_t seed;
    uint32_t run;
} log_recipe;

/* What was decided, and what of it was seen by the end. */
typedef struct {
    size_t count, n_arms;
    uint32_t *arm;
    double *loss, *delay, *age; /* of all; delay may be infinite */
    bool *seen;
    size_t n_seen;
    uint32_t *seen_arm;
    double *seen_loss, *seen_delay, *seen_age;
} made_log;

static inline void unmake_log(made_log *m)
{
    free(m->arm);
    free(m->loss);
    free(m->seen);
}

static inline void room_for_log(made_log *m, size_t n)
{
    *m = (made_log){.count = n};
    m->arm = malloc(2 * n * sizeof *m->arm);
    m->loss = malloc(6 * n * sizeof *m->loss);
    m->seen = calloc(n, sizeof *m->seen);
    assert(m->arm != NULL && m->loss != NULL && m->seen != NULL);
    m->seen_arm = m->arm + n;
    m->delay = m->loss + n;
    m->age = m->delay + n;
    m->seen_loss = m->age + n;
    m->seen_delay = m->seen_loss + n;
    m->seen_age = m->seen_delay + n;
}

static inline tarry_policy *decider_of(const log_recipe *r,
                                       const tarry__world *w)
{
    tarry_policy_params params = tarry_policy_defaults();
    tarry_policy *policy = NULL;
    params.n_arms = w->instance.n_arms;
    params.dim = w->instance.dim;
    params.arms = w->instance.arms;
    params.horizon = r->count;
    params.seed = r->seed;
    params.run = r->run;
    const tarry_status status =
        tarry_policy_create(r->policy, &params, &policy, NULL);
    assert(status == TARRY_OK);
    (void)status;
    return policy;
}

/* The round t = 1 .. count of a decision is its time; it is seen at the end of
 * round t + delay, and the log is taken at the end of the last round. */
static inline made_log make_log(const log_recipe *r)
{
    tarry__world *w = NULL;
    tarry_error error;
    made_log m;
    const size_t n = r->count;
    const tarry_status made = tarry__world_create(
        r->instance, r->loss, r->delay, r->seed, r->run, &w, &error);
    assert(made == TARRY_OK);
    (void)made;
    room_for_log(&m, n);
    m.n_arms = w->instance.n_arms;
    tarry_policy *policy = r->policy != NULL ? decider_of(r, w) : NULL;
    size_t *first = calloc(n + 2, sizeof *first); /* seen in a round: a list */
    size_t *next = calloc(n + 2, sizeof *next);
    for (size_t t = 1; t <= n; t++) {
        tarry_random at = {
            .seed = r->seed, .run = r->run, .round = t, .stream = 999};
        size_t arm = (size_t)(tarry_random_uniform(&at) * (double)m.n_arms);
        uint64_t round, delay;
        double loss;
        if (policy != NULL)
            tarry_policy_choose(policy, &round, &arm);
        tarry__world_draw(w, t, arm, &loss, &delay);
        if (r->burst > 0 && delay != TARRY__DELAY_NEVER)
            delay = (t + delay + r->burst - 1) / r->burst * r->burst - t;
        m.arm[t - 1] = (uint32_t)arm;
        m.loss[t - 1] = loss;
        m.delay[t - 1] = delay == TARRY__DELAY_NEVER ? INFINITY : (double)delay;
        m.age[t - 1] = (double)(n - t);
        m.seen[t - 1] = delay <= n - t;
        if (delay <= n - t) {
            next[t] = first[t + delay];
            first[t + delay] = t;
        }
        for (size_t i = first[t]; i > 0 && policy != NULL; i = next[i])
            tarry_policy_observe(policy, i, m.loss[i - 1]);
    }
    for (size_t i = 0; i < n; i++)
        if (m.seen[i]) {
            m.seen_arm[m.n_seen] = m.arm[i];
            m.seen_loss[m.n_seen] = m.loss[i];
            m.seen_delay[m.n_seen] = m.delay[i];
            m.seen_age[m.n_seen++] = m.age[i];
        }
    free(first);
    free(next);
    tarry_policy_free(policy);
    tarry__world_free(w);
    return m;
}

static inline tarry__dependence_pairs pairs_of(const made_log *m, uint64_t seed)
{
    return (tarry__dependence_pairs){m->n_seen,    m->n_arms,     m->seen_arm,
                                     m->seen_loss, m->seen_delay, m->seen_age,
                                     seed};
}

#endif
