/* The kernel: every variant against a plain loop. */
#include "check.h"
#include <stdlib.h>
#include "base/base.h"
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
    tarry__panel panel;
} problem;

/* M is full, or lower triangular when `triangular`. */
static problem make(size_t r, size_t n, size_t count, int triangular)
{
    uint64_t seed = r * 1000 + n;
    problem p = {.r = r, .n = n, .count = count};
    p.M = tarry__alloc(r * n, sizeof(double));
    p.arms = tarry__alloc(count * n, sizeof(double));
    p.variance = tarry__alloc(count, sizeof(double));
    p.panel.values = tarry__alloc(tarry__panel_values(r, n), sizeof(double));
    p.panel.ends = tarry__alloc(tarry__panel_ends(r), sizeof(size_t));
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < r; i++)
            p.M[i + j * r] =
                triangular && j > n - r + i ? 0 : test_normal(&seed);
    for (size_t i = 0; i < count * n; i++)
        p.arms[i] = test_normal(&seed);
    tarry__panel_pack(&p.panel, p.M, r, n);
    return p;
}

static void clear(problem *p)
{
    tarry__free(p->M);
    tarry__free(p->arms);
    tarry__free(p->variance);
    tarry__free(p->panel.values);
    tarry__free(p->panel.ends);
}

static void check_all_rows(const problem *p)
{
    for (size_t k = 0; k < p->count; k++) {
        const double expected = plain(p->M, p->r, p->n, p->arms + k * p->n);
        CHECK_NEAR(p->variance[k], expected, 1e-13 * expected + 1e-300);
    }
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

static void a_row_does_not_depend_on_its_neighbours(void **state)
{
    (void)state;
    problem p = make(11, 13, 101, 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shapes_agree_with_a_plain_loop),
        cmocka_unit_test(a_row_does_not_depend_on_its_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
