/* test_world.c - worlds as a whole: refusals, blocks of rounds, files, memory.
 */
#include "env/worlds.h"
#include <jansson.h>
#include "base/base.h"
#include "tarry/arms.h"

/* ---- refusals ------------------------------------------------------------*/

static const char *const ok_loss = "rademacher", *const ok_delay = "none";

static void bad_descriptions_are_refused_by_name(void **state)
{
    (void)state;
    put_file("a.csv", "0.5,0.5\n0.9,0.9\n");
    put_file("b.csv", "1,1\n");
    put_file("c.csv", "1\n2.5\n-3\n");
    const struct {
        const char *instance, *loss, *delay, *words;
    } bad[] = {
        {"spere", ok_loss, ok_delay,
         "no instance 'spere' (there are: sphere, orthant, cube"},
        {"sphere", "rad", ok_delay, "no loss 'rad' (there are: rademacher"},
        {"sphere", ok_loss, "exp", "no delay or adversary 'exp'"},
        {"sphere", ok_loss, "exp", "hold-newest, script)"},
        {"", ok_loss, ok_delay, "no name"},
        {"sphere:dim=0", ok_loss, ok_delay, "dim must be a whole number"},
        {"sphere:arms=2.5", ok_loss, ok_delay, "'2.5'"},
        {"sphere:dims=3", ok_loss, ok_delay, "no setting 'dims'"},
        {"sphere:fixed=2", ok_loss, ok_delay, "fixed"},
        {"sphere:scale=3", ok_loss, ok_delay, "could lose"},
        {"cube:dim=3,arms=9", ok_loss, ok_delay, "at most 2^dim = 8: '9'"},
        {"cube:dim=30,arms=0", ok_loss, ok_delay, "dim <= 24: '30'"},
        {"basis:means=odd", ok_loss, ok_delay,
         "uniform|equal|geometric: 'odd'"},
        {"basis:best=0.8,gap=0.5,means=equal", ok_loss, ok_delay,
         "of mean 1.3 could lose 1.3, outside [-1, 1]"},
        {"file:arms=FOLDER/a.csv", ok_loss, ok_delay, "'theta' must be given"},
        {"file:arms=FOLDER/no.csv,theta=FOLDER/b.csv", ok_loss, ok_delay,
         "no.csv"},
        {"file:arms=FOLDER/a.csv,theta=FOLDER/c.csv", ok_loss, ok_delay,
         "c.csv: 3 numbers, but"},
        {"file:arms=FOLDER/a.csv,theta=FOLDER/a.csv", ok_loss, ok_delay,
         "one row or one column expected, not 2 by 2"},
        {"file:arms=FOLDER/a.csv,theta=FOLDER/b.csv", ok_loss, ok_delay,
         "rademacher: arm 1 of mean 1.8 could lose 1.8"},
        {"orthogonal:dim=10,arms=50,within=0.05", ok_loss, ok_delay,
         "no such set of 50 arms in dimension 10"},
        {"lower-loss:dim=100,dbar=50", ok_loss, ok_delay,
         "dim >= 32 log(dbar dim) = 272.6 is needed for dbar=50: '100'"},
        {"lower-loss:dbar=0", ok_loss, ok_delay, "dbar"},
        {"lower-loss:dim=1e4,dbar=1e8", ok_loss, ok_delay, "arms, more than"},
        {"lower-payoff:dim=22", "none", ok_delay, "dim must be"},
        {"lower-payoff:dim=501", "none", ok_delay, "even: '501'"},
        {"lower-payoff:dim=200,arms=8", "none", ok_delay,
         "arms <= exp(dim / 100) = 7.4 is needed: '8'"},
        {"optimism:eps=2", ok_loss, ok_delay, "eps"},
        {"sphere", "rademacher:width=1", ok_delay, "no setting 'width'"},
        {"basis", "uniform:width=0.9", ok_delay, "uniform: arm"},
        {"basis", "normal:sd=0", ok_delay, "sd must be"},
        {"basis:arms=1,best=-0.2", "normal:low=0", ok_delay,
         "normal: arm 0 of mean -0.2 could lose -0.2, outside [0, 1]"},
        {"sphere", "bernoulli", ok_delay, "outside [0, 1]"},
        {"sphere", ok_loss, "exponential:mean=-1", "mean must be"},
        {"sphere", ok_loss, "exponential:never=1.5", "never must be"},
        {"sphere", ok_loss, "exponential:spread=0.5", "spread must be"},
        {"sphere", ok_loss, "exponential:factors=FOLDER/c.csv",
         "3 factors for 100 arms"},
        {"basis:arms=3", ok_loss, "exponential:factors=FOLDER/c.csv",
         "the factor of arm 2 is not from 0 to 1e9: '-3'"},
        {"sphere", ok_loss, "none:never=0.5", "no setting 'never'"},
        {"sphere", ok_loss, "uniform:low=9,high=3", "low=9 is above high=3"},
        {"sphere", ok_loss, "constant:rounds=2.5", "'2.5'"},
        {"sphere", ok_loss, "two-point:p=2", "p must be"},
        {"sphere", ok_loss, "pareto:mean=5,scale=2", "not both"},
        {"sphere", ok_loss, "pareto:shape=1", "mean is infinite; give scale"},
        {"sphere", ok_loss, "lomax:shape=0.7,mean=5", "shape 0.7 <= 1"},
        {"sphere", ok_loss, "lognormal:sigma=0", "sigma"},
        {"sphere", ok_loss, "weibull:shape=0", "shape"},
        {"sphere", ok_loss, "poisson:mean=1e10", "mean"},
        {"basis:arms=3", ok_loss, "poisson:mean=1e9,spread=2",
         "poisson: the scale of arm 2, 2e+09, is above 1e+09"},
        {"sphere", ok_loss, "empirical", "'file' must be given"},
        {"sphere", ok_loss, "empirical:file=FOLDER/c.csv",
         "number 2 is not a whole number of rounds"},
        {"sphere", ok_loss, "threshold:law=odd", "constant|exponential: 'odd'"},
        {"sphere", ok_loss, "low-late:threshold=7", "threshold"},
        {"sphere", ok_loss, "theorem", "needs the instance lower-loss"},
        {"lower-loss", "none", "theorem", "must be rademacher: 'none'"},
        {"sphere", ok_loss, "payoff", "losses must be in [0, 1], but arm 0"},
        {"basis:best=-0.5", "none", "payoff", "with loss none"},
        {"lower-payoff", "none", "payoff:D=1001",
         "D <= 10 arms = 1000 is needed: '1001'"},
        {"sphere", ok_loss, "lowest-late:p=0.6,far_p=0.5",
         "p + far_p is above 1: 1.1"},
        {"sphere", ok_loss, "shapes:mean=-1", "mean"},
        {"sphere", ok_loss, "hold-in-turn:sigma=x", "sigma"},
        {"sphere", ok_loss, "hold-good:longest=-1", "longest"},
        {"sphere", ok_loss, "hold-all:sigma=-1", "sigma"},
        {"sphere", ok_loss, "hold-newest:sigma=1e9", "sigma"},
        {"sphere", ok_loss, "hold-rarest:burst=1", "no setting 'burst'"},
        {"sphere", ok_loss, "script", "'file' must be given"},
        {"sphere", ok_loss, "script:file=FOLDER/c.csv", "number 2"},
        {"sphere", ok_loss, "script:file=FOLDER/none.csv", "none.csv"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tarry__world *world;
        tarry_error error = {"no error text"};
        const tarry_status status = tarry__world_create(
            in_folder(bad[i].instance), in_folder(bad[i].loss),
            in_folder(bad[i].delay), 1, 0, &world, &error);
        if (status == TARRY_OK || status == TARRY_NO_MEMORY || world != NULL)
            fail_msg("%s %s %s was not refused", bad[i].instance, bad[i].loss,
                     bad[i].delay);
        if (strstr(error.text, bad[i].words) == NULL)
            fail_msg("%s %s %s gave: %s", bad[i].instance, bad[i].loss,
                     bad[i].delay, error.text);
        assert_null(strchr(error.text, '\n')); /* one line */
    }
}

/* ---- drawing -------------------------------------------------------------*/

typedef struct {
    const char *instance, *loss, *delay;
} described;

static const described worlds[] = {
    {"sphere", "rademacher", "none"},
    {"sphere", "uniform", "exponential:spread=3"},
    {"cube", "normal", "pareto:never=0.2"},
    {"basis:best=0.2", "bernoulli", "poisson:mean=30,never=0.1"},
    {"basis:best=0.2", "none", "lognormal"},
    {"basis:best=0.2", "uniform", "weibull:spread=2"},
    {"basis", "rademacher", "empirical:file=FOLDER/a.csv,never=0.5"},
    {"basis", "rademacher", "low-late:law=exponential,never=0.3"},
    {"basis:best=0.2", "bernoulli", "payoff"},
    {"lower-loss", "rademacher", "theorem"},
    {"orthogonal", "rademacher", "two-point:spread=1.5"},
    {"sphere", "normal", "hold-newest"},
};

static void put_delays(void)
{
    put_file("a.csv", "3\n1\n4\n1\n5\n9\n2\n6\n");
}

static void blocks_of_rounds_give_the_bits_of_single_rounds(void **state)
{
    (void)state;
    enum { COUNT = 1000, FIRST = 77 };
    static double u[COUNT], x[COUNT];
    put_delays();
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        tarry__world *w =
            make_world(worlds[i].instance, worlds[i].loss, worlds[i].delay);
        tarry__world_prepare(w, FIRST, COUNT, u, x);
        for (size_t j = 0; j < COUNT; j++) {
            const size_t arm = j % w->instance.n_arms;
            const double loss = tarry__world_loss(w, arm, u[j], x[j]);
            double single_loss;
            uint64_t single_delay;
            tarry__world_draw(w, FIRST + j, arm, &single_loss, &single_delay);
            assert_memory_equal(&loss, &single_loss, sizeof loss);
            if (w->adversary == NULL)
                assert_true(tarry__world_delay(w, FIRST + j, arm, loss, x[j]) ==
                            single_delay);
        }
        tarry__world_free(w);
    }
}

static void luck_depends_on_seed_run_and_round_alone(void **state)
{
    (void)state;
    tarry__world *a = make_world_of("sphere", "uniform", "exponential", 5, 1);
    tarry__world *b = make_world_of("sphere", "uniform", "exponential", 5, 1);
    tarry__world *c = make_world_of("sphere", "uniform", "exponential", 5, 2);
    tarry__world *d = make_world_of("sphere", "uniform", "exponential", 6, 1);
    double u[4], x[4];
    for (uint64_t t = 1; t < 500; t++) {
        tarry__world_prepare(a, t, 1, &u[0], &x[0]);
        tarry__world_prepare(c, t, 1, &u[2], &x[2]);
        tarry__world_prepare(d, t, 1, &u[3], &x[3]);
        assert_true(u[0] != u[2] && u[0] != u[3] && x[0] != x[2]);
    }
    for (uint64_t t = 499; t > 0; t--) { /* any order */
        tarry__world_prepare(a, t, 1, &u[0], &x[0]);
        tarry__world_prepare(b, 500 - t, 1, &u[1], &x[1]);
        tarry__world_prepare(b, t, 1, &u[1], &x[1]);
        assert_true(u[0] == u[1] && x[0] == x[1]);
    }
    tarry__world_free(a);
    tarry__world_free(b);
    tarry__world_free(c);
    tarry__world_free(d);
}

/* Two arms of one law get the same delay in the same round. */
static void all_arms_meet_the_same_luck(void **state)
{
    (void)state;
    tarry__world *w = make_world("sphere", "rademacher", "exponential");
    for (uint64_t t = 1; t < 300; t++) {
        double loss;
        uint64_t first, second;
        tarry__world_draw(w, t, 0, &loss, &first);
        tarry__world_draw(w, t, 99, &loss, &second);
        assert_int_equal(first, second);
    }
    assert_int_equal(tarry__world_model(w), TARRY__ENV_STOCHASTIC);
    tarry__world_free(w);
}

/* ---- files ---------------------------------------------------------------*/

static void exported_worlds_come_back_bit_by_bit(void **state)
{
    (void)state;
    tarry_error error;
    tarry__world *w = make_world("sphere:dim=7,arms=23", "normal", "pareto");
    assert_int_equal(tarry__world_export(w, folder, &error), TARRY_OK);
    tarry__world *back = make_world(
        "file:arms=FOLDER/arms.csv,theta=FOLDER/theta.csv", "normal", "pareto");
    assert_int_equal(back->instance.n_arms, 23);
    assert_memory_equal(w->instance.arms, back->instance.arms,
                        7 * 23 * sizeof(double));
    assert_memory_equal(w->instance.theta, back->instance.theta,
                        7 * sizeof(double));
    tarry__world_free(w);
    tarry__world_free(back);
}

static void the_summary_is_json_with_the_descriptions(void **state)
{
    (void)state;
    char text[4096] = "", expected[600];
    put_file("c.csv", "1\n");
    /* a description may hold what JSON must escape */
    char odd[256];
    snprintf(odd, sizeof odd, "empirical:file=%s/./\\\"c.csv", folder);
    tarry__world *w = make_world("basis:arms=2", "rademacher", "none");
    tarry__base_free(w->delay_text);
    w->delay_text = tarry__base_alloc(sizeof odd, 1);
    memcpy(w->delay_text, odd, sizeof odd);
    assert_int_equal(tarry__world_export(w, folder, NULL), TARRY_OK);
    snprintf(path, sizeof path, "%s/world.json", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    snprintf(expected, sizeof expected,
             "\"delay\": \"empirical:file=%s/./\\\\\\\"c.csv\"", folder);
    assert_non_null(strstr(text, expected));
    assert_non_null(strstr(text, "\"seed\": 2385,\n  \"run\": 17,"));
    snprintf(expected, sizeof expected, "\"means\": [%.17g, %.17g]",
             w->instance.mean[0], w->instance.mean[1]);
    assert_non_null(strstr(text, expected));
    tarry__world_free(w);
}

/* All that ASCII has, and a letter beyond it. */
static void the_summary_keeps_every_letter(void **state)
{
    (void)state;
    char odd[131];
    for (int i = 1; i < 128; i++)
        odd[i - 1] = (char)i;
    strcpy(odd + 127, "\xc3\xbc");
    tarry__world *w = make_world("basis:arms=2", "rademacher", "none");
    char **const texts[] = {&w->instance_text, &w->loss_text, &w->delay_text};
    for (size_t i = 0; i < 3; i++) {
        tarry__base_free(*texts[i]);
        *texts[i] = tarry__base_alloc(sizeof odd, 1);
        memcpy(*texts[i], odd, sizeof odd);
        (*texts[i])[i] = 'X';
    }
    assert_int_equal(tarry__world_export(w, folder, NULL), TARRY_OK);
    snprintf(path, sizeof path, "%s/world.json", folder);
    json_t *json = json_load_file(path, 0, NULL);
    assert_non_null(json);
    const char *const keys[] = {"instance", "loss", "delay"};
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(json_string_value(json_object_get(json, keys[i])),
                            *texts[i]);
    assert_int_equal(json_integer_value(json_object_get(json, "best")),
                     w->instance.best);
    assert_true(json_number_value(json_object_get(json, "best_mean")) ==
                w->instance.best_mean);
    assert_int_equal(json_integer_value(json_object_get(json, "arms")), 2);
    assert_int_equal(json_integer_value(json_object_get(json, "dim")), 2);
    json_decref(json);
    tarry__world_free(w);
}

/* Settings that limit each other: as far as they go, and a step further. */
static void settings_meet_at_exact_limits(void **state)
{
    (void)state;
    static const struct {
        const char *instance, *loss, *delay;
        bool is_good;
    } all[] = {
        {"basis:arms=3", "rademacher", "constant:slow=3", true},
        {"basis:arms=3", "rademacher", "constant:slow=4", false},
        {"basis:arms=1", "rademacher", "exponential:spread=5", true},
        {"basis", "rademacher", "lowest-late:p=0.75,far_p=0.25", true},
        {"basis", "rademacher", "highest-late:p=0,far_p=1", true},
        {"basis", "rademacher", "lowest-late:p=0.75,far_p=0.26", false},
        {"basis", "rademacher", "uniform:low=7,high=7", true},
        {"basis", "rademacher", "uniform:low=8,high=7", false},
        {"basis", "rademacher", "pareto:shape=1.000001", true},
        {"basis", "rademacher", "pareto:shape=1", false},
        {"basis", "rademacher", "poisson:mean=5e8,spread=2", true},
        {"basis", "rademacher", "poisson:mean=5.1e8,spread=2", false},
        {"lower-payoff:dim=100,arms=2", "none", "payoff:D=20", true},
        {"lower-payoff:dim=100,arms=2", "none", "payoff:D=20.5", false},
        {"basis:best=0,gap=1", "bernoulli", "payoff", true},
        {"basis:best=-0.001,gap=1", "bernoulli", "none", false},
        {"basis:best=0,gap=1,means=equal", "bernoulli", "none", true},
        {"basis:best=0,gap=1.001,means=equal", "bernoulli", "none", false},
        {"basis:best=-1,gap=2,means=equal", "rademacher", "none", true},
        {"basis:best=-1,gap=2,means=equal", "normal", "none", true},
        {"basis:arms=1,best=0.5", "uniform:width=0.5", "none", true},
        {"basis:arms=1,best=0.5", "uniform:width=0.500001", "none", false},
        {"basis:arms=1,best=0.5", "uniform:width=0.25,low=0.25", "none", true},
        {"basis:arms=1,best=0.5", "uniform:width=0.3,low=0.25", "none", false},
        {"cube:dim=3,arms=8", "rademacher", "none", true},
        {"cube:dim=3,arms=9", "rademacher", "none", false},
        {"sphere:dim=1,arms=1", "rademacher", "none", true},
        {"circle:arms=1", "rademacher", "none", true},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tarry__world *w;
        tarry_error error = {""};
        const tarry_status status = tarry__world_create(
            all[i].instance, all[i].loss, all[i].delay, 1, 0, &w, &error);
        if ((status == TARRY_OK) != all[i].is_good)
            fail_msg("%s %s %s: %s", all[i].instance, all[i].loss, all[i].delay,
                     error.text);
        tarry__world_free(w);
    }
}

/* The longest delay, and the largest factor, that may be; then one more. */
static void numbers_in_files_have_exact_limits(void **state)
{
    (void)state;
    static const struct {
        const char *delay, *number;
        bool is_good;
    } all[] = {
        {"empirical:file=FOLDER/c.csv", "0", true},
        {"empirical:file=FOLDER/c.csv", "-1", false},
        {"empirical:file=FOLDER/c.csv", "0.5", false},
        {"empirical:file=FOLDER/c.csv", "100000000000000", true},
        {"empirical:file=FOLDER/c.csv", "100000000000001", false},
        {"empirical:file=FOLDER/c.csv", "1e300", false},
        {"script:file=FOLDER/c.csv,sigma=9", "0", true},
        {"script:file=FOLDER/c.csv,sigma=9", "-1", false},
        {"script:file=FOLDER/c.csv,sigma=9", "100000000000000", true},
        {"script:file=FOLDER/c.csv,sigma=9", "100000000000001", false},
        {"constant:factors=FOLDER/c.csv", "0", true},
        {"constant:factors=FOLDER/c.csv", "-1e-9", false},
        {"constant:factors=FOLDER/c.csv", "1e9", true},
        {"constant:factors=FOLDER/c.csv", "1000000000.001", false},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int first = 0; first <= 1; first++) {
            char text[80];
            tarry__world *w;
            tarry_error error = {""};
            snprintf(text, sizeof text, "%s\n%s\n", first ? all[i].number : "1",
                     first ? "1" : all[i].number);
            put_file("c.csv", text);
            const tarry_status status =
                tarry__world_create("basis:arms=2", "rademacher",
                                    in_folder(all[i].delay), 1, 0, &w, &error);
            if ((status == TARRY_OK) != all[i].is_good)
                fail_msg("%s, %s: %s", all[i].delay, all[i].number, error.text);
            tarry__world_free(w);
        }
}

static void export_to_a_bad_folder_says_so(void **state)
{
    (void)state;
    tarry_error error;
    tarry__world *w = make_world("basis", "rademacher", "none");
    put_file("c.csv", "1\n");
    const char *const bad[] = {"/nowhere/at/all", path};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tarry__world_export(w, bad[i], &error),
                         TARRY_IO_ERROR);
        assert_non_null(strstr(error.text, bad[i]));
    }
    tarry__world_free(w);
}

/* ---- memory --------------------------------------------------------------*/

static void every_failed_allocation_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    put_delays();
    put_file("b.csv", "1,0\n0,1\n");
    put_file("c.csv", "0.5,0.25\n");
    const described more[] = {
        {"file:arms=FOLDER/b.csv,theta=FOLDER/c.csv", "none",
         "exponential:factors=FOLDER/c.csv"},
        {"sphere", "rademacher", "script:file=FOLDER/a.csv"},
        {"basis", "rademacher", "hold-rarest"},
        {"lower-payoff", "none", "payoff"},
    };
    const size_t n = sizeof worlds / sizeof *worlds;
    for (size_t i = 0; i < n + sizeof more / sizeof *more; i++) {
        const described d = i < n ? worlds[i] : more[i - n];
        tarry_status status = TARRY_NO_MEMORY;
        uint64_t k = 0;
        while (status != TARRY_OK) {
            tarry__world *world;
            tarry_error error = {""};
            tarry__base_fail_alloc(++k);
            status =
                tarry__world_create(in_folder(d.instance), in_folder(d.loss),
                                    in_folder(d.delay), 1, 0, &world, &error);
            tarry__base_fail_alloc(0);
            if (status != TARRY_OK) {
                assert_int_equal(status, TARRY_NO_MEMORY);
                assert_null(world);
                assert_non_null(strstr(error.text, "memory"));
            }
            tarry__world_free(world);
        }
        assert_true(k > 8);
    }
    tarry__world_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_descriptions_are_refused_by_name),
        cmocka_unit_test(blocks_of_rounds_give_the_bits_of_single_rounds),
        cmocka_unit_test(luck_depends_on_seed_run_and_round_alone),
        cmocka_unit_test(all_arms_meet_the_same_luck),
        cmocka_unit_test(exported_worlds_come_back_bit_by_bit),
        cmocka_unit_test(the_summary_is_json_with_the_descriptions),
        cmocka_unit_test(the_summary_keeps_every_letter),
        cmocka_unit_test(settings_meet_at_exact_limits),
        cmocka_unit_test(numbers_in_files_have_exact_limits),
        cmocka_unit_test(export_to_a_bad_folder_says_so),
        cmocka_unit_test(
            every_failed_allocation_is_reported_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
