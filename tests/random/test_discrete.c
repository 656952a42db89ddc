/* test_discrete.c - draws by weight: the law, its edges, its refusals. */
#include "random/statistics.h"
#include "base/base.h"

static tarry_discrete *make(const double *weights, size_t count)
{
    tarry_discrete *law;
    assert_int_equal(tarry_discrete_create(weights, count, &law), TARRY_OK);
    return law;
}

static void count_draws(const tarry_discrete *law, double *observed)
{
    for (int t = 0; t < DRAWS; t++) {
        const tarry_random at = at_round(t);
        observed[tarry_discrete_draw(law, &at)]++;
    }
}

static void expect_draws(const double *weights, size_t count, double *expected)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += weights[i];
    for (size_t i = 0; i < count; i++)
        expected[i] = DRAWS * weights[i] / sum;
}

static void check_mean_index(const double *observed, const double *expected,
                             size_t count)
{
    double sum = 0, mean = 0, square = 0;
    for (size_t i = 0; i < count; i++) {
        sum += observed[i] * (double)i;
        mean += expected[i] / DRAWS * (double)i;
        square += expected[i] / DRAWS * (double)i * (double)i;
    }
    check_mean(sum, mean, sqrt(square - mean * mean));
}

/* Indices of weight 0 must stay without draws, whatever group of the
 * chi-square they fall in. */
static void check(const double *weights, size_t count)
{
    tarry_discrete *law = make(weights, count);
    double *observed = test_calloc(count, sizeof *observed);
    double *expected = test_calloc(count, sizeof *expected);
    count_draws(law, observed);
    expect_draws(weights, count, expected);
    for (size_t i = 0; i < count; i++)
        assert_true(weights[i] > 0 || observed[i] == 0);
    assert_true(chi_square_p(observed, expected, count) > smallest_p);
    check_mean_index(observed, expected, count);
    test_free(observed);
    test_free(expected);
    tarry_discrete_free(law);
}

static void draws_follow_the_weights(void **state)
{
    (void)state;
    check((double[]){0.25, 0.75}, 2);
    check((double[]){2.385, 2.385, 2.385}, 3);
    check((double[]){0, 3, 0, 0.1, 7, 0}, 6);
    check((double[]){0.001, 1, 0.001}, 3);
}

static void draws_follow_a_thousand_weights(void **state)
{
    (void)state;
    double weights[1000];
    for (int i = 0; i < 1000; i++)
        weights[i] = i % 7 == 0 ? 0 : pow(i, 1.5);
    check(weights, 1000);
}

static void a_single_index_is_always_drawn(void **state)
{
    (void)state;
    tarry_discrete *law = make((double[]){2.385}, 1);
    for (uint64_t t = 0; t < 1000; t++) {
        const tarry_random at = at_round(t);
        assert_true(tarry_discrete_draw(law, &at) == 0);
    }
    tarry_discrete_free(law);
}

/* Their sum overflows, or is below the smallest normal number. */
static void weights_may_be_huge_or_tiny(void **state)
{
    (void)state;
    tarry_discrete *huge = make((double[]){1e308, 0, 1e308, 1e308}, 4);
    tarry_discrete *tiny = make((double[]){5e-324, 0, 5e-324, 5e-324}, 4);
    tarry_discrete *plain = make((double[]){1, 0, 1, 1}, 4);
    for (uint64_t t = 0; t < 1000; t++) {
        const tarry_random at = at_round(t);
        const size_t drawn = tarry_discrete_draw(plain, &at);
        assert_true(tarry_discrete_draw(huge, &at) == drawn);
        assert_true(tarry_discrete_draw(tiny, &at) == drawn);
    }
    tarry_discrete_free(huge);
    tarry_discrete_free(tiny);
    tarry_discrete_free(plain);
}

static void is_refused(const double *weights, size_t count)
{
    tarry_discrete *law = (tarry_discrete *)&law;
    assert_int_equal(tarry_discrete_create(weights, count, &law),
                     TARRY_BAD_ARGUMENT);
    assert_null(law);
}

static void weights_that_make_no_law_are_refused(void **state)
{
    (void)state;
    is_refused((double[]){1, -2.385}, 2);
    is_refused((double[]){1, -1e-12}, 2);
    is_refused((double[]){-5e-324, 1}, 2);
    is_refused((double[]){1, NAN}, 2);
    is_refused((double[]){NAN, 1}, 2);
    is_refused((double[]){INFINITY, 1}, 2);
    is_refused((double[]){0, 0}, 2);
    is_refused((double[]){1}, 0);
    is_refused(NULL, 3);
    assert_int_equal(tarry_discrete_create((double[]){1}, 1, NULL),
                     TARRY_BAD_ARGUMENT);
}

/* Leaks would show under the address sanitizer. */
static void any_failed_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    const double weights[] = {0.25, 0.75};
    tarry__base_fail_alloc(0);
    tarry_discrete_free(make(weights, 2));
    const uint64_t needed = tarry__base_fail_alloc(0);
    assert_true(needed > 0);
    for (uint64_t k = 1; k <= needed; k++) {
        tarry_discrete *law = (tarry_discrete *)&law;
        tarry__base_fail_alloc(k);
        assert_int_equal(tarry_discrete_create(weights, 2, &law),
                         TARRY_NO_MEMORY);
        assert_null(law);
    }
    tarry__base_fail_alloc(0);
}

static void freeing_nothing_is_fine(void **state)
{
    (void)state;
    tarry_discrete_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_follow_the_weights),
        cmocka_unit_test(draws_follow_a_thousand_weights),
        cmocka_unit_test(a_single_index_is_always_drawn),
        cmocka_unit_test(weights_may_be_huge_or_tiny),
        cmocka_unit_test(weights_that_make_no_law_are_refused),
        cmocka_unit_test(any_failed_allocation_leaves_nothing_behind),
        cmocka_unit_test(freeing_nothing_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
