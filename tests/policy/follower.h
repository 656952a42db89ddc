/* follower.h - the four algorithms once more, plainly, from the paper with its
 * slips mended (docs/algorithms.md), to walk beside the real ones.
 *
 * Per arm it keeps the target N(a), what was counted, its sum, and the plays
 * that are due.  Of the real policy it takes only the plan's weights (there are
 * many good designs) and checks that they keep the design's promise.  V^+ comes
 * from GSL's singular values of V itself. */
#ifndef FOLLOWER_H
#define FOLLOWER_H

#include "check.h"
#include <gsl/gsl_linalg.h>
#include <stdbool.h>
#include <string.h>
#include "play.h"

enum { MAX_FOLLOWED = 32 }; /* arms, and dimensions */

typedef struct {
    int algorithm; /* 1 to 4 */
    const game *game;
    double horizon;
    uint64_t phase, phase_start;
    double epsilon;
    bool active[MAX_FOLLOWED], estimated;
    double weight[MAX_FOLLOWED]; /* 0: not supported */
    uint64_t target[MAX_FOLLOWED], counted[MAX_FOLLOWED], due[MAX_FOLLOWED];
    uint64_t played[MAX_FOLLOWED]; /* in this phase */
    uint64_t waited, waited_before_estimates;
    double sum[MAX_FOLLOWED], lower[MAX_FOLLOWED], upper[MAX_FOLLOWED];
    bool *designated; /* by round: its loss may be counted */
    uint64_t used, ignored, late;
} follower;

static inline size_t count_active(const follower *f)
{
    size_t count = 0;
    for (size_t k = 0; k < f->game->n_arms; k++)
        count += f->active[k];
    return count;
}

/* ---- algebra --------------------------------------------------------------*/

/* P = V^+ for V = sum of scale[k] a_k a_k'; answers the rank. */
static inline size_t pseudo_inverse(const game *g, const double *scale,
                                    double P[MAX_FOLLOWED][MAX_FOLLOWED])
{
    const size_t n = g->dim;
    gsl_matrix *U = gsl_matrix_calloc(n, n), *Q = gsl_matrix_alloc(n, n);
    gsl_vector *s = gsl_vector_alloc(n), *work = gsl_vector_alloc(n);
    size_t rank = 0;
    for (size_t k = 0; k < g->n_arms; k++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                *gsl_matrix_ptr(U, i, j) +=
                    scale[k] * arm_of(g, k)[i] * arm_of(g, k)[j];
    gsl_linalg_SV_decomp(U, Q, s, work);
    while (rank < n && gsl_vector_get(s, rank) > 1e-11 * gsl_vector_get(s, 0))
        rank++;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            P[i][j] = 0;
            for (size_t c = 0; c < rank; c++)
                P[i][j] += gsl_matrix_get(Q, i, c) * gsl_matrix_get(U, j, c) /
                           gsl_vector_get(s, c);
        }
    gsl_matrix_free(U);
    gsl_matrix_free(Q);
    gsl_vector_free(s);
    gsl_vector_free(work);
    return rank;
}

/* a' P b */
static inline double form(const game *g, double P[MAX_FOLLOWED][MAX_FOLLOWED],
                          size_t a, size_t b)
{
    double sum = 0;
    for (size_t i = 0; i < g->dim; i++)
        for (size_t j = 0; j < g->dim; j++)
            sum += arm_of(g, a)[i] * P[i][j] * arm_of(g, b)[j];
    return sum;
}

static inline double sign(double x)
{
    return (x > 0) - (x < 0);
}

/* ---- the start of a phase -------------------------------------------------*/

static inline double smallest_weight(const follower *f)
{
    double smallest = 1;
    for (size_t k = 0; k < f->game->n_arms; k++)
        if (f->weight[k] > 0)
            smallest = fmin(smallest, f->weight[k]);
    return smallest;
}

/* N_m. */
static inline double quota(const follower *f)
{
    const double n = (double)f->game->dim, K = (double)f->game->n_arms;
    const double log_kt = log(K * f->horizon), eps = f->epsilon;
    const double plain = 16 * n * log_kt / (eps * eps);
    const double wait =
        24 * sqrt(n) * log(f->horizon) / (eps * smallest_weight(f));
    switch (f->algorithm) {
    case 3:
        return fmax(plain, wait);
    case 4:
        return ceil(24 * log_kt / (eps * eps));
    default:
        return plain;
    }
}

/* Weights sum to 1 on active arms, each >= 1/(2 psi), with g <= 4r. */
static inline void check_design(const follower *f)
{
    const game *g = f->game;
    double P[MAX_FOLLOWED][MAX_FOLLOWED], ones[MAX_FOLLOWED];
    double sum = 0, psi = 0, worst = 0;
    for (size_t k = 0; k < g->n_arms; k++) {
        assert_true(f->active[k] || f->weight[k] == 0);
        sum += f->weight[k];
        psi += f->weight[k] > 0;
        ones[k] = f->active[k];
    }
    CHECK_NEAR(sum, 1, 1e-12);
    CHECK_AT_MOST(1 / (2 * psi), smallest_weight(f) * (1 + 1e-12));
    const size_t rank = pseudo_inverse(g, ones, P);
    assert_int_equal(pseudo_inverse(g, f->weight, P), rank);
    for (size_t k = 0; k < g->n_arms; k++)
        if (f->active[k])
            worst = fmax(worst, form(g, P, k, k));
    CHECK_AT_MOST(worst, 4 * (double)rank);
    const double loglog = rank > 2 ? log(log((double)rank)) : 0;
    CHECK_AT_MOST(psi, 16 + 4 * (double)rank * fmax(loglog, 0));
}

/* Takes the weights from the policy and plans for itself. */
static inline void start_phase(follower *f, uint64_t round,
                               const tarry_policy_status *s)
{
    const size_t K = f->game->n_arms;
    memset(f->weight, 0, sizeof f->weight);
    memset(f->target, 0, sizeof f->target);
    memset(f->counted, 0, sizeof f->counted);
    memset(f->played, 0, sizeof f->played);
    memset(f->due, 0, sizeof f->due);
    memset(f->sum, 0, sizeof f->sum);
    f->phase_start = round;
    f->waited = 0;
    assert_true((s->n_plan == 0) == (count_active(f) == 1));
    if (s->n_plan == 0)
        return;
    for (size_t i = 0; i < s->n_plan; i++)
        f->weight[s->plan[i].arm] = s->plan[i].weight;
    if (f->algorithm == 4)
        for (size_t k = 0; k < K; k++)
            assert_true((f->weight[k] > 0) == f->active[k]);
    else
        check_design(f);
    const double N = quota(f);
    for (size_t k = 0; k < K; k++)
        if (f->weight[k] > 0)
            f->target[k] =
                (uint64_t)(f->algorithm == 4 ? N : ceil(N * f->weight[k]));
    if (f->algorithm != 1)
        memcpy(f->due, f->target, sizeof f->due);
}

static inline follower make_follower(int algorithm, const game *g,
                                     uint64_t horizon, uint64_t rounds,
                                     tarry_policy *p)
{
    follower f = {.algorithm = algorithm,
                  .game = g,
                  .horizon = (double)horizon,
                  .phase = 1,
                  .epsilon = 0.5,
                  .designated = calloc(rounds + 1, sizeof(bool))};
    const tarry_policy_status s = status_of(p);
    assert_true(g->n_arms <= MAX_FOLLOWED && g->dim <= MAX_FOLLOWED);
    assert_non_null(f.designated);
    for (size_t k = 0; k < g->n_arms; k++)
        f.active[k] = true;
    start_phase(&f, 1, &s);
    return f;
}

/* ---- the end of a phase ---------------------------------------------------*/

static inline uint64_t total_due(const follower *f)
{
    uint64_t total = 0;
    for (size_t k = 0; k < f->game->n_arms; k++)
        total += f->due[k];
    return total;
}

/* The share of N(a) that must have arrived. */
static inline double share(const follower *f)
{
    return f->algorithm == 3   ? 1 - f->epsilon / sqrt((double)f->game->dim)
           : f->algorithm == 4 ? 1 - f->epsilon
                               : 1;
}

static inline bool some_arm_is_short(const follower *f)
{
    bool some = false;
    for (size_t k = 0; k < f->game->n_arms; k++)
        some = some || (double)f->counted[k] < share(f) * (double)f->target[k];
    return some;
}

static inline void estimate_linear(follower *f)
{
    const game *g = f->game;
    double N[MAX_FOLLOWED], P[MAX_FOLLOWED][MAX_FOLLOWED];
    for (size_t k = 0; k < g->n_arms; k++)
        N[k] = (double)f->target[k];
    pseudo_inverse(g, N, P);
    for (size_t a = 0; a < g->n_arms; a++) {
        if (!f->active[a])
            continue;
        f->lower[a] = f->upper[a] = 0;
        for (size_t b = 0; b < g->n_arms; b++) {
            const double x = form(g, P, a, b);
            const double sigma = (double)(f->target[b] - f->counted[b]);
            f->lower[a] += x * (f->sum[b] - sigma * sign(x));
            f->upper[a] += x * (f->sum[b] + sigma * sign(x));
        }
    }
}

static inline void estimate_mab(follower *f)
{
    for (size_t a = 0; a < f->game->n_arms; a++) {
        const double N = (double)f->target[a];
        const double sigma = N - (double)f->counted[a];
        if (!f->active[a])
            continue;
        f->lower[a] = (f->sum[a] - sigma) / N;
        f->upper[a] = (f->sum[a] + sigma) / N;
    }
}

static inline void eliminate(follower *f)
{
    const double cut = f->algorithm == 3 ? 6 : f->algorithm == 4 ? 4 : 2;
    double least = INFINITY;
    for (size_t k = 0; k < f->game->n_arms; k++)
        if (f->active[k])
            least = fmin(least, f->upper[k]);
    for (size_t k = 0; k < f->game->n_arms; k++)
        f->active[k] = f->active[k] && f->lower[k] - least <= cut * f->epsilon;
}

/* What has arrived by now suffices; phases end when the next arm is asked. */
static inline bool is_over(const follower *f)
{
    return count_active(f) > 1 && total_due(f) == 0 && !some_arm_is_short(f);
}

static inline void end_phase(follower *f)
{
    if (f->algorithm == 4)
        estimate_mab(f);
    else
        estimate_linear(f);
    eliminate(f);
    f->estimated = true;
    f->phase++;
    f->epsilon /= 2;
}

/* ---- within a phase -------------------------------------------------------*/

/* The active arm of smallest estimate so far. */
static inline size_t best_estimate(const follower *f)
{
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < f->game->n_arms; k++)
        if (f->active[k] &&
            (best == SIZE_MAX ||
             f->lower[k] + f->upper[k] < f->lower[best] + f->upper[best]))
            best = k;
    return best;
}

/* The support in turn: arm number `i` of it, going round. */
static inline size_t supported_arm(const follower *f, uint64_t i)
{
    size_t psi = 0, k = 0;
    for (size_t a = 0; a < f->game->n_arms; a++)
        psi += f->weight[a] > 0;
    for (i %= psi; f->weight[k] == 0 || i > 0; k++)
        i -= f->weight[k] > 0;
    return k;
}

static inline void check_waiting_play(follower *f, size_t arm)
{
    const size_t expected =
        f->estimated ? best_estimate(f) : supported_arm(f, f->waited);
    assert_int_equal(arm, expected);
    f->waited++;
    f->waited_before_estimates += !f->estimated;
}

/* A sweep of Algorithm 2, counted when it starts. */
static inline void start_sweep(follower *f)
{
    for (size_t k = 0; k < f->game->n_arms; k++)
        f->due[k] = f->target[k] - f->counted[k];
    assert_true(total_due(f) > 0);
}

/* Is this an arm that the algorithm may play now? */
static inline void follow_choice(follower *f, choice c)
{
    assert_true(f->active[c.arm]);
    f->played[c.arm]++;
    if (count_active(f) == 1)
        return;
    if (f->algorithm == 1) {
        assert_true(f->weight[c.arm] > 0);
        f->designated[c.round] = true;
        return;
    }
    if (f->algorithm == 2 && total_due(f) == 0)
        start_sweep(f);
    if (total_due(f) == 0) {
        check_waiting_play(f, c.arm);
        return;
    }
    assert_true(f->due[c.arm] > 0);
    f->due[c.arm]--;
    f->designated[c.round] = true;
}

/* What observe must answer. */
static inline tarry_status follow_loss(follower *f, choice c, double loss)
{
    if (c.round < f->phase_start) {
        f->late++;
        return TARRY_LATE;
    }
    if (!f->designated[c.round] || f->counted[c.arm] == f->target[c.arm]) {
        f->ignored++;
        return TARRY_OK;
    }
    f->counted[c.arm]++;
    f->sum[c.arm] += loss;
    f->used++;
    return TARRY_OK;
}

/* ---- comparisons ----------------------------------------------------------*/

static inline void check_counts(const follower *f, const tarry_policy_status *s)
{
    assert_int_equal(s->phase, f->phase);
    assert_true(s->epsilon == f->epsilon);
    assert_int_equal(s->phase_start, f->phase_start);
    assert_int_equal(s->used, f->used);
    assert_int_equal(s->ignored, f->ignored);
    assert_int_equal(s->late, f->late);
    for (size_t i = 0; i < s->n_plan; i++)
        assert_int_equal(s->plan[i].observed, f->counted[s->plan[i].arm]);
}

/* After a phase: the estimates of the arms it looked at, and who is left. */
static inline void check_outcome(const follower *f,
                                 const tarry_policy_status *s)
{
    const size_t K = f->game->n_arms;
    assert_int_equal(s->n_estimates, K);
    for (size_t k = 0; k < K; k++) {
        CHECK_NEAR(s->estimates[k].lower, f->lower[k], 1e-9);
        CHECK_NEAR(s->estimates[k].upper, f->upper[k], 1e-9);
    }
    assert_int_equal(s->n_active, count_active(f));
    for (size_t i = 0; i < s->n_active; i++)
        assert_true(f->active[s->active[i]] &&
                    (i == 0 || s->active[i] > s->active[i - 1]));
    assert_int_equal(s->best, best_estimate(f));
}

static inline void check_plan(const follower *f, const tarry_policy_status *s)
{
    uint64_t plays = 0;
    for (size_t i = 0; i < s->n_plan; i++) {
        assert_int_equal(s->plan[i].target, f->target[s->plan[i].arm]);
        assert_true(i == 0 || s->plan[i].arm > s->plan[i - 1].arm);
        plays += s->plan[i].target;
    }
    if (f->phase == 1)
        assert_int_equal(s->first_phase_rounds, plays);
}

/* Algorithm 1 draws from the weights: counts within 6 standard errors. */
static inline void check_draws(const follower *f, uint64_t round)
{
    const double L = (double)(round - f->phase_start);
    for (size_t k = 0; k < f->game->n_arms; k++)
        CHECK_NEAR((double)f->played[k], L * f->weight[k],
                   6 * sqrt(L * f->weight[k] * (1 - f->weight[k])));
}

#endif
