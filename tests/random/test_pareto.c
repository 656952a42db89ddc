/* test_pareto.c - Pareto and Lomax against their cdfs, and their ends. */
#include "random/statistics.h"

static double draw_pareto(const tarry_random *at, const double *parameters)
{
    return tarry_random_pareto(at, parameters[0], parameters[1]);
}

static double cdf_pareto(double x, const double *parameters)
{
    return gsl_cdf_pareto_P(x, parameters[0], parameters[1]);
}

static double draw_lomax(const tarry_random *at, const double *parameters)
{
    return tarry_random_lomax(at, parameters[0], parameters[1]);
}

static double cdf_lomax(double x, const double *parameters)
{
    return gsl_cdf_pareto_P(x + parameters[1], parameters[0], parameters[1]);
}

/* Shapes above 4, so that the standard error of the mean means something. */
static void check(double shape, double scale)
{
    const double mean = scale * shape / (shape - 1);
    const double deviation = mean / sqrt(shape * (shape - 2));
    check_continuous(&(continuous_law){
        draw_pareto, cdf_pareto, {shape, scale}, mean, deviation});
    check_continuous(&(continuous_law){
        draw_lomax, cdf_lomax, {shape, scale}, mean - scale, deviation});
}

static void pareto_and_lomax_draws_follow_their_laws(void **state)
{
    (void)state;
    check(4.2, 2.385);
    check(7, 500);
    check(23.85, 0.01);
}

static void heavy_tails_follow_their_laws_too(void **state)
{
    (void)state;
    double sum;
    const continuous_law pareto = {draw_pareto, cdf_pareto, {0.5, 3}, 0, 0};
    const continuous_law lomax = {draw_lomax, cdf_lomax, {1.1, 3}, 0, 0};
    assert_true(continuous_p(&pareto, &sum) > smallest_p);
    assert_true(continuous_p(&lomax, &sum) > smallest_p);
}

static void a_huge_shape_stays_at_the_start(void **state)
{
    (void)state;
    const tarry_random at = at_round(1);
    const double e = tarry_random_exponential(&at, 1);
    assert_true(tarry_random_pareto(&at, 1e300, 2.385) == 2.385);
    const double small = tarry_random_lomax(&at, 1e300, 1e300);
    assert_true(fabs(small - e) <= 1e-15 * e);
}

static void a_tiny_shape_answers_infinity(void **state)
{
    (void)state;
    const tarry_random at = at_round(1);
    assert_true(isinf(tarry_random_pareto(&at, 1e-320, 2.385)));
    assert_true(isinf(tarry_random_lomax(&at, 1e-320, 2.385)));
}

static void parameters_out_of_range_answer_nan(void **state)
{
    (void)state;
    const tarry_random at = at_round(1);
    const double bad[] = {0, -2.385, INFINITY, NAN};
    for (int i = 0; i < 4; i++) {
        assert_true(isnan(tarry_random_pareto(&at, bad[i], 1)));
        assert_true(isnan(tarry_random_pareto(&at, 1, bad[i])));
        assert_true(isnan(tarry_random_lomax(&at, bad[i], 1)));
        assert_true(isnan(tarry_random_lomax(&at, 1, bad[i])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pareto_and_lomax_draws_follow_their_laws),
        cmocka_unit_test(heavy_tails_follow_their_laws_too),
        cmocka_unit_test(a_huge_shape_stays_at_the_start),
        cmocka_unit_test(a_tiny_shape_answers_infinity),
        cmocka_unit_test(parameters_out_of_range_answer_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
