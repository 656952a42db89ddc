/* test_weibull.c - the Weibull against its cdf, and its ends. */
#include "random/statistics.h"

static double draw(const tarry_random *at, const double *parameters)
{
    return tarry_random_weibull(at, parameters[0], parameters[1]);
}

static double cdf(double x, const double *parameters)
{
    return gsl_cdf_weibull_P(x, parameters[1], parameters[0]);
}

static void check(double shape, double scale)
{
    const double mean = scale * tgamma(1 + 1 / shape);
    const double square = scale * scale * tgamma(1 + 2 / shape);
    check_continuous(&(continuous_law){
        draw, cdf, {shape, scale}, mean, sqrt(square - mean * mean)});
}

static void weibull_draws_are_weibull(void **state)
{
    (void)state;
    check(0.7, 2.385);
    check(1, 500);
    check(3.6, 0.01);
}

static void a_huge_shape_is_always_the_scale(void **state)
{
    (void)state;
    const tarry_random at = at_round(1);
    assert_true(tarry_random_weibull(&at, 1e300, 2.385) == 2.385);
}

static void a_tiny_shape_answers_a_number_or_infinity(void **state)
{
    (void)state;
    for (uint64_t t = 0; t < 1000; t++) {
        const tarry_random at = at_round(t);
        assert_true(tarry_random_weibull(&at, 1e-320, 2.385) >= 0);
    }
}

static void parameters_out_of_range_answer_nan(void **state)
{
    (void)state;
    const tarry_random at = at_round(1);
    const double bad[] = {0, -2.385, INFINITY, NAN};
    for (int i = 0; i < 4; i++) {
        assert_true(isnan(tarry_random_weibull(&at, bad[i], 1)));
        assert_true(isnan(tarry_random_weibull(&at, 1, bad[i])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weibull_draws_are_weibull),
        cmocka_unit_test(a_huge_shape_is_always_the_scale),
        cmocka_unit_test(a_tiny_shape_answers_a_number_or_infinity),
        cmocka_unit_test(parameters_out_of_range_answer_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
