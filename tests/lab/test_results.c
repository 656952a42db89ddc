/* Every number of the results, as JSON, against runs that were made up: what is
 * said is worked out here a second time, from the outcomes alone. */
#include "check.h"
#include <gsl/gsl_cdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lab/results.h"

enum { POLICIES = 3, RUNS = 5, POINTS = 4, HORIZON = 2385 };

/* ---- reading --------------------------------------------------------------*/

/* What stands at "sigma.max", or at "curve.3.1" in lists. */
static const json_t *find(const json_t *from, const char *path)
{
    char key[40];
    int used;
    while (*path != '\0') {
        assert_int_equal(sscanf(path, "%39[^.]%n", key, &used), 1);
        path += used + (path[used] == '.');
        from = json_is_array(from)
                   ? json_array_get(from, (size_t)strtoul(key, NULL, 10))
                   : json_object_get(from, key);
    }
    return from;
}

static void says(const json_t *from, const char *path, double wanted,
                 double share)
{
    const json_t *found = find(from, path);
    const double x = json_number_value(found);
    if (!json_is_number(found) || !(fabs(x - wanted) <= share * fabs(wanted)))
        fail_msg("%s is %.17g, expected %.17g", path, x, wanted);
}

static void says_text(const json_t *from, const char *path, const char *wanted)
{
    const char *found = json_string_value(find(from, path));
    assert_non_null(found);
    assert_string_equal(found, wanted);
}

/* ---- statistics -----------------------------------------------------------*/

static double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] / (double)n;
    return sum;
}

/* Of the interval for the mean. */
static double half_width_of(const double *x, size_t n)
{
    const double mean = mean_of(x, n), freedom = (double)n - 1;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return gsl_cdf_tdist_Pinv(0.975, freedom) * sqrt(sum / freedom / (double)n);
}

/* Points of Student's law are known to four digits. */
static void says_width(const json_t *from, const char *path, const double *x,
                       size_t n)
{
    if (n > 1)
        says(from, path, half_width_of(x, n), 1e-4);
    else
        assert_true(json_is_null(find(from, path)));
}

/* ---- runs -----------------------------------------------------------------*/

/* No two numbers of a run are alike.  The second policy states no bounds. */
static tarry__sim_outcome made_up(uint64_t *seed, size_t p)
{
    tarry__sim_outcome o = {.regret = test_uniform(seed),
                            .best_share = test_uniform(seed),
                            .seconds = test_uniform(seed),
                            .sigma_mean = test_uniform(seed),
                            .best_kept = test_bits(seed) % 2,
                            .n_phases = test_bits(seed) % 4 + 1};
    uint64_t *const counts[] = {&o.sigma_max, &o.sigma_final, &o.used,  &o.late,
                                &o.ignored,   &o.lost,        &o.active};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = test_bits(seed) % 100000 + 1;
    for (size_t i = 0; i < o.n_phases; i++) {
        const uint64_t designated = test_bits(seed) % 1000 + 1;
        o.phase[i] = (tarry__sim_phase){designated + test_bits(seed) % 1000 + 1,
                                        designated, test_bits(seed) % 100};
    }
    for (size_t i = 0; i < POINTS; i++) {
        o.curve[i] = test_uniform(seed);
        o.exploit_gap[i] = test_uniform(seed) / (p == 0 ? 1 : 9);
        o.certificate[i] = p == 1 ? NAN : test_uniform(seed);
    }
    return o;
}

/* Which runs are finished: two, all, and one alone. */
static bool is_finished(size_t p, size_t run)
{
    return p == 0 ? run % 2 == 1 : p == 1 || run == 3;
}

static size_t runs_of(const tarry__experiment_results *r, size_t p,
                      const tarry__sim_outcome **o)
{
    size_t n = 0;
    for (size_t run = 0; run < RUNS; run++)
        if (is_finished(p, run))
            o[n++] = &r->outcome[p * RUNS + run];
    return n;
}

/* ---- what is said of them -------------------------------------------------*/

static const struct {
    const char *path;
    size_t offset;
    bool is_real, is_largest;
} figures[] = {
#define REAL(path, field)                                                      \
    {                                                                          \
        path, offsetof(tarry__sim_outcome, field), true, false                 \
    }
#define COUNT(path, field)                                                     \
    {                                                                          \
        path, offsetof(tarry__sim_outcome, field), false, false                \
    }
#define LARGEST(path, field)                                                   \
    {                                                                          \
        path, offsetof(tarry__sim_outcome, field), false, true                 \
    }
    REAL("regret.mean", regret),
    COUNT("phases", n_phases),
    COUNT("active", active),
    COUNT("best_kept", best_kept),
    LARGEST("sigma_max", sigma_max),
    REAL("sigma.mean", sigma_mean),
    LARGEST("sigma.max", sigma_max),
    COUNT("sigma.final", sigma_final),
    COUNT("arrivals.used", used),
    COUNT("arrivals.late", late),
    COUNT("arrivals.ignored", ignored),
    COUNT("arrivals.lost", lost),
};

static void check_figures(const json_t *json, const tarry__sim_outcome **o,
                          size_t n)
{
    double x[RUNS], seconds = 0;
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
        double largest = 0;
        for (size_t i = 0; i < n; i++) {
            const char *at = (const char *)o[i] + figures[f].offset;
            uint64_t count;
            memcpy(figures[f].is_real ? (void *)&x[i] : (void *)&count, at, 8);
            x[i] = figures[f].is_real ? x[i] : (double)count;
            largest = fmax(largest, x[i]);
        }
        says(json, figures[f].path,
             figures[f].is_largest ? largest : mean_of(x, n), 1e-12);
    }
    for (size_t i = 0; i < n; i++)
        seconds += o[i]->seconds / (double)n;
    says(json, "rounds_per_second", HORIZON / seconds, 1e-12);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check_regret(const json_t *json, const tarry__sim_outcome **o,
                         size_t n)
{
    double x[RUNS];
    char path[40];
    assert_int_equal(json_array_size(find(json, "regret.runs")), n);
    for (size_t i = 0; i < n; i++) {
        x[i] = o[i]->regret;
        snprintf(path, sizeof path, "regret.runs.%zu", i);
        says(json, path, x[i], 0);
    }
    says_width(json, "regret.ci95", x, n);
    qsort(x, n, sizeof *x, compare);
    says(json, "regret.median", x[(n + 1) / 2 - 1], 0);
    says(json, "regret.q95", x[(size_t)ceil(0.95 * (double)n) - 1], 0);
    says(json, "regret.worst", x[n - 1], 0);
}

/* Runs in which best arms have less than half of the second half's plays. */
static void check_stuck(const json_t *json, const tarry__sim_outcome **o,
                        size_t n)
{
    double stuck = 0;
    for (size_t i = 0; i < n; i++)
        stuck += o[i]->best_share < 0.5;
    says(json, "stuck", stuck / (double)n, 1e-12);
}

/* Run by run, where both are finished. */
static void check_above_best(const json_t *json,
                             const tarry__experiment_results *r, size_t p,
                             size_t best)
{
    double x[RUNS];
    size_t n = 0;
    for (size_t run = 0; run < RUNS; run++)
        if (is_finished(p, run) && is_finished(best, run))
            x[n++] = r->outcome[p * RUNS + run].regret -
                     r->outcome[best * RUNS + run].regret;
    says_text(json, "above_best.best", r->experiment->policy[best]);
    says(json, "above_best.mean", mean_of(x, n), 1e-9);
    if (p != best)
        says_width(json, "above_best.ci95", x, n);
}

static void check_phases(const json_t *json, const tarry__sim_outcome **o,
                         size_t n)
{
    char path[60];
    assert_int_equal(json_array_size(find(json, "phase_log")), n);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "phase_log.%zu", i);
        assert_int_equal(json_array_size(find(json, path)), o[i]->n_phases);
        for (size_t m = 0; m < o[i]->n_phases; m++) {
            const tarry__sim_phase *f = &o[i]->phase[m];
            snprintf(path, sizeof path, "phase_log.%zu.%zu", i, m);
            const json_t *phase = find(json, path);
            says(phase, "length", (double)f->length, 0);
            says(phase, "designated", (double)f->designated, 0);
            says(phase, "waited", (double)(f->length - f->designated), 0);
            says(phase, "active_after", (double)f->active_after, 0);
        }
    }
}

/* A point of a curve: its round, a mean, and the ends of its interval. */
static void check_point(const json_t *point, uint64_t round, const double *x,
                        size_t n)
{
    const double mean = mean_of(x, n), reach = n > 1 ? half_width_of(x, n) : 0;
    says(point, "0", (double)round, 0);
    says(point, "1", mean, 1e-12);
    CHECK_NEAR(json_number_value(find(point, "2")), mean - reach, 1e-4);
    CHECK_NEAR(json_number_value(find(point, "3")), mean + reach, 1e-4);
}

static void check_curves(const json_t *json, const tarry__experiment *e,
                         const tarry__sim_outcome **o, size_t n, bool bounds)
{
    double x[RUNS], bound[RUNS], gap[RUNS];
    double held = 0, all_held = 0;
    char path[60];
    for (size_t j = 0; j < POINTS; j++) {
        for (size_t i = 0; i < n; i++) {
            x[i] = o[i]->curve[j];
            bound[i] = o[i]->certificate[j];
            gap[i] = o[i]->exploit_gap[j];
            held += gap[i] <= bound[i];
        }
        snprintf(path, sizeof path, "curve.%zu", j);
        check_point(find(json, path), e->grid[j], x, n);
        if (!bounds)
            continue;
        snprintf(path, sizeof path, "certificate.curve.%zu", j);
        check_point(find(json, path), e->grid[j], bound, n);
        says(find(json, path), "4", mean_of(gap, n), 1e-12);
    }
    for (size_t i = 0; i < n; i++) {
        bool all = true;
        for (size_t j = 0; j < POINTS; j++)
            all = all && o[i]->exploit_gap[j] <= o[i]->certificate[j];
        all_held += all;
    }
    if (!bounds) {
        assert_true(json_is_null(find(json, "certificate")));
        return;
    }
    says(json, "certificate.points_held", held / (double)(n * POINTS), 1e-12);
    says(json, "certificate.runs_held", all_held / (double)n, 1e-12);
}

static void check_config(const json_t *json, const tarry__experiment *e)
{
    says_text(json, "config.instance", e->instance);
    says_text(json, "config.loss", e->loss);
    says_text(json, "config.delay", e->delay);
    says(json, "config.horizon", (double)e->horizon, 0);
    says(json, "config.runs", (double)e->runs, 0);
    says(json, "config.seed", (double)e->seed, 0);
    says(json, "config.points", (double)e->points, 0);
    for (size_t p = 0; p < POLICIES; p++) {
        char path[40];
        snprintf(path, sizeof path, "config.policy.%zu", p);
        says_text(json, path, e->policy[p]);
    }
}

static void check_all(const json_t *json, const tarry__experiment_results *r)
{
    const tarry__sim_outcome *o[RUNS];
    size_t best = 0;
    double least = INFINITY;
    for (size_t p = 0; p < POLICIES; p++) {
        const size_t n = runs_of(r, p, o);
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += o[i]->regret / (double)n;
        best = sum < least ? p : best;
        least = fmin(least, sum);
    }
    check_config(json, r->experiment);
    for (size_t p = 0; p < POLICIES; p++) {
        char path[40];
        const size_t n = runs_of(r, p, o);
        snprintf(path, sizeof path, "policies.%zu", p);
        const json_t *policy = find(json, path);
        says_text(policy, "name", r->experiment->policy[p]);
        check_figures(policy, o, n);
        check_regret(policy, o, n);
        check_stuck(policy, o, n);
        check_above_best(policy, r, p, best);
        check_phases(policy, o, n);
        check_curves(policy, r->experiment, o, n, p != 1);
    }
}

static void results_say_what_the_runs_did(void **state)
{
    (void)state;
    uint64_t seed = 2385;
    for (int i = 0; i < 50; i++) {
        const tarry__batch_plan plan = {
            .experiment = {.instance = "sphere:dim=2,arms=4",
                           .loss = "normal:sd=0.5",
                           .delay = "uniform:high=9",
                           .n_policies = POLICIES,
                           .policy = {"lints", "uniform", "linucb"},
                           .horizon = HORIZON,
                           .runs = RUNS,
                           .seed = 17,
                           .points = 6,
                           .n_grid = POINTS,
                           .grid = {1, 23, 238, HORIZON}}};
        tarry__batch b;
        assert_int_equal(tarry__batch_create(&b, &plan), TARRY_OK);
        for (size_t p = 0; p < POLICIES; p++)
            for (size_t run = 0; run < RUNS; run++) {
                b.results->outcome[p * RUNS + run] = made_up(&seed, p);
                b.results->finished[p * RUNS + run] = is_finished(p, run);
            }
        json_t *json = tarry__results_json(&b, i % 2);
        assert_non_null(json);
        assert_true(json_is_true(find(json, "partial")) == i % 2);
        check_all(json, b.results);
        json_decref(json);
        tarry__batch_clear(&b);
    }
}

/* JSON has whole numbers up to 2^63 - 1 here; a larger seed is a text. */
static void seeds_are_said_exactly(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1,
                                     UINT64_MAX};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        tarry__batch_plan plan = {.experiment = {.instance = "sphere",
                                                 .loss = "normal",
                                                 .delay = "none",
                                                 .horizon = 2,
                                                 .runs = 1}};
        char wanted[40];
        plan.experiment.seed = seeds[i];
        json_t *json = tarry__results_config(&plan);
        snprintf(wanted, sizeof wanted, "%ju", (uintmax_t)seeds[i]);
        if (seeds[i] <= INT64_MAX)
            assert_true(json_integer_value(find(json, "seed")) ==
                        (json_int_t)seeds[i]);
        else
            says_text(json, "seed", wanted);
        json_decref(json);
    }
}

/* Three policies of two runs: none finished, one, both. */
static void runs_that_are_not_finished_say_nothing(void **state)
{
    (void)state;
    const tarry__experiment e = {.n_policies = 3,
                                 .policy = {"a", "b", "c"},
                                 .horizon = 10,
                                 .runs = 2,
                                 .n_grid = 1,
                                 .grid = {10}};
    tarry__experiment_results r;
    double values[2];
    assert_int_equal(tarry__experiment_results_create(&r, &e), TARRY_OK);
    for (size_t i = 0; i < 6; i++)
        r.outcome[i].regret = (double)i; /* the first ones are the least */
    assert_true(tarry__results_best(&r, values) == SIZE_MAX);
    r.finished[3] = r.finished[4] = r.finished[5] = true;
    for (size_t p = 0; p < 3; p++)
        assert_int_equal(tarry__results_any(&r, p), p > 0);
    assert_int_equal(tarry__results_best(&r, values), 1);
    r.outcome[3].regret = 4.5; /* of two that are alike, the first */
    assert_int_equal(tarry__results_best(&r, values), 1);
    for (size_t i = 0; i < 6; i++) {
        for (size_t k = 0; k < 6; k++)
            r.outcome[k].best_kept = k != i;
        for (size_t p = 0; p < 3; p++)
            assert_int_equal(tarry__results_lost_best(&r, p),
                             r.finished[i] && i / 2 == p);
    }
    tarry__experiment_results_clear(&r);
}

/* A bound that is below the gap by rounding alone has held. */
static void rounding_breaks_no_certificate(void **state)
{
    (void)state;
    static const double below[] = {-1, 0, 1e-13, 1e-11, 1};
    const tarry__experiment e = {.n_policies = 1,
                                 .policy = {"a"},
                                 .horizon = 10,
                                 .runs = 1,
                                 .n_grid = 1,
                                 .grid = {10}};
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        tarry__experiment_results r;
        double values[1];
        assert_int_equal(tarry__experiment_results_create(&r, &e), TARRY_OK);
        r.finished[0] = true;
        r.outcome[0].exploit_gap[0] = 1;
        r.outcome[0].certificate[0] = 1 - below[i];
        json_t *json = tarry__results_certificate(&r, 0, values);
        says(json, "points_held", below[i] < 1e-12, 0);
        says(json, "runs_held", below[i] < 1e-12, 0);
        json_decref(json);
        tarry__experiment_results_clear(&r);
    }
}

/* At its second point of two this policy states no bound. */
static void a_bound_that_was_not_stated_has_not_held(void **state)
{
    (void)state;
    const tarry__experiment e = {.n_policies = 1,
                                 .policy = {"a"},
                                 .horizon = 10,
                                 .runs = 2,
                                 .n_grid = 2,
                                 .grid = {5, 10}};
    tarry__experiment_results r;
    double values[2];
    assert_int_equal(tarry__experiment_results_create(&r, &e), TARRY_OK);
    for (size_t i = 0; i < 2; i++) {
        r.finished[i] = true;
        r.outcome[i].certificate[0] = 1;
        r.outcome[i].certificate[1] = i == 0 ? 1 : NAN;
    }
    json_t *json = tarry__results_certificate(&r, 0, values);
    says(json, "points_held", 0.75, 0);
    says(json, "runs_held", 0.5, 0);
    json_decref(json);
    tarry__experiment_results_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_say_what_the_runs_did),
        cmocka_unit_test(seeds_are_said_exactly),
        cmocka_unit_test(runs_that_are_not_finished_say_nothing),
        cmocka_unit_test(rounding_breaks_no_certificate),
        cmocka_unit_test(a_bound_that_was_not_stated_has_not_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
