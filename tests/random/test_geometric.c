/* test_geometric.c - the geometric against its cdf, and its ends. */
#include "random/statistics.h"

/* GSL counts the trials, one more than the failures. */
static double cdf(uint64_t k, double p)
{
    return gsl_cdf_geometric_P((unsigned)k + 1, p);
}

static void geometric_draws_are_geometric(void **state)
{
    (void)state;
    const double p[] = {1e-6, 0.002, 0.2385, 0.5, 0.9, 0.999};
    for (int i = 0; i < 6; i++)
        check_counts(&(count_law){tarry_random_geometric, cdf, p[i],
                                  (1 - p[i]) / p[i], sqrt(1 - p[i]) / p[i]});
}

static void success_for_sure_is_always_0(void **state)
{
    (void)state;
    for (uint64_t t = 0; t < 1000; t++) {
        const tarry_random at = at_round(t);
        assert_true(tarry_random_geometric(&at, 1) == 0);
    }
}

static void no_or_next_to_no_success_saturates(void **state)
{
    (void)state;
    const tarry_random at = at_round(1);
    assert_true(tarry_random_geometric(&at, 0) == UINT64_MAX);
    assert_true(tarry_random_geometric(&at, 1e-30) == UINT64_MAX);
    assert_true(tarry_random_geometric(&at, 1e-17) < UINT64_MAX);
}

static void probabilities_out_of_range_answer_the_largest_count(void **state)
{
    (void)state;
    const tarry_random at = at_round(1);
    const double bad[] = {-0.1, 1.1, INFINITY, NAN};
    for (int i = 0; i < 4; i++)
        assert_true(tarry_random_geometric(&at, bad[i]) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(geometric_draws_are_geometric),
        cmocka_unit_test(success_for_sure_is_always_0),
        cmocka_unit_test(no_or_next_to_no_success_saturates),
        cmocka_unit_test(probabilities_out_of_range_answer_the_largest_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
