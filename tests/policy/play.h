/* play.h - what the tests of policies share: games (arms, theta, losses), laws
 * of delay, a mailbox that hands over what is due, and comparisons.  Losses
 * and delays are functions of the round, so that twins meet the same ones. */
#ifndef PLAY_H
#define PLAY_H

#include "check.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "tarry/policy.h"

/* ---- games ----------------------------------------------------------------*/

typedef struct {
    size_t n_arms, dim;
    double *arms, *theta;
} game;

static inline double dot_product(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static inline const double *arm_of(const game *g, size_t k)
{
    return g->arms + k * g->dim;
}

/* A vector of the span of `rank` rows of `basis`, of this length. */
static inline void fill_vector(double *x, const double *basis, size_t rank,
                               size_t dim, double length, uint64_t *seed)
{
    for (size_t j = 0; j < rank; j++) {
        const double c = test_normal(seed);
        for (size_t i = 0; i < dim; i++)
            x[i] += c * basis[j * dim + i];
    }
    const double scale = length / sqrt(dot_product(x, x, dim));
    for (size_t i = 0; i < dim; i++)
        x[i] *= scale;
}

/* Arms of length 0.5 to 1 that span `rank` dimensions; theta is among them, of
 * length 0.9.  End it with end_game. */
static inline game make_game(size_t n_arms, size_t dim, size_t rank)
{
    uint64_t seed = 2385 + n_arms + 100 * dim + 10000 * rank;
    game g = {n_arms, dim, calloc(n_arms * dim, sizeof(double)),
              calloc(dim, sizeof(double))};
    double *basis = calloc(rank * dim, sizeof *basis);
    assert_true(g.arms && g.theta && basis);
    for (size_t i = 0; i < rank * dim; i++)
        basis[i] = test_normal(&seed);
    for (size_t k = 0; k < n_arms; k++)
        fill_vector(g.arms + k * dim, basis, rank, dim,
                    0.5 + 0.5 * test_uniform(&seed), &seed);
    fill_vector(g.theta, basis, rank, dim, 0.9, &seed);
    free(basis);
    return g;
}

static inline void end_game(game *g)
{
    free(g->arms);
    free(g->theta);
}

static inline double mean_loss(const game *g, size_t arm)
{
    return dot_product(arm_of(g, arm), g->theta, g->dim);
}

static inline size_t best_of(const game *g)
{
    size_t best = 0;
    for (size_t k = 1; k < g->n_arms; k++)
        if (mean_loss(g, k) < mean_loss(g, best))
            best = k;
    return best;
}

/* Uniform around the mean, as wide as [-1, 1] allows. */
static inline double loss_of(const game *g, uint64_t round, size_t arm)
{
    uint64_t seed = round * 1000003 + arm;
    const double mean = mean_loss(g, arm);
    return mean + (1 - fabs(mean)) * (2 * test_uniform(&seed) - 1);
}

/* ---- delays ---------------------------------------------------------------*/

#define NEVER UINT64_MAX

typedef struct {
    const char *name;
    uint64_t (*delay)(uint64_t round, size_t arm, double loss);
} delay_law;

static inline uint64_t exponential_delay(uint64_t round, double mean)
{
    uint64_t seed = round * 7919;
    return (uint64_t)(-mean * log(test_uniform(&seed)));
}

static inline uint64_t no_delay(uint64_t round, size_t arm, double loss)
{
    (void)round, (void)arm, (void)loss;
    return 0;
}

static inline uint64_t out_of_order(uint64_t round, size_t arm, double loss)
{
    (void)arm, (void)loss;
    return exponential_delay(round, 400);
}

static inline uint64_t by_arm(uint64_t round, size_t arm, double loss)
{
    const double mean[] = {0, 50, 2000};
    (void)loss;
    return exponential_delay(round, mean[arm % 3]);
}

static inline uint64_t in_bursts(uint64_t round, size_t arm, double loss)
{
    (void)arm, (void)loss;
    return 999 - round % 1000;
}

static inline uint64_t low_losses_late(uint64_t round, size_t arm, double loss)
{
    (void)arm;
    return loss < 0 ? 3000 + round % 7 : round % 5;
}

static inline uint64_t sometimes_never(uint64_t round, size_t arm, double loss)
{
    (void)arm, (void)loss;
    return round % 200 == 7 ? NEVER : exponential_delay(round, 100);
}

static const delay_law delay_laws[] = {
    {"no delay", no_delay},
    {"out of order", out_of_order},
    {"by arm", by_arm},
    {"in bursts", in_bursts},
    {"low losses late", low_losses_late},
    {"sometimes never", sometimes_never},
};
enum { N_DELAYS = sizeof delay_laws / sizeof *delay_laws };

/* ---- the mailbox ----------------------------------------------------------*/

/* Rounds up to `room`, listed by when their loss is due; 0 ends a list. */
typedef struct {
    uint64_t room;
    uint32_t *first, *next, *last;
} mailbox;

static inline mailbox make_mailbox(uint64_t room)
{
    mailbox m = {room, calloc(room + 1, sizeof *m.first),
                 calloc(room + 1, sizeof *m.next),
                 calloc(room + 1, sizeof *m.last)};
    assert_true(m.first && m.next && m.last);
    return m;
}

static inline void end_mailbox(mailbox *m)
{
    free(m->first);
    free(m->next);
    free(m->last);
}

/* Seen at the end of round + delay, in the order of play. */
static inline void post(mailbox *m, uint64_t round, uint64_t delay)
{
    if (delay > m->room - round)
        return;
    const uint64_t due = round + delay;
    if (m->first[due] == 0)
        m->first[due] = (uint32_t)round;
    else
        m->next[m->last[due]] = (uint32_t)round;
    m->last[due] = (uint32_t)round;
}

/* ---- policies -------------------------------------------------------------*/

typedef struct {
    uint64_t round;
    size_t arm;
} choice;

static inline tarry_policy_params params_of(const game *g, uint64_t horizon)
{
    tarry_policy_params p = tarry_policy_defaults();
    p.n_arms = g->n_arms;
    p.dim = g->dim;
    p.arms = g->arms;
    p.horizon = horizon;
    p.seed = 2385;
    p.run = 7;
    return p;
}

/* Like tarry_policy_create, for NAME or NAME:key=value,... */
static inline tarry_status try_policy(const char *text,
                                      const tarry_policy_params *params,
                                      tarry_policy **out, tarry_error *error)
{
    char name[64] = "";
    const char *colon = strchr(text, ':');
    tarry_policy_params p = *params;
    if (colon == NULL)
        return tarry_policy_create(text, params, out, error);
    memcpy(name, text, (size_t)(colon - text));
    p.settings = colon + 1;
    return tarry_policy_create(name, &p, out, error);
}

static inline tarry_policy *make_policy(const char *name,
                                        const tarry_policy_params *params)
{
    tarry_error error = {""};
    tarry_policy *p;
    if (try_policy(name, params, &p, &error) != TARRY_OK)
        fail_msg("%s: %s", name, error.text);
    return p;
}

static inline choice choose(tarry_policy *p)
{
    choice c;
    assert_int_equal(tarry_policy_choose(p, &c.round, &c.arm), TARRY_OK);
    return c;
}

static inline tarry_policy_status status_of(tarry_policy *p)
{
    tarry_policy_status s;
    tarry_policy_get_status(p, &s);
    return s;
}

/* Chooses, draws the loss and its delay, and reports what is due by then. */
static inline choice play_round(tarry_policy *p, const game *g,
                                const delay_law *law, mailbox *box,
                                size_t *arm_of_round)
{
    const choice c = choose(p);
    arm_of_round[c.round] = c.arm;
    post(box, c.round, law->delay(c.round, c.arm, loss_of(g, c.round, c.arm)));
    for (uint64_t r = box->first[c.round]; r != 0; r = box->next[r]) {
        const tarry_status status =
            tarry_policy_observe(p, r, loss_of(g, r, arm_of_round[r]));
        assert_true(status == TARRY_OK || status == TARRY_LATE);
    }
    return c;
}

static inline void check_same_plan(const tarry_policy_status *s,
                                   const tarry_policy_status *t)
{
    assert_int_equal(s->n_plan, t->n_plan);
    for (size_t i = 0; i < s->n_plan; i++) {
        assert_int_equal(s->plan[i].arm, t->plan[i].arm);
        assert_int_equal(s->plan[i].target, t->plan[i].target);
        assert_int_equal(s->plan[i].observed, t->plan[i].observed);
        assert_true(s->plan[i].weight == t->plan[i].weight);
    }
    assert_int_equal(s->n_active, t->n_active);
    assert_memory_equal(s->active, t->active, s->n_active * sizeof *s->active);
    assert_int_equal(s->n_estimates, t->n_estimates);
    for (size_t i = 0; i < s->n_estimates; i++) {
        assert_true(s->estimates[i].lower == t->estimates[i].lower);
        assert_true(s->estimates[i].upper == t->estimates[i].upper);
    }
}

/* All but the size of the table, which may have grown before a failure. */
static inline void check_same_status(tarry_policy *p, tarry_policy *q)
{
    const tarry_policy_status s = status_of(p), t = status_of(q);
    assert_string_equal(s.name, t.name);
    assert_int_equal(s.round, t.round);
    assert_int_equal(s.horizon, t.horizon);
    assert_true(s.low == t.low && s.high == t.high);
    assert_int_equal(s.maximize, t.maximize);
    assert_int_equal(s.phase, t.phase);
    assert_true(s.epsilon == t.epsilon);
    assert_int_equal(s.phase_start, t.phase_start);
    assert_int_equal(s.best, t.best);
    assert_int_equal(s.pending, t.pending);
    assert_int_equal(s.pending_max, t.pending_max);
    assert_int_equal(s.used, t.used);
    assert_int_equal(s.ignored, t.ignored);
    assert_int_equal(s.late, t.late);
    assert_int_equal(s.first_phase_rounds, t.first_phase_rounds);
    check_same_plan(&s, &t);
}

#endif
