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

/* ---- many small samples, against what the definitions say
 * -------------------*/

enum { FEW = 12 };

/* Whole numbers, with ties; all or most of them were seen. */
typedef struct {
    size_t count;
    double time[FEW];
    bool seen[FEW];
} sample;

static sample any_sample(uint64_t *seed)
{
    sample s = {.count = 1 + test_bits(seed) % FEW};
    const bool all = test_bits(seed) % 2;
    const uint64_t most = 1 + test_bits(seed) % (2 * FEW);
    for (size_t i = 0; i < s.count; i++) {
        s.time[i] = (double)(test_bits(seed) % most);
        s.seen[i] = all || test_bits(seed) % 4 > 0;
    }
    return s;
}

/* At a time: outcomes there, and decisions that have been out for it. */
static void count_at(const sample *s, double t, int64_t *d, int64_t *n)
{
    *d = *n = 0;
    for (size_t i = 0; i < s->count; i++) {
        *n += s->time[i] >= t;
        *d += s->time[i] == t && s->seen[i];
    }
}

/* When a share of `percent` is in, without any rounding: S is a fraction, whose
 * denominator is at most 12!. */
static double exact_quantile(const sample *s, int64_t percent)
{
    int64_t above = 1, below = 1, d, n;
    for (double t = 0; t < 2 * FEW; t++) {
        count_at(s, t, &d, &n);
        if (d == 0)
            continue;
        above *= n - d;
        below *= n;
        if (100 * above <= (100 - percent) * below)
            return t;
    }
    return INFINITY;
}

static void quantiles_of_small_samples_are_exact(void **state)
{
    uint64_t seed = 2385;
    (void)state;
    for (int k = 0; k < 2000; k++) {
        tarry__survival c;
        sample s = any_sample(&seed);
        for (size_t i = 0; k < FEW && i < s.count; i++) { /* 1, 2, .. n */
            s.count = (size_t)k + 1;
            s.time[i] = (double)i + 1;
            s.seen[i] = true;
        }
        assert_true(tarry__survival_make(&c, s.time, s.seen, s.count, NULL));
        for (int64_t percent = 1; percent < 100; percent++) {
            const tarry__log_interval q =
                tarry__survival_quantile(&c, (double)percent / 100);
            const double wanted = exact_quantile(&s, percent);
            if (q.value != wanted)
                fail_msg("%d %% of sample %d: %g, not %g", (int)percent, k,
                         q.value, wanted);
            CHECK_AT_MOST(q.low, q.value);
            CHECK_AT_MOST(q.value, q.high);
        }
        tarry__survival_clear(&c);
    }
}

/* The ends of a quantile: as far as the intervals of S hold its level. */
static void check_ends(const tarry__survival *c, double q)
{
    const tarry__log_interval found = tarry__survival_quantile(c, q);
    const double level = 1 - q + 1e-12;
    size_t at = 0, low, high;
    while (at < c->n_steps && c->step[at].time < found.value)
        at++;
    for (low = at; low > 0; low--)
        if (tarry__survival_at(c, c->step[low - 1].time).low > level)
            break;
    for (high = at; high < c->n_steps; high++)
        if (tarry__survival_at(c, c->step[high].time).high <= level)
            break;
    assert_true(found.low == (low < c->n_steps ? c->step[low].time : INFINITY));
    assert_true(found.high ==
                (high < c->n_steps ? c->step[high].time : INFINITY));
}

static void intervals_and_bands_are_their_formulas(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int k = 0; k < 2000; k++) {
        tarry__survival c;
        const sample s = any_sample(&seed);
        double hazard[FEW], out = 1, g = 0, sum = 0, before = 1, last = 0;
        size_t step = 0, events = 0;
        int64_t d, n;
        assert_true(tarry__survival_make(&c, s.time, s.seen, s.count, hazard));
        for (double t = 0; t < 2 * FEW; t++) {
            count_at(&s, t, &d, &n);
            sum += n > 0 ? (double)d / (double)n : 0;
            for (size_t i = 0; i < s.count; i++)
                if (s.time[i] == t) {
                    CHECK_NEAR(hazard[i], sum, 1e-12);
                    last = t;
                }
            events += (size_t)d;
            if (d > 0) {
                const double N = (double)s.count;
                out *= 1 - (double)d / (double)n;
                g += (double)d / (double)(n * (n - d));
                const tarry__survival_step *at = &c.step[step++];
                assert_true(at->time == t && at->events == d &&
                            at->at_risk == n);
                CHECK_NEAR(at->out, out, 1e-14);
                const tarry__log_interval band = tarry__survival_band(&c, at);
                const double reach = 1.3580986 * (1 + N * g) * out / sqrt(N);
                before = d < n ? fmin(1, out + reach) : before;
                CHECK_NEAR(band.value, out, 1e-14);
                CHECK_NEAR(band.high, before, 1e-12);
                CHECK_NEAR(band.low, d < n ? fmax(0, out - reach) : 0, 1e-12);
            }
            /* log(-log S) has the standard deviation sqrt(g) / -log S */
            const tarry__log_interval at = tarry__survival_at(&c, t + 0.5);
            const bool is_between = step > 0 && out > 0;
            const double y = log(-log(out)),
                         by = 1.959963984540054 * sqrt(g) / -log(out);
            CHECK_NEAR(at.value, out, 1e-14);
            CHECK_NEAR(at.low, is_between ? exp(-exp(y + by)) : out, 1e-12);
            CHECK_NEAR(at.high, is_between ? exp(-exp(y - by)) : out, 1e-12);
        }
        assert_true(c.n_steps == step && c.events == events &&
                    c.count == s.count && c.last == last);
        for (int q = 1; q < 10; q++)
            check_ends(&c, q / 10.0);
        tarry__survival_clear(&c);
    }
}

/* The mean of what comes, with the hazard of step `which` raised by a little.
 */
static double mean_with(const tarry__survival *c, size_t which, double little)
{
    double area = c->step[0].time, out = 1;
    for (size_t i = 0; i < c->n_steps; i++) {
        const double next = i + 1 < c->n_steps ? c->step[i + 1].time : c->last;
        out = c->step[i].out * (i >= which ? 1 - little : 1);
        area += out * (next - c->step[i].time);
    }
    return (area - out * c->last) / (1 - out);
}

static void intervals_of_means_follow_from_those_of_hazards(void **state)
{
    uint64_t seed = 11;
    (void)state;
    for (int k = 0; k < 2000; k++) {
        tarry__survival c;
        const sample s = any_sample(&seed);
        double variance = 0, sum = 0, squares = 0;
        assert_true(tarry__survival_make(&c, s.time, s.seen, s.count, NULL));
        const tarry__log_interval mean = tarry__survival_mean(&c);
        if (c.n_steps == 0) {
            assert_true(isnan(mean.value) && isnan(mean.low) &&
                        isnan(mean.high));
            assert_true(isinf(tarry__survival_quantile(&c, 0.01).value));
            tarry__survival_clear(&c);
            continue;
        }
        for (size_t i = 0; i < c.n_steps; i++) {
            const double d = c.step[i].events, n = c.step[i].at_risk;
            const double slope =
                (mean_with(&c, i, 1e-6) - mean_with(&c, i, -1e-6)) / 2e-6;
            if (d < n)
                variance += d / (n * (n - d)) * slope * slope;
        }
        const double reach = 1.959963984540054 * sqrt(variance);
        CHECK_NEAR(mean.value, mean_with(&c, 0, 0), 1e-12);
        CHECK_NEAR(mean.high, mean.value + reach, 1e-6);
        CHECK_NEAR(mean.low, fmax(0, mean.value - reach), 1e-6);
        for (size_t i = 0; i < s.count; i++) {
            sum += s.time[i] / (double)s.count;
            squares += s.time[i] * s.time[i] / (double)s.count;
        }
        if (c.events == s.count) { /* nothing is out: the usual mean */
            const double error =
                sqrt(fmax(0, squares - sum * sum) / (double)s.count);
            CHECK_NEAR(mean.value, sum, 1e-12);
            CHECK_NEAR(mean.high, sum + 1.959963984540054 * error, 1e-6);
        }
        tarry__survival_clear(&c);
    }
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

/* A fit says the same in numbers and as a description for --delay, up to the
 * digits of that. */
static void check_description(const tarry__laws_fit *f)
{
    tarry__world *w;
    tarry_error error = {""};
    if (tarry__world_create("basis:arms=3", "rademacher", f->description, 1, 0,
                            &w, &error) != TARRY_OK)
        fail_msg("%s: %s", f->description, error.text);
    assert_string_equal(w->delay.type->entry.name, f->name);
    for (uint64_t d = 0; d < 1000; d = d < 70 ? d + 1 : d + 37) {
        const double wanted = tarry__delay_tail(&w->delay, 0, d);
        if (fabs(tarry__laws_tail(f, (double)d) - wanted) > 1e-4)
            fail_msg("%s from %d on: %g, not %g", f->description, (int)d,
                     tarry__laws_tail(f, (double)d), wanted);
    }
    tarry__world_free(w);
}

/* The evidence is shared out as exp(-AIC / 2), the best law first. */
static void check_ranks(const tarry__laws *laws)
{
    double sum = 0;
    for (size_t i = 0; i < laws->count; i++) {
        const tarry__laws_fit *f = &laws->fit[i];
        CHECK_NEAR(f->weight,
                   laws->fit[0].weight * exp((laws->fit[0].aic - f->aic) / 2),
                   1e-12);
        sum += f->weight;
        if (i > 0)
            CHECK_AT_MOST(laws->fit[i - 1].aic, f->aic);
    }
    CHECK_NEAR(sum, 1, 1e-12);
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
        check_ranks(&laws);
        check_description(f);
        for (double share = 0.05; share < 1; share += 0.05) {
            const double until = tarry__laws_until(f, share);
            assert_true(isfinite(until) == (f->never < share));
            if (!isfinite(until))
                continue;
            CHECK_AT_MOST(tarry__laws_tail(f, until * 1.0001 + 1e-9), share);
            CHECK_AT_MOST(share, tarry__laws_tail(f, until * 0.9999 - 1e-9));
        }
        tarry__survival_clear(&c);
        unmake_log(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_curve_is_that_of_pencil_and_paper),
        cmocka_unit_test(quantiles_of_small_samples_are_exact),
        cmocka_unit_test(intervals_and_bands_are_their_formulas),
        cmocka_unit_test(intervals_of_means_follow_from_those_of_hazards),
        cmocka_unit_test(intervals_hold_with_half_of_it_out),
        cmocka_unit_test(means_are_of_all_delays),
        cmocka_unit_test(the_law_that_made_the_delays_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
