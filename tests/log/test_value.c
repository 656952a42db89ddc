/* test_value.c - off-policy values against their formulas, and whether their
 * intervals hold. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include "log/value.h"

enum { COUNT = 1500, ARMS = 3 };
static const double mean[ARMS] = {-0.4, 0.1, 0.5};

/* A log by hand; with `learns` the logging policy follows what it has seen. */
typedef struct {
    tarry__log log;
    uint32_t arm[COUNT];
    double decided[COUNT], reported[COUNT], loss[COUNT], probability[COUNT];
} hand_log;

static void fill(hand_log *h, uint64_t seed, bool learns)
{
    uint64_t coins = seed;
    double sum[ARMS] = {0}, plays[ARMS] = {1, 1, 1};
    for (size_t i = 0; i < COUNT; i++) {
        double p[ARMS] = {0.2, 0.3, 0.5};
        if (learns) {
            size_t best = 0;
            for (size_t k = 1; k < ARMS; k++)
                if (sum[k] / plays[k] < sum[best] / plays[best])
                    best = k;
            for (size_t k = 0; k < ARMS; k++)
                p[k] = k == best ? 0.8 : 0.1;
        }
        const double u = test_uniform(&coins);
        const size_t k = u < p[0] ? 0 : u < p[0] + p[1] ? 1 : 2;
        h->arm[i] = (uint32_t)k;
        h->probability[i] = p[k];
        h->decided[i] = h->reported[i] = (double)i;
        h->loss[i] = test_uniform(&coins) < (1 + mean[k]) / 2 ? 1 : -1;
        sum[k] += h->loss[i];
        plays[k]++;
    }
    h->log = (tarry__log){.options = {.low = -1, .high = 1},
                          .count = COUNT,
                          .n_arms = ARMS,
                          .arm = h->arm,
                          .decided = h->decided,
                          .reported = h->reported,
                          .loss = h->loss,
                          .probability = h->probability,
                          .now = COUNT,
                          .n_probabilities = COUNT};
}

/* What shrink.h makes of the decisions of one parity. */
static void model(const hand_log *h, size_t parity, double q[ARMS])
{
    double n[ARMS] = {0}, sum[ARMS] = {0}, N = 0, all = 0;
    double within = 0, between = 0, spread = 0;
    for (size_t i = parity; i < COUNT; i += 2) {
        n[h->arm[i]]++;
        sum[h->arm[i]] += h->loss[i];
        N++;
        all += h->loss[i];
    }
    for (size_t i = parity; i < COUNT; i += 2) {
        const size_t k = h->arm[i];
        const double square = pow(h->loss[i] - sum[k] / n[k], 2);
        within += square / (N - ARMS);
        between -= square / (n[k] - 1) * (1 - n[k] / N);
    }
    for (size_t k = 0; k < ARMS; k++) {
        between += n[k] * pow(sum[k] / n[k] - all / N, 2);
        spread += n[k] * (1 - n[k] / N);
    }
    const double strength = within * spread / between;
    for (size_t k = 0; k < ARMS; k++)
        q[k] = (sum[k] + strength * all / N) / (n[k] + strength);
}

static void estimates_are_their_formulas(void **state)
{
    (void)state;
    static const double pi[ARMS] = {0.7, 0.2, 0.1};
    hand_log *h = malloc(sizeof *h);
    fill(h, 1, false);
    tarry__value_basis b;
    tarry__value v[TARRY__VALUE_METHODS];
    assert_true(tarry__value_prepare(&b, &h->log, 0));
    tarry__value_of(&b, pi, v);
    double ips = 0, weights = 0, dr = 0, q[2][ARMS];
    for (size_t half = 0; half < 2; half++)
        model(h, 1 - half, q[half]);
    for (size_t i = 0; i < COUNT; i++) {
        const double *m = q[i % 2];
        const double w = pi[h->arm[i]] / h->probability[i];
        ips += w * h->loss[i] / COUNT;
        weights += w / COUNT;
        dr += (pi[0] * m[0] + pi[1] * m[1] + pi[2] * m[2] +
               w * (h->loss[i] - m[h->arm[i]])) /
              COUNT;
    }
    CHECK_NEAR(v[TARRY__VALUE_IPS].estimate, ips, 1e-12);
    CHECK_NEAR(v[TARRY__VALUE_SNIPS].estimate, ips / weights, 1e-12);
    CHECK_NEAR(v[TARRY__VALUE_DR].estimate, dr, 1e-12);
    tarry__value_clear(&b);
    free(h);
}

/* The low end of a mean of numbers that are at least 0, as value.h has it: the
 * bet changes after each of the first 4096. */
static double low_end_of(const double *x, size_t n)
{
    const double certainty = log(1 / 0.025);
    double seen = 1, sum = 0.5, squares = 0.25, bets = 0, won = 0, price = 0;
    for (size_t i = 0; i < n; i++) {
        const double bet =
            fmin(0.5, sqrt(2 * certainty / ((double)n * squares / seen)));
        const double guess = fmin(1, sum / seen), off = x[i] - guess;
        bets += bet;
        won += bet * x[i];
        price += off * off * (-log(1 - bet) - bet);
        squares += off * off;
        sum += x[i];
        seen++;
    }
    return (won - certainty - price) / bets;
}

static double within(double u)
{
    return fmax(0, fmin(1, u));
}

/* What is missing counts as the lowest for the low end, and as the highest for
 * the high one; rewards turn both round. */
static void intervals_are_their_formulas(void **state)
{
    (void)state;
    static const double pi[ARMS] = {0.6, 0.4, 0};
    hand_log *h = malloc(sizeof *h);
    double x[6][COUNT];
    for (int n = 0; n < 8; n++) {
        const double low = n % 2 ? 2 : -1, high = n % 2 ? 10 : 1;
        const bool rewards = n / 2 % 2;
        fill(h, (uint64_t)n + 3, n / 4);
        h->log.options.low = low;
        h->log.options.high = high;
        h->log.options.maximize = rewards;
        for (size_t i = 0; i < COUNT; i += 11)
            h->loss[i] = h->reported[i] = NAN;
        tarry__value_basis b;
        tarry__value v[TARRY__VALUE_METHODS];
        assert_true(tarry__value_prepare(&b, &h->log, 0));
        tarry__value_of(&b, pi, v);
        const tarry__value logged = tarry__value_logged(&b);
        const double B = b.largest;
        for (size_t i = 0; i < COUNT; i++) {
            const double *q = b.model[i % 2];
            const bool lost = isnan(h->loss[i]);
            const double u0 = lost ? 0 : (h->loss[i] + 1) / 2;
            const double u1 = lost ? 1 : (h->loss[i] + 1) / 2;
            const double w = pi[h->arm[i]] / h->probability[i];
            const double mine = (q[h->arm[i]] + 1) / 2;
            const double plan = (0.6 * q[0] + 0.4 * q[1] + 1) / 2;
            x[0][i] = u0;
            x[1][i] = 1 - u1;
            x[2][i] = w * u0;
            x[3][i] = w * (1 - u1);
            x[4][i] = (plan + w * (u0 - mine) + B) / (1 + B);
            x[5][i] = (1 - plan - w * (u1 - mine) + B) / (1 + B);
        }
        for (int m = 0; m < 4; m++) { /* as logged, ips, snips, dr */
            const tarry__value *found = m == 0 ? &logged : &v[m - 1];
            const int at = m == 0 ? 0 : m == 3 ? 4 : 2;
            double a = low_end_of(x[at], COUNT),
                   c = low_end_of(x[at + 1], COUNT);
            if (m == 3) {
                a = a * (1 + B) - B;
                c = c * (1 + B) - B;
            }
            const double u[] = {within(a), within(1 - c)};
            const double ends[] = {
                low + (high - low) * (rewards ? 1 - u[1] : u[0]),
                low + (high - low) * (rewards ? 1 - u[0] : u[1])};
            CHECK_NEAR(found->low, ends[0], 1e-9);
            CHECK_NEAR(found->high, ends[1], 1e-9);
            CHECK_AT_MOST(low, found->low);
            CHECK_AT_MOST(found->high, high);
        }
        tarry__value_clear(&b);
    }
    free(h);
}

/* 400 logs: an interval of 95 % may miss in at most 5 % + 2.8 standard errors,
 * 8 %; these bounds hold for any law and miss far less often. */
static void intervals_hold(void **state)
{
    (void)state;
    enum { LOGS = 400 };
    static const double pi[ARMS] = {0.9, 0.1, 0};
    const double truth = 0.9 * mean[0] + 0.1 * mean[1];
    hand_log *h = malloc(sizeof *h);
    for (int learns = 0; learns < 2; learns++) {
        size_t missed[TARRY__VALUE_METHODS] = {0};
        double width = 0;
        for (uint64_t run = 0; run < LOGS; run++) {
            tarry__value_basis b;
            tarry__value v[TARRY__VALUE_METHODS];
            fill(h, run * 7919 + 1, learns);
            assert_true(tarry__value_prepare(&b, &h->log, 0));
            tarry__value_of(&b, pi, v);
            for (int m = 0; m < TARRY__VALUE_METHODS; m++)
                missed[m] += truth < v[m].low || truth > v[m].high;
            width += (v[TARRY__VALUE_DR].high - v[TARRY__VALUE_DR].low) / LOGS;
            tarry__value_clear(&b);
        }
        for (int m = 0; m < TARRY__VALUE_METHODS; m++)
            CHECK_AT_MOST((double)missed[m] / LOGS, 0.08);
        CHECK_AT_MOST(width, 0.6); /* and they say something */
    }
    free(h);
}

/* Outcomes that are missing widen the interval by what they could be. */
static void what_is_missing_is_bracketed(void **state)
{
    (void)state;
    static const double pi[ARMS] = {1, 0, 0};
    hand_log *h = malloc(sizeof *h);
    fill(h, 5, false);
    size_t missing = 0;
    for (size_t i = 0; i < COUNT; i++)
        if (h->arm[i] == 0 && h->loss[i] < 0) { /* the good ones never come */
            h->loss[i] = h->reported[i] = NAN;
            missing++;
        }
    tarry__value_basis b;
    tarry__value v[TARRY__VALUE_METHODS];
    assert_true(tarry__value_prepare(&b, &h->log, 0));
    assert_int_equal(b.missing, missing);
    tarry__value_of(&b, pi, v);
    for (int m = 0; m < TARRY__VALUE_METHODS; m++) {
        CHECK_AT_MOST(v[m].low, mean[0]);
        CHECK_AT_MOST(mean[0], v[m].high);
    }
    CHECK_AT_MOST(0.9, v[TARRY__VALUE_SNIPS].estimate);
    tarry__value_clear(&b);
    free(h);
}

/* Clicks are rare, most arms have few decisions: estimates lie in [0, 1] and in
 * their intervals, and no arm without a click looks best. */
static void estimates_lie_in_their_intervals(void **state)
{
    enum { MANY = 40, LOGS = 200 };
    uint64_t coins = 46;
    size_t clipped = 0;
    hand_log *h = malloc(sizeof *h);
    (void)state;
    for (int n = 0; n < LOGS; n++) {
        double pi[MANY], clicks[MANY] = {0};
        fill(h, (uint64_t)n + 1, false);
        h->log.n_arms = MANY;
        h->log.options = (tarry__log_options){.low = 0, .high = 1};
        h->log.options.maximize = true;
        for (size_t i = 0; i < COUNT; i++) {
            const bool rare = test_uniform(&coins) < 0.05;
            h->arm[i] = (uint32_t)(test_bits(&coins) % (MANY / 2)) +
                        (rare ? MANY / 2 : 0);
            h->probability[i] = (rare ? 0.05 : 0.95) / (MANY / 2);
            h->loss[i] = test_uniform(&coins) < 0.01 ? -1 : 1;
            clicks[h->arm[i]] += h->loss[i] < 0;
        }
        tarry__value_basis b;
        assert_true(tarry__value_prepare(&b, &h->log, 0));
        size_t best = 0;
        for (size_t k = 0; k < MANY; k++) {
            if (b.promise[k] < b.promise[best] ||
                (b.promise[k] == b.promise[best] && b.worst[k] < b.worst[best]))
                best = k;
            for (int half = 0; half < 2; half++) {
                CHECK_AT_MOST(fabs(b.model[half][k]), 1);
                if (clicks[k] == 0) /* 750 decisions with about 7 clicks */
                    CHECK_AT_MOST(0.9, b.model[half][k]);
            }
        }
        assert_true(clicks[best] > 0);
        for (size_t k = 0; k <= MANY; k++) {
            tarry__value v[TARRY__VALUE_METHODS];
            for (size_t j = 0; j < MANY; j++)
                pi[j] = k == MANY ? 1.0 / MANY : j == k;
            tarry__value_of(&b, pi, v);
            for (int m = 0; m < TARRY__VALUE_METHODS; m++) {
                clipped += v[m].clipped;
                CHECK_AT_MOST(0, v[m].low);
                CHECK_AT_MOST(v[m].high, 1);
                if (m == TARRY__VALUE_SNIPS && isnan(v[m].estimate))
                    continue; /* an arm that was never played */
                CHECK_AT_MOST(v[m].low, v[m].estimate);
                CHECK_AT_MOST(v[m].estimate, v[m].high);
            }
        }
        tarry__value_clear(&b);
    }
    assert_true(clipped > 0);
    free(h);
}

/* They change nothing: the log without them gives the same. */
static void decisions_without_a_probability_are_left_out(void **state)
{
    static const double pi[ARMS] = {0.6, 0.3, 0.1};
    hand_log *h = malloc(sizeof *h), *fewer = malloc(sizeof *fewer);
    (void)state;
    fill(h, 3, false);
    fill(fewer, 3, false);
    size_t n = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const bool pair_left_out = i / 2 % 30 == 7; /* parity stays */
        if (pair_left_out) {
            h->probability[i] = NAN;
            continue;
        }
        fewer->arm[n] = h->arm[i];
        fewer->loss[n] = h->loss[i];
        fewer->probability[n++] = h->probability[i];
    }
    fewer->log.count = n;
    tarry__value_basis a, b;
    tarry__value v[TARRY__VALUE_METHODS], w[TARRY__VALUE_METHODS];
    assert_true(tarry__value_prepare(&a, &h->log, 0) &&
                tarry__value_prepare(&b, &fewer->log, 0));
    assert_true(a.used == n && a.count == COUNT);
    tarry__value_of(&a, pi, v);
    tarry__value_of(&b, pi, w);
    for (int m = 0; m < TARRY__VALUE_METHODS; m++) {
        CHECK_NEAR(v[m].estimate, w[m].estimate, 1e-12);
        CHECK_NEAR(v[m].low, w[m].low, 1e-12);
        CHECK_NEAR(v[m].high, w[m].high, 1e-12);
    }
    CHECK_NEAR(tarry__value_logged(&a).estimate,
               tarry__value_logged(&b).estimate, 1e-12);
    tarry__value_clear(&a);
    tarry__value_clear(&b);
    free(h);
    free(fewer);
}

/* Of each arm, over what is ripe; of all where an arm has no outcome. */
static void means_of_arms_are_those_of_ripe_outcomes(void **state)
{
    (void)state;
    hand_log *h = malloc(sizeof *h);
    for (int n = 0; n < 20; n++) {
        const double window = 10 * n;
        double sum[ARMS + 1] = {0}, count[ARMS + 1] = {0}, largest = 1;
        size_t ripe = 0, missing = 0;
        tarry__value_basis b;
        fill(h, (uint64_t)n + 1, false);
        for (size_t i = 0; i < COUNT; i++) {
            if (i % 5 == 3 || (n % 2 && h->arm[i] == 2))
                h->loss[i] = h->reported[i] = NAN;
            if (h->log.now - h->decided[i] < window)
                continue;
            ripe++;
            largest = fmax(largest, 1 / h->probability[i]);
            missing += isnan(h->loss[i]);
            for (int k = 0; k < 2 && !isnan(h->loss[i]); k++) {
                sum[k == 0 ? h->arm[i] : ARMS] += h->loss[i];
                count[k == 0 ? h->arm[i] : ARMS] += 1;
            }
        }
        assert_true(tarry__value_prepare(&b, &h->log, window));
        assert_true(b.count == ripe && b.missing == missing);
        CHECK_NEAR(b.largest, largest, 0);
        for (size_t k = 0; k < ARMS; k++) {
            const size_t from = count[k] > 0 ? k : ARMS;
            CHECK_NEAR(b.arm_mean[k], sum[from] / count[from], 1e-12);
        }
        tarry__value_clear(&b);
    }
    free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_are_their_formulas),
        cmocka_unit_test(means_of_arms_are_those_of_ripe_outcomes),
        cmocka_unit_test(intervals_are_their_formulas),
        cmocka_unit_test(intervals_hold),
        cmocka_unit_test(estimates_lie_in_their_intervals),
        cmocka_unit_test(decisions_without_a_probability_are_left_out),
        cmocka_unit_test(what_is_missing_is_bracketed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
