/* promise.h - plays policies in small worlds and counts the runs in which a
 * certificate was wrong at some time, or the best arm was cut.
 *
 * A policy of confidence C may fail in a share 1 - C of the runs; three
 * standard errors are allowed besides. */
#ifndef PROMISE_H
#define PROMISE_H

#include "policy/play.h"

/* Losses are low or high, with these means; they come in batches. */
typedef struct {
    size_t n_arms, dim;
    double low, high;
    const double *arms, *means;
    uint64_t rounds; /* of a run; 0: 800 */
    uint64_t batch;  /* choices between reports; 0: 1 */
    bool sorted;     /* a batch is reported by value: of the best arms the bad
                        outcomes come first, of the others the good ones */
    int maximize;
} world;

/* Affine means over arms from the normal law, within the range. */
static inline world random_world(size_t n_arms, size_t dim, double low,
                                 double high, uint64_t *seed)
{
    double *arms = calloc(n_arms * dim, sizeof *arms);
    double *means = calloc(n_arms, sizeof *means);
    double least = INFINITY, most = -INFINITY;
    assert_true(arms && means);
    for (size_t i = 0; i < n_arms * dim; i++)
        arms[i] = test_normal(seed);
    for (size_t j = 0; j < dim; j++) {
        const double theta = test_normal(seed);
        for (size_t k = 0; k < n_arms; k++)
            means[k] += theta * arms[k * dim + j];
    }
    for (size_t k = 0; k < n_arms; k++) {
        least = fmin(least, means[k]);
        most = fmax(most, means[k]);
    }
    const double from = 0.1 + 0.3 * test_uniform(seed);
    const double to = 0.6 + 0.3 * test_uniform(seed);
    for (size_t k = 0; k < n_arms; k++) {
        const double share =
            most > least ? (means[k] - least) / (most - least) : 0.5;
        means[k] = low + (high - low) * (from + (to - from) * share);
    }
    return (world){.n_arms = n_arms,
                   .dim = dim,
                   .low = low,
                   .high = high,
                   .arms = arms,
                   .means = means};
}

static inline void end_world(const world *w)
{
    free((void *)w->arms);
    free((void *)w->means);
}

/* How much worse than the best arm one is. */
static inline double gap_of(const world *w, size_t arm)
{
    double best = w->means[0];
    for (size_t k = 1; k < w->n_arms; k++)
        best = w->maximize ? fmax(best, w->means[k]) : fmin(best, w->means[k]);
    return fabs(w->means[arm] - best);
}

typedef struct {
    uint64_t runs, wrong, lost;
} kept;

static inline bool is_wrong(tarry_policy *p, const world *w)
{
    size_t arm;
    double gap;
    assert_int_equal(tarry_policy_certify(p, &arm, &gap), TARRY_OK);
    return gap < gap_of(w, arm) - 1e-9 * (w->high - w->low);
}

static inline bool has_best(tarry_policy *p, const world *w)
{
    tarry_policy_status s;
    assert_int_equal(tarry_policy_get_status(p, &s), TARRY_OK);
    for (size_t i = 0; i < s.n_active; i++)
        if (gap_of(w, s.active[i]) == 0)
            return true;
    return false;
}

/* One batch; `wrong` is set if a certificate is, also between two reports. */
static inline void play_world(tarry_policy *p, const world *w, uint64_t *seed,
                              bool *wrong)
{
    enum { MOST = 2000 };
    const uint64_t n = w->batch > 0 ? w->batch : 1;
    uint64_t round[MOST];
    size_t arm[MOST];
    double loss[MOST];
    assert_true(n <= MOST);
    for (uint64_t i = 0; i < n; i++) {
        const choice c = choose(p);
        const double share = (w->means[c.arm] - w->low) / (w->high - w->low);
        round[i] = c.round;
        arm[i] = c.arm;
        loss[i] = test_uniform(seed) < share ? w->high : w->low;
    }
    for (int late = 0; late < (w->sorted ? 2 : 1); late++)
        for (uint64_t i = 0; i < n; i++) {
            const bool good = (loss[i] == w->high) == (w->maximize != 0);
            if (w->sorted && (good == (gap_of(w, arm[i]) == 0)) != (late == 1))
                continue;
            tarry_policy_observe(p, round[i], loss[i]);
            if (n > 1 && i % (n / 5 + 1) == 0)
                *wrong = *wrong || is_wrong(p, w);
        }
}

static inline kept count_promise(const world *w, const char *policy,
                                 double confidence, uint64_t runs)
{
    kept kept = {.runs = runs};
    const uint64_t rounds = w->rounds > 0 ? w->rounds : 800;
    for (uint64_t run = 0; run < runs; run++) {
        tarry_policy_params params = tarry_policy_defaults();
        params.n_arms = w->n_arms;
        params.dim = w->dim;
        params.arms = w->arms;
        params.low = w->low;
        params.high = w->high;
        params.maximize = w->maximize;
        params.confidence = confidence;
        params.run = (uint32_t)run;
        tarry_policy *p = make_policy(policy, &params);
        uint64_t seed = run * 1000003 + 77;
        bool wrong = is_wrong(p, w);
        const uint64_t batch = w->batch > 0 ? w->batch : 1;
        for (uint64_t t = 0; t < rounds; t += batch) {
            play_world(p, w, &seed, &wrong);
            if (t % (rounds / 20 + 1) < batch)
                wrong = wrong || is_wrong(p, w);
        }
        choose(p);
        kept.wrong += wrong;
        kept.lost += !has_best(p, w);
        tarry_policy_free(p);
    }
    return kept;
}

static inline void check_promise(const world *w, const char *policy,
                                 double confidence, uint64_t runs)
{
    const kept k = count_promise(w, policy, confidence, runs);
    const double may = (1 - confidence) * (double)runs;
    print_message("    %zu arms in %zu dimensions, [%g, %g], %s: "
                  "certificate wrong %d, best arm lost %d of %d\n",
                  w->n_arms, w->dim, w->low, w->high, policy, (int)k.wrong,
                  (int)k.lost, (int)runs);
    CHECK_AT_MOST((double)k.wrong, may + 3 * sqrt(may));
    CHECK_AT_MOST((double)k.lost, may + 3 * sqrt(may));
}

#endif
