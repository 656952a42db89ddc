/* test_lognormal.c - the log-normal against its cdf, and its ends. */
#include "random/statistics.h"

static double draw(const tarry_random *at, const double *parameters)
{
    return tarry_random_lognormal(at, parameters[0], parameters[1]);
}

static double cdf(double x, const double *parameters)
{
    return gsl_cdf_lognormal_P(x, parameters[0], parameters[1]);
}

static void check(double mu, double sigma)
{
    const double mean = exp(mu + sigma * sigma / 2);
    const double deviation = mean * sqrt(expm1(sigma * sigma));
    check_continuous(
        &(continuous_law){draw, cdf, {mu, sigma}, mean, deviation});
}

static void lognormal_draws_are_lognormal(void **state)
{
    (void)state;
    check(0, 1);
    check(2.385, 0.5);
    check(-7, 0.01);
}

static void sigma_0_is_always_the_median(void **state)
{
    (void)state;
    const tarry_random at = at_round(1);
    assert_true(tarry_random_lognormal(&at, 2.385, 0) == exp(2.385));
}

static void parameters_out_of_range_answer_nan(void **state)
{
    (void)state;
    const tarry_random at = at_round(1);
    assert_true(isnan(tarry_random_lognormal(&at, NAN, 1)));
    assert_true(isnan(tarry_random_lognormal(&at, INFINITY, 1)));
    assert_true(isnan(tarry_random_lognormal(&at, 0, -1)));
    assert_true(isnan(tarry_random_lognormal(&at, 0, NAN)));
    assert_true(isnan(tarry_random_lognormal(&at, 0, INFINITY)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lognormal_draws_are_lognormal),
        cmocka_unit_test(sigma_0_is_always_the_median),
        cmocka_unit_test(parameters_out_of_range_answer_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
