/* The kernels: every variant this machine can run against plain loops. */
#include "check.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "base/machine.h"
#include "design/bounds_kernel.h"
#include "design/variance_kernel.h"

static double plain(const double *M, size_t r, size_t n, const double *a)
{
    double sum = 0;
    for (size_t i = 0; i < r; i++) {
        double z = 0;
        for (size_t j = 0; j < n; j++)
            z += M[i + j * r] * a[j];
        sum += z * z;
    }
    return sum;
}

typedef struct {
    size_t r, n, count;
    double *M, *arms, *variance;
    tarry__design_panel panel;
} problem;

/* M is full, or lower triangular when `triangular`. */
static problem make(size_t r, size_t n, size_t count, int triangular)
{
    uint64_t seed = r * 1000 + n;
    problem p = {.r = r, .n = n, .count = count};
    p.M = tarry__base_alloc(r * n, sizeof(double));
    p.arms = tarry__base_alloc(count * n, sizeof(double));
    p.variance = tarry__base_alloc(count, sizeof(double));
    p.panel.values =
        tarry__base_alloc(tarry__design_panel_values(r, n), sizeof(double));
    p.panel.ends =
        tarry__base_alloc(tarry__design_panel_ends(r), sizeof(size_t));
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < r; i++)
            p.M[i + j * r] =
                triangular && j > n - r + i ? 0 : test_normal(&seed);
    for (size_t i = 0; i < count * n; i++)
        p.arms[i] = test_normal(&seed);
    tarry__design_panel_pack(&p.panel, p.M, r, n);
    return p;
}

static void clear(problem *p)
{
    tarry__base_free(p->M);
    tarry__base_free(p->arms);
    tarry__base_free(p->variance);
    tarry__base_free(p->panel.values);
    tarry__base_free(p->panel.ends);
}

static void check_all_rows(const problem *p)
{
    for (size_t k = 0; k < p->count; k++) {
        const double expected = plain(p->M, p->r, p->n, p->arms + k * p->n);
        CHECK_NEAR(p->variance[k], expected, 1e-13 * expected + 1e-300);
    }
}

/* ---- variants ------------------------------------------------------------ */

typedef struct {
    size_t lanes;
    tarry__design_kernel *large, *small;
    tarry__design_moments_kernel *moments;
    tarry__bounds_set_kernel *set;
    tarry__bounds_list_kernel *list;
} variant;

#define VARIANT(lanes, name)                                                   \
    {                                                                          \
        lanes, tarry__design_kernel_##name, tarry__design_small_##name,        \
            tarry__design_moments_##name, tarry__bounds_set_##name,            \
            tarry__bounds_list_##name                                          \
    }
static const variant variants[] = {
    VARIANT(2, base),
#ifdef __x86_64__
    VARIANT(4, avx2),
    VARIANT(8, avx512),
#endif
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

static bool can_run(const variant *v)
{
    return v->lanes <= tarry__base_vector_lanes();
}

static void all_shapes_agree_with_a_plain_loop(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, 3, 7, 8, 9, 16, 23, 24, 25, 31, 48, 50, 73};
    for (size_t a = 0; a < sizeof sizes / sizeof *sizes; a++)
        for (size_t b = 0; b <= a; b++)
            for (int triangular = 0; triangular < 2; triangular++) {
                problem p = make(sizes[b], sizes[a], 37, triangular);
                tarry__variances(&p.panel, p.arms, NULL, p.count, p.variance);
                check_all_rows(&p);
                clear(&p);
            }
}

static void small_triangles_agree_in_every_variant(void **state)
{
    (void)state;
    for (size_t n = 1; n <= TARRY__DESIGN_SMALL_DIM; n++) {
        problem p = make(n, n, 37, 1);
        assert_true(p.panel.is_small);
        for (size_t v = 0; v < N_VARIANTS; v++) {
            if (!can_run(&variants[v]))
                continue;
            for (size_t i = 0; i < p.count; i++)
                p.variance[i] = -1;
            variants[v].small(&p.panel, p.arms, NULL, p.count, p.variance);
            check_all_rows(&p);
        }
        clear(&p);
    }
    problem full = make(5, 5, 3, 0);
    assert_false(full.panel.is_small);
    clear(&full);
}

static void moments_are_those_of_a_plain_loop(void **state)
{
    (void)state;
    enum { COUNT = 29 };
    uint64_t seed = 5;
    for (size_t r = 1; r <= TARRY__DESIGN_SMALL_DIM; r++) {
        double *x = malloc((COUNT * r + TARRY__DESIGN_SMALL_DIM) * sizeof *x);
        double weight[COUNT],
            V[TARRY__DESIGN_SMALL_DIM * TARRY__DESIGN_SMALL_DIM];
        for (size_t i = 0; i < COUNT * r + TARRY__DESIGN_SMALL_DIM; i++)
            x[i] = i < COUNT * r ? test_normal(&seed) : NAN;
        for (size_t k = 0; k < COUNT; k++)
            weight[k] = k % 3 == 0 ? 0 : test_uniform(&seed);
        for (size_t v = 0; v < N_VARIANTS; v++) {
            if (!can_run(&variants[v]))
                continue;
            variants[v].moments(x, weight, COUNT, r, V);
            for (size_t j = 0; j < r; j++)
                for (size_t i = j; i < r; i++) {
                    double sum = 0;
                    for (size_t k = 0; k < COUNT; k++)
                        sum += weight[k] * x[i + k * r] * x[j + k * r];
                    CHECK_NEAR(V[i + j * r], sum, 1e-12);
                }
        }
        free(x);
    }
}

static void bounds_bound_and_lists_list(void **state)
{
    (void)state;
    enum { COUNT = 77 };
    uint64_t seed = 6;
    double variance[COUNT], sum = 0, largest = 0;
    float bound[COUNT];
    size_t list[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        variance[i] = i == 3 ? 0 : exp(20 * test_normal(&seed));
        sum += variance[i];
        largest = fmax(largest, variance[i]);
    }
    for (size_t v = 0; v < N_VARIANTS; v++) {
        if (!can_run(&variants[v]))
            continue;
        const tarry__design_summary s = variants[v].set(variance, COUNT, bound);
        CHECK_NEAR(s.sum, sum, 1e-12 * sum);
        assert_true(s.largest == largest);
        for (size_t i = 0; i < COUNT; i++) {
            assert_true(bound[i] >= variance[i]);
            CHECK_AT_MOST(bound[i], variance[i] * (1 + 1e-6) + 2 * FLT_MIN);
        }
        const float limit = bound[50];
        const size_t found = variants[v].list(bound, COUNT, limit, 1000, list);
        size_t expected = 0;
        for (size_t i = 0; i < COUNT; i++)
            if (bound[i] >= limit)
                assert_int_equal(list[expected++], 1000 + i);
        assert_int_equal(found, expected);
    }
}

static void a_row_does_not_depend_on_its_neighbours(void **state)
{
    (void)state;
    const size_t ranks[] = {11, 13, 6}, dims[] = {13, 13, 6};
    for (size_t i = 0; i < 3; i++) {
        problem p = make(ranks[i], dims[i], 101, 1);
        tarry__variances(&p.panel, p.arms, NULL, p.count, p.variance);
        for (size_t k = 0; k < p.count; k++) {
            const size_t index[] = {k, (k * 7) % p.count, k};
            double alone, among[3];
            tarry__variances(&p.panel, p.arms, &index[0], 1, &alone);
            tarry__variances(&p.panel, p.arms, index, 3, among);
            assert_true(alone == p.variance[k] && among[2] == p.variance[k]);
        }
        clear(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shapes_agree_with_a_plain_loop),
        cmocka_unit_test(small_triangles_agree_in_every_variant),
        cmocka_unit_test(moments_are_those_of_a_plain_loop),
        cmocka_unit_test(bounds_bound_and_lists_list),
        cmocka_unit_test(a_row_does_not_depend_on_its_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
