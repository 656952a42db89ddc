/* Designs of many kinds of arm sets, each checked by its certificate: g, rank
 * and weights are recomputed here with GSL's singular values, and compared
 * with what the rule promises. */
#include "check.h"
#include <gsl/gsl_linalg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "design/scan.h"
#include "tarry/design.h"

/* ---- arm sets -------------------------------------------------------------*/

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

static double *row(set s, size_t k)
{
    return s.data + k * s.dim;
}

static set gauss(size_t n_arms, size_t dim)
{
    uint64_t seed = n_arms + dim;
    set s = make_set(n_arms, dim);
    for (size_t i = 0; i < n_arms * dim; i++)
        s.data[i] = test_normal(&seed);
    return s;
}

static void scale_row(double *a, size_t n, double factor)
{
    for (size_t i = 0; i < n; i++)
        a[i] *= factor;
}

static set sphere(size_t n_arms, size_t dim)
{
    set s = gauss(n_arms, dim);
    for (size_t k = 0; k < n_arms; k++) {
        double sum = 0;
        for (size_t i = 0; i < dim; i++)
            sum += row(s, k)[i] * row(s, k)[i];
        scale_row(row(s, k), dim, 1 / sqrt(sum));
    }
    return s;
}

static set ball(size_t n_arms, size_t dim)
{
    uint64_t seed = 5;
    set s = sphere(n_arms, dim);
    for (size_t k = 0; k < n_arms; k++)
        scale_row(row(s, k), dim, pow(test_uniform(&seed), 1 / (double)dim));
    return s;
}

static set cube(size_t n_arms, size_t dim)
{
    set s = gauss(n_arms, dim);
    for (size_t i = 0; i < n_arms * dim; i++)
        s.data[i] = s.data[i] > 0 ? 1 : -1;
    return s;
}

static set grid(size_t n_arms, size_t dim)
{
    set s = gauss(n_arms, dim);
    for (size_t i = 0; i < n_arms * dim; i++)
        s.data[i] = round(s.data[i]);
    return s;
}

static set one_hot(size_t n_arms, size_t dim)
{
    set s = make_set(n_arms, dim);
    for (size_t k = 0; k < n_arms; k++)
        row(s, k)[k % dim] = 1;
    return s;
}

static set heavy_tails(size_t n_arms, size_t dim)
{
    uint64_t seed = 8;
    set s = gauss(n_arms, dim);
    for (size_t i = 0; i < n_arms * dim; i++)
        s.data[i] /= test_uniform(&seed);
    return s;
}

static set duplicated(size_t n_arms, size_t dim) /* each arm, and opposite */
{
    set s = gauss(n_arms, dim);
    for (size_t k = 0; k + 2 < n_arms; k += 3) {
        memcpy(row(s, k + 1), row(s, k), dim * sizeof(double));
        memcpy(row(s, k + 2), row(s, k), dim * sizeof(double));
        scale_row(row(s, k + 2), dim, -1);
    }
    return s;
}

static set with_zeros(size_t n_arms, size_t dim)
{
    set s = gauss(n_arms, dim);
    for (size_t k = 0; k < n_arms; k += 2)
        scale_row(row(s, k), dim, 0);
    return s;
}

static set huge(size_t n_arms, size_t dim)
{
    set s = gauss(n_arms, dim);
    scale_row(s.data, n_arms * dim, 1e150);
    return s;
}

static set tiny(size_t n_arms, size_t dim)
{
    set s = gauss(n_arms, dim);
    scale_row(s.data, n_arms * dim, 1e-150);
    return s;
}

static set one_giant(size_t n_arms, size_t dim)
{
    set s = gauss(n_arms, dim);
    scale_row(row(s, n_arms / 3), dim, 1e8);
    return s;
}

static set bad_columns(size_t n_arms, size_t dim)
{
    set s = gauss(n_arms, dim);
    for (size_t k = 0; k < n_arms; k++)
        for (size_t i = 0; i < dim; i++)
            row(s, k)[i] *= pow(10, -8.0 * (double)i / (double)dim);
    return s;
}

static int shorter_first(const void *a, const void *b)
{
    const double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

static set sorted(size_t n_arms, size_t dim)
{
    set s = gauss(n_arms, dim);
    qsort(s.data, n_arms, dim * sizeof(double), shorter_first);
    return s;
}

/* Rank 3 in any dimension above. */
static set flat(size_t n_arms, size_t dim)
{
    uint64_t seed = 3;
    const size_t rank = dim < 3 ? dim : 3;
    set s = make_set(n_arms, dim);
    double basis[3][64];
    for (size_t j = 0; j < rank; j++)
        for (size_t i = 0; i < dim; i++)
            basis[j][i] = test_normal(&seed);
    for (size_t k = 0; k < n_arms; k++)
        for (size_t j = 0; j < rank; j++) {
            const double c = test_normal(&seed);
            for (size_t i = 0; i < dim; i++)
                row(s, k)[i] += c * basis[j][i];
        }
    return s;
}

/* One arm alone reaches the last dimension, a little. */
static set rare_direction(size_t n_arms, size_t dim)
{
    set s = gauss(n_arms, dim);
    for (size_t k = 0; k < n_arms; k++)
        row(s, k)[dim - 1] = 0;
    row(s, n_arms * 2 / 3)[dim - 1] = 1e-5;
    return s;
}

static set polynomial(size_t n_arms, size_t dim)
{
    set s = make_set(n_arms, dim);
    for (size_t k = 0; k < n_arms; k++)
        for (size_t i = 0; i < dim; i++)
            row(s, k)[i] = pow(2 * (double)k / (double)n_arms - 1, (double)i);
    return s;
}

typedef struct {
    const char *name;
    set (*make)(size_t n_arms, size_t dim);
    size_t n_arms, dim, rank;
} kind;

static const kind kinds[] = {
    {"gauss", gauss, 3000, 7, 7},
    {"gauss, large", gauss, 30000, 12, 12},
    {"gauss, more arms than a chunk", gauss, 9001, 3, 3},
    {"fewer arms than dimensions", gauss, 5, 9, 5},
    {"many fewer arms than dimensions", gauss, 40, 300, 40},
    {"fewer arms than dimensions, tiny", tiny, 5, 9, 5},
    {"fewer arms than dimensions, huge", huge, 5, 9, 5},
    {"fewer arms than dimensions, flat", flat, 7, 20, 3},
    {"fewer arms than dimensions, zeros", with_zeros, 12, 60, 6},
    {"as many arms as dimensions", gauss, 9, 9, 9},
    {"one arm", gauss, 1, 6, 1},
    {"one dimension", gauss, 500, 1, 1},
    {"one number", gauss, 1, 1, 1},
    {"two dimensions", gauss, 777, 2, 2},
    {"sphere", sphere, 4000, 8, 8},
    {"circle", sphere, 999, 2, 2},
    {"ball", ball, 4000, 6, 6},
    {"cube", cube, 3000, 9, 9},
    {"grid", grid, 5000, 5, 5},
    {"one-hot", one_hot, 2000, 11, 11},
    {"heavy tails", heavy_tails, 3000, 8, 8},
    {"duplicates and opposites", duplicated, 999, 6, 6},
    {"zero rows", with_zeros, 999, 6, 6},
    {"huge", huge, 2000, 6, 6},
    {"tiny", tiny, 2000, 6, 6},
    {"one giant", one_giant, 3000, 6, 6},
    {"bad columns", bad_columns, 3000, 9, 9},
    {"sorted", sorted, 20000, 5, 5},
    {"flat", flat, 3000, 8, 3},
    {"rare direction", rare_direction, 5000, 7, 7},
    {"polynomial", polynomial, 2001, 6, 6},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* ---- an independent certificate -------------------------------------------*/

static double largest_entry(set s)
{
    double largest = 0;
    for (size_t i = 0; i < s.n_arms * s.dim; i++)
        largest = fmax(largest, fabs(s.data[i]));
    return largest;
}

/* g of the design: singular values of the rows sqrt(w) a. */
static double recomputed_g(set s, const tarry_design *d)
{
    const size_t n = s.dim, m = d->n_support > n ? d->n_support : n;
    const double unit = 1 / largest_entry(s);
    gsl_matrix *A = gsl_matrix_calloc(m, n), *V = gsl_matrix_alloc(n, n);
    gsl_vector *S = gsl_vector_alloc(n);
    for (size_t i = 0; i < d->n_support; i++)
        for (size_t j = 0; j < n; j++)
            gsl_matrix_set(A, i, j,
                           sqrt(d->weight[i]) * unit * row(s, d->arm[i])[j]);
    gsl_linalg_SV_decomp_jacobi(A, V, S);
    double g = 0;
    for (size_t k = 0; k < s.n_arms; k++) {
        double sum = 0;
        for (size_t c = 0; c < d->rank; c++) {
            double z = 0;
            for (size_t j = 0; j < n; j++)
                z += gsl_matrix_get(V, j, c) * unit * row(s, k)[j];
            z /= gsl_vector_get(S, c);
            sum += z * z;
        }
        g = fmax(g, sum);
    }
    gsl_matrix_free(A);
    gsl_matrix_free(V);
    gsl_vector_free(S);
    return g;
}

static void check_weights(set s, const tarry_design *d)
{
    double sum = 0, least = 1;
    for (size_t i = 0; i < d->n_support; i++) {
        assert_true(d->arm[i] < s.n_arms);
        assert_true(i == 0 || d->arm[i] > d->arm[i - 1]);
        assert_true(d->weight[i] > 0);
        sum += d->weight[i];
        least = fmin(least, d->weight[i]);
    }
    CHECK_NEAR(sum, 1, 1e-12);
    CHECK_NEAR(d->min_weight, least, 0);
}

static tarry_design *solve(set s, const tarry_design_options *o,
                           tarry_status expected)
{
    tarry_design *d;
    const tarry_status status =
        tarry_design_solve(s.data, s.n_arms, s.dim, o, &d);
    if (status != expected)
        fail_msg("status %s", tarry_status_name(status));
    return d;
}

static void check_certificate(const kind *k, set s, const tarry_design *d)
{
    print_message("    %s: g/r - 1 = %.1e, support %zu\n", k->name,
                  d->g / (double)d->rank - 1, d->n_support);
    assert_int_equal(d->rank, k->rank);
    check_weights(s, d);
    assert_true(d->passes >= 1 && d->passes < 60);
    assert_true(d->seconds > 0 && d->seconds < 1000);
    CHECK_NEAR(recomputed_g(s, d), d->g, 1e-8 * d->g);
}

/* ---- promises -------------------------------------------------------------*/

static void near_designs_keep_their_promise(void **state)
{
    (void)state;
    const double tolerances[] = {1e-3, 1e-6, 1e-9};
    for (size_t i = 0; i < N_KINDS; i++)
        for (size_t t = 0; t < 3; t++) {
            const double tolerance = tolerances[t];
            set s = kinds[i].make(kinds[i].n_arms, kinds[i].dim);
            tarry_design_options o = tarry_design_defaults();
            o.tolerance = tolerance;
            tarry_design *d = solve(s, &o, TARRY_OK);
            check_certificate(&kinds[i], s, d);
            CHECK_AT_MOST(d->g, (1 + tolerance) * (double)d->rank);
            tarry_design_free(d);
            free(s.data);
        }
}

static void paper_designs_keep_their_promise(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_KINDS; i++) {
        set s = kinds[i].make(kinds[i].n_arms, kinds[i].dim);
        tarry_design_options o = tarry_design_defaults();
        o.rule = TARRY_DESIGN_PAPER;
        tarry_design *d = solve(s, &o, TARRY_OK);
        check_certificate(&kinds[i], s, d);
        const double r = (double)d->rank, psi = (double)d->n_support;
        const double loglog = d->rank > 2 ? log(log(r)) : 0;
        CHECK_AT_MOST(d->g, 2 * r); /* 4r is promised */
        CHECK_AT_MOST(psi, 16 + 4 * r * fmax(loglog, 0));
        CHECK_AT_MOST(1 / (2 * psi), d->min_weight * (1 + 1e-12));
        tarry_design_free(d);
        free(s.data);
    }
}

static void zero_arms_have_rank_zero(void **state)
{
    (void)state;
    set s = make_set(5, 3);
    tarry_design *d = solve(s, NULL, TARRY_OK);
    assert_int_equal(d->rank, 0);
    assert_int_equal(d->n_support, 1);
    CHECK_NEAR(d->g, 0, 0);
    CHECK_NEAR(d->weight[0], 1, 0);
    CHECK_NEAR(d->min_weight, 1, 0);
    assert_int_equal(d->arm[0], 0);
    tarry_design_free(d);
    free(s.data);
}

static void directions_below_the_rank_tolerance_do_not_count(void **state)
{
    (void)state;
    set s = rare_direction(5000, 7);
    row(s, 5000 * 2 / 3)[6] = 1e-13;
    tarry_design *d = solve(s, NULL, TARRY_OK);
    assert_int_equal(d->rank, 6);
    tarry_design_free(d);
    tarry_design_options o = tarry_design_defaults();
    o.rank_tolerance = 1e-16;
    d = solve(s, &o, TARRY_OK);
    assert_int_equal(d->rank, 7);
    tarry_design_free(d);
    free(s.data);
}

static void the_number_of_threads_changes_nothing(void **state)
{
    (void)state;
    for (int rule = 0; rule < 2; rule++) {
        set s = ball(80000, 10); /* enough that threads are started */
        assert_true(s.n_arms * s.dim * s.dim * 3 / 4 >
                    TARRY__DESIGN_SERIAL_WORK);
        tarry_design_options o = tarry_design_defaults();
        o.rule = (tarry_design_rule)rule;
        o.tolerance = 1e-6;
        o.threads = 1;
        tarry_design *one = solve(s, &o, TARRY_OK);
        for (o.threads = 2; o.threads < 6; o.threads++) {
            tarry_design *many = solve(s, &o, TARRY_OK);
            assert_int_equal(one->n_support, many->n_support);
            assert_memory_equal(one->arm, many->arm,
                                one->n_support * sizeof *one->arm);
            assert_memory_equal(one->weight, many->weight,
                                one->n_support * sizeof *one->weight);
            assert_true(one->g == many->g && one->passes == many->passes);
            tarry_design_free(many);
        }
        tarry_design_free(one);
        free(s.data);
    }
}

static void a_maximum_support_is_kept(void **state)
{
    (void)state;
    set s = sphere(3000, 6);
    tarry_design_options o = tarry_design_defaults();
    o.tolerance = 1e-6;
    o.max_support = 21; /* r(r+1)/2: always possible */
    tarry_design *d = solve(s, &o, TARRY_OK);
    check_weights(s, d);
    CHECK_AT_MOST((double)d->n_support, 21);
    CHECK_NEAR(recomputed_g(s, d), d->g, 1e-9);
    CHECK_AT_MOST(d->g, 6 * (1 + 1e-6));
    tarry_design_free(d);
    o.max_support = 8; /* too few for the tolerance: said, not hidden */
    d = solve(s, &o, TARRY_TARGET_NOT_MET);
    check_weights(s, d);
    CHECK_AT_MOST((double)d->n_support, 8);
    CHECK_NEAR(recomputed_g(s, d), d->g, 1e-9 * d->g);
    CHECK_AT_MOST(d->g, 6 * 3);
    tarry_design_free(d);
    free(s.data);
}

/* The tolerance is more than these arms' digits allow, with any number. */
static void a_maximum_support_is_kept_where_the_tolerance_is_not(void **state)
{
    (void)state;
    set s = polynomial(900, 25);
    tarry_design_options o = tarry_design_defaults();
    o.tolerance = 1e-9;
    o.max_support = 40;
    tarry_design *d = solve(s, &o, TARRY_TARGET_NOT_MET);
    check_weights(s, d);
    CHECK_AT_MOST((double)d->n_support, 40);
    CHECK_AT_MOST(d->g, 25 * 1.1);
    tarry_design_free(d);
    free(s.data);
}

typedef struct {
    size_t place;
    double arm[3];
} placed;

/* These arms at their places, the others zero, meet the tolerance. */
static void check_placed(const placed *arms, size_t count, size_t n_arms,
                         double tolerance)
{
    tarry_design_options o = tarry_design_defaults();
    set s = make_set(n_arms, 3);
    for (size_t i = 0; i < count; i++)
        memcpy(row(s, arms[i].place), arms[i].arm, sizeof arms[i].arm);
    o.tolerance = tolerance;
    tarry_design *d = solve(s, &o, TARRY_OK);
    check_weights(s, d);
    CHECK_NEAR(recomputed_g(s, d), d->g, 1e-9);
    CHECK_AT_MOST(d->g, 3 * (1 + tolerance));
    tarry_design_free(d);
    free(s.data);
}

/* Few arms share a direction that no other has; near the solution the weights
 * of all of them were on their way out. */
static void no_direction_is_left_out(void **state)
{
    static const uint64_t seeds[] = {22, 7415, 9349, 9463};
    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        uint64_t seed = seeds[i];
        set s = make_set(60, 3);
        for (size_t k = 0; k < s.n_arms * s.dim; k++)
            if (test_uniform(&seed) < 0.1)
                s.data[k] = round(200 * test_uniform(&seed) - 100) / 100;
        tarry_design *d = solve(s, NULL, TARRY_OK);
        check_weights(s, d);
        CHECK_NEAR(recomputed_g(s, d), d->g, 1e-9);
        tarry_design_free(d);
        free(s.data);
    }
}

/* The one arm or the other of the first seven was missing, in turn; the
 * second ones need a step without arms left out. */
static void arms_do_not_come_and_go_for_ever(void **state)
{
    static const placed turns[] = {
        {0, {0.471, -2.459, -1.879}}, {1, {3.065, -0.647, -0.17}},
        {2, {0.954, 1.899, 1.617}},   {3, {0.346, 0.8, -1.835}},
        {4, {0.772, -1.991, 0.724}},  {5, {-0.468, -2.229, 0.454}},
        {6, {1.064, -0.207, -2.298}}};
    static const placed stalls[] = {{4, {0, 1.01, 0}},   {13, {0, 1.01, 0.034}},
                                    {14, {0, 0, 1.01}},  {20, {1, 0, 0.099}},
                                    {21, {0.999, 0, 0}}, {27, {0, 0, 0.999}},
                                    {31, {0.99, 0, 0}},  {34, {1.01, 0, 0}}};
    (void)state;
    check_placed(turns, sizeof turns / sizeof *turns, 7, 1e-6);
    check_placed(stalls, sizeof stalls / sizeof *stalls, 35, 1e-6);
}

static void a_warm_start_keeps_the_promise(void **state)
{
    (void)state;
    set s = gauss(8000, 8);
    tarry_design_options o = tarry_design_defaults();
    o.tolerance = 1e-6;
    tarry_design *cold = solve(s, &o, TARRY_OK);
    set rest = {4000, 8, s.data}; /* the set has shrunk to its first half */
    size_t warm[200], count = 0;
    for (size_t i = 0; i < cold->n_support; i++)
        if (cold->arm[i] < 4000)
            warm[count++] = cold->arm[i];
    o.warm_arms = warm;
    o.warm_count = count;
    tarry_design *d = solve(rest, &o, TARRY_OK);
    CHECK_NEAR(recomputed_g(rest, d), d->g, 1e-9);
    CHECK_AT_MOST(d->g, 8 * (1 + 1e-6));
    tarry_design_free(d);
    tarry_design_free(cold);
    free(s.data);
}

/* ---- refusals -------------------------------------------------------------*/

static void values_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 5000; k += 833) {
            set s = gauss(5000, 4);
            row(s, k)[i] = bad[i];
            assert_null(solve(s, NULL, TARRY_NOT_FINITE));
            free(s.data);
            s = gauss(7, 9); /* fewer arms than dimensions */
            row(s, k % 7)[i] = bad[i];
            assert_null(solve(s, NULL, TARRY_NOT_FINITE));
            free(s.data);
        }
}

/* Down to the least scale the design is the same; below it there is none, and
 * not one of arms that are all zero. */
static void arms_that_vanish_are_refused(void **state)
{
    (void)state;
    const double scales[] = {1e300,  1e-280, 1e-289, 1e-291,
                             1e-300, 1e-308, 5e-324};
    for (size_t i = 0; i < 2 * sizeof scales / sizeof *scales; i++) {
        const double a = scales[i / 2];
        const double arms[] = {a, 0, 0, 0, a, 0, 0, 0, a};
        const size_t n_arms = i % 2 == 0 ? 3 : 2; /* fewer than dimensions */
        tarry_design *d;
        const tarry_status status =
            tarry_design_solve(arms, n_arms, 3, NULL, &d);
        assert_int_equal(status, a > 1e-290 ? TARRY_OK : TARRY_BAD_ARGUMENT);
        assert_true((d != NULL) == (status == TARRY_OK));
        if (d != NULL)
            assert_true(d->rank == n_arms && fabs(d->g - (double)n_arms) < 0.1);
        tarry_design_free(d);
    }
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    const size_t missing = 10;
    set s = gauss(10, 2);
    const tarry_design_options good = tarry_design_defaults();
    tarry_design_options bad[] = {good, good, good, good, good, good, good};
    bad[0].tolerance = 1e-10;
    bad[1].tolerance = NAN;
    bad[2].rank_tolerance = 0;
    bad[3].threads = -1;
    bad[4].rule = (tarry_design_rule)7;
    bad[5].warm_arms = &missing;
    bad[5].warm_count = 1;
    bad[6].threads = 1025;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_non_null(tarry_design_options_check(&bad[i], 10, 2));
        assert_null(solve(s, &bad[i], TARRY_BAD_ARGUMENT));
    }
    assert_null(tarry_design_options_check(&good, 10, 2));
    assert_non_null(tarry_design_options_check(&good, 0, 2));
    assert_non_null(tarry_design_options_check(&good, 2, 0));
    assert_non_null(tarry_design_options_check(&good, SIZE_MAX / 8, 9));
    free(s.data);
}

/* What is just allowed is taken, the next number is not. */
static void options_have_exact_limits(void **state)
{
    (void)state;
    const tarry_design_options good = tarry_design_defaults();
    const double tolerances[] = {1e-9, 1e9}, ranks[] = {5e-324, 1 - 0x1p-53};
    for (int i = 0; i < 2; i++) {
        tarry_design_options o = good;
        o.tolerance = tolerances[i];
        assert_null(tarry_design_options_check(&o, 10, 2));
        o.tolerance = nextafter(tolerances[i], i == 0 ? 0 : INFINITY);
        assert_non_null(tarry_design_options_check(&o, 10, 2));
        o = good;
        o.rank_tolerance = ranks[i];
        assert_null(tarry_design_options_check(&o, 10, 2));
        o.rank_tolerance = i == 0 ? 0 : 1;
        assert_non_null(tarry_design_options_check(&o, 10, 2));
        o.rank_tolerance = i == 0 ? -1 : NAN;
        assert_non_null(tarry_design_options_check(&o, 10, 2));
    }
    assert_null(tarry_design_options_check(&good, 10, 20000));
    assert_non_null(tarry_design_options_check(&good, 10, 20001));
    const size_t most = SIZE_MAX / 20000 / sizeof(double);
    assert_null(tarry_design_options_check(&good, most, 20000));
    assert_non_null(tarry_design_options_check(&good, most + 1, 20000));
    const size_t last = 9;
    tarry_design_options warm = good;
    warm.warm_arms = &last;
    warm.warm_count = 1;
    assert_null(tarry_design_options_check(&warm, 10, 2));
    assert_non_null(tarry_design_options_check(&warm, 9, 2));
    warm.warm_arms = NULL;
    assert_non_null(tarry_design_options_check(&warm, 10, 2));
}

/* The last share and value that were told. */
typedef struct {
    double share, g;
    int reports;
} told;

static int note(void *context, double share, double g)
{
    told *t = context;
    assert_true(share >= t->share);
    *t = (told){share, g, t->reports + 1};
    return 0;
}

/* Shares never fall and reach 1; the value is that of the result but for what
 * the last steps have gained, whatever the rank. */
static void progress_comes_to_its_end(void **state)
{
    (void)state;
    static const size_t dims[] = {2, 6, 20};
    for (size_t i = 0; i < 3; i++) {
        set s = gauss(20000, dims[i]);
        told t = {0};
        tarry_design_options o = tarry_design_defaults();
        o.progress = note;
        o.progress_context = &t;
        tarry_design *d = solve(s, &o, TARRY_OK);
        assert_true(t.reports > 2);
        CHECK_NEAR(t.share, 1, 0);
        CHECK_NEAR(t.g, d->g / (double)d->rank, 0.5);
        tarry_design_free(d);
        free(s.data);
    }
}

static int cancel_at(void *context, double share, double g)
{
    int *left = context;
    assert_true(share > 0 && share <= 1 && g > 0);
    return --*left == 0;
}

static void a_solve_can_be_cancelled_at_every_report(void **state)
{
    (void)state;
    set s = gauss(20000, 6);
    tarry_design_options o = tarry_design_defaults();
    int left = 1000;
    o.progress = cancel_at;
    o.progress_context = &left;
    tarry_design_free(solve(s, &o, TARRY_OK));
    const int reports = 1000 - left;
    assert_true(reports > 2);
    for (int i = 1; i <= reports; i++) {
        left = i;
        assert_null(solve(s, &o, TARRY_CANCELLED));
    }
    free(s.data);
}

/* Under the address sanitizer this also shows that nothing leaks. */
static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    const kind cases[] = {{"gauss", gauss, 2000, 4, 4},
                          {"fewer arms than dimensions", gauss, 6, 9, 6},
                          {"flat", flat, 800, 5, 3},
                          {"rare", rare_direction, 900, 4, 4},
                          {"sphere", sphere, 600, 4, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int rule = 0; rule < 2; rule++) {
            set s = cases[i].make(cases[i].n_arms, cases[i].dim);
            tarry_design_options o = tarry_design_defaults();
            o.rule = (tarry_design_rule)rule;
            o.max_support = 7;
            o.threads = 2;
            tarry_status status = TARRY_NO_MEMORY;
            uint64_t k = 0;
            while (status == TARRY_NO_MEMORY) {
                tarry_design *d;
                tarry__base_fail_alloc(++k);
                status = tarry_design_solve(s.data, s.n_arms, s.dim, &o, &d);
                assert_true((status == TARRY_NO_MEMORY) == (d == NULL));
                tarry_design_free(d);
            }
            tarry__base_fail_alloc(0);
            assert_true(k > 20);
            free(s.data);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_designs_keep_their_promise),
        cmocka_unit_test(paper_designs_keep_their_promise),
        cmocka_unit_test(zero_arms_have_rank_zero),
        cmocka_unit_test(directions_below_the_rank_tolerance_do_not_count),
        cmocka_unit_test(the_number_of_threads_changes_nothing),
        cmocka_unit_test(a_maximum_support_is_kept),
        cmocka_unit_test(a_maximum_support_is_kept_where_the_tolerance_is_not),
        cmocka_unit_test(no_direction_is_left_out),
        cmocka_unit_test(arms_do_not_come_and_go_for_ever),
        cmocka_unit_test(a_warm_start_keeps_the_promise),
        cmocka_unit_test(values_that_are_not_finite_are_refused),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(options_have_exact_limits),
        cmocka_unit_test(progress_comes_to_its_end),
        cmocka_unit_test(a_solve_can_be_cancelled_at_every_report),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(arms_that_vanish_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
