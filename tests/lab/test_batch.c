/* Which trials of a journal an experiment finds, and that it keeps all of an
 * outcome. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "env/adversary.h"
#include "env/delay.h"
#include "env/instance.h"
#include "journal_file.h"
#include "lab/batch.h"
#include "tarry/tarry.h"

static tarry__batch_plan small(void)
{
    tarry__batch_plan plan = {.experiment = {.n_policies = 2,
                                             .policy = {"lints", "uniform"},
                                             .horizon = 300,
                                             .runs = 3,
                                             .seed = 2385,
                                             .points = 5,
                                             .threads = 1},
                              .n_worlds = 2,
                              .world = {{.name = "a",
                                         .instance = "sphere:dim=2,arms=4",
                                         .loss = "rademacher",
                                         .delay = "none"},
                                        {.name = "b",
                                         .instance = "basis:arms=3",
                                         .loss = "uniform",
                                         .delay = "uniform:high=9"}}};
    tarry__experiment *e = &plan.experiment;
    e->n_grid = tarry__sim_log_grid(e->horizon, e->points, e->grid);
    return plan;
}

static void begin_anew(void)
{
    assert_int_equal(truncate(path, 0), 0);
}

/* ---- which trials are found -----------------------------------------------*/

/* How many trials of the plan the journal has; with `fill` it then has all. */
static size_t found(const tarry__batch_plan *plan, bool fill)
{
    static const tarry__sim_outcome none;
    tarry__batch b;
    assert_int_equal(tarry__batch_create(&b, plan), TARRY_OK);
    assert_int_equal(tarry__batch_open_journal(&b, path, NULL), TARRY_OK);
    const size_t count = tarry__batch_finished(&b);
    for (size_t c = 0; fill && c < b.journal.n_cases; c++)
        for (size_t run = 0; run < plan->experiment.runs; run++)
            assert_int_equal(
                tarry__journal_add(&b.journal, c, run, &none, NULL), TARRY_OK);
    tarry__batch_clear(&b);
    return count;
}

static void swap_worlds(tarry__batch_plan *plan)
{
    const tarry__batch_world first = plan->world[0];
    plan->world[0] = plan->world[1];
    plan->world[1] = first;
}

/* Changes one thing that decides what comes out; answers how many of the twelve
 * trials stay the same, or -1: there are no more changes. */
static int change(tarry__batch_plan *plan, int k)
{
    static const tarry_own_policy own = {.name = "uniform", .version = "1"},
                                  next = {.name = "uniform", .version = "2"};
    tarry__experiment *e = &plan->experiment;
    const char **const text[] = {&plan->world[0].instance,
                                 &plan->world[0].loss,
                                 &plan->world[0].delay,
                                 &plan->world[1].instance,
                                 &plan->world[1].loss,
                                 &plan->world[1].delay,
                                 &e->policy[0],
                                 &e->policy[1]};
    const int n_texts = sizeof text / sizeof *text;
    if (k < n_texts)
        *text[k] = k + 1 < n_texts ? "another" : "a third";
    switch (k - n_texts) {
    case 0:
        e->horizon++;
        return 0;
    case 1:
        e->seed++;
        return 0;
    case 2:
        e->points++;
        return 0;
    case 3:
        e->own_policy[1] = &own;
        return 6;
    case 4:
        e->own_policy[1] = &next;
        return 6;
    default:
        return k < n_texts ? 6 : -1;
    }
}

static void whatever_decides_an_outcome_decides_which_trial_it_is(void **s)
{
    (void)s;
    int same;
    begin_anew();
    tarry__batch_plan plan = small();
    assert_int_equal(found(&plan, true), 0);
    for (int k = 0; plan = small(), (same = change(&plan, k)) >= 0; k++)
        if (found(&plan, true) != (size_t)same)
            fail_msg("change %d: %zu are found", k, found(&plan, false));
    plan = small();
    plan.experiment.runs = 7;
    plan.experiment.threads = 2;
    plan.experiment.parts = 3;
    plan.experiment.part = 1;
    plan.world[0].name = "other";
    assert_int_equal(found(&plan, false), 12);
}

/* One file for a sweep to which policies, worlds and runs are added. */
static void trials_are_found_wherever_they_stand_in_a_plan(void **s)
{
    (void)s;
    begin_anew();
    tarry__batch_plan plan = small();
    plan.n_worlds = plan.experiment.n_policies = 1;
    plan.experiment.runs = 2;
    assert_int_equal(found(&plan, true), 0);
    plan = small();
    swap_worlds(&plan);
    assert_int_equal(found(&plan, true), 2);
    plan.experiment.policy[plan.experiment.n_policies++] = "linucb";
    assert_int_equal(found(&plan, false), 12);
    plan = small();
    plan.experiment.policy[0] = "uniform";
    plan.experiment.policy[1] = "lints";
    plan.experiment.runs = 4;
    assert_int_equal(found(&plan, false), 12);
    plan.world[2] = plan.world[0]; /* the same world by another name */
    plan.world[2].name = "c";
    plan.n_worlds = 3;
    assert_int_equal(found(&plan, false), 18);
}

/* ---- files that worlds read -----------------------------------------------*/

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The entry with `file` for one setting; what else must be given is `other`. */
static void describe(const tarry__entry *e, const tarry_setting *one,
                     const char *file, const char *other, char *text)
{
    char sign = ':';
    text += sprintf(text, "%s", e->name);
    for (const tarry_setting *s = e->settings; s->key != NULL; s++)
        if (s == one || s->value == NULL) {
            text +=
                sprintf(text, "%c%s=%s", sign, s->key, s == one ? file : other);
            sign = ',';
        }
}

/* Whether a journal of this world notices that the file is another. */
static void check_notices(bool is_instance, const char *text, const char *file)
{
    tarry__batch_plan plan = small();
    *(is_instance ? &plan.world[1].instance : &plan.world[1].delay) = text;
    begin_anew();
    write_file(file, "1\n2\n");
    assert_int_equal(found(&plan, true), 0);
    assert_int_equal(found(&plan, false), 12);
    write_file(file, "1\n3\n");
    if (found(&plan, false) != 6)
        fail_msg("%s: a new file is not noticed", text);
}

static void every_file_that_a_world_reads_decides_which_trial_it_is(void **s)
{
    (void)s;
    const tarry__entry *const *lists[] = {tarry__instances, tarry__delays,
                                          tarry__adversary_adversaries};
    char file[sizeof path + 5], text[500];
    size_t count[3] = {0};
    sprintf(file, "%s-file", path);
    for (size_t i = 0; i < 3; i++)
        for (const tarry__entry *const *e = lists[i]; *e != NULL; e++)
            for (const tarry_setting *t = (*e)->settings; t->key; t++) {
                if (t->kind != TARRY_SETTING_TEXT)
                    continue;
                describe(*e, t, file, "/dev/null", text);
                check_notices(i == 0, text, file);
                count[i]++;
            }
    unlink(file);
    assert_true(count[0] > 1 && count[1] > 1 && count[2] > 0);
}

/* ---- worlds of one's own --------------------------------------------------*/

static tarry_status draw(void *state, uint64_t round, size_t arm, double loss,
                         const tarry_random *at, uint64_t *delay)
{
    (void)state, (void)round, (void)arm, (void)loss, (void)at;
    *delay = 3;
    return TARRY_OK;
}

static off_t file_size(void)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_size;
}

/* Whether the only run of the experiment was in the journal. */
static bool play_in(const tarry_world_params *where)
{
    const off_t before = file_size();
    tarry_experiment_params how = tarry_experiment_defaults();
    tarry_world *world;
    tarry_experiment *e;
    how.horizon = 20;
    how.runs = 1;
    how.threads = 1;
    how.journal = path;
    assert_int_equal(tarry_world_create(where, &world, NULL), TARRY_OK);
    assert_int_equal(tarry_experiment_create(&how, &e, NULL), TARRY_OK);
    assert_int_equal(tarry_experiment_add_world(e, world, NULL), TARRY_OK);
    assert_int_equal(tarry_experiment_add_policy(e, "uniform", NULL), TARRY_OK);
    assert_int_equal(tarry_experiment_run(e, NULL), TARRY_OK);
    tarry_experiment_free(e);
    tarry_world_free(world);
    return file_size() == before;
}

/* Each world of a list is played, and not again. */
static void check_all_differ(const tarry_world_params *where, size_t count)
{
    begin_anew();
    for (size_t i = 0; i < 2 * count; i++)
        if (play_in(&where[i % count]) != (i >= count))
            fail_msg("world %zu", i);
}

static void every_number_of_a_world_of_ones_own_counts(void **state)
{
    (void)state;
    static const double arms[] = {1, 0, 0, 0.5}, others[] = {1, 0, 0, 1},
                        theta[] = {0.5, -0.5}, theta2[] = {0.5, -0.4};
    static const size_t arm[] = {0, 1, 1}, arm2[] = {0, 0, 1};
    static const double loss[] = {0.5, 0.25, -1}, loss2[] = {0.5, 0.25, -0.5};
    static const uint64_t delay[] = {3, 1, 4}, delay2[] = {3, 1, 5};
    static const tarry_delay_law
        law = {.name = "one", .version = "1", .draw = draw},
        law2 = {.name = "two", .version = "1", .draw = draw},
        law3 = {.name = "one", .version = "2", .draw = draw};
#define PLACE .n_arms = 2, .dim = 2
#define ROWS .n_rows = 3
    static const tarry_world_params by_theta[] = {
        {PLACE, .arms = arms, .theta = theta, .loss = "none", .law = &law},
        {PLACE, .arms = others, .theta = theta, .loss = "none", .law = &law},
        {PLACE, .arms = arms, .theta = theta2, .loss = "none", .law = &law},
        {PLACE, .arms = arms, .theta = theta, .loss = "uniform", .law = &law},
        {PLACE, .arms = arms, .theta = theta, .loss = "none", .law = &law2},
        {PLACE, .arms = arms, .theta = theta, .loss = "none", .law = &law3},
        {PLACE, .arms = arms, .means = theta, .loss = "none", .law = &law},
    };
    static const tarry_world_params by_means[] = {
        {PLACE, .arms = arms, .means = theta, .loss = "none", .delay = "none"},
        {PLACE, .arms = arms, .means = theta2, .loss = "none", .delay = "none"},
    };
    static const tarry_world_params by_rows[] = {
        {PLACE, .arms = arms, ROWS, arm, loss, delay},
        {PLACE, .arms = arms, ROWS, arm2, loss, delay},
        {PLACE, .arms = arms, ROWS, arm, loss2, delay},
        {PLACE, .arms = arms, ROWS, arm, loss, delay2},
    };
    check_all_differ(by_theta, sizeof by_theta / sizeof *by_theta);
    check_all_differ(by_means, sizeof by_means / sizeof *by_means);
    check_all_differ(by_rows, sizeof by_rows / sizeof *by_rows);
}

/* ---- what it keeps --------------------------------------------------------*/

/* No word of it is 0. */
static tarry__sim_outcome full(uint64_t *seed)
{
    tarry__sim_outcome o;
    uint64_t *const words = (uint64_t *)(void *)&o;
    for (size_t i = 0; i < sizeof o / sizeof *words; i++)
        words[i] = test_bits(seed) % 1000000 + 1;
    o.regret = test_uniform(seed);
    o.seconds = test_uniform(seed);
    o.sigma_mean = test_uniform(seed);
    for (size_t i = 0; i < TARRY__SIM_MAX_GRID; i++) {
        o.curve[i] = test_uniform(seed);
        o.certificate[i] = i % 7 ? test_uniform(seed) : NAN;
        o.exploit_gap[i] = test_uniform(seed);
    }
    return o;
}

static void every_word_of_an_outcome_comes_back(void **state)
{
    (void)state;
    begin_anew();
    const tarry__batch_plan plan = small();
    tarry__batch b;
    uint64_t seed = 2385;
    assert_int_equal(tarry__batch_create(&b, &plan), TARRY_OK);
    assert_int_equal(tarry__batch_open_journal(&b, path, NULL), TARRY_OK);
    for (size_t c = 0; c < 4; c++)
        for (size_t run = 0; run < 3; run++) {
            const tarry__sim_outcome o = full(&seed);
            assert_int_equal(tarry__journal_add(&b.journal, c, run, &o, NULL),
                             TARRY_OK);
        }
    tarry__batch_clear(&b);
    assert_int_equal(tarry__batch_create(&b, &plan), TARRY_OK);
    assert_int_equal(tarry__batch_open_journal(&b, path, NULL), TARRY_OK);
    assert_int_equal(tarry__batch_finished(&b), 12);
    seed = 2385;
    for (size_t c = 0; c < 4; c++)
        for (size_t run = 0; run < 3; run++) {
            const tarry__sim_outcome o = full(&seed);
            const tarry__sim_outcome *there =
                &b.results[c / 2].outcome[c % 2 * 3 + run];
            const uint64_t *x = (const uint64_t *)(const void *)&o;
            const uint64_t *y = (const uint64_t *)(const void *)there;
            for (size_t i = 0; i < sizeof o / sizeof *x; i++)
                if (x[i] != y[i])
                    fail_msg("word %zu", i);
        }
    tarry__batch_clear(&b);
}

/* ---- what is handed out ---------------------------------------------------*/

enum { RUNS = 3, POLICIES = 2 };

/* small(), in its first world only. */
static tarry__batch_plan in_one_world(void)
{
    tarry__batch_plan plan = small();
    plan.n_worlds = 0;
    plan.experiment.instance = plan.world[0].instance;
    plan.experiment.loss = plan.world[0].loss;
    plan.experiment.delay = plan.world[0].delay;
    return plan;
}

/* Fills the journal with runs that were made up. */
static void make_up(const tarry__batch_plan *plan,
                    tarry__sim_outcome kept[POLICIES][RUNS])
{
    tarry__batch b;
    uint64_t seed = 2385;
    assert_int_equal(tarry__batch_create(&b, plan), TARRY_OK);
    assert_int_equal(tarry__batch_open_journal(&b, path, NULL), TARRY_OK);
    for (size_t i = 0; i < POLICIES * RUNS; i++) {
        tarry__sim_outcome *k = &kept[i / RUNS][i % RUNS];
        *k = full(&seed);
        k->n_phases = 46 + i; /* 48 of them are listed */
        assert_int_equal(
            tarry__journal_add(&b.journal, i / RUNS, i % RUNS, k, NULL),
            TARRY_OK);
    }
    tarry__batch_clear(&b);
}

/* The same experiment by the public functions, with all its runs in the
 * journal. */
static tarry_experiment *read_back(const tarry__experiment *made,
                                   const tarry_world *world)
{
    const tarry_experiment_params how = {.horizon = made->horizon,
                                         .runs = made->runs,
                                         .seed = made->seed,
                                         .points = made->points,
                                         .threads = 1,
                                         .journal = path};
    tarry_experiment *e;
    assert_int_equal(tarry_experiment_create(&how, &e, NULL), TARRY_OK);
    assert_int_equal(tarry_experiment_add_world(e, world, NULL), TARRY_OK);
    for (size_t p = 0; p < POLICIES; p++)
        assert_int_equal(tarry_experiment_add_policy(e, made->policy[p], NULL),
                         TARRY_OK);
    assert_int_equal(tarry_experiment_run(e, NULL), TARRY_OK);
    return e;
}

static void check_curves(const tarry_experiment_outcome *o,
                         const tarry__sim_outcome *k)
{
    assert_memory_equal(o->curve, k->curve, sizeof k->curve);
    assert_memory_equal(o->certificate, k->certificate, sizeof k->certificate);
    assert_memory_equal(o->exploit_gap, k->exploit_gap, sizeof k->exploit_gap);
}

static void check_phases(const tarry_experiment_outcome *o,
                         const tarry__sim_outcome *k)
{
    assert_int_equal(o->n_phases, k->n_phases);
    assert_int_equal(o->n_listed, k->n_phases < 48 ? k->n_phases : 48);
    assert_memory_equal(o->phases, k->phase, sizeof k->phase);
}

static void check_numbers(const tarry_experiment_outcome *o,
                          const tarry__sim_outcome *k)
{
    assert_true(o->regret == k->regret && o->seconds == k->seconds);
    assert_true(o->sigma_mean == k->sigma_mean);
    assert_int_equal(o->sigma_max, k->sigma_max);
    assert_int_equal(o->sigma_final, k->sigma_final);
    assert_int_equal(o->used, k->used);
    assert_int_equal(o->late, k->late);
    assert_int_equal(o->ignored, k->ignored);
    assert_int_equal(o->lost, k->lost);
    assert_int_equal(o->first_seen, k->first_seen);
    assert_int_equal(o->active, k->active);
    assert_int_equal(o->best_kept, 1);
}

static void check_outcomes(const tarry_experiment *e, size_t policy,
                           size_t n_points, const tarry__sim_outcome *kept)
{
    for (size_t run = 0; run < RUNS; run++) {
        tarry_experiment_outcome o;
        assert_int_equal(tarry_experiment_get_outcome(e, 0, policy, run, &o),
                         TARRY_OK);
        assert_int_equal(o.n_points, n_points);
        check_numbers(&o, &kept[run]);
        check_phases(&o, &kept[run]);
        check_curves(&o, &kept[run]);
    }
}

static void check_summary(const tarry_experiment *e, size_t policy,
                          const tarry__experiment *made,
                          const tarry__sim_outcome *kept)
{
    tarry_experiment_summary s;
    double regret[RUNS];
    for (size_t run = 0; run < RUNS; run++)
        regret[run] = kept[run].regret;
    const tarry__experiment_summary wanted =
        tarry__experiment_summarise(regret, RUNS);
    assert_int_equal(tarry_experiment_get_summary(e, 0, policy, &s), TARRY_OK);
    assert_null(s.world);
    assert_null(s.refused);
    assert_string_equal(s.policy, made->policy[policy]);
    assert_int_equal(s.runs, RUNS);
    assert_int_equal(s.finished, RUNS);
    assert_true(s.regret == wanted.mean && s.ci95 == wanted.ci95);
    assert_int_equal(s.n_points, made->n_grid);
    assert_memory_equal(s.grid, made->grid, made->n_grid * sizeof *made->grid);
}

/* Runs that were made up, by way of a journal. */
static void every_field_of_an_outcome_is_handed_out(void **state)
{
    (void)state;
    begin_anew();
    const tarry__batch_plan plan = in_one_world();
    const tarry__experiment *made = &plan.experiment;
    tarry__sim_outcome kept[POLICIES][RUNS];
    tarry_world_params where = tarry_world_defaults();
    tarry_world *world;
    make_up(&plan, kept);
    where.instance = made->instance;
    where.loss = made->loss;
    where.delay = made->delay;
    assert_int_equal(tarry_world_create(&where, &world, NULL), TARRY_OK);
    tarry_experiment *e = read_back(made, world);
    for (size_t p = 0; p < POLICIES; p++) {
        check_outcomes(e, p, made->n_grid, kept[p]);
        check_summary(e, p, made, kept[p]);
    }
    tarry_experiment_free(e);
    tarry_world_free(world);
}

/* Whichever of two has no name, or both the same. */
static void several_worlds_have_different_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"a", "b"}, {"a", "a"}, {"a", NULL}, {NULL, "b"}, {NULL, NULL}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const tarry_experiment_params how = tarry_experiment_defaults();
        tarry_world_params where = tarry_world_defaults();
        tarry_world *world[2];
        tarry_experiment *e;
        assert_int_equal(tarry_experiment_create(&how, &e, NULL), TARRY_OK);
        for (int k = 0; k < 2; k++) {
            where.name = names[i][k];
            assert_int_equal(tarry_world_create(&where, &world[k], NULL),
                             TARRY_OK);
            assert_int_equal(tarry_experiment_add_world(e, world[k], NULL),
                             k == 0 || i == 0 ? TARRY_OK : TARRY_BAD_ARGUMENT);
        }
        tarry_experiment_free(e);
        tarry_world_free(world[0]);
        tarry_world_free(world[1]);
    }
}

/* Every trial of every policy in every world comes back to its place. */
static void trials_of_several_worlds_come_back_to_their_places(void **state)
{
    (void)state;
    tarry__batch_plan plan = small();
    plan.experiment.policy[plan.experiment.n_policies++] = "linucb";
    const size_t trials =
        plan.experiment.n_policies * (size_t)plan.experiment.runs;
    tarry__batch first, again;
    begin_anew();
    assert_int_equal(tarry__batch_create(&first, &plan), TARRY_OK);
    assert_int_equal(tarry__batch_open_journal(&first, path, NULL), TARRY_OK);
    assert_int_equal(tarry__batch_finished(&first), 0);
    assert_int_equal(tarry__batch_run(&first, NULL, NULL), TARRY_OK);
    assert_int_equal(tarry__batch_finished(&first), 2 * trials);
    tarry__journal_close(&first.journal);
    assert_int_equal(tarry__batch_create(&again, &plan), TARRY_OK);
    assert_int_equal(tarry__batch_open_journal(&again, path, NULL), TARRY_OK);
    assert_int_equal(tarry__batch_finished(&again), 2 * trials);
    for (size_t w = 0; w < 2; w++)
        for (size_t i = 0; i < trials; i++) {
            assert_true(again.results[w].finished[i]);
            assert_memory_equal(&again.results[w].outcome[i],
                                &first.results[w].outcome[i],
                                sizeof(tarry__sim_outcome));
        }
    tarry__batch_clear(&first);
    tarry__batch_clear(&again);
    begin_anew();
}

/* What there is to do: runs of this part, of policies that are not refused. */
static void a_batch_counts_the_trials_it_will_play(void **state)
{
    (void)state;
    for (uint64_t runs = 1; runs <= 7; runs++)
        for (uint64_t parts = 0; parts <= 4; parts++)
            for (uint64_t part = 0; part < (parts > 1 ? parts : 1); part++) {
                tarry__batch_plan plan = small();
                tarry__batch b;
                plan.experiment.runs = runs;
                plan.experiment.parts = parts;
                plan.experiment.part = part;
                plan.experiment.horizon = 20;
                plan.experiment.n_grid = 0;
                assert_int_equal(tarry__batch_create(&b, &plan), TARRY_OK);
                const size_t all = tarry__batch_trials(&b);
                strcpy(b.results[1].refused[0].text, "not here");
                const size_t fewer = tarry__batch_trials(&b);
                assert_int_equal(4 * fewer, 3 * all);
                assert_int_equal(tarry__batch_run(&b, NULL, NULL), TARRY_OK);
                assert_int_equal(tarry__batch_finished(&b), fewer);
                tarry__batch_clear(&b);
            }
}

/* Of files longer than what is read at once, too. */
static void every_byte_of_a_long_file_counts(void **state)
{
    (void)state;
    enum { SIZE = 10000 };
    static const size_t places[] = {0, 2, 4094, 4096, 5000, 8190, 8192, 9998};
    static char text[SIZE + 1];
    char file[sizeof path + 5];
    const tarry__batch_plan before = small();
    tarry__batch_plan plan = before;
    char delay[100];
    sprintf(file, "%s-file", path);
    sprintf(delay, "empirical:file=%s", file);
    plan.world[1].delay = delay;
    for (size_t i = 0; i < SIZE; i++)
        text[i] = i % 2 ? '\n' : '1';
    begin_anew();
    write_file(file, text);
    assert_int_equal(found(&plan, true), 0);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        text[places[i]] = '2';
        write_file(file, text);
        assert_int_equal(found(&plan, false), 6);
        text[places[i]] = '1';
        write_file(file, text);
        assert_int_equal(found(&plan, false), 12);
    }
    unlink(file);
    begin_anew();
}

static size_t refuses_so_many; /* arms, or more */

static tarry_status refuse_some(void *context, const tarry_problem *problem,
                                void **state)
{
    *state = context;
    return problem->n_arms >= refuses_so_many ? TARRY_BAD_ARGUMENT : TARRY_OK;
}

static tarry_status choose_first(void *context, uint64_t round, size_t *arm)
{
    (void)context;
    (void)round;
    *arm = 0;
    return TARRY_OK;
}

/* World a has four arms, world b three. */
static void a_policy_is_left_out_where_it_is_refused(void **state)
{
    (void)state;
    const tarry_own_policy own = {
        .name = "own", .start = refuse_some, .choose = choose_first};
    for (refuses_so_many = 3; refuses_so_many <= 5; refuses_so_many++) {
        tarry__batch_plan plan = small();
        tarry__batch b;
        tarry_error error = {""};
        plan.experiment.policy[0] = own.name;
        plan.experiment.own_policy[0] = &own;
        assert_int_equal(tarry__batch_create(&b, &plan), TARRY_OK);
        const tarry_status status = tarry__batch_check(&b, &error);
        assert_int_equal(status,
                         refuses_so_many == 3 ? TARRY_BAD_INPUT : TARRY_OK);
        if (status == TARRY_OK) {
            assert_int_equal(tarry__batch_run(&b, NULL, NULL), TARRY_OK);
            assert_int_equal(b.results[0].trials.n_known,
                             refuses_so_many == 4 ? 3 : 6);
            assert_int_equal(b.results[1].trials.n_known, 6);
        } else {
            assert_string_equal(error.text, "own: start: bad argument");
        }
        tarry__batch_clear(&b);
    }
}

/* Where it is not looked for beforehand, too. */
static void the_world_at_fault_is_named(void **state)
{
    (void)state;
    for (size_t w = 0; w < 2; w++)
        for (int checks = 0; checks <= 1; checks++) {
            tarry__batch_plan plan = small();
            tarry__batch b;
            tarry_error error = {""};
            plan.world[w].delay = "tomorrow";
            assert_int_equal(tarry__batch_create(&b, &plan), TARRY_OK);
            assert_int_equal(checks ? tarry__batch_check(&b, &error)
                                    : tarry__batch_run(&b, NULL, &error),
                             TARRY_BAD_INPUT);
            assert_memory_equal(error.text,
                                w == 0 ? "world a: " : "world b: ", 9);
            assert_non_null(strstr(error.text, "tomorrow"));
            tarry__batch_clear(&b);
        }
}

static void a_trial_that_is_known_twice_counts_once(void **state)
{
    (void)state;
    tarry__trials t;
    const size_t answers[] = {7, 8};
    assert_int_equal(tarry__trials_create(&t, 3, sizeof(size_t)), TARRY_OK);
    for (size_t i = 0; i < 2; i++) {
        tarry__trials_put(&t, 1, &answers[i]);
        assert_int_equal(t.n_known, 1);
        assert_memory_equal(t.answer + sizeof(size_t), &answers[i],
                            sizeof(size_t));
    }
    tarry__trials_put(&t, 2, answers);
    assert_int_equal(t.n_known, 2);
    assert_false(t.known[0]);
    tarry__trials_clear(&t);
}

/* Part k of n plays runs k, n + k, 2n + k, ..., and says that it is a part. */
static void a_part_has_every_nth_run(void **state)
{
    (void)state;
    const tarry_world_params where = tarry_world_defaults();
    tarry_world *world;
    assert_int_equal(tarry_world_create(&where, &world, NULL), TARRY_OK);
    for (uint64_t part = 0; part < 3; part++) {
        tarry_experiment_params how = tarry_experiment_defaults();
        tarry_experiment *e;
        tarry_experiment_outcome o;
        how.horizon = 50;
        how.runs = 8;
        how.threads = 1;
        how.part = part;
        how.parts = 3;
        assert_int_equal(tarry_experiment_create(&how, &e, NULL), TARRY_OK);
        assert_int_equal(tarry_experiment_add_world(e, world, NULL), TARRY_OK);
        assert_int_equal(tarry_experiment_add_policy(e, "uniform", NULL),
                         TARRY_OK);
        assert_int_equal(tarry_experiment_run(e, NULL), TARRY_OK);
        for (uint64_t run = 0; run < 8; run++)
            assert_int_equal(tarry_experiment_get_outcome(e, 0, 0, run, &o),
                             run % 3 == part ? TARRY_OK : TARRY_UNKNOWN_ROUND);
        char *json = tarry_experiment_json(e);
        assert_non_null(strstr(json, "\"partial\": true"));
        tarry_experiment_free_json(json);
        tarry_experiment_free(e);
    }
    tarry_world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_decides_an_outcome_decides_which_trial_it_is),
        cmocka_unit_test(trials_are_found_wherever_they_stand_in_a_plan),
        cmocka_unit_test(
            every_file_that_a_world_reads_decides_which_trial_it_is),
        cmocka_unit_test(every_number_of_a_world_of_ones_own_counts),
        cmocka_unit_test(every_word_of_an_outcome_comes_back),
        cmocka_unit_test(every_field_of_an_outcome_is_handed_out),
        cmocka_unit_test(several_worlds_have_different_names),
        cmocka_unit_test(trials_of_several_worlds_come_back_to_their_places),
        cmocka_unit_test(a_batch_counts_the_trials_it_will_play),
        cmocka_unit_test(every_byte_of_a_long_file_counts),
        cmocka_unit_test(a_policy_is_left_out_where_it_is_refused),
        cmocka_unit_test(the_world_at_fault_is_named),
        cmocka_unit_test(a_trial_that_is_known_twice_counts_once),
        cmocka_unit_test(a_part_has_every_nth_run),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
