/* test_delay.c - delays drawn against their laws, the laws against GSL.
 *
 * Draws, tail, mean and quantile are four statements of one law; each is
 * checked against another, and the tail against GSL. */
#include "env/worlds.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_zeta.h>
#include "random/statistics.h"

static const char *const bandit = "basis:arms=4,best=0.1,gap=0.6";

/* Laws with finite variance, which the mean test needs, and others. */
static const char *const tame[] = {
    "none",
    "constant",
    "constant:rounds=7,spread=3",
    "uniform",
    "uniform:low=5,high=23,spread=2",
    "geometric",
    "geometric:mean=0.3",
    "geometric:mean=1e6,spread=10",
    "exponential",
    "exponential:mean=0.5",
    "outage:mean=30",
    "selective:mean=30,spread=2",
    "exponential:mean=1e5,spread=4",
    "poisson:mean=3.5",
    "poisson:mean=250,spread=5",
    "pareto:shape=5",
    "pareto:shape=4.5,scale=0.7,spread=2",
    "lomax:shape=5.5,mean=30",
    "lognormal:median=50,sigma=0.5,spread=2",
    "lognormal:median=0.9,sigma=0.3",
    "weibull:shape=2.5,scale=40",
    "weibull:shape=0.7,scale=3,factors=FOLDER/c.csv",
    "two-point",
    "two-point:low=3,high=50,p=0.4,spread=2",
    "empirical:file=FOLDER/b.csv,spread=1.5",
};
static const char *const wild[] = {
    "pareto:shape=0.6,scale=2",
    "pareto:shape=1.2,mean=50",
    "lomax:shape=0.9,scale=30,spread=3",
    "lomax:shape=1.5",
    "shapes:mean=30",
    "shapes:mean=7.5,spread=2,never=0.1",
    "lognormal:median=10,sigma=4",
    "weibull:shape=0.2,scale=10",
    "exponential:mean=30,never=0.2385",
    "poisson:mean=40,never=0.5,spread=2",
    "constant:never=0.9",
    "uniform:low=2,high=9,never=0.1",
    "two-point:p=0.3,never=0.05",
    "empirical:file=FOLDER/b.csv,never=0.3",
    "none",
};

static void put_files(void)
{
    put_file("b.csv", "12\n0\n3\n3\n100\n7\n41\n8\n");
    put_file("c.csv", "0.5\n1\n2.385\n30\n");
}

/* Cells bounded by quantiles; `never` is a cell of its own at the end. */
static double law_p(const tarry__delay *delay, size_t arm, const uint64_t *draw)
{
    double observed[42] = {0}, expected[42];
    uint64_t end[42];
    size_t n = 0;
    for (int i = 1; i <= 40; i++) {
        const uint64_t q = tarry__delay_quantile(delay, arm, i / 41.0);
        if (q != TARRY__DELAY_NEVER && (n == 0 || q > end[n - 1]))
            end[n++] = q;
    }
    end[n] = TARRY__DELAY_NEVER;
    for (size_t c = 0; c <= n; c++) {
        const double from =
            c == 0 ? 1 : tarry__delay_tail(delay, arm, end[c - 1] + 1);
        const double to =
            c == n ? 0 : tarry__delay_tail(delay, arm, end[c] + 1);
        expected[c] = DRAWS * (from - to);
    }
    for (int i = 0; i < DRAWS; i++) {
        size_t c = 0;
        while (draw[i] > end[c])
            c++;
        assert_true(expected[c] > 0);
        observed[c]++;
    }
    size_t cells = 0; /* a certain delay has one cell of weight */
    for (size_t c = 0; c <= n; c++)
        cells += expected[c] > 0;
    return cells == 1 ? 1 : chi_square_p(observed, expected, n + 1);
}

static void draw_all(const tarry__world *world, size_t arm, uint64_t *draw)
{
    for (int i = 0; i < DRAWS; i++) {
        double loss;
        tarry__world_draw(world, (uint64_t)i + 1, arm, &loss, &draw[i]);
    }
}

/* 4 standard errors, estimated from the sample. */
static void check_sample_mean(const tarry__delay *delay, size_t arm,
                              const uint64_t *draw)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < DRAWS; i++) {
        sum += (double)draw[i];
        squares += (double)draw[i] * (double)draw[i];
    }
    const double mean = sum / DRAWS;
    const double variance = fmax(squares / DRAWS - mean * mean, 0);
    CHECK_NEAR(mean, tarry__delay_mean(delay, arm),
               widest_error * sqrt(variance / DRAWS) + 1e-10 * mean);
}

static void check_draws(const char *text, bool is_tame)
{
    static uint64_t draw[DRAWS];
    tarry__world *world = make_world(bandit, "bernoulli", text);
    for (size_t arm = 0; arm < 4; arm++) {
        draw_all(world, arm, draw);
        const double p = law_p(&world->delay, arm, draw);
        if (!(p > smallest_p))
            fail_msg("%s, arm %zu: p = %g", text, arm, p);
        if (is_tame)
            check_sample_mean(&world->delay, arm, draw);
    }
    tarry__world_free(world);
}

static void draws_follow_the_stated_tails_and_means(void **state)
{
    (void)state;
    put_files();
    for (size_t i = 0; i < sizeof tame / sizeof *tame; i++)
        check_draws(tame[i], true);
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++)
        check_draws(wild[i], false);
}

/* d = quantile(q) has P(D <= d) >= q > P(D <= d - 1), up to rounding. */
static void check_quantiles(const char *text)
{
    tarry__world *world = make_world(bandit, "bernoulli", text);
    const tarry__delay *delay = &world->delay;
    for (size_t arm = 0; arm < 4; arm++)
        for (double q = 0.003; q < 1; q += 0.0385) {
            const uint64_t d = tarry__delay_quantile(delay, arm, q);
            if (d == TARRY__DELAY_NEVER) {
                CHECK_AT_MOST(1 - q, tarry__delay_tail(delay, arm, 1ull << 46) +
                                         1e-12);
                continue;
            }
            CHECK_AT_MOST(tarry__delay_tail(delay, arm, d + 1), 1 - q + 1e-12);
            if (d > 0)
                CHECK_AT_MOST(1 - q - 1e-12, tarry__delay_tail(delay, arm, d));
        }
    tarry__world_free(world);
}

static void quantiles_and_tails_agree(void **state)
{
    (void)state;
    put_files();
    for (size_t i = 0; i < sizeof tame / sizeof *tame; i++)
        check_quantiles(tame[i]);
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++)
        check_quantiles(wild[i]);
}

/* The mean is the sum of the tail from 1 on.  Sums stop when terms vanish, so
 * this is for laws that do within 2e7 rounds. */
static void check_sum(const char *text)
{
    tarry__world *world = make_world(bandit, "bernoulli", text);
    for (size_t arm = 0; arm < 4; arm += 3) {
        const double mean = tarry__delay_mean(&world->delay, arm);
        double sum = 0, tail = 1;
        for (uint64_t d = 1; d < 20000000 && tail > 1e-17 * mean; d++)
            sum += tail = tarry__delay_tail(&world->delay, arm, d);
        CHECK_NEAR(mean, sum, 1e-9 * sum + 1e-15);
    }
    tarry__world_free(world);
}

static void means_are_the_sums_of_their_tails(void **state)
{
    (void)state;
    const char *const texts[] = {
        "none",
        "constant:rounds=7,spread=3",
        "uniform:low=5,high=23,spread=2",
        "geometric:mean=50,spread=9",
        "exponential:mean=0.2",
        "exponential:mean=2000,spread=2",
        "poisson:mean=77,spread=3",
        "pareto:shape=30,mean=50,spread=2",
        "lomax:shape=40,mean=500",
        "lognormal:median=50,sigma=0.5,spread=2",
        "lognormal:median=2000,sigma=0.9,spread=2",
        "lognormal:median=9000,sigma=0.01",
        "lognormal:median=4096,sigma=1e-3",
        "weibull:shape=2.5,scale=4000,spread=2",
        "weibull:shape=0.7,scale=1000,spread=2",
        "weibull:shape=0.3,scale=3",
        "weibull:shape=60,scale=5000",
        "two-point:low=3,high=50,p=0.4,spread=2",
        "empirical:file=FOLDER/b.csv,spread=1.5",
    };
    put_files();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_sum(texts[i]);
}

static double mean_of(const char *text)
{
    tarry__world *world = make_world(bandit, "bernoulli", text);
    const double mean = tarry__delay_mean(&world->delay, 0);
    tarry__world_free(world);
    return mean;
}

/* Sum over d of (a/d)^s is a Hurwitz zeta function. */
static void means_of_power_tails_agree_with_gsl(void **state)
{
    (void)state;
    CHECK_NEAR(mean_of("pareto:shape=1.2,scale=30.5"),
               30 + pow(30.5, 1.2) * gsl_sf_hzeta(1.2, 31), 1e-9 * 180);
    CHECK_NEAR(mean_of("pareto:shape=2.5,scale=0.25"),
               pow(0.25, 2.5) * gsl_sf_hzeta(2.5, 1), 1e-12);
    CHECK_NEAR(mean_of("lomax:shape=1.05,scale=12"),
               pow(12, 1.05) * gsl_sf_hzeta(1.05, 13), 1e-9 * 240);
    CHECK_NEAR(mean_of("pareto:shape=2,mean=1e6"), 1e6 - 0.5, 1e-3);
    assert_true(isinf(mean_of("pareto:shape=1,scale=3")));
    assert_true(isinf(mean_of("lomax:shape=0.5,scale=3")));
    assert_true(isinf(mean_of("constant:never=1e-9")));
    CHECK_NEAR(mean_of("pareto:shape=1,scale=0"), 0, 0);
}

typedef double known_tail(double d);

static double exponential_q(double d)
{
    return gsl_cdf_exponential_Q(d, 30);
}
static double geometric_q(double d)
{
    return pow(1 - 1 / 31.0, d); /* p = 1 / (1 + mean) */
}
static double poisson_q(double d)
{
    return gsl_cdf_poisson_Q((unsigned)d - 1, 30);
}
static double pareto_q(double d)
{
    return d <= 12 ? 1 : gsl_cdf_pareto_Q(d, 1.5, 12);
}
static double lomax_q(double d)
{
    return gsl_cdf_pareto_Q(d + 12, 1.5, 12);
}
static double lognormal_q(double d)
{
    return gsl_cdf_lognormal_Q(d, log(30), 1.5);
}
static double weibull_q(double d)
{
    return gsl_cdf_weibull_Q(d, 30, 0.7);
}

static void tails_agree_with_gsl(void **state)
{
    (void)state;
    const struct {
        const char *text;
        known_tail *tail;
    } known[] = {
        {"exponential:mean=30", exponential_q},
        {"geometric:mean=30", geometric_q},
        {"poisson:mean=30", poisson_q},
        {"pareto:shape=1.5,scale=12", pareto_q},
        {"lomax:shape=1.5,scale=12", lomax_q},
        {"lognormal:median=30,sigma=1.5", lognormal_q},
        {"weibull:shape=0.7,scale=30", weibull_q},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        tarry__world *world = make_world(bandit, "bernoulli", known[i].text);
        for (uint64_t d = 1; d < 150; d++) {
            const double tail = known[i].tail((double)d);
            CHECK_NEAR(tarry__delay_tail(&world->delay, 1, d), tail,
                       1e-11 * tail + 1e-15);
        }
        tarry__world_free(world);
    }
}

static void quantiles_know_their_ends(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double q;
        uint64_t d;
    } known[] = {
        {"constant:rounds=7", 1, 7},
        {"constant:rounds=7", 0, 0},
        {"uniform:low=3,high=9", 1, 9},
        {"uniform:low=1,high=4", 0.5, 2},
        {"uniform:low=1,high=4", 0.51, 3},
        {"two-point:low=2,high=9,p=0.25", 0.75, 2},
        {"two-point:low=2,high=9,p=0.25", 0.76, 9},
        {"exponential", 1, TARRY__DELAY_NEVER},
        {"exponential:mean=100", 0.5, 69},
        {"poisson:mean=4", 1, TARRY__DELAY_NEVER},
        {"threshold:threshold=1", 1, TARRY__DELAY_NEVER},
        {"low-late:late=9,threshold=1", 1, 9},
        {"constant:rounds=1e14", 0.5, 100000000000000},
        {"constant:rounds=7,never=0.25", 0.75, 7},
        {"constant:rounds=7,never=0.25", 0.76, TARRY__DELAY_NEVER},
        {"constant:rounds=7,never=1", 0.01, TARRY__DELAY_NEVER},
        {"pareto:shape=0.1,scale=1", 0.99, TARRY__DELAY_NEVER},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        tarry__world *world = make_world(bandit, "bernoulli", known[i].text);
        const uint64_t d = tarry__delay_quantile(&world->delay, 0, known[i].q);
        if (d != known[i].d)
            fail_msg("%s, q = %g: %ju", known[i].text, known[i].q,
                     (uintmax_t)d);
        tarry__world_free(world);
    }
}

static void spread_runs_from_one_over_s_to_s(void **state)
{
    (void)state;
    tarry__world *world =
        make_world("basis:arms=5", "none", "constant:rounds=100,spread=49");
    const uint64_t delays[] = {2, 14, 100, 700, 4900};
    for (size_t arm = 0; arm < 5; arm++) {
        double loss;
        uint64_t delay;
        tarry__world_draw(world, 1, arm, &loss, &delay);
        assert_int_equal(delay, delays[arm]);
    }
    assert_int_equal(tarry__world_model(world), TARRY__ENV_STOCHASTIC_BY_ARM);
    tarry__world_free(world);
    world = make_world("basis:arms=1", "none", "constant:rounds=100,spread=49");
    CHECK_NEAR(tarry__delay_mean(&world->delay, 0), 100, 0);
    tarry__world_free(world);
}

static void factors_from_a_file_and_spread_multiply(void **state)
{
    (void)state;
    put_file("c.csv", "0\n1\n2\n0.1\n");
    tarry__world *world =
        make_world(bandit, "none", "constant:rounds=10,factors=FOLDER/c.csv");
    const double means[] = {0, 10, 20, 1};
    for (size_t arm = 0; arm < 4; arm++)
        CHECK_NEAR(tarry__delay_mean(&world->delay, arm), means[arm], 0);
    tarry__world_free(world);
    world = make_world(bandit, "none",
                       "constant:rounds=10,factors=FOLDER/c.csv,spread=8");
    const double both[] = {0, 5, 40, 8};
    for (size_t arm = 0; arm < 4; arm++)
        CHECK_NEAR(tarry__delay_mean(&world->delay, arm), both[arm], 0);
    tarry__world_free(world);
}

/* 49 * (1/49) must be one round, whatever floating point makes of it. */
static void whole_numbers_survive_scaling(void **state)
{
    (void)state;
    for (double k = 1; k < 3000; k++)
        assert_int_equal(tarry__delay_whole_rounds(k * (1 / k)), 1);
    for (double k = 1; k <= 1e14; k = floor(k * 1.7) + 1) {
        assert_int_equal(tarry__delay_whole_rounds(k), (uint64_t)k);
        if (k < 1e12)
            assert_int_equal(tarry__delay_whole_rounds(k + 0.99), (uint64_t)k);
    }
    assert_int_equal(tarry__delay_whole_rounds(1e14), 100000000000000);
    assert_true(tarry__delay_whole_rounds(2e14) == TARRY__DELAY_NEVER);
    assert_true(tarry__delay_whole_rounds(INFINITY) == TARRY__DELAY_NEVER);
    assert_int_equal(tarry__delay_whole_rounds(0), 0);
}

/* 4 standard errors of a coin. */
static void never_takes_its_share(void **state)
{
    (void)state;
    static uint64_t draw[DRAWS];
    tarry__world *world =
        make_world(bandit, "bernoulli", "exponential:never=0.3");
    draw_all(world, 2, draw);
    double lost = 0;
    for (int i = 0; i < DRAWS; i++)
        lost += draw[i] == TARRY__DELAY_NEVER;
    CHECK_NEAR(lost / DRAWS, 0.3, 4 * sqrt(0.3 * 0.7 / DRAWS));
    tarry__world_free(world);
}

/* Draws, tail and quantile of one arm, each within 5 standard errors of the
 * other two. */
static void check_ends(const tarry__world *world, size_t arm, const char *text)
{
    enum { N = 500 };
    const tarry__delay *law = &world->delay;
    const uint64_t median = tarry__delay_quantile(law, arm, 0.5);
    const double some = tarry__delay_tail(law, arm, 1);
    double late = 0, by_median = 0;
    for (uint64_t t = 1; t <= N; t++) {
        double loss;
        uint64_t d;
        tarry__world_draw(world, t, arm, &loss, &d);
        late += d >= 1;
        by_median += d <= median;
        if (d != TARRY__DELAY_NEVER && !(tarry__delay_tail(law, arm, d) > 0))
            fail_msg("%s, arm %zu: %ju rounds", text, arm, (uintmax_t)d);
    }
    if (!(fabs(late / N - some) <= 5 * sqrt(some * (1 - some) / N) + 1e-12) ||
        by_median / N < 0.5 - 5 * 0.5 / sqrt(N))
        fail_msg("%s, arm %zu: %g late of %g, %g by the median", text, arm,
                 late / N, some, by_median / N);
    if (!(tarry__delay_mean(law, arm) >= 0))
        fail_msg("%s, arm %zu: the mean is %g", text, arm,
                 tarry__delay_mean(law, arm));
}

/* How many worlds there are with a setting at this end; not all can be. */
static int check_end(const tarry__entry *e, const char *key, double value,
                     const char *more)
{
    char text[100];
    tarry__world *world;
    snprintf(text, sizeof text, "%s:%s%s=%.17g%s", e->name,
             strcmp(e->name, "empirical") == 0 ? "file=FOLDER/b.csv," : "", key,
             value, more);
    if (tarry__world_create(bandit, "bernoulli", in_folder(text), 2385, 17,
                            &world, NULL) != TARRY_OK)
        return 0;
    for (size_t arm = 0; arm < 4; arm++)
        check_ends(world, arm, text);
    tarry__world_free(world);
    return 1;
}

/* Leases and outages go by the round, which laws do not know. */
static bool goes_by_round(const tarry__entry *e, const tarry_setting *s)
{
    return strcmp(e->name, "outage") == 0 && s->kind == TARRY_SETTING_COUNT &&
           strcmp(s->key, "slow") != 0;
}

/* One setting at a time, also with arms of very different scales. */
static void laws_are_laws_at_the_ends_of_their_settings(void **state)
{
    (void)state;
    int made = 0;
    put_files();
    for (const tarry__entry *const *e = tarry__delays; *e != NULL; e++)
        for (const tarry_setting *s = (*e)->settings; s->key != NULL; s++)
            if (!goes_by_round(*e, s) && (s->kind == TARRY_SETTING_REAL ||
                                          s->kind == TARRY_SETTING_COUNT)) {
                made += check_end(*e, s->key, s->least, "");
                made += check_end(*e, s->key, s->most, "");
                made += check_end(*e, s->key, s->least, ",spread=1e6");
                made += check_end(*e, s->key, s->most, ",spread=1e6");
            }
    print_message("    %d worlds\n", made);
    assert_true(made > 200);
}

/* Reports are seen where leases of 20 end; what would come in rounds 101 to 150
 * is lost, or comes with the first lease that ends after them. */
static void outages_and_leases_decide_when_reports_are_seen(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "outage:mean=10,lease=20,from=100,length=50",
        "outage:mean=10,lease=20,from=100,length=50,reports=held"};
    for (size_t i = 0; i < 2; i++) {
        tarry__world *world = make_world("basis:arms=2", "none", texts[i]);
        int lost = 0, at_end = 0;
        for (uint64_t t = 1; t <= 300; t++) {
            double loss;
            uint64_t delay;
            tarry__world_draw(world, t, 0, &loss, &delay);
            if (delay == TARRY__DELAY_NEVER) {
                lost++;
                continue;
            }
            assert_int_equal((t + delay) % 20, 0);
            assert_true(t + delay <= 100 || t + delay > 150);
            at_end += t <= 140 && t + delay == 160;
        }
        assert_true(i == 0 ? lost > 20 : lost == 0 && at_end > 20);
        tarry__world_free(world);
    }
}

static void every_listed_delay_is_made_from_its_defaults(void **state)
{
    (void)state;
    put_files();
    for (const tarry__entry *const *e = tarry__delays; *e != NULL; e++) {
        char text[64];
        const char *name = (*e)->name;
        const bool is_theorem = strcmp(name, "theorem") == 0;
        if (strcmp(name, "resampled") == 0) /* see test_resampled.c */
            continue;
        snprintf(text, sizeof text, "%s%s", name,
                 strcmp(name, "empirical") == 0 ? ":file=FOLDER/b.csv" : "");
        tarry__world *world =
            make_world(is_theorem ? "lower-loss" : bandit,
                       is_theorem ? "rademacher" : "bernoulli", text);
        assert_string_equal(world->delay.type->entry.name, name);
        assert_true(tarry__delay_mean(&world->delay, 0) >= 0);
        tarry__world_free(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outages_and_leases_decide_when_reports_are_seen),
        cmocka_unit_test(every_listed_delay_is_made_from_its_defaults),
        cmocka_unit_test(laws_are_laws_at_the_ends_of_their_settings),
        cmocka_unit_test(draws_follow_the_stated_tails_and_means),
        cmocka_unit_test(quantiles_and_tails_agree),
        cmocka_unit_test(means_are_the_sums_of_their_tails),
        cmocka_unit_test(means_of_power_tails_agree_with_gsl),
        cmocka_unit_test(tails_agree_with_gsl),
        cmocka_unit_test(quantiles_know_their_ends),
        cmocka_unit_test(spread_runs_from_one_over_s_to_s),
        cmocka_unit_test(factors_from_a_file_and_spread_multiply),
        cmocka_unit_test(whole_numbers_survive_scaling),
        cmocka_unit_test(never_takes_its_share),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
