/* test_plain.c - ucb-delayed, se-delayed, opse, pse, payoff-mab, first-answer,
 * uniform and sapo-delayed beside their definitions, written down once more
 * from a list of all plays. */
#include "check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tarry/tarry.h"

enum { MAX_ARMS = 40, MAX_ROUNDS = 4000 };

static const char *const eliminating[] = {"se-delayed", "opse", "payoff-mab"};
static const char *const baselines[] = {"ucb-delayed", "se-delayed", "opse",
                                        "payoff-mab"};

/* ---- a game ---------------------------------------------------------------*/

typedef struct {
    size_t arm;
    double loss;
    uint64_t due; /* the round at whose end it is seen; UINT64_MAX: never */
    bool called_off;
} play;

typedef struct {
    size_t n_arms;
    uint64_t horizon;
    double scale, confidence, D;
    uint64_t round;             /* rounds played */
    play plays[MAX_ROUNDS + 1]; /* from 1 on */
    bool cut[MAX_ARMS];         /* the naive policy's own books: */
    size_t turn[MAX_ROUNDS];    /*   arms of this turn */
    size_t n_turn, at;
    uint64_t judged; /*   plays when standing was last judged */
    double guess;    /*   of payoff-doubling */
    int phase;       /*   of pse */
    size_t next;     /*   whose turn it is, of ucb-delayed and first-answer */
    bool settled;    /*   of first-answer */
    bool gone[MAX_ARMS];
} game;

static tarry_policy *make_sure(const char *name, size_t n_arms,
                               uint64_t horizon, const char *settings,
                               double confidence)
{
    double *arms = calloc(n_arms, sizeof *arms);
    tarry_policy_params params = tarry_policy_defaults();
    tarry_policy *policy;
    for (size_t k = 0; k < n_arms; k++)
        arms[k] = 0.238 * (double)(k % 5);
    params.n_arms = n_arms;
    params.dim = 1;
    params.arms = arms;
    params.horizon = horizon;
    params.settings = settings;
    params.confidence = confidence;
    assert_int_equal(tarry_policy_create(name, &params, &policy, NULL),
                     TARRY_OK);
    free(arms);
    return policy;
}

static tarry_policy *make(const char *name, size_t n_arms, uint64_t horizon,
                          const char *settings)
{
    return make_sure(name, n_arms, horizon, settings, 0);
}

static bool is_seen(const game *g, uint64_t t)
{
    return g->plays[t].due <= g->round;
}

/* Reports what is due at the end of this round. */
static void deliver(game *g, tarry_policy *policy)
{
    for (uint64_t t = 1; t <= g->round; t++)
        if (g->plays[t].due == g->round && !g->plays[t].called_off)
            assert_int_equal(tarry_policy_observe(policy, t, g->plays[t].loss),
                             TARRY_OK);
}

/* ---- naive policies -------------------------------------------------------*/

typedef struct {
    double played, seen, sum; /* plays, losses that came, their sum */
    double waited;            /* sum of u - t - 1 over the missing */
} tally;

static tally count(const game *g, size_t arm)
{
    tally c = {0, 0, 0, 0};
    for (uint64_t t = 1; t <= g->round; t++) {
        if (g->plays[t].arm != arm || g->plays[t].called_off)
            continue;
        c.played++;
        c.seen += is_seen(g, t);
        c.sum += is_seen(g, t) ? g->plays[t].loss : 0;
        c.waited += is_seen(g, t) ? 0 : (double)(g->round - t);
    }
    return c;
}

/* In the width of a mean of n losses. */
static double log_of(const game *g, double n)
{
    return g->confidence > 0
               ? log(2 * (double)g->n_arms * n * (n + 1) / (1 - g->confidence))
               : log((double)g->horizon);
}

static size_t naive_ucb(game *g)
{
    const double round = (double)g->round + 1;
    size_t best = MAX_ARMS;
    double least = INFINITY;
    for (size_t i = 0; i < g->n_arms; i++) { /* nothing seen: in turn */
        const size_t k = (g->next + i) % g->n_arms;
        if (g->gone[k] || count(g, k).seen > 0)
            continue;
        g->next = (k + 1) % g->n_arms;
        return k;
    }
    for (size_t k = 0; k < g->n_arms; k++) {
        const tally c = count(g, k);
        const double index =
            c.sum / c.seen - 2 * g->scale * sqrt(2 * log(round) / c.seen);
        if (!g->gone[k] && index < least) {
            least = index;
            best = k;
        }
    }
    return best;
}

/* Cuts what lies above the least upper end, and lists the rest. */
static void cut(game *g, const double *lower, const double *upper)
{
    double least = INFINITY;
    for (size_t k = 0; k < g->n_arms; k++)
        if (!g->cut[k])
            least = fmin(least, upper[k]);
    for (size_t k = 0; k < g->n_arms; k++)
        g->cut[k] = g->cut[k] || lower[k] > least;
}

static void new_turn(game *g)
{
    g->n_turn = g->at = 0;
    for (size_t k = 0; k < g->n_arms; k++)
        if (!g->cut[k])
            g->turn[g->n_turn++] = k;
}

static void cut_by_means(game *g, bool complete)
{
    double lower[MAX_ARMS], upper[MAX_ARMS];
    for (size_t k = 0; k < g->n_arms; k++) {
        const tally c = count(g, k);
        const double n = complete ? c.played : c.seen;
        const double missing = complete ? c.played - c.seen : 0;
        const double width = g->scale * sqrt(2 * log_of(g, n) / n);
        lower[k] = n > 0 ? (c.sum - missing) / n - width : -INFINITY;
        upper[k] = n > 0 ? (c.sum + missing) / n + width : INFINITY;
    }
    cut(g, lower, upper);
}

static size_t naive_elimination(game *g, bool complete)
{
    if (g->at == g->n_turn && g->round > 0)
        cut_by_means(g, complete);
    if (g->at == g->n_turn)
        new_turn(g);
    return g->turn[g->at++];
}

static size_t naive_se(game *g)
{
    return naive_elimination(g, false);
}

static size_t naive_opse(game *g)
{
    return naive_elimination(g, true);
}

/* Goes on to the next arm of this turn that has fewer than 16 log T / eps^2
 * losses; false: there is none. */
static bool go_to_one_behind(game *g)
{
    const double log_t =
        g->confidence > 0 ? log_of(g, 1) - log(2) : log((double)g->horizon);
    const double needed = fmax(16 * log_t, 1) * pow(4, g->phase);
    while (g->at < g->n_turn && count(g, g->turn[g->at]).seen >= needed)
        g->at++;
    return g->at < g->n_turn;
}

static size_t naive_pse(game *g)
{
    if (g->round == 0) {
        g->phase = 1;
        new_turn(g);
    }
    if (!go_to_one_behind(g)) {
        cut_by_means(g, false);
        for (new_turn(g); !go_to_one_behind(g); g->at = 0)
            g->phase++;
    }
    return g->turn[g->at++];
}

/* 1 / D as set, or from all that has come; 0: cannot be told. */
static double learnt(const game *g)
{
    double losses = 0, delays = 0;
    if (g->D > 0)
        return 1 / g->D;
    for (uint64_t t = 1; t <= g->round; t++)
        if (is_seen(g, t) && !g->plays[t].called_off) {
            losses += g->plays[t].loss;
            delays += (double)(g->plays[t].due - t);
        }
    return losses > 0 && delays > 0 ? losses / delays : 0;
}

static size_t n_active(const game *g)
{
    size_t active = 0;
    for (size_t k = 0; k < g->n_arms; k++)
        active += !g->cut[k];
    return active;
}

/* Those of the turn that are known to be no worse than `most`. */
static size_t count_standing(const game *g, const double *known,
                             const double *w, double most)
{
    size_t count = 0;
    for (size_t i = 0; i < g->n_turn; i++)
        count += known[g->turn[i]] - w[g->turn[i]] <= most;
    return count;
}

/* What is known of a mean; nothing, if all plays have been called off. */
static double known_of(const game *g, size_t arm)
{
    const double rate = learnt(g);
    const double per_round = rate > 0 ? rate : 1 / ((double)g->round + 1);
    const tally c = count(g, arm);
    return c.played > 0
               ? (c.sum + fmin(c.played - c.seen, c.waited * per_round)) /
                     c.played
               : -INFINITY;
}

static void judge(game *g, bool by_guess)
{
    double lower[MAX_ARMS], upper[MAX_ARMS], known[MAX_ARMS], w[MAX_ARMS];
    const double round = (double)g->round + 1, rate = learnt(g);
    const double per_round = rate > 0 ? rate : 1 / round;
    double largest = 0, least = INFINITY;
    for (uint64_t t = 1; t <= g->round; t++)
        if (is_seen(g, t) && !g->plays[t].called_off)
            largest = fmax(largest, g->plays[t].loss);
    const double range = fmin(1, fmax(largest, round * per_round));
    for (size_t k = 0; k < g->n_arms; k++) {
        const tally c = count(g, k);
        const double missing = c.played - c.seen;
        known[k] = known_of(g, k);
        w[k] = 0;
        lower[k] = -INFINITY;
        upper[k] = INFINITY;
        if (c.played == 0)
            continue;
        w[k] = g->scale * sqrt(log_of(g, c.played) / (2 * c.played));
        lower[k] = (rate > 0 ? known[k] : c.sum / c.played) - w[k];
        upper[k] = (c.sum + missing) / c.played + w[k];
    }
    if (rate > 0 || by_guess)
        cut(g, lower, upper);
    new_turn(g);
    for (size_t k = 0; k < g->n_arms; k++)
        w[k] *= range;
    for (size_t i = 0; i < g->n_turn; i++)
        if (known[g->turn[i]] > -INFINITY)
            least = fmin(least, known[g->turn[i]] + w[g->turn[i]]);
    g->guess = fmax(g->guess, fmin(per_round, 1));
    while (by_guess && count_standing(g, known, w, g->guess) == 0)
        g->guess *= 2;
    least = by_guess ? g->guess : least;
    size_t kept = 0;
    for (size_t i = 0; i < g->n_turn; i++)
        if (known[g->turn[i]] - w[g->turn[i]] <= least)
            g->turn[kept++] = g->turn[i];
    g->n_turn = kept;
    g->judged = g->round;
}

static size_t naive_standing(game *g, bool by_guess)
{
    if (g->round == 0)
        new_turn(g);
    else if (g->at == g->n_turn) {
        g->at = 0;
        if (n_active(g) > 1 && g->round - g->judged >= n_active(g) / 8)
            judge(g, by_guess);
    }
    return g->turn[g->at++];
}

static size_t naive_payoff(game *g)
{
    return naive_standing(g, false);
}

static size_t naive_doubling(game *g)
{
    return naive_standing(g, true);
}

static size_t next_in_turn(const game *g, size_t arm)
{
    do
        arm = (arm + 1) % g->n_arms;
    while (g->gone[arm]);
    return arm;
}

/* In turn, and with the first that answers at once as long as it is there. */
static size_t naive_first(game *g)
{
    const play *last = &g->plays[g->round];
    if (g->round > 0 && !g->settled && last->due == g->round &&
        !g->gone[last->arm]) {
        g->settled = true;
        g->next = last->arm;
    }
    const size_t arm = g->next;
    if (!g->settled)
        g->next = next_in_turn(g, arm);
    return arm;
}

static size_t naive_uniform(game *g)
{
    const tarry_random at = {.round = g->round + 1};
    size_t there[MAX_ARMS], count = 0;
    for (size_t k = 0; k < g->n_arms; k++)
        if (!g->gone[k])
            there[count++] = k;
    return there[(size_t)(tarry_random_uniform(&at) * (double)count)];
}

/* Arms have come, or one has gone: if it was active, all are again.  Turns and
 * phases begin anew. */
static void rearrange(game *g, bool lost_active)
{
    for (size_t k = 0; lost_active && k < g->n_arms; k++)
        g->cut[k] = g->gone[k];
    new_turn(g);
    g->judged = g->round;
    g->phase = 1;
    if (g->gone[g->next]) {
        g->settled = false;
        g->next = next_in_turn(g, g->next);
    }
}

/* ---- choices --------------------------------------------------------------*/

/* Saves and restores. */
static tarry_policy *reborn(tarry_policy *policy)
{
    void *bytes;
    size_t size;
    assert_int_equal(tarry_policy_pack(policy, &bytes, &size), TARRY_OK);
    tarry_policy_free(policy);
    assert_int_equal(tarry_policy_unpack(bytes, size, &policy, NULL), TARRY_OK);
    tarry_policy_pack_free(bytes);
    return policy;
}

static void call_off(game *g, tarry_policy *policy, uint64_t round)
{
    if (round == 0 || g->plays[round].called_off || is_seen(g, round))
        return;
    assert_int_equal(tarry_policy_cancel(policy, round), TARRY_OK);
    g->plays[round].called_off = true;
}

static void take_away(game *g, tarry_policy *policy, size_t arm)
{
    size_t there = 0;
    for (size_t k = 0; k < g->n_arms; k++)
        there += !g->gone[k];
    const tarry_status expected = g->gone[arm] ? TARRY_NO_SUCH_ARM
                                  : there == 1 ? TARRY_BAD_ARGUMENT
                                               : TARRY_OK;
    assert_int_equal(tarry_policy_withdraw(policy, arm), expected);
    if (expected != TARRY_OK)
        return;
    const bool was_active = !g->cut[arm];
    g->gone[arm] = g->cut[arm] = true;
    rearrange(g, was_active);
}

static void bring_one(game *g, tarry_policy *policy)
{
    const double features = 0.5;
    size_t arm;
    if (g->n_arms == MAX_ARMS)
        return;
    assert_int_equal(tarry_policy_admit(policy, &features, &arm), TARRY_OK);
    assert_int_equal(arm, g->n_arms);
    g->n_arms++;
    rearrange(g, false);
}

typedef struct {
    const char *name;
    size_t (*naive)(game *);
    size_t most_arms;
    bool payoff, may_cancel, has_scale;
} definition;

static const definition definitions[] = {
    {"ucb-delayed", naive_ucb, 30, false, true, true},
    {"se-delayed", naive_se, 30, false, true, true},
    {"opse", naive_opse, 30, false, true, true},
    {"pse", naive_pse, 4, false, true, true},
    {"payoff-mab", naive_payoff, 30, true, true, true},
    {"payoff-doubling", naive_doubling, 30, true, true, true},
    {"first-answer", naive_first, 30, true, true, false},
    {"uniform", naive_uniform, 30, false, true, false},
};

/* Who is active, and which of them looks best: by the mean of what has come, or
 * as payoff by all that is known; the first, if nothing is. */
static void check_status(const definition *d, const game *g,
                         tarry_policy *policy)
{
    tarry_policy_status s;
    size_t best = MAX_ARMS, at = 0;
    double least = INFINITY;
    tarry_policy_get_status(policy, &s);
    assert_int_equal(s.n_active, n_active(g));
    for (size_t k = 0; k < g->n_arms; k++) {
        const tally c = count(g, k);
        if (g->cut[k])
            continue;
        assert_int_equal(s.active[at++], k);
        const double value = d->payoff    ? known_of(g, k)
                             : c.seen > 0 ? c.sum / c.seen
                                          : INFINITY;
        if (best == MAX_ARMS || (value < least && value > -INFINITY)) {
            best = k;
            least = value > -INFINITY ? value : INFINITY;
        }
    }
    assert_int_equal(s.best, best);
}

/* Losses -1 or 1 (0 or 1 as payoff) so that sums are exact; a tenth of them
 * never comes.  Now and then the policy is saved and restored. */
static void check_choices(const definition *d, game *g, const char *settings,
                          uint64_t seed, bool changes)
{
    uint64_t state = seed;
    g->n_arms = 1 + test_bits(&state) % d->most_arms;
    g->horizon = 700;
    const double longest = 1 + 200 * test_uniform(&state);
    tarry_policy *policy =
        make_sure(d->name, g->n_arms, g->horizon, settings, g->confidence);
    while (g->round < g->horizon) {
        uint64_t round;
        size_t arm;
        const size_t expected = d->naive(g);
        assert_int_equal(tarry_policy_choose(policy, &round, &arm), TARRY_OK);
        assert_int_equal(arm, expected);
        const bool high =
            test_uniform(&state) < (double)(arm + 1) / (double)g->n_arms;
        const double loss = d->payoff ? high : high ? 1 : -1;
        const double delay =
            ceil(longest * (d->payoff ? loss : test_uniform(&state)));
        const bool lost = test_uniform(&state) < 0.1;
        g->plays[round] = (play){
            arm, loss, lost ? UINT64_MAX : round + (uint64_t)delay, false};
        g->round = round;
        deliver(g, policy);
        /* most often at first, when an arm may have no other play */
        if (d->may_cancel &&
            test_uniform(&state) < (round <= g->n_arms ? 0.3 : 0.03))
            call_off(g, policy, round - test_bits(&state) % round);
        if (d->has_scale && test_uniform(&state) < 0.05)
            check_status(d, g, policy);
        if (changes && test_uniform(&state) < 0.02)
            take_away(g, policy, test_bits(&state) % g->n_arms);
        if (changes && test_uniform(&state) < 0.015)
            bring_one(g, policy);
        if (test_uniform(&state) < 0.01)
            policy = reborn(policy);
    }
    tarry_policy_free(policy);
}

/* With the widths of the text, and with others, for ever. */
static void check_definitions(bool changes)
{
    game *g = malloc(sizeof *g);
    assert_non_null(g);
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
        for (uint64_t seed = 1; seed <= 16; seed++) {
            const bool plain = seed % 2 || !definitions[i].has_scale;
            const bool told = definitions[i].payoff && seed % 3 == 1;
            memset(g, 0, sizeof *g);
            g->scale = plain ? 1 : 0.37;
            g->confidence = seed % 4 < 2 ? 0 : 0.9;
            g->D = told && !plain ? 150 : 0;
            check_choices(&definitions[i], g,
                          plain  ? NULL
                          : told ? "scale=0.37,D=150"
                                 : "scale=0.37",
                          seed, changes);
        }
    free(g);
}

static void each_choice_is_that_of_the_definition(void **unused)
{
    (void)unused;
    check_definitions(false);
}

static void so_it_is_when_arms_come_and_go(void **unused)
{
    (void)unused;
    check_definitions(true);
}

/* ---- sapo-delayed ---------------------------------------------------------*/

enum { MOST_SAPO = 6 };

/* As the opening comment of sapo_delayed.c has it. */
typedef struct {
    size_t K;
    double scale, horizon, confidence;
    double n[MOST_SAPO], sum[MOST_SAPO], least;
    bool out[MOST_SAPO];
    double p[MOST_SAPO], rounds[MOST_SAPO];
    uint64_t since[MOST_SAPO], seen[MOST_SAPO], news, now;
} sapo;

static double sapo_width(const sapo *s, size_t k)
{
    const double log_t = s->confidence > 0
                             ? log(2 * (double)s->K * s->n[k] * (s->n[k] + 1) /
                                   (1 - s->confidence))
                             : log(s->horizon);
    return fmin(1, s->scale * sqrt(2 * log_t / s->n[k]));
}

static size_t sapo_active(const sapo *s)
{
    size_t active = 0;
    for (size_t k = 0; k < s->K; k++)
        active += !s->out[k];
    return active;
}

/* The arm of the smallest upper end stays, whatever there has been. */
static void sapo_cut(sapo *s)
{
    double least = INFINITY;
    size_t stays = s->K;
    s->news = 0;
    for (size_t k = 0; k < s->K; k++) {
        const double upper = s->sum[k] / s->n[k] + sapo_width(s, k);
        if (!s->out[k] && s->n[k] > 0 && upper < least) {
            least = upper;
            stays = k;
        }
    }
    s->least = fmin(s->least, least);
    for (size_t k = 0; k < s->K; k++) {
        const double w = sapo_width(s, k);
        const double p = 0.5 / (double)s->K + s->n[k] / 2 / s->horizon;
        if (s->out[k] || k == stays || s->n[k] == 0 ||
            s->sum[k] / s->n[k] - 9 * w <= s->least)
            continue;
        s->out[k] = true;
        s->p[k] = fmin(p, 0.5);
        s->rounds[k] = 1280 / (p * 64 * w * w);
        s->since[k] = s->now;
    }
}

/* The arm of the next round, and the probability of that. */
static size_t sapo_choice(sapo *s, double u, double *p)
{
    double rest = 1, upto = 0;
    size_t last = 0;
    s->now++;
    if (sapo_active(s) > 1 && s->news >= sapo_active(s))
        sapo_cut(s);
    for (size_t k = 0; k < s->K; k++)
        rest -= s->out[k] ? s->p[k] : 0;
    for (size_t i = 0; i < 2 * s->K; i++) { /* active ones first */
        const size_t k = i % s->K;
        if (s->out[k] != (i >= s->K))
            continue;
        *p = s->out[k] ? s->p[k] : rest / (double)sapo_active(s);
        upto += *p;
        last = k;
        if (u < upto)
            break;
    }
    return last;
}

static void sapo_loss(sapo *s, uint64_t round, size_t arm, double loss)
{
    s->news++;
    for (size_t k = 0; k < s->K; k++) {
        if (!s->out[k] || round < s->since[k])
            continue;
        if ((double)++s->seen[k] < floor(s->rounds[k]))
            continue;
        s->p[k] /= 2;
        s->rounds[k] *= 2;
        s->since[k] = s->now + 1;
        s->seen[k] = 0;
    }
    s->n[arm]++;
    s->sum[arm] += (1 + loss) / 2;
}

/* Arm 1 is best until `turn`, when it becomes the worst; the others have means
 * between, and arm 0 the largest of them. */
static double chance_of_one(size_t K, size_t arm, bool turned)
{
    if (arm == 1)
        return turned ? 1 : 0.03;
    return 0.97 - 0.2 * (double)arm / (double)K;
}

static sapo check_sapo(size_t K, const char *settings, double scale,
                       double confidence, uint64_t turn)
{
    enum { ROUNDS = 40000, LATE = 64 };
    tarry_policy *policy =
        make_sure("sapo-delayed", K, ROUNDS, settings, confidence);
    sapo s = {.K = K,
              .scale = scale,
              .horizon = ROUNDS,
              .confidence = confidence,
              .least = INFINITY};
    size_t arms[LATE] = {0}; /* of the last rounds */
    uint64_t seed = 2385;
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        uint64_t round;
        double p = 0, expected;
        const tarry_random at = {.round = t,
                                 .seed = tarry_policy_defaults().seed,
                                 .run = tarry_policy_defaults().run};
        arms[t % LATE] = sapo_choice(&s, tarry_random_uniform(&at), &expected);
        size_t arm;
        assert_int_equal(tarry_policy_choose(policy, &round, &arm), TARRY_OK);
        assert_int_equal(arm, arms[t % LATE]);
        assert_int_equal(tarry_policy_probability(policy, &p), TARRY_OK);
        CHECK_NEAR(p, expected, 1e-12);
        if (t % 997 == 0)
            policy = reborn(policy);
        const uint64_t late = t % 3 == 0 ? LATE - 4 : 0; /* multiples of 3 */
        if (t <= late)
            continue;
        const size_t of = arms[(t - late) % LATE];
        const double loss =
            2 * (test_uniform(&seed) < chance_of_one(K, of, t > turn)) - 1;
        assert_int_equal(tarry_policy_observe(policy, t - late, loss),
                         TARRY_OK);
        sapo_loss(&s, t - late, of, loss);
    }
    tarry_policy_free(policy);
    return s;
}

static void each_draw_of_sapo_is_that_of_the_definition(void **unused)
{
    (void)unused;
    const uint64_t never = UINT64_MAX;
    /* it has been halved */
    CHECK_AT_MOST(check_sapo(2, NULL, 1, 0, never).p[0], 0.25);
    CHECK_AT_MOST(check_sapo(2, "scale=0.4", 0.4, 0, never).p[0], 0.25);
    CHECK_AT_MOST(check_sapo(2, "scale=0.4", 0.4, 0.9, never).p[0], 0.25);
    for (size_t K = 3; K <= MOST_SAPO; K++) {
        const sapo s = check_sapo(K, "scale=0.4", 0.4, 0, never);
        assert_int_equal(sapo_active(&s), 1);
        check_sapo(K, "scale=0.2", 0.2, 0, 150);
    }
}

/* ---- elimination ----------------------------------------------------------*/

/* How a loss in [0, 1] with this mean comes back, after how many rounds. */
typedef uint64_t delay_rule(size_t arm, double loss, uint64_t *state);

typedef struct {
    const char *settings;
    const double *mean; /* per arm, of losses `low` and 1 */
    double low;
    delay_rule *delay;
} world;

static bool is_active(tarry_policy *policy, size_t arm)
{
    tarry_policy_status status;
    tarry_policy_get_status(policy, &status);
    for (size_t i = 0; i < status.n_active; i++)
        if (status.active[i] == arm)
            return true;
    return false;
}

static size_t active_arms(tarry_policy *policy)
{
    tarry_policy_status status;
    tarry_policy_get_status(policy, &status);
    return status.n_active;
}

/* Plays all rounds; answers the plays of arm 0. */
static uint64_t play_out(tarry_policy *policy, uint64_t rounds, const world *w,
                         uint64_t seed)
{
    game *g = calloc(1, sizeof *g);
    uint64_t of_first = 0;
    while (g->round < rounds) {
        uint64_t round;
        size_t arm;
        assert_int_equal(tarry_policy_choose(policy, &round, &arm), TARRY_OK);
        const double high = (w->mean[arm] - w->low) / (1 - w->low);
        const double loss = test_uniform(&seed) < high ? 1 : w->low;
        g->plays[round] =
            (play){arm, loss, round + w->delay(arm, loss, &seed), false};
        g->round = round;
        deliver(g, policy);
        of_first += arm == 0;
    }
    free(g);
    return of_first;
}

static uint64_t by_chance(size_t arm, double loss, uint64_t *state)
{
    (void)arm;
    (void)loss;
    return (uint64_t)(-30 * log(test_uniform(state)));
}

static uint64_t as_payoff(size_t arm, double loss, uint64_t *state)
{
    (void)arm;
    (void)state;
    return (uint64_t)(100 * loss);
}

static void elimination_keeps_the_best_arm_and_cuts_the_others(void **unused)
{
    (void)unused;
    static const double mean[] = {-0.75, 0.25, 0.5, 0.75},
                        costs[] = {0.1, 0.7, 0.8, 0.9};
    const world chance = {NULL, mean, -1, by_chance},
                payoff = {NULL, costs, 0, as_payoff};
    for (size_t i = 0; i < 3; i++)
        for (uint64_t seed = 1; seed <= 60; seed++) {
            tarry_policy *policy = make(eliminating[i], 4, 2000, NULL);
            play_out(policy, 2000, i == 2 ? &payoff : &chance, seed);
            assert_true(is_active(policy, 0));
            assert_int_equal(active_arms(policy), 1);
            tarry_policy_free(policy);
        }
}

/* The low losses of arm 0, the best, come after the end; all others at once. */
static uint64_t low_of_the_best_late(size_t arm, double loss, uint64_t *state)
{
    (void)state;
    return arm == 0 && loss < 0 ? 1000000 : 0;
}

static void opse_keeps_a_best_arm_whose_low_losses_are_late(void **unused)
{
    (void)unused;
    static const double mean[] = {-0.6, 0.0};
    const world w = {NULL, mean, -1, low_of_the_best_late};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        tarry_policy *naive = make("se-delayed", 2, 3000, NULL);
        tarry_policy *safe = make("opse", 2, 3000, NULL);
        play_out(naive, 3000, &w, seed);
        play_out(safe, 3000, &w, seed);
        assert_false(is_active(naive, 0));
        assert_true(is_active(safe, 0));
        tarry_policy_free(naive);
        tarry_policy_free(safe);
    }
}

/* ---- delay as payoff ------------------------------------------------------*/

static const char *const payoff_rules[] = {"payoff-mab", "payoff-doubling"};

static uint64_t far_beyond_the_end(size_t arm, double loss, uint64_t *state)
{
    (void)arm;
    (void)state;
    return (uint64_t)(1000000 * loss);
}

/* Arm 0 answers at once, the others take D, more than the game lasts: about
 * 8 K log T plays of them are enough, and a few more as the last of them drop
 * out one by one; plain elimination spends 7/8 of all. */
static void payoff_rules_do_not_wait_for_arms_that_are_late(void **unused)
{
    (void)unused;
    static const double mean[] = {0, 1, 1, 1, 1, 1, 1, 1};
    const world w = {NULL, mean, 0, far_beyond_the_end};
    for (size_t i = 0; i < 2; i++) {
        tarry_policy *payoff = make(payoff_rules[i], 8, 4000, NULL);
        CHECK_AT_MOST(4000 - play_out(payoff, 4000, &w, 5), 10 * 8 * log(4000));
        assert_int_equal(active_arms(payoff), 8); /* nothing is certain yet */
        tarry_policy_free(payoff);
    }
    tarry_policy *plain = make("opse", 8, 4000, NULL);
    assert_int_equal(play_out(plain, 4000, &w, 5), 500);
    tarry_policy_free(plain);
}

/* A guess below the best arm's loss leaves no arm: it must be doubled, and the
 * best arm then has most of the plays. */
static void a_guess_that_nobody_meets_is_doubled(void **unused)
{
    (void)unused;
    static const double mean[] = {0.4, 0.9, 0.9, 0.9};
    const world w = {NULL, mean, 0, as_payoff};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        tarry_policy *policy = make("payoff-doubling", 4, 4000, "D=100");
        CHECK_AT_MOST(3000, play_out(policy, 4000, &w, seed));
        tarry_policy_free(policy);
    }
}

/* An arm out of standing comes back: arm 1 looks better while its rare large
 * losses are on their way, and arm 0 is best all the same. */
static void payoff_rules_come_back_to_an_arm_that_was_put_aside(void **unused)
{
    (void)unused;
    static const double mean[] = {0.5, 0.8};
    const world w = {NULL, mean, 0, as_payoff};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        tarry_policy *policy = make(payoff_rules[seed % 2], 2, 4000, "D=100");
        CHECK_AT_MOST(3000, play_out(policy, 4000, &w, seed));
        tarry_policy_free(policy);
    }
}

/* Losses in [0, 1] of a range 0,1 reach the policy as [-1, 1]. */
static void payoff_mab_is_the_same_in_either_range(void **unused)
{
    (void)unused;
    static const double mean[] = {0.7, 0.3, 0.5};
    const world w = {NULL, mean, 0, as_payoff};
    const double arms[] = {1, 2, 3};
    tarry_policy_params params = tarry_policy_defaults();
    params.n_arms = 3;
    params.dim = 1;
    params.arms = arms;
    params.horizon = 1000;
    params.low = 0;
    params.settings = "zero=-1";
    tarry_policy *mapped, *plain = make("payoff-mab", 3, 1000, NULL);
    assert_int_equal(tarry_policy_create("payoff-mab", &params, &mapped, NULL),
                     TARRY_OK);
    assert_int_equal(play_out(mapped, 1000, &w, 8),
                     play_out(plain, 1000, &w, 8));
    tarry_policy_free(mapped);
    tarry_policy_free(plain);
}

/* Arm 0 has the others cut and goes; they are alike, and none of them is judged
 * by what it was. */
static void check_equals(const char *name, double confidence)
{
    enum { ROUNDS = 20000, CHANGE = 10000 };
    tarry_policy *policy = make_sure(name, 3, ROUNDS, "scale=0.5", confidence);
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        uint64_t round;
        size_t arm;
        assert_int_equal(tarry_policy_choose(policy, &round, &arm), TARRY_OK);
        if (t == CHANGE) {
            assert_int_equal(active_arms(policy), 1);
            assert_int_equal(tarry_policy_withdraw(policy, 0), TARRY_OK);
        }
        if (t >= CHANGE && active_arms(policy) != 2)
            fail_msg("%s: %zu active in round %ju", name, active_arms(policy),
                     (uintmax_t)t);
        tarry_policy_observe(policy, round, arm == 0 ? -1 : 1);
    }
    tarry_policy_free(policy);
}

static void nobody_is_judged_by_an_arm_that_has_gone(void **unused)
{
    (void)unused;
    static const char *const names[] = {"se-delayed", "opse", "pse",
                                        "sapo-delayed"};
    for (size_t i = 0; i < 4; i++) {
        check_equals(names[i], 0);
        check_equals(names[i], 0.9);
    }
}

/* ---- draws ----------------------------------------------------------------*/

/* sapo-delayed: while all are active each has its share of the plays; the arm
 * with the larger gap is cut first; cut arms are drawn with 1/(2K) and a little
 * more, and with less later. */
static void arms_are_drawn_alike_and_cut_ones_less_and_less(void **unused)
{
    (void)unused;
    static const double mean[] = {-0.9, 0.9, -0.2};
    const uint64_t T = 60000;
    tarry_policy *policy = make("sapo-delayed", 3, T, NULL);
    size_t plays[3] = {0}, last_active = 3, first_cut = 3;
    double chance = 0;
    uint64_t luck = 5;
    for (uint64_t t = 0; t < T; t++) {
        uint64_t round;
        size_t arm;
        assert_int_equal(tarry_policy_choose(policy, &round, &arm), TARRY_OK);
        if (t == 3000)
            for (size_t k = 0; k < 3; k++)
                CHECK_NEAR((double)plays[k], 1000, 5 * sqrt(1000 * 2 / 3.0));
        plays[arm]++;
        luck = luck * 6364136223846793005u + 1442695040888963407u;
        const double u = (double)(luck >> 11) * 0x1p-53;
        tarry_policy_observe(policy, round, u < (1 + mean[arm]) / 2 ? 1 : -1);
        last_active = active_arms(policy);
        if (last_active == 2 && first_cut == 3)
            first_cut = is_active(policy, 1) ? 2 : 1;
        if (arm == 1 && last_active < 3)
            tarry_policy_probability(policy, &chance);
    }
    assert_int_equal(first_cut, 1);
    assert_int_equal(last_active, 1);
    assert_true(is_active(policy, 0));
    CHECK_AT_MOST(chance, 0.13);
    CHECK_AT_MOST(25000, plays[0]);
    CHECK_AT_MOST(plays[1], plays[2]);
    tarry_policy_free(policy);
}

/* ---- sizes ----------------------------------------------------------------*/

static void one_arm_is_played_for_ever(void **unused)
{
    (void)unused;
    const char *name;
    for (size_t i = 0; (name = tarry_policy_name(i)) != NULL; i++) {
        tarry_policy *policy = make(name, 1, 500, NULL);
        for (uint64_t t = 1; t <= 500; t++) {
            uint64_t round;
            size_t arm;
            assert_int_equal(tarry_policy_choose(policy, &round, &arm),
                             TARRY_OK);
            assert_int_equal(arm, 0);
            if (t > 3) /* or late */
                tarry_policy_observe(policy, t - 3, 0.5);
        }
        tarry_policy_free(policy);
    }
}

/* Of more arms than a block holds, each played several times before the first
 * loss comes, so that means rise and fall while others are played; also by a
 * policy that was saved and restored. */
static void the_least_of_many_arms_is_found(void **unused)
{
    (void)unused;
    enum { ARMS = 150, ROUNDS = 3000, DELAY = 700 };
    static double sum[ARMS], n[ARMS];
    static play plays[ROUNDS + 1];
    tarry_policy *policy = make("ucb-delayed", ARMS, ROUNDS, "scale=0.01");
    uint64_t luck = 1, round;
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        size_t best = 0, silent = 0, arm;
        double least = INFINITY;
        for (size_t k = 0; k < ARMS; k++) {
            const double index =
                sum[k] / n[k] - 0.02 * sqrt(2 * log((double)t) / n[k]);
            silent += n[k] == 0;
            best = index < least ? k : best;
            least = fmin(least, index);
        }
        assert_int_equal(tarry_policy_choose(policy, &round, &arm), TARRY_OK);
        if (silent == 0)
            assert_int_equal(arm, best);
        plays[t] = (play){arm, 2 * test_uniform(&luck) - 1,
                          t + test_bits(&luck) % DELAY, false};
        for (uint64_t then = 1; then <= t; then++)
            if (plays[then].due == t) {
                tarry_policy_observe(policy, then, plays[then].loss);
                sum[plays[then].arm] += plays[then].loss;
                n[plays[then].arm]++;
            }
        if (t % 100 == 0)
            policy = reborn(policy);
    }
    tarry_policy_free(policy);
}

static void many_arms_are_all_tried_in_order(void **unused)
{
    (void)unused;
    const size_t n_arms = 100000;
    for (size_t i = 0; i < 4; i++) {
        tarry_policy *policy = make(baselines[i], n_arms, 10 * n_arms, NULL);
        for (size_t k = 0; k < n_arms + 200; k++) {
            uint64_t round;
            size_t arm;
            assert_int_equal(tarry_policy_choose(policy, &round, &arm),
                             TARRY_OK);
            if (k < n_arms)
                assert_int_equal(arm, k);
            tarry_policy_observe(policy, round, arm == 23850 ? -1 : 0.5);
        }
        tarry_policy_status status;
        tarry_policy_get_status(policy, &status);
        assert_int_equal(status.best, 23850);
        tarry_policy_free(policy);
    }
}

static void a_bad_setting_is_refused_by_name(void **unused)
{
    (void)unused;
    static const char *const bad[] = {"scale=-1", "D=-3", "zero=1", "E=2"};
    const double arm = 1;
    tarry_policy_params params = tarry_policy_defaults();
    params.n_arms = params.dim = 1;
    params.arms = &arm;
    params.horizon = 100;
    for (size_t i = 0; i < 4; i++) {
        tarry_policy *policy;
        tarry_error error;
        char key[8] = "";
        params.settings = bad[i];
        assert_int_equal(
            tarry_policy_create("payoff-mab", &params, &policy, &error),
            TARRY_BAD_ARGUMENT);
        memcpy(key, bad[i], strcspn(bad[i], "="));
        assert_non_null(strstr(error.text, key));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_choice_is_that_of_the_definition),
        cmocka_unit_test(so_it_is_when_arms_come_and_go),
        cmocka_unit_test(each_draw_of_sapo_is_that_of_the_definition),
        cmocka_unit_test(elimination_keeps_the_best_arm_and_cuts_the_others),
        cmocka_unit_test(opse_keeps_a_best_arm_whose_low_losses_are_late),
        cmocka_unit_test(payoff_rules_do_not_wait_for_arms_that_are_late),
        cmocka_unit_test(a_guess_that_nobody_meets_is_doubled),
        cmocka_unit_test(nobody_is_judged_by_an_arm_that_has_gone),
        cmocka_unit_test(arms_are_drawn_alike_and_cut_ones_less_and_less),
        cmocka_unit_test(payoff_rules_come_back_to_an_arm_that_was_put_aside),
        cmocka_unit_test(payoff_mab_is_the_same_in_either_range),
        cmocka_unit_test(one_arm_is_played_for_ever),
        cmocka_unit_test(the_least_of_many_arms_is_found),
        cmocka_unit_test(many_arms_are_all_tried_in_order),
        cmocka_unit_test(a_bad_setting_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
