/* test_lab.c - the laboratory answers what the simulator says. */
#include "check.h"

#include <string.h>
#include "base/base.h"
#include "paper/paper.h"

static const tarry__lab_case question = {
    .instance = "sphere:dim=2,arms=5",
    .loss = "rademacher",
    .delay = "exponential:mean=20",
    .policy = "phased-stochastic",
    .horizon = 9000,
    .runs = 3,
};

static tarry__sim_outcome simulate(const tarry__lab_case *c, uint32_t run,
                                   uint64_t seed)
{
    uint64_t grid[TARRY__PAPER_CURVE];
    tarry__sim_outcome o;
    const tarry__sim_trial trial = {.instance = c->instance,
                                    .loss = c->loss,
                                    .delay = c->delay,
                                    .policy = c->policy,
                                    .horizon = c->horizon,
                                    .seed = seed,
                                    .run = run,
                                    .n_grid = tarry__lab_grid(c, grid),
                                    .grid = grid};
    assert_int_equal(tarry__sim_run(&trial, &o, NULL), TARRY_OK);
    return o;
}

static void run(tarry__lab *lab)
{
    tarry_error error = {""};
    if (tarry__lab_run(lab, 2, NULL, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    assert_true(tarry__lab_answers(lab));
}

static void answers_are_the_simulator_s(void **state)
{
    (void)state;
    tarry__lab *lab = tarry__lab_create(9, false);
    tarry__lab_case other = question;
    other.delay = "none";
    assert_int_equal(tarry__lab_ask(lab, &question)[2].rounds, 0);
    tarry__lab_ask(lab, &other);
    tarry__lab_ask(lab, &question);
    assert_int_equal(tarry__lab_trials(lab), 6);
    run(lab);
    const tarry__lab_case *cases[] = {&other, &question};
    for (int i = 0; i < 2; i++) {
        const tarry__lab_answer *a = tarry__lab_ask(lab, cases[i]);
        for (uint32_t k = 0; k < 3; k++) {
            const tarry__sim_outcome o = simulate(cases[i], k, 9);
            CHECK_NEAR(a[k].regret, o.regret, 0);
            assert_int_equal(a[k].rounds, 9000);
            assert_int_equal(a[k].n_phases, o.n_phases);
            assert_int_equal(a[k].length, o.phase[0].length);
            assert_int_equal(a[k].designated, o.phase[0].designated);
            assert_int_equal(a[k].first_seen, o.first_seen);
            assert_int_equal(a[k].best_kept, o.best_kept);
            assert_memory_equal(a[k].curve, o.curve, sizeof a[k].curve);
        }
    }
    tarry__lab_free(lab);
}

static void a_run_ends_after_its_phases(void **state)
{
    (void)state;
    tarry__lab *lab = tarry__lab_create(9, false);
    tarry__lab_case c = question;
    c.phases = 1;
    tarry__lab_ask(lab, &c);
    run(lab);
    const tarry__lab_answer *a = tarry__lab_ask(lab, &c);
    for (uint32_t k = 0; k < 3; k++) {
        assert_int_equal(a[k].n_phases, 1);
        assert_int_equal(a[k].rounds, a[k].length);
        assert_int_equal(a[k].length, simulate(&c, k, 9).phase[0].length);
    }
    tarry__lab_free(lab);
}

/* Something is missing, so brackets have a width; they hold what they must. */
static void brackets_are_compared(void **state)
{
    (void)state;
    tarry__lab *lab = tarry__lab_create(9, false);
    tarry__lab_case c = question;
    c.policy = "phased-loss-dependent";
    c.delay = "low-late:late=150";
    c.brackets = true;
    c.horizon = 20000;
    tarry__lab_ask(lab, &c);
    run(lab);
    const tarry__lab_answer *a = tarry__lab_ask(lab, &c);
    for (uint32_t k = 0; k < 3; k++) {
        assert_int_equal(a[k].arms, 5);
        assert_int_equal(a[k].uncovered, 0);
        assert_true(a[k].widest > 0);
        assert_true(a[k].widest < 5.7);
    }
    /* Algorithm 1 has no brackets, and does not play the same without delay:
     * its estimates are others. */
    tarry__lab_free(lab);
    lab = tarry__lab_create(9, false);
    c.policy = "phased-stochastic";
    tarry__lab_ask(lab, &c);
    run(lab);
    a = tarry__lab_ask(lab, &c);
    assert_true(a[0].uncovered > 0);
    tarry__lab_free(lab);
}

static void known_trials_are_not_run(void **state)
{
    (void)state;
    tarry__lab *lab = tarry__lab_create(9, false);
    const tarry__lab_answer known = {.regret = -1, .rounds = 7};
    tarry__lab_ask(lab, &question);
    tarry__lab_put(lab, 1, &known);
    run(lab);
    const tarry__lab_answer *a = tarry__lab_ask(lab, &question);
    CHECK_NEAR(a[1].regret, -1, 0);
    assert_true(a[0].regret > 0);
    assert_true(a[2].regret > 0);
    tarry__lab_free(lab);
}

static void other_questions_have_another_digest(void **state)
{
    (void)state;
    uint64_t seen[4];
    for (int i = 0; i < 4; i++) {
        tarry__lab *lab = tarry__lab_create(i == 1 ? 10 : 9, false);
        tarry__lab_case c = question;
        c.runs += i == 2;
        c.delay = i == 3 ? "none" : c.delay;
        tarry__lab_ask(lab, &c);
        seen[i] = tarry__lab_digest(lab);
        for (int k = 0; k < i; k++)
            assert_true(seen[k] != seen[i]);
        tarry__lab_free(lab);
    }
}

/* Rows have different ids and ask without running anything. */
static void rows_ask_first(void **state)
{
    (void)state;
    for (size_t i = 0; tarry__paper_rows[i] != NULL; i++) {
        tarry__lab *lab = tarry__lab_create(1, i % 2 == 1);
        const tarry__paper_row *row = tarry__paper_rows[i];
        assert_ptr_equal(tarry__paper_find(row->id), row);
        json_t *json = tarry__paper_row_run(row, lab, "command");
        assert_non_null(json);
        assert_string_equal(json_string_value(json_object_get(json, "id")),
                            row->id);
        assert_false(tarry__lab_answers(lab));
        json_decref(json);
        tarry__lab_free(lab);
    }
}

/* Any allocation of the library may fail: a clean status, nothing lost. */
static void memory_may_run_out(void **state)
{
    (void)state;
    tarry_status status = TARRY_NO_MEMORY;
    for (uint64_t k = 1; status != TARRY_OK; k++) {
        tarry_error error;
        tarry__base_fail_alloc(k);
        tarry__lab *lab = tarry__lab_create(9, false);
        status = TARRY_NO_MEMORY;
        if (lab != NULL) {
            tarry__lab_case c = question;
            c.horizon = 100;
            c.runs = 1;
            c.policy = tarry__lab_text(lab, "%s", "uniform");
            if (*c.policy != '\0') {
                tarry__lab_ask(lab, &c);
                status = tarry__lab_run(lab, 1, NULL, &error);
            }
        }
        tarry__base_fail_alloc(0);
        assert_true(status == TARRY_OK || status == TARRY_NO_MEMORY);
        tarry__lab_free(lab);
        assert_true(k < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_the_simulator_s),
        cmocka_unit_test(a_run_ends_after_its_phases),
        cmocka_unit_test(brackets_are_compared),
        cmocka_unit_test(known_trials_are_not_run),
        cmocka_unit_test(other_questions_have_another_digest),
        cmocka_unit_test(rows_ask_first),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
