/* test_survival.c - curves of what is still out. */
#include "check.h"
#include "log/laws.h"
#include "log/survival.h"
#include "made_log.h"

/* By hand: 6 decisions; outcomes at 1, 3, 3, 6; cut off at 2 and 5. */
static const double hand_time[] = {3, 1, 5, 3, 2, 6};
static const bool hand_seen[] = {true, true, false, true, false, true};

static void a_small_curve_is_that_of_pencil_and_paper(void **state)
{
    (void)state;
    tarry__survival c;
    double hazard[6];
    assert_true(tarry__survival_make(&c, hand_time, hand_seen, 6, hazard));
    assert_int_equal(c.n_steps, 3);
    CHECK_NEAR(c.step[0].out, 5.0 / 6, 1e-15);
    CHECK_NEAR(c.step[1].out, 5.0 / 6 * 0.5, 1e-15);
    CHECK_NEAR(c.step[2].out, 0, 0);
    CHECK_NEAR(c.step[1].variance, 1.0 / 30 + 2.0 / 8, 1e-15);
    CHECK_NEAR(hazard[4], 1.0 / 6, 1e-15); /* cut off at 2 */
    CHECK_NEAR(hazard[5], 1.0 / 6 + 0.5 + 1, 1e-15);
    CHECK_NEAR(tarry__survival_at(&c, 0.99).value, 1, 0);
    CHECK_NEAR(tarry__survival_at(&c, 4).value, 5.0 / 12, 1e-15);
    CHECK_NEAR(tarry__survival_quantile(&c, 0.5).value, 3, 0);
    CHECK_NEAR(tarry__survival_quantile(&c, 0.9).value, 6, 0);
    /* area: 1*1 + 2*5/6 + 3*5/12 */
    CHECK_NEAR(tarry__survival_mean(&c).value, 1 + 10.0 / 6 + 15.0 / 12, 1e-14);
    tarry__survival_clear(&c);
}

static made_log log_of(const char *delay, size_t count, uint32_t run)
{
    const log_recipe r = {.instance = "basis:arms=3",
                          .loss = "rademacher",
                          .delay = delay,
                          .count = count,
                          .seed = 2385,
                          .run = run};
    return make_log(&r);
}

static tarry__survival curve_of(const made_log *m)
{
    tarry__survival c;
    double *time = malloc(m->count * sizeof *time);
    for (size_t i = 0; i < m->count; i++)
        time[i] = m->seen[i] ? m->delay[i] : m->age[i];
    assert_true(tarry__survival_make(&c, time, m->seen, m->count, NULL));
    free(time);
    return c;
}

/* 400 logs of which half the decisions are out: the median lies in its 95 %
 * interval in 93 to 97.5 % of them (2.2 standard errors), the mean likewise,
 * and the truth in the whole band in at least 95 %. */
static void intervals_hold_with_half_of_it_out(void **state)
{
    (void)state;
    enum { LOGS = 400, COUNT = 600 };
    size_t median_in = 0, band_in = 0;
    for (uint32_t run = 0; run < LOGS; run++) {
        made_log m = log_of("exponential:mean=300", COUNT, run);
        tarry__survival c = curve_of(&m);
        const double truth = 207; /* smallest d: 1 - exp(-(d+1)/300) >= 1/2 */
        const tarry__log_interval q = tarry__survival_quantile(&c, 0.5);
        bool all = true;
        for (size_t i = 0; i < c.n_steps; i++) {
            const tarry__log_interval b = tarry__survival_band(&c, &c.step[i]);
            const double out = exp(-(c.step[i].time + 1) / 300);
            all = all && out >= b.low && out <= b.high;
        }
        median_in += truth >= q.low && truth <= q.high;
        band_in += all;
        tarry__survival_clear(&c);
        unmake_log(&m);
    }
    CHECK_NEAR((double)median_in / LOGS, 0.953, 0.024);
    CHECK_AT_MOST(0.95, (double)band_in / LOGS);
}

/* What is out is not missing: the naive mean of what was seen is far off. */
static void means_are_of_all_delays(void **state)
{
    (void)state;
    made_log m = log_of("exponential:mean=2000", 20000, 0);
    tarry__survival c = curve_of(&m);
    const tarry__log_interval mean = tarry__survival_mean(&c);
    double naive = 0;
    for (size_t i = 0; i < m.n_seen; i++)
        naive += m.seen_delay[i] / (double)m.n_seen;
    CHECK_AT_MOST(naive, 1850);
    CHECK_AT_MOST(mean.low, 2000);
    CHECK_AT_MOST(2000, mean.high);
    CHECK_AT_MOST(mean.high - mean.low, 120);
    tarry__survival_clear(&c);
    unmake_log(&m);
}

static void the_law_that_made_the_delays_wins(void **state)
{
    (void)state;
    static const struct {
        const char *delay, *law;
        double first, second, never;
    } cases[] = {
        {"exponential:mean=120", "exponential", 120, 0, 0},
        {"lomax:shape=1.5,scale=60", "lomax", 1.5, 60, 0},
        {"lognormal:median=80,sigma=1.5", "lognormal", 80, 1.5, 0},
        {"weibull:shape=0.6,scale=90", "weibull", 0.6, 90, 0},
        {"weibull:shape=2,scale=90,never=0.3", "weibull", 2, 90, 0.3},
        {"pareto:shape=1.8,scale=40", "pareto", 1.8, 40, 0},
        {"poisson:mean=30", "poisson", 30, 0, 0},
        {"constant:rounds=17", "constant", 17, 0, 0},
        {"uniform:low=10,high=59", "uniform", 10, 60, 0},
        {"two-point:low=3,high=50,p=0.2,never=0.1", "two-point", 3, 50, 0.1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made_log m = log_of(cases[i].delay, 20000, 1);
        tarry__survival c = curve_of(&m);
        tarry__laws laws;
        assert_true(tarry__laws_rank(&c, true, &laws));
        const tarry__laws_fit *f = &laws.fit[0];
        assert_string_equal(f->name, cases[i].law);
        CHECK_NEAR(f->parameter[0], cases[i].first, 0.06 * cases[i].first);
        if (cases[i].second > 0)
            CHECK_NEAR(f->parameter[1], cases[i].second,
                       0.06 * cases[i].second);
        CHECK_NEAR(f->never, cases[i].never, 0.015);
        const double until = tarry__laws_until(f, 0.5);
        CHECK_AT_MOST(tarry__laws_tail(f, until * 1.0001 + 1e-9), 0.5);
        tarry__survival_clear(&c);
        unmake_log(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_curve_is_that_of_pencil_and_paper),
        cmocka_unit_test(intervals_hold_with_half_of_it_out),
        cmocka_unit_test(means_are_of_all_delays),
        cmocka_unit_test(the_law_that_made_the_delays_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
