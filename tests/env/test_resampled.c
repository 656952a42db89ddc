/* test_resampled.c - pairs of loss and delay drawn from a list. */
#define _DEFAULT_SOURCE
#include "worlds.h"

static const char *const instance =
    "file:arms=FOLDER/arms.csv,theta=FOLDER/theta.csv";
static const char *const resampled = "resampled:file=FOLDER/a.csv";

/* Two arms of means -0.5 and 0.25. */
static void put_world(const char *pairs)
{
    put_file("arms.csv", "1,0\n0,1\n");
    put_file("theta.csv", "-0.5\n0.25\n");
    put_file("a.csv", pairs);
}

static const char *const good = "arm,loss,delay,weight\n"
                                "0,-1,40,3\n1,1,-1,1\n0,1,0,1\n1,0,7,3\n";

static void pairs_come_in_proportion_to_their_weight(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    put_world(good);
    tarry__world *world = make_world(instance, "rademacher", resampled);
    double late = 0, never = 0;
    for (uint64_t t = 1; t <= DRAWS; t++) {
        double loss;
        uint64_t delay;
        tarry__world_draw(world, t, 0, &loss, &delay);
        assert_true(delay == (loss < 0 ? 40 : 0)); /* as one pair */
        late += loss < 0;
        tarry__world_draw(world, t, 1, &loss, &delay);
        assert_true((delay == TARRY__DELAY_NEVER) == (loss == 1));
        never += loss == 1;
    }
    /* 4 standard errors */
    CHECK_NEAR(late / DRAWS, 0.75, 4 * sqrt(0.1875 / DRAWS));
    CHECK_NEAR(never / DRAWS, 0.25, 4 * sqrt(0.1875 / DRAWS));
    CHECK_NEAR(tarry__delay_tail(&world->delay, 0, 40), 0.75, 1e-12);
    CHECK_NEAR(tarry__delay_tail(&world->delay, 0, 41), 0, 1e-12);
    CHECK_NEAR(tarry__delay_mean(&world->delay, 0), 30, 1e-12);
    CHECK_NEAR(tarry__delay_tail(&world->delay, 1, 1000), 0.25, 1e-12);
    assert_true(isinf(tarry__delay_mean(&world->delay, 1)));
    assert_int_equal(tarry__world_model(world), TARRY__ENV_LOSS_DEPENDENT);
    tarry__world_free(world);
}

static void lists_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *pairs, *why;
    } bad[] = {
        {"0,-1,40,3\n0,1,0,1\n", "no pair of arm 1"},
        {"0,-1,40,3\n0,1,0,1\n1,1,1,1\n1,0,7,2\n", "arm 1 have mean"},
        {"0,-1,40,3\n0,1,0,1\n1,2,1,1\n1,0,7,3\n", "outside [-1, 1]"},
        {"2,-1,40,3\n", "pair 1: no such arm"},
        {"0,-1,1.5,3\n", "not a whole number of rounds"},
        {"0,-1,-2,3\n", "not a whole number of rounds"},
        {"0,-1,1,0\n", "the weight is not above 0"},
        {"0,-1,1\n", "3 columns"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tarry__world *world;
        tarry_error error = {""};
        put_world(bad[i].pairs);
        assert_int_equal(tarry__world_create(in_folder(instance), "rademacher",
                                             in_folder(resampled), 1, 0, &world,
                                             &error),
                         TARRY_BAD_INPUT);
        if (strstr(error.text, bad[i].why) == NULL)
            fail_msg("'%s' has no '%s'", error.text, bad[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_come_in_proportion_to_their_weight),
        cmocka_unit_test(lists_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
