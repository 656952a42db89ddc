/* The limit: known values, its certificate, and what must not change it. */
#define _GNU_SOURCE
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "bound/limit.h"

static tarry__bound_limit limit_of(const char *instance, const char *loss,
                                   uint64_t seed)
{
    tarry__world *world;
    tarry__bound_limit limit = {0};
    tarry_error error = {"no error text"};
    tarry_status status =
        tarry__world_create(instance, loss, "none", seed, 0, &world, &error);
    if (status == TARRY_OK)
        status = tarry__bound_limit_find(world, &limit, &error);
    if (status != TARRY_OK)
        fail_msg("%s, %s: %s", instance, loss, error.text);
    tarry__world_free(world);
    return limit;
}

/* Arms for themselves: the sum of 2 R^2 / gap. */
static void a_plain_bandit_pays_two_over_each_gap(void **state)
{
    (void)state;
    const char *const equal = "basis:arms=7,best=0.2,gap=0.25,means=equal";
    CHECK_NEAR(limit_of(equal, "rademacher", 1).constant, 6 * 2 / 0.25, 1e-2);
    CHECK_NEAR(limit_of(equal, "bernoulli", 1).constant, 6 * 0.5 / 0.25, 1e-2);
    CHECK_NEAR(limit_of(equal, "normal:sd=0.1", 1).constant, 6 * 0.02 / 0.25,
               1e-3);
    CHECK_NEAR(limit_of(equal, "none", 1).constant, 0, 0);
}

/* "The end of optimism": arms (1,0), (0,1), (1 - e, 8 A e), theta = -(1, 0)
 * up to sign.  The second arm, of gap 1, tells the third, of gap e, from the
 * first: at |a3 - a1|^2 = (8 A e)^2 / N <= e^2 / 2 it takes N = 128 A^2 plays.
 */
static void the_end_of_optimism_by_hand(void **state)
{
    (void)state;
    const tarry__bound_limit l =
        limit_of("optimism:eps=0.01,alpha=1", "rademacher", 1);
    CHECK_NEAR(l.constant, 128, 0.2);
    assert_int_equal(l.support, 1);
}

static void the_certificate_closes_the_question(void **state)
{
    (void)state;
    const char *const instances[] = {
        "sphere:dim=2,arms=9",   "sphere:dim=5,arms=40",
        "sphere:dim=8,arms=400", "sphere:dim=20,arms=25",
        "cube:dim=6,arms=50",    "sphere:dim=6,arms=4"};
    for (size_t i = 0; i < sizeof instances / sizeof *instances; i++)
        for (uint64_t seed = 1; seed < 6; seed++) {
            const tarry__bound_limit l =
                limit_of(instances[i], "rademacher", seed);
            CHECK_AT_MOST(l.certified, l.constant);
            CHECK_AT_MOST(l.constant, l.certified * 1.001);
            CHECK_AT_MOST(l.by_law, l.constant);
            assert_true(l.certified > 0);
        }
}

/* A plan for more arms is a plan for fewer, and losses of half the deviation
 * need a quarter of the plays. */
static void it_grows_with_what_must_be_told(void **state)
{
    (void)state;
    const tarry__bound_limit one =
        limit_of("sphere:dim=4,arms=30,scale=0.3", "normal:sd=0.2", 3);
    const tarry__bound_limit half =
        limit_of("sphere:dim=4,arms=30,scale=0.3", "normal:sd=0.1", 3);
    CHECK_NEAR(half.constant / one.constant, 0.25, 1e-3);
}

static void arms_that_are_all_best_have_none(void **state)
{
    (void)state;
    const tarry__bound_limit l =
        limit_of("basis:arms=5,best=0,gap=0,means=equal", "rademacher", 1);
    CHECK_NEAR(l.constant, 0, 0);
    CHECK_NEAR(l.certified, 0, 0);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* What best arms tell is free, in all directions that they span.  Here these
 * are two of three, so that one arm with a gap of 1/4 tells the other three
 * what they are: 2 / gap.  Without the second best arm it takes two of them. */
static void several_best_arms_tell_all_that_they_span(void **state)
{
    (void)state;
    char arms[] = "/tmp/tarry-limit-XXXXXX",
         theta[] = "/tmp/tarry-limit-XXXXXX";
    char instance[120];
    close(mkstemp(arms));
    close(mkstemp(theta));
    snprintf(instance, sizeof instance, "file:arms=%s,theta=%s", arms, theta);
    write_file(theta, "0\n0\n0.25\n");
    write_file(arms, "1,0,0\n0,1,0\n0,1,1\n0,-1,1\n1,1,1\n-1,0,1\n");
    CHECK_NEAR(limit_of(instance, "rademacher", 1).constant, 2 / 0.25, 1e-2);
    write_file(arms, "1,0,0\n0,1,1\n0,-1,1\n");
    CHECK_NEAR(limit_of(instance, "rademacher", 1).constant, 4 / 0.25, 1e-2);
    unlink(arms);
    unlink(theta);
}

/* Where the best arm never loses less than it can, one loss of another value
 * tells any other arm from it: no log T has to be paid, however means round. */
static void an_arm_that_is_certain_is_told_at_once(void **state)
{
    (void)state;
    static const char *const certain[] = {"-1\n-0.6\n0.9\n-0.4\n0.7\n",
                                          "-1\n0.1\n0.2\n0.3\n-0.7\n",
                                          "-1\n-0.9\n1\n1\n0\n"};
    char arms[] = "/tmp/tarry-limit-XXXXXX",
         theta[] = "/tmp/tarry-limit-XXXXXX";
    char instance[120];
    close(mkstemp(arms));
    close(mkstemp(theta));
    snprintf(instance, sizeof instance, "file:arms=%s,theta=%s", arms, theta);
    write_file(arms, "1,0,0,0,0\n0,1,0,0,0\n0,0,1,0,0\n0,0,0,1,0\n0,0,0,0,1\n");
    for (size_t i = 0; i < sizeof certain / sizeof *certain; i++) {
        write_file(theta, certain[i]);
        CHECK_NEAR(limit_of(instance, "rademacher", 1).by_law, 0, 0);
    }
    write_file(theta, "-0.999\n-0.6\n0.9\n-0.4\n0.7\n");
    assert_true(limit_of(instance, "rademacher", 1).by_law > 0.1);
    unlink(arms);
    unlink(theta);
}

static void too_many_dimensions_are_refused(void **state)
{
    (void)state;
    tarry__world *world;
    tarry__bound_limit limit;
    tarry_error error;
    assert_int_equal(tarry__world_create("sphere:dim=140,arms=200",
                                         "rademacher", "none", 1, 0, &world,
                                         &error),
                     TARRY_OK);
    assert_int_equal(tarry__bound_limit_find(world, &limit, &error),
                     TARRY_BAD_INPUT);
    assert_true(isnan(limit.constant));
    tarry__world_free(world);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tarry__world *world;
    tarry__bound_limit limit;
    assert_int_equal(tarry__world_create("sphere:dim=3,arms=8", "rademacher",
                                         "none", 1, 0, &world, NULL),
                     TARRY_OK);
    tarry__base_fail_alloc(0);
    assert_int_equal(tarry__bound_limit_find(world, &limit, NULL), TARRY_OK);
    const uint64_t count = tarry__base_fail_alloc(0);
    for (uint64_t k = 1; k <= count; k++) {
        tarry_error error = {""};
        tarry__base_fail_alloc(k);
        assert_int_equal(tarry__bound_limit_find(world, &limit, &error),
                         TARRY_NO_MEMORY);
        assert_string_equal(error.text, "out of memory");
    }
    tarry__base_fail_alloc(0);
    tarry__world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_bandit_pays_two_over_each_gap),
        cmocka_unit_test(the_end_of_optimism_by_hand),
        cmocka_unit_test(the_certificate_closes_the_question),
        cmocka_unit_test(it_grows_with_what_must_be_told),
        cmocka_unit_test(arms_that_are_all_best_have_none),
        cmocka_unit_test(several_best_arms_tell_all_that_they_span),
        cmocka_unit_test(an_arm_that_is_certain_is_told_at_once),
        cmocka_unit_test(too_many_dimensions_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
