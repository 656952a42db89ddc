/* The ridge's books: what it counts, when it computes afresh, and that a copy
 * by way of the archive is the same in every bit, now and later. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include "policy/linear/ridge.h"

enum { N = 3 };

static tarry__ridge make(void)
{
    tarry__ridge r = {0};
    assert_int_equal(tarry__ridge_init(&r, N, 0.5), TARRY_OK);
    return r;
}

static void draw(uint64_t *seed, double *a)
{
    for (size_t i = 0; i < N; i++)
        a[i] = test_normal(seed) / 2;
}

static bool is_power_of_two(uint64_t x)
{
    return (x & (x - 1)) == 0;
}

/* After 1, 2, 4, ..., 512 terms and then every 1024, whether or not a term
 * comes with its loss; a loss alone is no term. */
static void it_is_computed_afresh_at_the_times_promised(void **state)
{
    (void)state;
    uint64_t seed = 2385, last = 0;
    double a[N];
    tarry__ridge r = make();
    for (uint64_t t = 1; t <= 5000; t++) {
        draw(&seed, a);
        const bool due = t <= 512 ? is_power_of_two(t) : t % 1024 == 512;
        const tarry__ridge_change change =
            t % 3 == 0 ? tarry__ridge_count(&r, a)
                       : tarry__ridge_learn(&r, a, 0.25);
        if (due)
            last = t;
        assert_int_equal(change.fresh, due);
        assert_int_equal(r.added, t);
        assert_int_equal(r.since, t - last);
        tarry__ridge_credit(&r, a, -0.5);
        assert_true(r.added == t && r.since == t - last);
    }
    tarry__ridge_clear(&r);
}

/* S S' (V + recent V) = I, and theta solves for b: between two computations as
 * well as right after one. */
static void check_inverse(const tarry__ridge *r)
{
    double a[N], x[N];
    for (size_t k = 0; k < N; k++) {
        for (size_t i = 0; i < N; i++) /* column k of V */
            a[i] = r->V[i * N + k] + r->recent_V[i * N + k];
        r->kernels->transposed(r->S, N, a, r->p);
        r->kernels->times(r->S, N, r->p, x);
        for (size_t i = 0; i < N; i++)
            CHECK_NEAR(x[i], i == k, 1e-9);
    }
    for (size_t i = 0; i < N; i++) {
        double b = 0;
        for (size_t j = 0; j < N; j++)
            b += (r->V[i * N + j] + r->recent_V[i * N + j]) * r->theta[j];
        CHECK_NEAR(b, r->b[i] + r->recent_b[i], 1e-9);
    }
}

static void what_it_keeps_stays_an_inverse(void **state)
{
    (void)state;
    uint64_t seed = 1;
    double a[N];
    tarry__ridge r = make();
    for (int t = 1; t <= 3000; t++) {
        draw(&seed, a);
        tarry__ridge_learn(&r, a, test_normal(&seed));
        if (t % 7 == 0) {
            tarry__ridge_count(&r, a);
            tarry__ridge_uncount(&r, a);
        }
        check_inverse(&r);
    }
    tarry__ridge_clear(&r);
}

static tarry__ridge copy_of(tarry__ridge *r)
{
    tarry__archive a = {0};
    tarry__ridge copy = {0};
    tarry__ridge_archive(r, N, &a);
    tarry__archive_turn(&a);
    tarry__ridge_archive(&copy, N, &a);
    assert_int_equal(a.status, TARRY_OK);
    assert_int_equal(a.at, a.size);
    tarry__archive_clear(&a);
    return copy;
}

static void check_same(const tarry__ridge *r, const tarry__ridge *copy)
{
    assert_int_equal(copy->added, r->added);
    assert_int_equal(copy->since, r->since);
    assert_memory_equal(&copy->lambda, &r->lambda, sizeof r->lambda);
    assert_memory_equal(&copy->log_det, &r->log_det, sizeof r->log_det);
    assert_memory_equal(copy->V, r->V, N * (N + 1) * sizeof *r->V);
    assert_memory_equal(copy->S, r->S,
                        N * tarry__linear_stride(N) * sizeof *r->S);
    assert_memory_equal(copy->theta, r->theta, N * sizeof *r->theta);
}

/* Copied after any number of terms, the two go on alike: an answer may differ
 * only if the next computation comes at another time. */
static void a_copy_is_the_same_now_and_later(void **state)
{
    (void)state;
    uint64_t seed = 7;
    double a[N];
    tarry__ridge r = make();
    for (int t = 1; t <= 1500; t++) {
        draw(&seed, a);
        tarry__ridge_learn(&r, a, 0.125);
        if (t % 97 != 0 && t < 1000)
            continue;
        tarry__ridge one = copy_of(&r), other = copy_of(&one);
        check_same(&r, &one);
        uint64_t later = seed;
        for (int k = 0; k < (t == 1000 ? 2100 : 40); k++) {
            draw(&later, a);
            const tarry__ridge_change x = tarry__ridge_learn(&one, a, -0.75);
            const tarry__ridge_change y = tarry__ridge_learn(&other, a, -0.75);
            assert_int_equal(x.fresh, y.fresh);
        }
        check_same(&one, &other);
        tarry__ridge_clear(&one);
        tarry__ridge_clear(&other);
    }
    tarry__ridge_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_computed_afresh_at_the_times_promised),
        cmocka_unit_test(what_it_keeps_stays_an_inverse),
        cmocka_unit_test(a_copy_is_the_same_now_and_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
