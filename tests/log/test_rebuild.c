/* test_rebuild.c - worlds made of logs are like the worlds that made them. */
#define _XOPEN_SOURCE 700
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "env/world.h"
#include "log/rebuild.h"
#include "made_log.h"

static char folder[] = "/tmp/tarry-rebuild-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int drop_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"arms.csv", "theta.csv", "pairs.csv"};
    for (size_t i = 0; i < 3; i++) {
        char path[100];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

/* The log as it is read; its columns belong to `m` and `out`. */
static tarry__log log_of(const made_log *m, double *decided, double *reported,
                         double *loss)
{
    for (size_t i = 0; i < m->count; i++) {
        decided[i] = (double)(i + 1);
        reported[i] = m->seen[i] ? decided[i] + m->delay[i] : NAN;
        loss[i] = m->seen[i] ? m->loss[i] : NAN;
    }
    return (tarry__log){.options = {.low = -1, .high = 1},
                        .count = m->count,
                        .n_arms = m->n_arms,
                        .arm = m->arm,
                        .decided = decided,
                        .reported = reported,
                        .loss = loss,
                        .now = (double)m->count,
                        .has_delays = true};
}

static tarry__world *open_world(void)
{
    char instance[200], delay[200];
    tarry__world *w;
    tarry_error error;
    snprintf(instance, sizeof instance,
             "file:arms=%s/arms.csv,theta=%s/"
             "theta.csv",
             folder, folder);
    snprintf(delay, sizeof delay, "resampled:file=%s/pairs.csv", folder);
    if (tarry__world_create(instance, "rademacher", delay, 1, 0, &w, &error) !=
        TARRY_OK)
        fail_msg("%s", error.text);
    return w;
}

/* Mean loss, and mean delay of low and of high losses, of an arm. */
static void measure(const tarry__world *w, size_t arm, double *mean,
                    double *low, double *high)
{
    enum { DRAWS = 40000 };
    double n_low = 0, n_high = 0;
    *mean = *low = *high = 0;
    for (uint64_t t = 1; t <= DRAWS; t++) {
        double loss;
        uint64_t delay;
        tarry__world_draw(w, t, arm, &loss, &delay);
        *mean += loss / DRAWS;
        if (delay == TARRY__DELAY_NEVER)
            continue;
        *(loss < 0 ? low : high) += (double)delay;
        *(loss < 0 ? &n_low : &n_high) += 1;
    }
    *low /= n_low;
    *high /= n_high;
}

/* Low losses take 400, high ones 100 rounds in a log of 4000: what was seen is
 * biased towards the high ones; the rebuilt world is not. */
static void losses_and_delays_come_together(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    const log_recipe r = {.instance = "basis:arms=3,fixed=1",
                          .loss = "rademacher",
                          .delay = "low-late:late=400,early=100,"
                                   "law=exponential",
                          .count = COUNT,
                          .seed = 3};
    made_log m = make_log(&r);
    double *columns = malloc(3 * COUNT * sizeof *columns);
    const tarry__log log =
        log_of(&m, columns, columns + COUNT, columns + 2 * COUNT);
    tarry__rebuild_world world;
    tarry_error error;
    assert_int_equal(tarry__rebuild(&log, NULL, true, &world, &error),
                     TARRY_OK);
    assert_int_equal(tarry__rebuild_write(&world, folder, &error), TARRY_OK);
    tarry__world *truth, *w = open_world();
    assert_int_equal(tarry__world_create(r.instance, r.loss, r.delay, r.seed, 0,
                                         &truth, &error),
                     TARRY_OK);
    for (size_t k = 0; k < 3; k++) {
        double mean, low, high;
        measure(w, k, &mean, &low, &high);
        /* 1333 losses of deviation 1: 0.027; 3 standard errors */
        CHECK_NEAR(mean, truth->instance.mean[k], 0.085);
        CHECK_NEAR(low, 400, 60); /* 600 delays: 16; 3.7 standard errors */
        CHECK_NEAR(high, 100, 15);
    }
    tarry__world_free(w);
    tarry__world_free(truth);
    tarry__rebuild_clear(&world);
    free(columns);
    unmake_log(&m);
}

/* An arm that was never played, and one with two outcomes, borrow. */
static void arms_that_are_hardly_known_borrow(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    double columns[3 * COUNT];
    made_log m;
    room_for_log(&m, COUNT);
    m.n_arms = 4;
    for (size_t i = 0; i < COUNT; i++) {
        m.arm[i] = i < 2 ? 1 : i % 2 == 0 ? 0 : 3;
        m.loss[i] = i % 3 == 0 ? -1 : 1;
        m.delay[i] = (double)(i % 7);
        m.seen[i] = i + (size_t)m.delay[i] < COUNT;
    }
    const tarry__log log =
        log_of(&m, columns, columns + COUNT, columns + 2 * COUNT);
    tarry__rebuild_world world;
    tarry_error error;
    assert_int_equal(tarry__rebuild(&log, NULL, false, &world, &error),
                     TARRY_OK);
    assert_int_equal(tarry__rebuild_write(&world, folder, &error), TARRY_OK);
    tarry__world *w = open_world(); /* checks the means of all four */
    CHECK_NEAR(w->instance.mean[2], 0, 1e-12);
    tarry__world_free(w);
    tarry__rebuild_clear(&world);
    unmake_log(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_and_delays_come_together),
        cmocka_unit_test(arms_that_are_hardly_known_borrow),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
