/* test_refused.c - a policy that cannot run in a world is left out there. */
#include "check.h"

#include <string.h>
#include "lab/experiment.h"

static tarry__experiment small(void)
{
    tarry__experiment e = {.instance = "basis:arms=3",
                           .loss = "rademacher",
                           .delay = "constant:rounds=5",
                           .n_policies = 3,
                           .policy = {"opse", "opse:scale=-2", "se-delayed"},
                           .horizon = 200,
                           .runs = 4,
                           .seed = 2385,
                           .threads = 1};
    e.n_grid = tarry__sim_log_grid(e.horizon, 5, e.grid);
    return e;
}

static void a_refused_policy_says_why_and_the_others_run(void **unused)
{
    (void)unused;
    const tarry__experiment e = small();
    tarry__experiment_results r;
    tarry_error error;
    double values[4];
    assert_int_equal(tarry__experiment_results_create(&r, &e), TARRY_OK);
    assert_int_equal(tarry__experiment_check(&e, &r, &error), TARRY_OK);
    assert_string_equal(r.refused[0].text, "");
    assert_non_null(strstr(r.refused[1].text, "scale"));
    assert_string_equal(r.refused[2].text, "");
    assert_int_equal(tarry__experiment_run(&e, NULL, &r, &error), TARRY_OK);
    assert_int_equal(r.trials.n_known, 8);
    assert_int_equal(tarry__experiment_results_difference(&r, 0, 2, values), 4);
    assert_int_equal(tarry__experiment_results_difference(&r, 0, 1, values), 0);
    tarry__experiment_results_clear(&r);
}

static void a_refused_policy_that_is_not_checked_for_stops_all(void **unused)
{
    (void)unused;
    const tarry__experiment e = small();
    tarry__experiment_results r;
    tarry_error error;
    assert_int_equal(tarry__experiment_results_create(&r, &e), TARRY_OK);
    assert_int_equal(tarry__experiment_run(&e, NULL, &r, &error),
                     TARRY_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "scale"));
    tarry__experiment_results_clear(&r);
}

static void a_world_that_cannot_be_made_is_an_error(void **unused)
{
    (void)unused;
    tarry__experiment e = small();
    tarry__experiment_results r;
    tarry_error error;
    e.delay = "tomorrow";
    assert_int_equal(tarry__experiment_results_create(&r, &e), TARRY_OK);
    assert_int_equal(tarry__experiment_check(&e, &r, &error), TARRY_BAD_INPUT);
    assert_non_null(strstr(error.text, "tomorrow"));
    tarry__experiment_results_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_policy_says_why_and_the_others_run),
        cmocka_unit_test(a_refused_policy_that_is_not_checked_for_stops_all),
        cmocka_unit_test(a_world_that_cannot_be_made_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
