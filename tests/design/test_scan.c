/* Passes over the arms: bounds that really bound, hits that are the top of
 * the true list, and the same answer from any number of threads. */
#include "check.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "design/scan.h"
#include "linalg/linalg.h"

enum { DIM = 5, LIMIT = 60 };

/* ---- arms, designs, panels ----------------------------------------------- */

/* Every third arm repeats an earlier one, or its opposite: ties. */
static double *make_arms(size_t n_arms)
{
    uint64_t seed = n_arms;
    double *arms = malloc(n_arms * DIM * sizeof *arms);
    assert_non_null(arms);
    for (size_t i = 0; i < n_arms * DIM; i++)
        arms[i] = i / DIM % 3 == 2 && i > 40 * DIM
                      ? (i / DIM % 2 ? -1 : 1) * arms[i - 40 * DIM]
                      : test_normal(&seed);
    return arms;
}

/* V of random weights on some arms, and L^-1 as a panel. */
typedef struct {
    double V[DIM * DIM], L[DIM * DIM], M[DIM * DIM];
    tarry__design_panel panel;
} design;

static void factor_design(design *d)
{
    memcpy(d->L, d->V, sizeof d->V);
    assert_true(tarry__linalg_cholesky(d->L, DIM));
    for (int i = 0; i < DIM * DIM; i++)
        d->M[i] = i % DIM >= i / DIM ? d->L[i] : 0;
    tarry__linalg_lower_inverse(d->M, DIM);
    tarry__design_panel_pack(&d->panel, d->M, DIM, DIM);
}

static design make_design(const double *arms, size_t n_arms, uint64_t seed)
{
    design d = {.panel.values = tarry__base_alloc(
                    tarry__design_panel_values(DIM, DIM), sizeof(double)),
                .panel.ends = tarry__base_alloc(tarry__design_panel_ends(DIM),
                                                sizeof(size_t))};
    for (int i = 0; i < 40; i++) {
        const size_t k = test_bits(&seed) % n_arms;
        tarry__linalg_rank_one(d.V, DIM, test_uniform(&seed) / 20,
                               arms + k * DIM);
    }
    for (int i = 0; i < DIM; i++) /* regular also with few arms */
        d.V[i * (DIM + 1)] += 0.01;
    factor_design(&d);
    return d;
}

static void clear_design(design *d)
{
    tarry__base_free(d->panel.values);
    tarry__base_free(d->panel.ends);
}

/* What the kernel says; it has its own test. */
static double *variances(const design *d, const double *arms, size_t n_arms)
{
    double *variance = malloc(n_arms * sizeof *variance);
    assert_non_null(variance);
    tarry__variances(&d->panel, arms, NULL, n_arms, variance);
    return variance;
}

/* lambda_max(V'^-1 V): the largest eigenvalue of L'^-1 V L'^-T. */
static double ratio(const design *old, const design *new)
{
    double A[DIM * DIM], B[DIM * DIM], values[DIM], work[1000], rho;
    assert_true(tarry__linalg_factor_work(DIM, DIM) <= 1000);
    tarry__linalg_multiply(new->M, old->V, DIM, DIM, DIM, A);
    for (int i = 0; i < DIM; i++)
        for (int j = 0; j < DIM; j++)
            B[i + j * DIM] = A[j + i * DIM];
    tarry__linalg_multiply(new->M, B, DIM, DIM, DIM, A);
    assert_true(tarry__linalg_largest_eigenvalue(A, DIM, values, work, &rho));
    return rho * (1 + 1e-9);
}

static tarry__scan open_scan(const double *arms, size_t n_arms, int threads)
{
    tarry__scan scan;
    assert_int_equal(
        tarry__scan_create(&scan, arms, n_arms, DIM, LIMIT, threads), 0);
    return scan;
}

/* ---- the true list ------------------------------------------------------- */

static const double *sorted_by; /* variances */

static int better_first(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (sorted_by[x] != sorted_by[y])
        return sorted_by[x] > sorted_by[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static void check_hits(const tarry__scan *scan, const double *variance,
                       double wanted)
{
    const tarry__design_hits *hits = &scan->hits[0];
    size_t *order = malloc(scan->n_arms * sizeof *order), count = 0;
    for (size_t k = 0; k < scan->n_arms; k++)
        if (variance[k] > wanted)
            order[count++] = k;
    sorted_by = variance;
    qsort(order, count, sizeof *order, better_first);
    assert_int_equal(hits->count, count < LIMIT ? count : LIMIT);
    for (size_t i = 0; i < hits->count; i++) {
        assert_int_equal(hits->hit[i].arm, order[i]);
        assert_true(hits->hit[i].variance == variance[order[i]]);
    }
    free(order);
}

static double largest(const double *values, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, values[i]);
    return most;
}

/* ---- tests --------------------------------------------------------------- */

static const size_t arm_counts[] = {1, 2, 7, 8, 9, 100, 1025, 30001};
enum { N_COUNTS = sizeof arm_counts / sizeof *arm_counts };

static void every_block_comes_once_in_the_shuffled_order(void **state)
{
    (void)state;
    for (size_t c = 0; c < N_COUNTS; c++) {
        double *arms = make_arms(arm_counts[c]);
        tarry__scan scan = open_scan(arms, arm_counts[c], 1);
        assert_true(scan.n_blocks * scan.block_rows >= arm_counts[c]);
        assert_true((scan.n_blocks - 1) * scan.block_rows < arm_counts[c]);
        bool *seen = calloc(scan.n_blocks, sizeof *seen);
        for (size_t i = 0; i < scan.n_blocks; i++) {
            assert_true(scan.order[i] < scan.n_blocks);
            assert_false(seen[scan.order[i]]);
            seen[scan.order[i]] = true;
        }
        free(seen);
        tarry__scan_clear(&scan);
        free(arms);
    }
}

static void fresh_passes_list_the_largest_with_ties_by_arm(void **state)
{
    (void)state;
    const double wanted[] = {0, 1, 4, 9, 1e9};
    for (size_t c = 0; c < N_COUNTS; c++)
        for (int threads = 1; threads <= 4; threads++)
            for (size_t w = 0; w < 5; w++) {
                const size_t n_arms = arm_counts[c];
                double *arms = make_arms(n_arms), most;
                design d = make_design(arms, n_arms, 2385);
                double *variance = variances(&d, arms, n_arms);
                tarry__scan scan = open_scan(arms, n_arms, threads);
                assert_int_equal(tarry__scan_fresh(&scan, &d.panel, 0,
                                                   scan.n_blocks, 0, wanted[w],
                                                   &most),
                                 TARRY_OK);
                assert_true(most == largest(variance, n_arms));
                assert_int_equal(scan.evaluations, n_arms);
                check_hits(&scan, variance, wanted[w]);
                tarry__scan_clear(&scan);
                clear_design(&d);
                free(variance);
                free(arms);
            }
}

/* Two designs in turn for the blocks, then a third: for each arm,
 * rho * bound is at least its variance. */
static void bounds_hold_under_any_later_design(void **state)
{
    (void)state;
    const size_t n_arms = 30001;
    double *arms = make_arms(n_arms), most;
    tarry__scan scan = open_scan(arms, n_arms, 2);
    design old[] = {make_design(arms, n_arms, 1), make_design(arms, n_arms, 2)};
    for (size_t i = 0; i < scan.n_blocks; i++)
        assert_int_equal(tarry__scan_fresh(&scan, &old[i % 2].panel, i, i + 1,
                                           (uint16_t)(i % 2), 9, &most),
                         TARRY_OK);
    for (uint64_t seed = 1; seed < 30; seed++) {
        design new = make_design(arms, n_arms, seed);
        const double rho[] = {ratio(&old[0], &new), ratio(&old[1], &new)};
        double *variance = variances(&new, arms, n_arms);
        for (size_t k = 0; k < n_arms; k++) {
            const size_t block = k / scan.block_rows;
            const double times = rho[scan.reference[block]];
            CHECK_AT_MOST(variance[k], times * scan.bound[k]);
            assert_true(scan.bound[k] <= scan.block_bound[block]);
        }
        free(variance);
        clear_design(&new);
    }
    clear_design(&old[0]);
    clear_design(&old[1]);
    tarry__scan_clear(&scan);
    free(arms);
}

/* Between two designs that differ little, arms of low variance are skipped;
 * what is found is nevertheless what a fresh pass would find. */
static void later_passes_touch_few_arms_and_miss_none(void **state)
{
    (void)state;
    const size_t n_arms = 30001;
    double *arms = make_arms(n_arms), most;
    design old = make_design(arms, n_arms, 3);
    design new = make_design(arms, n_arms, 3);
    tarry__linalg_rank_one(new.V, DIM, 0.003, arms);
    factor_design(&new);
    const double rho[] = {ratio(&old, &new), 1};
    double *variance = variances(&new, arms, n_arms);
    const double top = largest(variance, n_arms);
    for (int threads = 1; threads <= 4; threads++)
        for (double share = 0; share <= 1; share += 0.25) {
            tarry__scan scan = open_scan(arms, n_arms, threads);
            tarry__scan_fresh(&scan, &old.panel, 0, scan.n_blocks, 0, 9, &most);
            assert_int_equal(tarry__scan_again(&scan, &new.panel, rho, 1,
                                               share * top, share * top, &most),
                             TARRY_OK);
            assert_true(most == top);
            check_hits(&scan, variance, share * top);
            const double again = (double)(scan.evaluations - n_arms);
            CHECK_AT_MOST(again, share == 0   ? n_arms
                                 : share == 1 ? 20
                                              : 0.9 * n_arms);
            for (size_t b = 0; share == 0 && b < scan.n_blocks; b++)
                assert_int_equal(scan.reference[b], 1);
            tarry__scan_clear(&scan);
        }
    free(variance);
    clear_design(&old);
    clear_design(&new);
    free(arms);
}

static void a_block_remembers_the_sum_of_its_variances(void **state)
{
    (void)state;
    const size_t n_arms = 1025;
    double *arms = make_arms(n_arms), most;
    design d = make_design(arms, n_arms, 4);
    double *variance = variances(&d, arms, n_arms);
    tarry__scan scan = open_scan(arms, n_arms, 3);
    tarry__scan_fresh(&scan, &d.panel, 0, scan.n_blocks, 0, 0, &most);
    double *sum = calloc(scan.n_blocks, sizeof *sum);
    for (size_t k = 0; k < n_arms; k++)
        sum[k / scan.block_rows] += variance[k];
    for (size_t b = 0; b < scan.n_blocks; b++)
        CHECK_NEAR(scan.block_sum[b], sum[b], 1e-12 * sum[b]);
    free(sum);
    tarry__scan_clear(&scan);
    clear_design(&d);
    free(variance);
    free(arms);
}

/* An arm so long that its variance overflows is the worst, not an error; an
 * arm that is not finite is. */
static void overflow_is_large_and_nan_is_refused(void **state)
{
    (void)state;
    const size_t n_arms = 1025;
    for (int threads = 1; threads <= 2; threads++)
        for (size_t k = 0; k < n_arms; k += 341) {
            double *arms = make_arms(n_arms), most;
            design d = make_design(arms, n_arms, 5);
            tarry__scan scan = open_scan(arms, n_arms, threads);
            arms[k * DIM + 3] = 1e200;
            assert_int_equal(tarry__scan_fresh(&scan, &d.panel, 0,
                                               scan.n_blocks, 0, 100, &most),
                             TARRY_OK);
            assert_int_equal(scan.hits[0].hit[0].arm, k);
            assert_true(most >= FLT_MAX / 4);
            for (int bad = 0; bad < 3; bad++) {
                arms[k * DIM + 3] = (double[]){NAN, INFINITY, -INFINITY}[bad];
                assert_int_equal(tarry__scan_fresh(&scan, &d.panel, 0,
                                                   scan.n_blocks, 0, 100,
                                                   &most),
                                 TARRY_NOT_FINITE);
            }
            tarry__scan_clear(&scan);
            clear_design(&d);
            free(arms);
        }
}

/* So many arms that threads are started. */
static void several_threads_list_the_same(void **state)
{
    (void)state;
    const size_t n_arms = 1 + TARRY__DESIGN_SERIAL_WORK / (DIM * DIM);
    double *arms = make_arms(n_arms), most[4], again[4];
    design old = make_design(arms, n_arms, 1),
           new = make_design(arms, n_arms, 2);
    const double rho = ratio(&old, &new);
    tarry__scan scan[4];
    for (int threads = 1; threads < 4; threads++) {
        tarry__scan *s = &scan[threads];
        *s = open_scan(arms, n_arms, threads);
        assert_int_equal(tarry__scan_fresh(s, &old.panel, 0, s->n_blocks, 0, 1,
                                           &most[threads]),
                         TARRY_OK);
        assert_int_equal(
            tarry__scan_again(s, &new.panel, &rho, 0, 9, 9, &again[threads]),
            TARRY_OK);
        assert_true(s->evaluations > n_arms && s->hits[0].count == LIMIT);
        assert_true(most[threads] == most[1] && again[threads] == again[1]);
        assert_int_equal(s->evaluations, scan[1].evaluations);
        for (size_t i = 0; i < LIMIT; i++)
            assert_int_equal(s->hits[0].hit[i].arm, scan[1].hits[0].hit[i].arm);
        assert_memory_equal(s->bound, scan[1].bound, n_arms * sizeof *s->bound);
    }
    for (int threads = 1; threads < 4; threads++)
        tarry__scan_clear(&scan[threads]);
    clear_design(&old);
    clear_design(&new);
    free(arms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_comes_once_in_the_shuffled_order),
        cmocka_unit_test(fresh_passes_list_the_largest_with_ties_by_arm),
        cmocka_unit_test(bounds_hold_under_any_later_design),
        cmocka_unit_test(later_passes_touch_few_arms_and_miss_none),
        cmocka_unit_test(a_block_remembers_the_sum_of_its_variances),
        cmocka_unit_test(overflow_is_large_and_nan_is_refused),
        cmocka_unit_test(several_threads_list_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
