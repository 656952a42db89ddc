/* Results as JSON are whole, or there are none. */
#include "each_failure.h"
#include "lab/results.h"

static char *tell(void *batch)
{
    json_t *json = tarry__results_json(batch, false);
    char *text = json != NULL ? tarry__json_text(json, 0) : NULL;
    json_decref(json);
    return text;
}

/* One that states bounds and has phases, one that has neither. */
static void without_memory_nothing_is_left_out(void **state)
{
    (void)state;
    tarry__batch_plan plan = {
        .experiment = {.horizon = 300, .runs = 2, .points = 5, .threads = 1},
        .n_worlds = 2,
        .world = {{.name = "plain",
                   .instance = "sphere:dim=2,arms=4",
                   .loss = "normal:sd=0.5",
                   .delay = "none"},
                  {.name = "late",
                   .instance = "basis:arms=3",
                   .loss = "rademacher",
                   .delay = "uniform:high=9"}}};
    tarry__batch batch;
    tarry_error error = {""};
    tarry__experiment *e = &plan.experiment;
    assert_int_equal(tarry__experiment_add(e, "phased-stochastic", &error),
                     TARRY_OK);
    assert_int_equal(tarry__experiment_add(e, "lints", &error), TARRY_OK);
    e->n_grid = tarry__sim_log_grid(e->horizon, e->points, e->grid);
    assert_int_equal(tarry__batch_create(&batch, &plan), TARRY_OK);
    if (tarry__batch_check(&batch, &error) != TARRY_OK ||
        tarry__batch_run(&batch, NULL, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    with_each_failure(tell, &batch);
    tarry__batch_clear(&batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_nothing_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
