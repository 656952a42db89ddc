/* test_normal.c - the standard normal against its cdf. */
#include "random/statistics.h"

static double draw(const tarry_random *at, const double *parameters)
{
    (void)parameters;
    return tarry_random_normal(at);
}

static double cdf(double x, const double *parameters)
{
    (void)parameters;
    return gsl_cdf_ugaussian_P(x);
}

static void normal_draws_are_normal(void **state)
{
    (void)state;
    check_continuous(&(continuous_law){draw, cdf, {0}, 0, 1});
}

/* z^2 has mean 1 and variance 2, z^4 mean 3 and variance 96. */
static void second_and_fourth_moments_are_1_and_3(void **state)
{
    (void)state;
    double second = 0, fourth = 0;
    for (int i = 0; i < DRAWS; i++) {
        const tarry_random at = at_round(i);
        const double z = tarry_random_normal(&at);
        second += z * z;
        fourth += z * z * z * z;
    }
    check_mean(second, 1, sqrt(2));
    check_mean(fourth, 3, sqrt(96));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_draws_are_normal),
        cmocka_unit_test(second_and_fourth_moments_are_1_and_3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
