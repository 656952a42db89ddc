/* Many runs: summaries, the grid of curves, workers and their failures. */
#define _GNU_SOURCE
#include "check.h"
#include <gsl/gsl_cdf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "lab/batch.h"
#include "lab/experiment.h"
#include "lab/workers.h"

/* ---- summaries ------------------------------------------------------------*/

static void summaries_have_known_values(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4};
    const tarry__experiment_summary four =
        tarry__experiment_summarise(values, 4);
    assert_int_equal(four.count, 4);
    CHECK_NEAR(four.mean, 2.5, 0);
    CHECK_NEAR(four.ci95, 3.1824 * sqrt(5.0 / 3) / 2, 1e-12);
    const tarry__experiment_summary one =
        tarry__experiment_summarise(values, 1);
    CHECK_NEAR(one.mean, 1, 0);
    CHECK_NEAR(one.ci95, 0, 0);
    const tarry__experiment_summary none =
        tarry__experiment_summarise(values, 0);
    assert_int_equal(none.count, 0);
    CHECK_NEAR(none.mean, 0, 0);
    CHECK_NEAR(none.ci95, 0, 0);
}

static void equal_values_have_no_spread(void **state)
{
    (void)state;
    double values[1000];
    for (size_t n = 1; n <= 1000; n++) {
        values[n - 1] = 7;
        const tarry__experiment_summary s =
            tarry__experiment_summarise(values, n);
        CHECK_NEAR(s.mean, 7, 0);
        CHECK_NEAR(s.ci95, 0, 0);
    }
}

/* Values far from 0 lose no digits of their spread. */
static void the_spread_does_not_depend_on_the_level(void **state)
{
    (void)state;
    double low[100], high[100];
    uint64_t seed = 2385;
    for (size_t i = 0; i < 100; i++) {
        low[i] = floor(1000 * test_uniform(&seed));
        high[i] = low[i] + 1e12;
    }
    CHECK_NEAR(tarry__experiment_summarise(low, 100).ci95,
               tarry__experiment_summarise(high, 100).ci95, 1e-3);
}

static void intervals_have_students_factor(void **state)
{
    (void)state;
    double values[2000];
    for (size_t i = 0; i < 2000; i++)
        values[i] = i % 2 ? 1 : -1;
    for (size_t n = 2; n <= 2000; n += n < 100 ? 2 : 100) {
        const double v = (double)(n - 1);
        const double error = sqrt(1 / v); /* of the mean of n values +/-1 */
        const double factor =
            tarry__experiment_summarise(values, n).ci95 / error;
        CHECK_NEAR(factor / gsl_cdf_tdist_Pinv(0.975, v), 1, 1e-3);
    }
    for (size_t v = 1; v <= 300; v++) /* four digits up to 10 */
        CHECK_NEAR(tarry__experiment_student(v),
                   gsl_cdf_tdist_Pinv(0.975, (double)v),
                   v <= 10 ? 6e-5 : 2.5e-3);
}

/* ---- the grid -------------------------------------------------------------*/

static void check_grid(uint64_t horizon, size_t wanted)
{
    uint64_t grid[TARRY__SIM_MAX_GRID];
    const size_t count = tarry__sim_log_grid(horizon, wanted, grid);
    assert_in_range(count, 1, wanted);
    assert_int_equal(grid[count - 1], horizon);
    if (wanted > 1)
        assert_int_equal(grid[0], 1);
    const double step = pow((double)horizon, 1 / (double)(wanted - 1));
    for (size_t i = 1; i < count; i++) {
        assert_true(grid[i] > grid[i - 1]);
        CHECK_AT_MOST((double)grid[i], /* both rounded */
                      ((double)grid[i - 1] + 0.51) * step * (1 + 1e-9) + 0.51);
    }
}

static void grids_grow_to_the_horizon_in_even_steps(void **state)
{
    (void)state;
    const uint64_t horizons[] = {2,      3,       10,         255,
                                 256,    100000,  1ull << 38, (1ull << 39) - 1,
                                 999999, 1000001, 12345};
    for (size_t i = 0; i < sizeof horizons / sizeof *horizons; i++)
        for (size_t wanted = 1; wanted <= TARRY__SIM_MAX_GRID; wanted++)
            check_grid(horizons[i], wanted);
}

static void long_horizons_get_all_points(void **state)
{
    (void)state;
    uint64_t grid[TARRY__SIM_MAX_GRID];
    assert_int_equal(tarry__sim_log_grid(1000000, 12, grid), 12);
    assert_int_equal(tarry__sim_log_grid(7, 100, grid), 7);
}

/* ---- workers --------------------------------------------------------------*/

enum { N_TASKS = 60 };

typedef struct {
    size_t bad, bad_done; /* the task that fails, and the hand-over */
    bool both;            /* the next one fails too, and sooner */
    int worked[N_TASKS], handed[N_TASKS];
    int inside; /* of the hand-over: one at a time */
} office;

static tarry_status work(void *context, size_t i, void *result,
                         tarry_error *error)
{
    office *o = context;
    o->worked[i]++;
    *(size_t *)result = 100 + i;
    if (o->both && i == o->bad)
        usleep(20000);
    return i == o->bad || (o->both && i == o->bad + 1)
               ? tarry__base_fail(error, TARRY_BAD_INPUT, "task %zu", i)
               : TARRY_OK;
}

static tarry_status done(void *context, size_t i, const void *result,
                         tarry_error *error)
{
    office *o = context;
    assert_int_equal(o->inside++, 0);
    assert_int_equal(*(const size_t *)result, 100 + i);
    o->handed[i]++;
    o->inside--;
    return i == o->bad_done ? tarry__base_fail(error, TARRY_IO_ERROR, "full")
                            : TARRY_OK;
}

static tarry_status employ(office *o, int threads, const bool *skip,
                           tarry_error *error)
{
    const tarry__workers_job job = {.count = N_TASKS,
                                    .result_size = sizeof(size_t),
                                    .context = o,
                                    .work = work,
                                    .done = done,
                                    .skip = skip};
    return tarry__workers_run(&job, threads, error);
}

static void every_task_is_done_once(void **state)
{
    (void)state;
    for (int threads = 0; threads <= 5; threads++) {
        office o = {.bad = SIZE_MAX, .bad_done = SIZE_MAX};
        assert_int_equal(employ(&o, threads, NULL, NULL), TARRY_OK);
        for (size_t i = 0; i < N_TASKS; i++) {
            assert_int_equal(o.worked[i], 1);
            assert_int_equal(o.handed[i], 1);
        }
    }
}

static void skipped_tasks_are_left_alone(void **state)
{
    (void)state;
    bool skip[N_TASKS];
    for (size_t i = 0; i < N_TASKS; i++)
        skip[i] = i % 3 == 1;
    office o = {.bad = 4, .bad_done = 7}; /* skipped, so no failure */
    assert_int_equal(employ(&o, 2, skip, NULL), TARRY_OK);
    for (size_t i = 0; i < N_TASKS; i++) {
        assert_int_equal(o.worked[i], !skip[i]);
        assert_int_equal(o.handed[i], !skip[i]);
    }
}

static void the_first_failure_stops_the_rest(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        office o = {.bad = 7, .bad_done = SIZE_MAX};
        tarry_error error = {""};
        assert_int_equal(employ(&o, threads, NULL, &error), TARRY_BAD_INPUT);
        assert_string_equal(error.text, "task 7");
        assert_int_equal(o.handed[7], 0);
        if (threads == 1)
            assert_int_equal(o.worked[8], 0);
        assert_int_equal(employ(&o, threads, NULL, NULL), TARRY_BAD_INPUT);
    }
}

static void the_first_of_two_failures_is_told(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        office o = {.bad = 6, .bad_done = SIZE_MAX, .both = true};
        tarry_error error = {""};
        assert_int_equal(employ(&o, threads, NULL, &error), TARRY_BAD_INPUT);
        assert_string_equal(error.text, "task 6");
    }
}

static void a_failed_hand_over_is_a_failure(void **state)
{
    (void)state;
    office o = {.bad = SIZE_MAX, .bad_done = 11};
    tarry_error error = {""};
    assert_int_equal(employ(&o, 1, NULL, &error), TARRY_IO_ERROR);
    assert_string_equal(error.text, "full");
    assert_int_equal(o.worked[12], 0);
}

static void no_room_for_a_result_is_told(void **state)
{
    (void)state;
    office o = {.bad = SIZE_MAX, .bad_done = SIZE_MAX};
    tarry_error error = {""};
    tarry__base_fail_alloc(3);
    const tarry_status status = employ(&o, 1, NULL, &error);
    tarry__base_fail_alloc(0);
    assert_int_equal(status, TARRY_NO_MEMORY);
    assert_string_equal(error.text, "out of memory");
    assert_int_equal(o.handed[1], 1);
    assert_int_equal(o.worked[2], 0);
}

/* ---- trials ---------------------------------------------------------------*/

static tarry_status play_and_tick(tarry__trials *t, size_t trial, void *answer,
                                  tarry_error *error)
{
    (void)error;
    *(size_t *)answer = trial;
    return tarry__trials_tick(t, 1) ? TARRY_CANCELLED : TARRY_OK;
}

static double cost_of_number(const tarry__trials *t, size_t trial)
{
    (void)t;
    return (double)trial + 1;
}

static bool note_first_share(void *context, double share, uint64_t rounds)
{
    double *first = context;
    assert_int_equal(rounds, 1);
    if (isnan(*first))
        *first = share;
    return true;
}

/* What is known already counts as done, what is skipped not at all. */
static void progress_begins_where_the_last_job_ended(void **state)
{
    (void)state;
    enum { COUNT = 8 };
    for (unsigned way = 0; way < 1u << COUNT; way++) {
        tarry__trials t;
        double first = NAN, done = 0, all = 0;
        const tarry__trials_observer observer = {&first, note_first_share,
                                                 NULL};
        assert_int_equal(tarry__trials_create(&t, COUNT, sizeof(size_t)),
                         TARRY_OK);
        t.play = play_and_tick;
        t.cost = way % 3 ? cost_of_number : NULL;
        for (size_t i = 0; i < COUNT; i++) {
            const double cost = t.cost != NULL ? (double)i + 1 : 1;
            t.skip[i] = i % 3 == 2;
            if (!t.skip[i] && (way >> i & 1)) {
                tarry__trials_put(&t, i, &i);
                done += cost;
            }
            all += t.skip[i] ? 0 : cost;
        }
        const tarry_status status = tarry__trials_run(&t, 1, &observer, NULL);
        if (done == all) {
            assert_int_equal(status, TARRY_OK);
            assert_true(isnan(first));
        } else {
            assert_int_equal(status, TARRY_CANCELLED);
            CHECK_NEAR(first, done / all, 1e-15);
        }
        tarry__trials_clear(&t);
    }
}

/* ---- experiments ----------------------------------------------------------*/

static tarry__experiment small(void)
{
    tarry__experiment e = {.instance = "sphere:dim=2,arms=4",
                           .loss = "rademacher",
                           .delay = "exponential:mean=20",
                           .n_policies = 2,
                           .policy = {"phased-mab", "phased-stochastic"},
                           .horizon = 3000,
                           .runs = 4,
                           .seed = 2385,
                           .threads = 2,
                           .points = 10};
    e.n_grid = tarry__sim_log_grid(e.horizon, e.points, e.grid);
    return e;
}

static void create(tarry__experiment_results *r, const tarry__experiment *e)
{
    assert_int_equal(tarry__experiment_results_create(r, e), TARRY_OK);
}

static bool has_policy(const tarry__experiment *e, const char *name)
{
    for (size_t p = 0; p < e->n_policies; p++)
        if (strcmp(e->policy[p], name) == 0)
            return true;
    return false;
}

/* Each policy is linear or plain; those that know more than the others may, and
 * names that stand for another, are in no group. */
static void groups_have_their_members_once(void **state)
{
    (void)state;
    tarry__experiment all = {0}, linear = {0}, mab = {0}, twice = {0};
    size_t expected = 0;
    assert_int_equal(tarry__experiment_add(&all, "all", NULL), TARRY_OK);
    assert_int_equal(tarry__experiment_add(&linear, "linear", NULL), TARRY_OK);
    assert_int_equal(tarry__experiment_add(&mab, "mab", NULL), TARRY_OK);
    for (size_t i = 0; tarry__policy_types[i] != NULL; i++) {
        const tarry__policy_type *type = tarry__policy_types[i];
        const bool counts = !type->needs_means && type->stands_for == NULL;
        expected += counts;
        assert_int_equal(has_policy(&all, type->name), counts);
        assert_int_equal(has_policy(&linear, type->name),
                         counts && !type->plain);
        assert_int_equal(has_policy(&mab, type->name), counts && type->plain);
    }
    assert_false(has_policy(&all, "oracle"));
    assert_false(has_policy(&all, "recommended"));
    assert_int_equal(all.n_policies, expected);
    assert_int_equal(linear.n_policies + mab.n_policies, expected);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tarry__experiment_add(&twice, "mab", NULL), TARRY_OK);
        assert_int_equal(tarry__experiment_add(&twice, "all", NULL), TARRY_OK);
        assert_int_equal(twice.n_policies, expected);
    }
}

static void outcomes_stand_in_their_places(void **state)
{
    (void)state;
    const tarry__experiment e = small();
    tarry__experiment_results r;
    create(&r, &e);
    assert_int_equal(tarry__experiment_run(&e, NULL, &r, NULL), TARRY_OK);
    assert_int_equal(r.trials.n_known, 8);
    for (size_t i = 0; i < 8; i++) {
        const tarry__sim_trial trial = {.instance = e.instance,
                                        .loss = e.loss,
                                        .delay = e.delay,
                                        .policy = e.policy[i / 4],
                                        .horizon = e.horizon,
                                        .seed = e.seed,
                                        .run = (uint32_t)(i % 4),
                                        .n_grid = e.n_grid,
                                        .grid = e.grid};
        tarry__sim_outcome alone;
        assert_int_equal(tarry__sim_run(&trial, &alone, NULL), TARRY_OK);
        alone.seconds = r.outcome[i].seconds;
        assert_true(r.finished[i]);
        assert_memory_equal(&alone, &r.outcome[i], sizeof alone);
    }
    tarry__experiment_results_clear(&r);
}

/* What a journal keeps is all there is to an outcome. */
static void outcomes_come_back_from_a_journal(void **state)
{
    char path[] = "/tmp/tarry-journal-XXXXXX";
    tarry__batch_plan plan = {.experiment = small()};
    tarry__batch first, second;
    (void)state;
    plan.experiment.delay = "exponential:mean=20,never=0.2"; /* some are lost */
    plan.experiment.policy[0] = "phased-adversarial:constants=tight";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(tarry__batch_create(&first, &plan), TARRY_OK);
    assert_int_equal(tarry__batch_open_journal(&first, path, NULL), TARRY_OK);
    assert_int_equal(tarry__batch_run(&first, NULL, NULL), TARRY_OK);
    tarry__journal_close(&first.journal);
    assert_int_equal(tarry__batch_create(&second, &plan), TARRY_OK);
    assert_int_equal(tarry__batch_open_journal(&second, path, NULL), TARRY_OK);
    assert_int_equal(tarry__batch_finished(&second), 8);
    for (size_t i = 0; i < 8; i++) {
        const tarry__sim_outcome *o = &first.results[0].outcome[i];
        assert_true(o->lost > 0 && o->used > 0 && o->sigma_max > 0);
        assert_memory_equal(o, &second.results[0].outcome[i], sizeof *o);
    }
    tarry__batch_clear(&first);
    tarry__batch_clear(&second);
    unlink(path);
}

typedef struct {
    size_t finished, enough;
    bool cancel;
} listener;

static bool progress(void *context, double share, uint64_t rounds)
{
    assert_true(share >= 0 && share <= 1);
    assert_true(rounds > 0);
    return ((listener *)context)->cancel;
}

static tarry_status finished(void *context, size_t index, const void *answer,
                             tarry_error *error)
{
    listener *l = context;
    const tarry__sim_outcome *outcome = answer;
    assert_true(index < 8);
    assert_true(outcome->regret > 0);
    return ++l->finished == l->enough
               ? tarry__base_fail(error, TARRY_IO_ERROR, "no more")
               : TARRY_OK;
}

static void finished_trials_are_not_repeated(void **state)
{
    (void)state;
    const tarry__experiment e = small();
    listener l = {0};
    const tarry__trials_observer observer = {&l, progress, finished};
    tarry__experiment_results r;
    create(&r, &e);
    r.finished[2] = r.finished[5] = true;
    r.outcome[5].regret = 1e9;
    r.trials.n_known = 2;
    assert_int_equal(tarry__experiment_run(&e, &observer, &r, NULL), TARRY_OK);
    assert_int_equal(l.finished, 6);
    assert_int_equal(r.trials.n_known, 8);
    CHECK_NEAR(r.outcome[5].regret, 1e9, 0);
    tarry__experiment_results_clear(&r);
}

static void cancelling_keeps_what_is_finished(void **state)
{
    (void)state;
    const tarry__experiment e = small();
    listener l = {.cancel = true};
    const tarry__trials_observer observer = {&l, progress, finished};
    tarry__experiment_results r;
    create(&r, &e);
    r.finished[0] = true;
    r.trials.n_known = 1;
    assert_int_equal(tarry__experiment_run(&e, &observer, &r, NULL),
                     TARRY_CANCELLED);
    assert_true(r.finished[0]);
    assert_int_equal(r.trials.n_known, 1);
    tarry__experiment_results_clear(&r);
}

static void an_observer_that_fails_ends_the_experiment(void **state)
{
    (void)state;
    tarry__experiment e = small();
    listener l = {.enough = 3};
    const tarry__trials_observer observer = {&l, NULL, finished};
    tarry_error error = {""};
    tarry__experiment_results r;
    e.threads = 1;
    create(&r, &e);
    assert_int_equal(tarry__experiment_run(&e, &observer, &r, &error),
                     TARRY_IO_ERROR);
    assert_string_equal(error.text, "no more");
    assert_int_equal(l.finished, 3);
    /* run 0 of both policies, then run 1 */
    assert_true(r.finished[0] && r.finished[4] && r.finished[1]);
    tarry__experiment_results_clear(&r);
}

static void a_bad_policy_is_named_before_any_run(void **state)
{
    (void)state;
    const char *const bad[] = {"nobody", "phased-mab:nobody=1"};
    for (size_t i = 0; i < 2; i++) {
        tarry__experiment e = small();
        tarry_error error = {""};
        tarry__experiment_results r;
        e.policy[1] = bad[i];
        create(&r, &e);
        assert_int_equal(tarry__experiment_run(&e, NULL, &r, &error),
                         TARRY_BAD_ARGUMENT);
        assert_non_null(strstr(error.text, "nobody"));
        assert_int_equal(r.trials.n_known, 0);
        tarry__experiment_results_clear(&r);
    }
}

static double regret(const tarry__sim_outcome *outcome, size_t i)
{
    return outcome->regret + (double)i;
}

static void only_finished_runs_are_picked_and_compared(void **state)
{
    (void)state;
    const tarry__experiment e = small();
    double values[4];
    tarry__experiment_results r;
    create(&r, &e);
    for (size_t i = 0; i < 8; i++)
        r.outcome[i].regret = (double)(i * i);
    r.finished[1] = r.finished[3] = true;                 /* of policy 0 */
    r.finished[4] = r.finished[5] = r.finished[7] = true; /* of policy 1 */
    assert_int_equal(tarry__experiment_results_pick(&r, 1, regret, 10, values),
                     3);
    CHECK_NEAR(values[0], 16 + 10, 0);
    CHECK_NEAR(values[2], 49 + 10, 0);
    assert_int_equal(tarry__experiment_results_difference(&r, 1, 0, values), 2);
    CHECK_NEAR(values[0], 25 - 1, 0);
    CHECK_NEAR(values[1], 49 - 9, 0);
    tarry__experiment_results_clear(&r);
}

/* Whichever allocation of an experiment fails. */
static void out_of_memory_is_told_wherever_it_happens(void **state)
{
    (void)state;
    tarry__experiment e = small();
    tarry_status status = TARRY_NO_MEMORY;
    e.runs = e.n_policies = 1;
    e.threads = 1;
    for (uint64_t k = 1; status == TARRY_NO_MEMORY; k++) {
        tarry_error error = {"out of memory"};
        tarry__experiment_results r;
        tarry__base_fail_alloc(k);
        status = tarry__experiment_results_create(&r, &e);
        if (status == TARRY_OK)
            status = tarry__experiment_run(&e, NULL, &r, &error);
        tarry__base_fail_alloc(0);
        if (status != TARRY_OK)
            assert_non_null(strstr(error.text, "out of memory"));
        tarry__experiment_results_clear(&r);
    }
    assert_int_equal(status, TARRY_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries_have_known_values),
        cmocka_unit_test(equal_values_have_no_spread),
        cmocka_unit_test(the_spread_does_not_depend_on_the_level),
        cmocka_unit_test(intervals_have_students_factor),
        cmocka_unit_test(grids_grow_to_the_horizon_in_even_steps),
        cmocka_unit_test(long_horizons_get_all_points),
        cmocka_unit_test(every_task_is_done_once),
        cmocka_unit_test(skipped_tasks_are_left_alone),
        cmocka_unit_test(the_first_failure_stops_the_rest),
        cmocka_unit_test(the_first_of_two_failures_is_told),
        cmocka_unit_test(a_failed_hand_over_is_a_failure),
        cmocka_unit_test(no_room_for_a_result_is_told),
        cmocka_unit_test(progress_begins_where_the_last_job_ended),
        cmocka_unit_test(groups_have_their_members_once),
        cmocka_unit_test(outcomes_stand_in_their_places),
        cmocka_unit_test(outcomes_come_back_from_a_journal),
        cmocka_unit_test(finished_trials_are_not_repeated),
        cmocka_unit_test(cancelling_keeps_what_is_finished),
        cmocka_unit_test(an_observer_that_fails_ends_the_experiment),
        cmocka_unit_test(a_bad_policy_is_named_before_any_run),
        cmocka_unit_test(only_finished_runs_are_picked_and_compared),
        cmocka_unit_test(out_of_memory_is_told_wherever_it_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
