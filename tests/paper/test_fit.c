/* test_fit.c - slopes, intervals and verdicts against what is known. */
#include "check.h"

#include <math.h>
#include "paper/fit.h"
#include "tarry/random.h"

static tarry__fit_series law(double exponent, size_t n)
{
    tarry__fit_series s = {.name = "law"};
    for (size_t i = 0; i < n; i++) {
        const double x = pow(3, (double)i + 1);
        s.point[s.n++] =
            (tarry__fit_point){.x = x, .mean = 7 * pow(x, exponent)};
    }
    return s;
}

static void a_power_law_is_found(void **state)
{
    (void)state;
    for (double exponent = -2; exponent <= 2; exponent += 0.5) {
        const tarry__fit_series s = law(exponent, 5);
        const tarry__fit_law p = tarry__fit_power(&s);
        assert_int_equal(p.used, 5);
        CHECK_NEAR(p.exponent, exponent, 1e-12);
        CHECK_NEAR(p.scale, 7, 1e-10);
        CHECK_NEAR(p.ci95, 0, 1e-10);
    }
}

static void too_few_points_say_nothing(void **state)
{
    (void)state;
    tarry__fit_series s = law(1, 4);
    s.point[1].mean = 0;
    assert_int_equal(tarry__fit_power(&s).used, 3);
    s.point[2].mean = NAN;
    assert_int_equal(tarry__fit_power(&s).used, 2);
}

/* x = 1, e, e^2 with logarithms 0, 1.1, 1.9: slope 0.95, residuals -0.05, 0.1,
 * -0.05; Student's point for one degree of freedom is 12.706. */
static void residuals_widen_the_interval(void **state)
{
    (void)state;
    tarry__fit_series s = {.n = 3};
    const double y[] = {0, 1.1, 1.9};
    for (int i = 0; i < 3; i++)
        s.point[i] = (tarry__fit_point){.x = exp(i), .mean = exp(y[i])};
    const tarry__fit_law p = tarry__fit_power(&s);
    CHECK_NEAR(p.exponent, 0.95, 1e-12);
    CHECK_NEAR(p.ci95, 12.7062 * sqrt((0.0025 + 0.01 + 0.0025) / 2), 1e-4);
}

/* Every run has its own scale, the same at all points: no error of the slope.
 */
static void what_runs_share_cancels(void **state)
{
    (void)state;
    tarry__fit_series s = {.n = 0};
    for (int i = 0; i < 4; i++) {
        double values[40];
        for (int k = 0; k < 40; k++)
            values[k] = (1 + k) * pow(2, i);
        s.point[s.n++] = tarry__fit_point_of(pow(2, i), values, 40);
    }
    assert_int_equal(s.point[0].n_blocks, TARRY__FIT_BLOCKS);
    CHECK_NEAR(s.point[0].mean, 20.5, 1e-12);
    CHECK_NEAR(tarry__fit_power(&s).ci95, 0, 1e-10);
    for (int i = 0; i < 4; i++)
        s.point[i].n_blocks = 0;
    assert_true(tarry__fit_power(&s).ci95 > 0.1);
}

/* 95 % intervals of noisy series hold the truth in 95 % of 2000 cases: within
 * 4 standard errors, or more often as the larger of two errors counts. */
static void intervals_cover(void **state)
{
    (void)state;
    const int trials = 2000;
    int covered = 0;
    for (int t = 0; t < trials; t++) {
        tarry__fit_series s = {.n = 0};
        for (int i = 0; i < 6; i++) {
            double values[32];
            for (int k = 0; k < 32; k++) {
                const tarry_random at = {.seed = 5,
                                         .run = (uint32_t)t,
                                         .round = (uint64_t)(32 * i + k)};
                values[k] = pow(2, i) * (1 + 0.2 * tarry_random_normal(&at));
            }
            s.point[s.n++] = tarry__fit_point_of(pow(2, i), values, 32);
        }
        const tarry__fit_law p = tarry__fit_power(&s);
        covered += fabs(p.exponent - 1) <= p.ci95;
    }
    assert_true(covered > trials * 0.95 - 4 * sqrt(trials * 0.95 * 0.05));
    assert_true(covered < trials);
}

static void verdicts_follow_the_interval(void **state)
{
    (void)state;
    const struct {
        double measured, ci95;
        tarry__fit_relation relation;
        tarry__fit_verdict verdict;
    } cases[] = {
        {1, 0.05, TARRY__FIT_EQUALS, TARRY__FIT_SUPPORTED},
        {1.08, 0.05, TARRY__FIT_EQUALS, TARRY__FIT_SUPPORTED},
        {1.1, 0.2, TARRY__FIT_EQUALS, TARRY__FIT_UNRESOLVED},
        {0.9, 0.2, TARRY__FIT_EQUALS, TARRY__FIT_UNRESOLVED},
        {1.3, 0.05, TARRY__FIT_EQUALS, TARRY__FIT_CONTRADICTED},
        {0.5, 0.05, TARRY__FIT_EQUALS, TARRY__FIT_CONTRADICTED},
        {0.5, 0.05, TARRY__FIT_AT_MOST, TARRY__FIT_SUPPORTED},
        {1.3, 0.05, TARRY__FIT_AT_MOST, TARRY__FIT_CONTRADICTED},
        {1.1, 0.1, TARRY__FIT_AT_MOST, TARRY__FIT_UNRESOLVED},
        {1.3, 0.05, TARRY__FIT_AT_LEAST, TARRY__FIT_SUPPORTED},
        {0.5, 0.05, TARRY__FIT_AT_LEAST, TARRY__FIT_CONTRADICTED},
        {0.9, 0.1, TARRY__FIT_AT_LEAST, TARRY__FIT_UNRESOLVED},
        {NAN, 0, TARRY__FIT_EQUALS, TARRY__FIT_UNRESOLVED},
        {1, INFINITY, TARRY__FIT_AT_MOST, TARRY__FIT_UNRESOLVED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(tarry__fit_judge(cases[i].measured, cases[i].ci95, 1,
                                          cases[i].relation,
                                          TARRY__FIT_EXPONENT_MARGIN),
                         cases[i].verdict);
}

/* Values of tables of the exact binomial interval. */
static void probabilities_have_exact_intervals(void **state)
{
    (void)state;
    const struct {
        uint64_t hits, runs;
        double low, high;
    } cases[] = {{0, 10, 0, 0.30850},
                 {5, 10, 0.18709, 0.81291},
                 {10, 10, 0.69150, 1},
                 {3, 100, 0.00623, 0.08518},
                 {0, 16384, 0, 2.2513e-4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double low, high;
        tarry__fit_probability_interval(cases[i].hits, cases[i].runs, &low,
                                        &high);
        CHECK_NEAR(low, cases[i].low, 1e-5);
        CHECK_NEAR(high, cases[i].high, 1e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_power_law_is_found),
        cmocka_unit_test(too_few_points_say_nothing),
        cmocka_unit_test(residuals_widen_the_interval),
        cmocka_unit_test(what_runs_share_cancels),
        cmocka_unit_test(intervals_cover),
        cmocka_unit_test(verdicts_follow_the_interval),
        cmocka_unit_test(probabilities_have_exact_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
