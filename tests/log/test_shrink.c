/* test_shrink.c - arms are shrunk towards the log's own mean, as far as the log
 * says. */
#include "check.h"
#include <string.h>
#include "log/shrink.h"

enum { MOST = 50 };

typedef struct {
    double count[MOST], mean[MOST], squares[MOST];
    tarry__shrink_arms arms;
} table;

/* Arms with n[k] decisions, of which hits[k] have loss -1, the others 1. */
static void tell_clicks(table *t, const double *n, const double *hits,
                        size_t arms)
{
    for (size_t k = 0; k < arms; k++) {
        t->count[k] = n[k];
        t->mean[k] = n[k] > 0 ? 1 - 2 * hits[k] / n[k] : 0;
        t->squares[k] = n[k] * (1 - t->mean[k] * t->mean[k]);
    }
    t->arms = (tarry__shrink_arms){.n_arms = arms,
                                   .count = t->count,
                                   .mean = t->mean,
                                   .squares = t->squares};
}

/* By pencil: rates 0.1 and 0.3 of 100 decisions each. */
static void strength_is_within_over_between(void **state)
{
    const double n[] = {100, 100, 0}, hits[] = {10, 30, 0};
    table t;
    tarry__shrink s;
    (void)state;
    tell_clicks(&t, n, hits, 3);
    assert_true(tarry__shrink_fit(&t.arms, &s));
    const double within = (100 * (1 - 0.64) + 100 * (1 - 0.16)) / 198;
    const double own = (100 * (1 - 0.64) + 100 * (1 - 0.16)) / 99;
    const double between = (2 * 100 * 0.2 * 0.2 - own / 2) / 100;
    CHECK_NEAR(s.mean, 0.6, 1e-15);
    CHECK_NEAR(s.within, within, 1e-15);
    CHECK_NEAR(s.strength, within / between, 1e-12);
    CHECK_NEAR(tarry__shrink_mean(&s, &t.arms, 0),
               (80 + s.strength * 0.6) / (100 + s.strength), 1e-12);
    CHECK_NEAR(tarry__shrink_mean(&s, &t.arms, 2), 0.6, 1e-15);
    tarry__shrink_clear(&s);
}

/* Rates of 0.5 % with 8 and 300 decisions: no arm is predicted anywhere near
 * the middle of the range, and 8 decisions without a click say little. */
static void rare_clicks_do_not_go_to_the_middle(void **state)
{
    uint64_t coins = 46;
    (void)state;
    for (int run = 0; run < 200; run++) {
        double n[MOST], hits[MOST] = {0};
        table t;
        tarry__shrink s;
        for (size_t k = 0; k < MOST; k++) {
            n[k] = k % 5 == 0 ? 8 : 300;
            for (int i = 0; i < n[k]; i++)
                hits[k] += test_uniform(&coins) < 0.005;
        }
        tell_clicks(&t, n, hits, MOST);
        assert_true(tarry__shrink_fit(&t.arms, &s));
        for (size_t k = 0; k < MOST; k++) {
            const double mean = tarry__shrink_mean(&s, &t.arms, k);
            CHECK_AT_MOST(fabs(mean - s.mean),
                          fabs(t.mean[k] - s.mean) + 1e-12);
            CHECK_AT_MOST(0.95, mean);
            if (n[k] == 8 && hits[k] == 0)
                CHECK_AT_MOST(s.mean - 1e-12, mean); /* not better */
        }
        tarry__shrink_clear(&s);
    }
}

/* 400 logs of 20 arms whose means scatter with variance b, of which the moments
 * find b without bias: to 3 standard errors. */
static void the_variance_of_arms_is_found(void **state)
{
    enum { LOGS = 400, ARMS = 20 };
    static const double truth[] = {0, 0.01, 0.09};
    uint64_t coins = 5;
    (void)state;
    for (size_t b = 0; b < 3; b++) {
        double sum = 0, squares = 0, infinite = 0;
        for (int run = 0; run < LOGS; run++) {
            double n[ARMS], hits[ARMS] = {0};
            table t;
            tarry__shrink s;
            for (size_t k = 0; k < ARMS; k++) {
                const double side = test_uniform(&coins) < 0.5 ? -0.5 : 0.5;
                const double rate = 0.5 + side * sqrt(truth[b]);
                n[k] = 20 + (double)(test_bits(&coins) % 200);
                for (int i = 0; i < n[k]; i++)
                    hits[k] += test_uniform(&coins) < rate;
            }
            tell_clicks(&t, n, hits, ARMS);
            assert_true(tarry__shrink_fit(&t.arms, &s));
            const double found = isinf(s.strength) ? 0 : s.within / s.strength;
            sum += found / LOGS;
            squares += found * found / LOGS;
            infinite += isinf(s.strength);
            tarry__shrink_clear(&s);
        }
        const double error = sqrt((squares - sum * sum) / LOGS);
        if (b > 0)
            CHECK_NEAR(sum, truth[b], 3 * error + 0.02 * truth[b]);
        else
            CHECK_AT_MOST(0.4 * LOGS, infinite);
    }
}

/* With features that are those of the standard basis it is the same model. */
static void unit_vectors_are_as_good_as_none(void **state)
{
    enum { ARMS = 6 };
    uint64_t coins = 9;
    (void)state;
    for (int run = 0; run < 100; run++) {
        double n[ARMS], hits[ARMS], features[ARMS * ARMS] = {0};
        table t;
        tarry__shrink plain, with;
        for (size_t k = 0; k < ARMS; k++) {
            n[k] = 10 + (double)(test_bits(&coins) % 50);
            hits[k] = (double)(test_bits(&coins) % 10);
            features[k * ARMS + k] = 1;
        }
        tell_clicks(&t, n, hits, ARMS);
        tarry__shrink_arms other = t.arms;
        other.features = features;
        other.dim = ARMS;
        assert_true(tarry__shrink_fit(&t.arms, &plain) &&
                    tarry__shrink_fit(&other, &with));
        if (isinf(plain.strength))
            assert_true(isinf(with.strength));
        else
            CHECK_NEAR(with.strength / plain.strength, 1, 1e-9);
        for (size_t k = 0; k < ARMS; k++) {
            const double mean = tarry__shrink_mean(&with, &other, k);
            CHECK_AT_MOST(fabs(mean), 1);
            /* the mean of all is not fitted again: close, not equal */
            CHECK_NEAR(mean, tarry__shrink_mean(&plain, &t.arms, k), 0.05);
        }
        tarry__shrink_clear(&plain);
        tarry__shrink_clear(&with);
    }
}

/* 400 logs whose arms are alike: at most 5 % of them have p <= 0.05, to 3
 * standard errors, 8.3 %; arms that differ are found. */
static void chance_is_a_p_value(void **state)
{
    enum { LOGS = 400, COUNT = 400, ARMS = 10 };
    uint64_t coins = 17;
    (void)state;
    for (int differ = 0; differ < 2; differ++) {
        double found = 0;
        for (int run = 0; run < LOGS; run++) {
            uint32_t arm[COUNT];
            double loss[COUNT];
            for (size_t i = 0; i < COUNT; i++) {
                const double u = test_uniform(&coins);
                arm[i] = (uint32_t)(u * u * u * ARMS);
                loss[i] =
                    test_uniform(&coins) < (differ && arm[i] == 0 ? 0.25 : 0.03)
                        ? -1
                        : 1;
                if (i % 10 == 3)
                    loss[i] = NAN;
            }
            found += tarry__shrink_chance(arm, loss, COUNT, ARMS,
                                          (uint64_t)run) <= 0.05;
        }
        if (differ)
            CHECK_AT_MOST(0.95 * LOGS, found);
        else
            CHECK_AT_MOST(found, 0.083 * LOGS);
    }
    const uint32_t arm[] = {0, 1};
    const double loss[] = {0.5, 0.5}, none[] = {NAN, NAN};
    CHECK_NEAR(tarry__shrink_chance(arm, loss, 2, 2, 1), 1, 0);
    CHECK_NEAR(tarry__shrink_chance(arm, none, 2, 2, 1), 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strength_is_within_over_between),
        cmocka_unit_test(rare_clicks_do_not_go_to_the_middle),
        cmocka_unit_test(the_variance_of_arms_is_found),
        cmocka_unit_test(unit_vectors_are_as_good_as_none),
        cmocka_unit_test(chance_is_a_p_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
