/* test_exponential.c - the exponential against its cdf, and its ends. */
#include "random/statistics.h"

static double draw(const tarry_random *at, const double *parameters)
{
    return tarry_random_exponential(at, parameters[0]);
}

static double cdf(double x, const double *parameters)
{
    return gsl_cdf_exponential_P(x, parameters[0]);
}

static void exponential_draws_are_exponential(void **state)
{
    (void)state;
    const double means[] = {1e-300, 2.385, 500, 1e300};
    for (int i = 0; i < 4; i++)
        check_continuous(
            &(continuous_law){draw, cdf, {means[i]}, means[i], means[i]});
}

static void mean_0_is_always_0(void **state)
{
    (void)state;
    const tarry_random at = at_round(1);
    assert_true(tarry_random_exponential(&at, 0) == 0);
}

static void means_out_of_range_answer_nan(void **state)
{
    (void)state;
    const tarry_random at = at_round(1);
    assert_true(isnan(tarry_random_exponential(&at, -2.385)));
    assert_true(isnan(tarry_random_exponential(&at, INFINITY)));
    assert_true(isnan(tarry_random_exponential(&at, NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_draws_are_exponential),
        cmocka_unit_test(mean_0_is_always_0),
        cmocka_unit_test(means_out_of_range_answer_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
