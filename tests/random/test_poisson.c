/* test_poisson.c - the Poisson against its cdf in both regimes, and its ends.
 */
#include "random/statistics.h"
#include <gsl/gsl_randist.h>

/* Edgeworth's first correction of the normal limit, with the continuity
 * correction: off by less than 1e-7 from mean 1e6 on, where GSL goes astray. */
static double cdf_of_large_mean(double k, double mean)
{
    const double z = (k + 0.5 - mean) / sqrt(mean);
    return gsl_cdf_ugaussian_P(z) -
           gsl_ran_ugaussian_pdf(z) * (z * z - 1) / (6 * sqrt(mean));
}

static double cdf(uint64_t k, double mean)
{
    return mean > 1e6 ? cdf_of_large_mean((double)k, mean)
                      : gsl_cdf_poisson_P((unsigned)k, mean);
}

static void check(double mean)
{
    check_counts(
        &(count_law){tarry_random_poisson, cdf, mean, mean, sqrt(mean)});
}

static void small_means_by_inversion_are_poisson(void **state)
{
    (void)state;
    check(0.01);
    check(0.7);
    check(2.385);
    check(9.999999);
}

static void large_means_by_rejection_are_poisson(void **state)
{
    (void)state;
    check(10);
    check(10.5);
    check(23.85);
    check(1000);
    check(1e6);
    check(1e9);
}

static uint64_t draw_too_much(const tarry_random *at, double mean)
{
    return tarry_random_poisson(at, 1.01 * mean);
}

/* The judge itself: 1 % too much is 14 standard errors at mean 10. */
static void a_slightly_wrong_mean_is_found_out(void **state)
{
    (void)state;
    const count_law wrong = {draw_too_much, cdf, 10, 10, sqrt(10)};
    double sum;
    assert_true(counts_p(&wrong, &sum) < smallest_p);
}

static void mean_0_is_always_0(void **state)
{
    (void)state;
    for (uint64_t t = 0; t < 1000; t++) {
        const tarry_random at = at_round(t);
        assert_true(tarry_random_poisson(&at, 0) == 0);
        assert_true(tarry_random_poisson(&at, 1e-300) == 0);
    }
}

static void means_out_of_range_answer_the_largest_count(void **state)
{
    (void)state;
    const tarry_random at = at_round(1);
    const double bad[] = {-2.385, 1.1e9, INFINITY, NAN};
    for (int i = 0; i < 4; i++)
        assert_true(tarry_random_poisson(&at, bad[i]) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_means_by_inversion_are_poisson),
        cmocka_unit_test(large_means_by_rejection_are_poisson),
        cmocka_unit_test(a_slightly_wrong_mean_is_found_out),
        cmocka_unit_test(mean_0_is_always_0),
        cmocka_unit_test(means_out_of_range_answer_the_largest_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
