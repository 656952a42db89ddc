/* Ranks that are known by construction, and coordinates that are round. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include "design/span.h"
#include "linalg/linalg.h"

static const double TOLERANCE = 1e-11; /* the default of a solve */

/* ---- arms of known rank -------------------------------------------------- */

typedef struct {
    size_t n_arms, dim;
    double *data;
} set;

static set make_set(size_t n_arms, size_t dim)
{
    set s = {n_arms, dim, calloc(n_arms * dim, sizeof(double))};
    assert_non_null(s.data);
    return s;
}

/* Sums of `rank` fixed rows with whole coefficients: the rank is exact. */
static set whole(size_t n_arms, size_t dim, size_t rank)
{
    uint64_t seed = n_arms + dim + rank;
    set s = make_set(n_arms, dim), basis = make_set(rank, dim);
    for (size_t i = 0; i < rank * dim; i++)
        basis.data[i] = round(100 * test_normal(&seed));
    for (size_t k = 0; k < n_arms; k++)
        for (size_t c = 0; c < rank; c++) {
            const double share = round(100 * test_normal(&seed));
            for (size_t j = 0; j < dim; j++)
                s.data[k * dim + j] += share * basis.data[c * dim + j];
        }
    free(basis.data);
    return s;
}

/* a <- a - 2 v (v'a), |v| = 1: turns every row. */
static void reflect(set s, uint64_t *seed)
{
    double *v = malloc(s.dim * sizeof *v), norm2 = 0;
    for (size_t j = 0; j < s.dim; j++) {
        v[j] = test_normal(seed);
        norm2 += v[j] * v[j];
    }
    for (size_t k = 0; k < s.n_arms; k++) {
        double *a = s.data + k * s.dim, product = 0;
        for (size_t j = 0; j < s.dim; j++)
            product += v[j] * a[j];
        for (size_t j = 0; j < s.dim; j++)
            a[j] -= 2 * v[j] * product / norm2;
    }
    free(v);
}

/* Singular values 1 (dim - 1 times) and `last`: unit vectors, turned, and as
 * many zero rows as it takes. */
static set with_last_value(size_t n_arms, size_t dim, double last)
{
    uint64_t seed = 5;
    set s = make_set(n_arms, dim);
    for (size_t j = 0; j < dim; j++)
        s.data[(j * (n_arms / dim)) * dim + j] = j + 1 < dim ? 1 : last;
    reflect(s, &seed);
    reflect(s, &seed);
    return s;
}

static void scale(set s, double factor)
{
    for (size_t i = 0; i < s.n_arms * s.dim; i++)
        s.data[i] *= factor;
}

/* ---- checks -------------------------------------------------------------- */

/* Coordinates of all arms together: sum (T a)(T a)' = I. */
static void check_round(set s, const double *T, size_t r, double tolerance)
{
    double *sum = calloc(r * r, sizeof *sum), *x = malloc(r * sizeof *x);
    for (size_t k = 0; k < s.n_arms; k++) {
        memset(x, 0, r * sizeof *x);
        for (size_t j = 0; j < s.dim; j++)
            for (size_t i = 0; i < r; i++)
                x[i] += T[i + j * r] * s.data[k * s.dim + j];
        for (size_t i = 0; i < r * r; i++)
            sum[i] += x[i % r] * x[i / r];
    }
    for (size_t i = 0; i < r * r; i++)
        CHECK_NEAR(sum[i], i % (r + 1) == 0, tolerance);
    free(sum);
    free(x);
}

static size_t rank_of(set s, double tolerance, double roundness)
{
    double *T = malloc(s.dim * s.dim * sizeof *T);
    size_t rank = 99;
    assert_int_equal(
        tarry__span(s.data, s.n_arms, s.dim, tolerance, 2, &rank, T), 0);
    check_round(s, T, rank, roundness);
    free(T);
    return rank;
}

/* ---- tests --------------------------------------------------------------- */

static void exact_ranks_are_found(void **state)
{
    (void)state;
    const size_t shapes[][2] = {{1, 1},   {1, 9},   {9, 1},     {5, 12},
                                {12, 12}, {300, 7}, {9000, 11}, {20000, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const size_t n_arms = shapes[i][0], dim = shapes[i][1];
        for (size_t rank = 0; rank <= dim && rank <= n_arms; rank++) {
            set s = whole(n_arms, dim, rank);
            assert_int_equal(rank_of(s, TOLERANCE, 1e-9), rank);
            free(s.data);
        }
    }
}

static void the_tolerance_decides_about_small_directions(void **state)
{
    (void)state;
    const double tolerances[] = {1e-11, 1e-9, 1e-6, 1e-3};
    for (size_t i = 0; i < 4; i++)
        for (size_t n_arms = 40; n_arms < 9000; n_arms *= 13) {
            set above = with_last_value(n_arms, 6, 1.02 * tolerances[i]);
            set below = with_last_value(n_arms, 6, 0.98 * tolerances[i]);
            assert_int_equal(rank_of(above, tolerances[i], 1e-3), 6);
            assert_int_equal(rank_of(below, tolerances[i], 1e-9), 5);
            free(above.data);
            free(below.data);
        }
}

static void the_scale_does_not_matter(void **state)
{
    (void)state;
    const double factors[] = {1e-150, 1e-50, 1e50, 1e150, 1e280, 1e-280};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        for (size_t rank = 0; rank <= 6; rank++) {
            set s = whole(500, 6, rank);
            scale(s, factors[i]);
            assert_int_equal(rank_of(s, TOLERANCE, 1e-9), rank);
            free(s.data);
        }
}

static void one_giant_among_many_hides_nothing(void **state)
{
    (void)state;
    set s = whole(5000, 6, 6);
    for (size_t j = 0; j < 6; j++)
        s.data[3333 * 6 + j] *= 1e6;
    assert_int_equal(rank_of(s, TOLERANCE, 1e-6), 6);
    free(s.data);
}

static void the_threads_do_not_matter(void **state)
{
    (void)state;
    const size_t shapes[][3] = {{30000, 9, 4}, {30000, 9, 9}, {9000, 60, 30}};
    for (size_t i = 0; i < 3; i++) {
        const size_t dim = shapes[i][1];
        set s = whole(shapes[i][0], dim, shapes[i][2]);
        double *one = calloc(dim * dim, sizeof *one);
        double *many = calloc(dim * dim, sizeof *many);
        size_t rank_one, rank_many;
        tarry__span(s.data, s.n_arms, dim, TOLERANCE, 1, &rank_one, one);
        for (int threads = 2; threads <= 9; threads++) {
            tarry__span(s.data, s.n_arms, dim, TOLERANCE, threads, &rank_many,
                        many);
            assert_int_equal(rank_one, rank_many);
            assert_memory_equal(one, many, dim * dim * sizeof *one);
        }
        free(one);
        free(many);
        free(s.data);
    }
}

static void what_is_not_finite_is_noticed_anywhere(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    double T[16];
    size_t rank;
    for (size_t b = 0; b < 3; b++)
        for (size_t at = 0; at < 40000; at += 6661) {
            set s = whole(10000, 4, 4);
            s.data[at] = bad[b];
            for (int threads = 1; threads < 3; threads++)
                assert_int_equal(tarry__span(s.data, s.n_arms, 4, TOLERANCE,
                                             threads, &rank, T),
                                 TARRY_NOT_FINITE);
            free(s.data);
        }
}

static void the_unit_scale_is_a_power_of_two(void **state)
{
    (void)state;
    const double values[] = {1,     2.385,  1e-300, 1e300,
                             1e-11, 0.9999, 1e150,  1.7976931348623157e308};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        int exponent;
        const double unit = tarry__design_unit_scale(values[i]);
        assert_true(frexp(unit, &exponent) == 0.5);
        assert_true(unit * values[i] >= 1 && unit * values[i] < 2);
    }
    assert_true(tarry__design_unit_scale(0) == 0);
}

static void the_largest_value_is_found_or_nan(void **state)
{
    (void)state;
    double values[] = {0.5, -2.385, 1e-300, 2, 0};
    assert_true(tarry__design_largest(values, 5) == 2.385);
    assert_true(tarry__design_largest(values, 1) == 0.5);
    assert_true(tarry__design_largest(values + 4, 1) == 0);
    assert_true(tarry__design_largest(values, 0) == 0);
    for (size_t i = 0; i < 5; i++) {
        const double kept = values[i];
        values[i] = i % 2 == 0 ? NAN : -INFINITY;
        assert_true(isnan(tarry__design_largest(values, 5)));
        values[i] = kept;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_ranks_are_found),
        cmocka_unit_test(the_tolerance_decides_about_small_directions),
        cmocka_unit_test(the_scale_does_not_matter),
        cmocka_unit_test(one_giant_among_many_hides_nothing),
        cmocka_unit_test(the_threads_do_not_matter),
        cmocka_unit_test(what_is_not_finite_is_noticed_anywhere),
        cmocka_unit_test(the_unit_scale_is_a_power_of_two),
        cmocka_unit_test(the_largest_value_is_found_or_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
