/* test_lab.c - the laboratory answers what the simulator says. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
    if (tarry__lab_close(lab, &error) != TARRY_OK ||
        tarry__lab_run(lab, 2, NULL, NULL, NULL, &error) != TARRY_OK)
        fail_msg("%s", error.text);
}

static void answers_are_the_simulator_s(void **state)
{
    (void)state;
    tarry__lab *lab = tarry__lab_create(9, false);
    tarry__lab_case other = question;
    other.delay = "none";
    tarry__lab_ask(lab, &question);
    assert_null(tarry__lab_answers(lab, &question));
    tarry__lab_ask(lab, &other);
    tarry__lab_ask(lab, &question);
    assert_int_equal(tarry__lab_trials(lab), 6);
    run(lab);
    const tarry__lab_case *cases[] = {&other, &question};
    for (int i = 0; i < 2; i++) {
        const tarry__lab_answer *a = tarry__lab_answers(lab, cases[i]);
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
    const tarry__lab_answer *a = tarry__lab_answers(lab, &c);
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
    c.kind = TARRY__LAB_BRACKETS;
    c.horizon = 20000;
    tarry__lab_ask(lab, &c);
    run(lab);
    const tarry__lab_answer *a = tarry__lab_answers(lab, &c);
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
    a = tarry__lab_answers(lab, &c);
    assert_true(a[0].uncovered > 0);
    tarry__lab_free(lab);
}

static tarry__lab *asked(uint64_t runs)
{
    tarry__lab *lab = tarry__lab_create(9, false);
    tarry__lab_case c = question;
    c.runs = runs;
    tarry__lab_ask(lab, &c);
    assert_int_equal(tarry__lab_close(lab, NULL), TARRY_OK);
    return lab;
}

static size_t lines_of(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t count = 0;
    for (int c; (c = fgetc(file)) != EOF;)
        count += c == '\n';
    fclose(file);
    return count;
}

/* A second job takes the first one's trials from the journal, all of their
 * bytes, and more runs go on with it. */
static void a_journal_keeps_answers_to_the_bit(void **state)
{
    (void)state;
    char path[] = "/tmp/tarry-journal-XXXXXX";
    close(mkstemp(path));
    tarry__lab_answer first[3];
    for (uint64_t runs = 3; runs <= 5; runs += 2) {
        tarry__lab *lab = asked(runs);
        tarry__lab_case c = question;
        tarry__journal journal;
        tarry_error error = {""};
        if (tarry__lab_open_journal(lab, path, &journal, &error) != TARRY_OK ||
            tarry__lab_run(lab, 2, NULL, NULL, &journal, &error) != TARRY_OK)
            fail_msg("%s", error.text);
        tarry__journal_clear(&journal);
        assert_int_equal(lines_of(path), 2 + runs);
        assert_int_equal(journal.n_dropped, 0);
        c.runs = runs;
        const tarry__lab_answer *a = tarry__lab_answers(lab, &c);
        if (runs == 3)
            memcpy(first, a, sizeof first);
        assert_memory_equal(first, a, sizeof first);
        tarry__lab_free(lab);
    }
    remove(path);
}

static void other_questions_have_another_key(void **state)
{
    (void)state;
    uint64_t seen[7];
    for (int i = 0; i < 7; i++) {
        tarry__lab *lab = tarry__lab_create(i == 1 ? 10 : 9, false);
        tarry__lab_case c = question;
        tarry__journal journal;
        c.horizon += i == 2;
        c.delay = i == 3 ? "none" : c.delay;
        c.policy = i == 4 ? "uniform" : c.policy;
        c.instance = i == 5 ? "sphere:dim=2,arms=7" : c.instance;
        c.phases += i == 6;
        tarry__lab_ask(lab, &c);
        assert_int_equal(
            tarry__lab_open_journal(lab, "/dev/null", &journal, NULL),
            TARRY_BAD_INPUT); /* no file, but the keys are there */
        seen[i] = journal.cases[0].key;
        for (int k = 0; k < i; k++)
            assert_true(seen[k] != seen[i]);
        tarry__journal_clear(&journal);
        tarry__lab_free(lab);
    }
}

/* Rows have different ids, say their trials without running anything, and have
 * a record and a point for each that is measured. */
static void rows_say_their_trials(void **state)
{
    (void)state;
    for (size_t i = 0; tarry__paper_rows[i] != NULL; i++) {
        const tarry__paper_row *row = tarry__paper_rows[i];
        tarry__lab *lab = tarry__lab_create(1, i % 2 == 1);
        tarry__plan plan = {.lab = lab};
        assert_ptr_equal(tarry__paper_find(row->id), row);
        assert_int_equal(tarry__paper_row_ask(row, &plan), TARRY_OK);
        assert_true(plan.n_points > 0);
        assert_true(tarry__lab_trials(lab) >= plan.n_points / 3);
        tarry__plan_clear(&plan);
        tarry__lab_free(lab);
    }
}

/* A design of few arms, looked at as the row does. */
static void designs_are_trials_too(void **state)
{
    (void)state;
    tarry__lab *lab = tarry__lab_create(1, false);
    tarry__plan plan = {.lab = lab};
    const tarry__paper_row *row = tarry__paper_find("design");
    assert_int_equal(tarry__paper_row_ask(row, &plan), TARRY_OK);
    run(lab);
    json_t *json = tarry__paper_row_judge(row, &plan, "command");
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "verdict")),
                        "supported");
    assert_int_equal(json_array_size(json_object_get(json, "data")), 8);
    json_decref(json);
    tarry__plan_clear(&plan);
    tarry__lab_free(lab);
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
                status = tarry__lab_close(lab, &error);
                if (status == TARRY_OK)
                    status = tarry__lab_run(lab, 1, NULL, NULL, NULL, &error);
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
        cmocka_unit_test(a_journal_keeps_answers_to_the_bit),
        cmocka_unit_test(other_questions_have_another_key),
        cmocka_unit_test(rows_say_their_trials),
        cmocka_unit_test(designs_are_trials_too),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
