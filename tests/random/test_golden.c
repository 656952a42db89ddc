/* test_golden.c - streams stay what they are.
 *
 * Stored experiments and journals rest on these values, which a second
 * implementation, in another language, has confirmed.  If one changes, every
 * user's results change: mend the code, not the table. */
#include "random/statistics.h"

static const tarry_random place = {
    .seed = 2385, .run = 17, .stream = 3, .round = 1000003};

static void the_bits_are_as_ever(void **state)
{
    (void)state;
    const uint32_t expected[] = {0xcfe34612, 0x07498b80, 0x289e5067,
                                 0x91e45755};
    uint32_t words[4];
    tarry_random_bits(&place, words);
    assert_memory_equal(words, expected, sizeof words);
}

static void the_uniforms_are_as_ever(void **state)
{
    (void)state;
    double u[2];
    tarry_random_uniform_pair(&place, u);
    assert_true(u[0] == 0x1.d262e033f8d2p-6);
    assert_true(u[1] == 0x1.23c8aeaa513cbp-1);
}

/* Equal but for the rounding of the C library. */
static void near(double drawn, double expected)
{
    assert_true(fabs(drawn - expected) <= 1e-14 * fabs(expected));
}

static void the_continuous_draws_are_as_ever(void **state)
{
    (void)state;
    near(tarry_random_normal(&place), -2.4148376063383252);
    near(tarry_random_exponential(&place, 23.85), 84.883256869088271);
    near(tarry_random_lognormal(&place, 0.7, 1.3), 0.087222854611454487);
    near(tarry_random_weibull(&place, 0.7, 23.85), 146.25404457202387);
    near(tarry_random_pareto(&place, 1.1, 23.85), 606.24303488683586);
    near(tarry_random_lomax(&place, 1.1, 23.85), 582.39303488683584);
}

/* Rounds 0..19; rejection takes further blocks in 4 of them. */
enum { N = 20 };

static void the_counts_are_as_ever(void **state)
{
    (void)state;
    const uint64_t geometric[N] = {106, 25, 80,  25, 174, 30, 26, 43, 53, 55,
                                   65,  55, 268, 56, 20,  27, 13, 68, 73, 3};
    const uint64_t by_inversion[N] = {0, 2, 1, 2, 0, 2, 2, 2, 1, 1,
                                      1, 1, 0, 1, 3, 2, 3, 1, 1, 5};
    const uint64_t by_rejection[N] = {17, 24, 18, 24, 22, 23, 24, 22, 20, 20,
                                      19, 20, 22, 20, 25, 24, 31, 19, 18, 32};
    for (int t = 0; t < N; t++) {
        const tarry_random at = at_round(t);
        assert_int_equal(tarry_random_geometric(&at, 0.02385), geometric[t]);
        assert_int_equal(tarry_random_poisson(&at, 2.385), by_inversion[t]);
        assert_int_equal(tarry_random_poisson(&at, 23.85), by_rejection[t]);
    }
}

static void the_discrete_draws_are_as_ever(void **state)
{
    (void)state;
    const double weights[] = {3, 0, 1, 4, 1, 5, 9, 2, 6};
    const size_t expected[N] = {0, 4, 6, 8, 0, 4, 8, 3, 2, 6,
                                6, 6, 0, 2, 5, 4, 5, 6, 6, 8};
    tarry_discrete *law;
    assert_int_equal(tarry_discrete_create(weights, 9, &law), TARRY_OK);
    for (int t = 0; t < N; t++) {
        const tarry_random at = at_round(t);
        assert_int_equal(tarry_discrete_draw(law, &at), expected[t]);
    }
    tarry_discrete_free(law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bits_are_as_ever),
        cmocka_unit_test(the_uniforms_are_as_ever),
        cmocka_unit_test(the_continuous_draws_are_as_ever),
        cmocka_unit_test(the_counts_are_as_ever),
        cmocka_unit_test(the_discrete_draws_are_as_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
