/* test_special.c - distribution functions against GSL. */
#include "check.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include "random/special.h"

static void normal_quantiles_agree_with_gsl(void **state)
{
    (void)state;
    for (double p = 1e-300; p < 0.5; p *= 1.31) {
        const double z = tarry__random_normal_quantile(p);
        CHECK_NEAR(z, gsl_cdf_ugaussian_Pinv(p), 1e-13 * fabs(z) + 1e-15);
    }
    for (double q = 1e-15; q < 0.5; q *= 1.31) {
        const double z = tarry__random_normal_quantile(1 - q);
        CHECK_NEAR(z, gsl_cdf_ugaussian_Pinv(1 - q), 1e-13 * z);
    }
    CHECK_NEAR(tarry__random_normal_quantile(0.5), 0, 0);
}

/* Rounding z moves the tail by a share of z^2 2^-53. */
static void normal_tails_agree_with_gsl(void **state)
{
    (void)state;
    for (double z = -9; z < 37; z += 0.2385) {
        const double q = gsl_cdf_ugaussian_Q(z);
        CHECK_NEAR(tarry__random_normal_tail(z), q, 1e-14 * (1 + z * z) * q);
    }
}

static void incomplete_gammas_agree_with_gsl(void **state)
{
    (void)state;
    const double s[] = {0.01, 0.2385, 1, 2.385, 20, 100, 999};
    for (size_t i = 0; i < sizeof s / sizeof *s; i++)
        for (double x = s[i] / 64; x < 4 * s[i] + 40; x *= 1.17) {
            const double upper = gsl_sf_gamma_inc_Q(s[i], x);
            const double lower = gsl_sf_gamma_inc_P(s[i], x);
            CHECK_NEAR(tarry__random_gamma_upper(s[i], x), upper,
                       1e-11 * upper + 1e-15);
            CHECK_NEAR(tarry__random_gamma_lower(s[i], x), lower,
                       1e-11 * lower + 1e-15);
        }
    CHECK_NEAR(tarry__random_gamma_upper(2.385, 0), 1, 0);
    CHECK_NEAR(tarry__random_gamma_lower(2.385, 0), 0, 0);
}

/* The power series, term by term, with Stirling's series for Gamma(s). */
static double lower_term_by_term(double s, double x)
{
    const long double m = ((long double)x - s) / s;
    long double term = 1 / (long double)s, sum = term;
    for (long double k = (long double)s + 1; term > sum * 1e-20L; k++) {
        term *= x / k;
        sum += term;
    }
    return (double)(sum * sqrtl(s / (2 * (long double)M_PI)) *
                    expl(-s * (m - log1pl(m)) - 1 / (12 * (long double)s)));
}

/* z: standard deviations. */
static void incomplete_gammas_of_large_s_are_those_of_the_series(void **state)
{
    (void)state;
    for (double s = 1e4; s < 2e9; s *= 2.385)
        for (double z = -9; z < 9; z += 1.385) {
            const double x = s + z * sqrt(s), lower = lower_term_by_term(s, x);
            const double share = 1e-10;
            CHECK_NEAR(tarry__random_gamma_lower(s, x), lower, share * lower);
            CHECK_NEAR(tarry__random_gamma_upper(s, x), 1 - lower,
                       share * (1 - lower) + 1e-12);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_quantiles_agree_with_gsl),
        cmocka_unit_test(normal_tails_agree_with_gsl),
        cmocka_unit_test(incomplete_gammas_agree_with_gsl),
        cmocka_unit_test(incomplete_gammas_of_large_s_are_those_of_the_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
