/* The core set: what its solvers promise, over point sets on which the best
 * design is unique, is not, or stands on more points than it needs. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "design/core.h"
#include "linalg/linalg.h"

/* ---- point sets ---------------------------------------------------------- */

/* Each fills count points of r coordinates. */
typedef void filler(double *x, size_t r, size_t count);

static void gauss(double *x, size_t r, size_t count)
{
    uint64_t seed = r * 1000 + count;
    for (size_t i = 0; i < r * count; i++)
        x[i] = test_normal(&seed);
}

static void sphere(double *x, size_t r, size_t count)
{
    gauss(x, r, count);
    for (size_t i = 0; i < count; i++, x += r) {
        const double norm = sqrt(tarry__linalg_dot(x, x, r));
        for (size_t j = 0; j < r; j++)
            x[j] /= norm;
    }
}

static void cube(double *x, size_t r, size_t count) /* all corners */
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < r; j++)
            x[j + i * r] = i >> j & 1 ? 1 : -1;
}

static void grid(double *x, size_t r, size_t count)
{
    gauss(x, r, count);
    for (size_t i = 0; i < r * count; i++)
        x[i] = round(1.5 * x[i]);
}

static void one_hot(double *x, size_t r, size_t count)
{
    memset(x, 0, r * count * sizeof *x);
    for (size_t i = 0; i < count; i++)
        x[i % r + i * r] = 2.385;
}

static void twins(double *x, size_t r, size_t count) /* each, and opposite */
{
    gauss(x, r, count);
    for (size_t i = 2; i < count; i += 3)
        for (size_t j = 0; j < r; j++) {
            x[j + (i - 1) * r] = x[j + (i - 2) * r];
            x[j + i * r] = -x[j + (i - 2) * r];
        }
}

static void polygon(double *x, size_t r, size_t count) /* r = 2 */
{
    for (size_t i = 0; i < count; i++) {
        const double angle = 6.283185307179586 * (double)i / (double)count;
        x[i * r] = cos(angle);
        x[i * r + 1] = sin(angle);
    }
}

static void powers(double *x, size_t r, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < r; j++)
            x[j + i * r] =
                pow(2 * (double)i / (double)(count - 1) - 1, (double)j);
}

static const struct {
    const char *name;
    filler *fill;
    size_t r, count;
} kinds[] = {
    {"gauss", gauss, 7, 90},
    {"as many points as dimensions", gauss, 6, 6},
    {"one dimension", gauss, 1, 20},
    {"one point", gauss, 1, 1},
    {"many points", gauss, 3, 700},
    {"sphere", sphere, 5, 60},
    {"many on a sphere", sphere, 4, 500},
    {"cube", cube, 6, 64},
    {"grid", grid, 4, 150},
    {"one-hot", one_hot, 9, 40},
    {"twins", twins, 5, 99},
    {"polygon", polygon, 2, 101},
    {"powers", powers, 5, 81},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* Points of a kind with uneven weights on all of them. */
static tarry__core make_core(size_t kind)
{
    uint64_t seed = kind;
    tarry__core core;
    const size_t count = kinds[kind].count;
    assert_int_equal(tarry__core_create(&core, kinds[kind].r, count), 0);
    kinds[kind].fill(core.x, kinds[kind].r, count);
    for (size_t i = 0; i < count; i++) {
        core.weight[i] = test_uniform(&seed);
        core.variance[i] = 0;
        core.arm[i] = 7 * i;
    }
    core.count = count;
    assert_true(tarry__core_refresh(&core));
    return core;
}

/* ---- what holds after every call ----------------------------------------- */

/* d = |L^-1 x|^2, each from scratch. */
static double variance_of(const tarry__core *c, const double *x)
{
    const size_t r = c->rank;
    double *V = malloc(r * r * sizeof *V), *y = malloc(r * sizeof *y);
    memset(V, 0, r * r * sizeof *V);
    for (size_t i = 0; i < c->count; i++)
        tarry__linalg_rank_one(V, r, c->weight[i], c->x + i * r);
    assert_true(tarry__linalg_cholesky(V, r));
    memcpy(y, x, r * sizeof *y);
    tarry__linalg_lower_solve(V, r, y, 1);
    const double variance = tarry__linalg_dot(y, y, r);
    free(V);
    free(y);
    return variance;
}

static void check_core(const tarry__core *c)
{
    double sum = 0, trace = 0;
    size_t support = 0;
    for (size_t i = 0; i < c->count; i++) {
        assert_true(c->weight[i] >= 0);
        sum += c->weight[i];
        trace += c->weight[i] * c->variance[i];
        support += c->weight[i] > 0;
        CHECK_NEAR(c->variance[i], variance_of(c, c->x + i * c->rank),
                   1e-9 * c->variance[i]);
        CHECK_AT_MOST(c->variance[i], tarry__core_worst(c));
    }
    CHECK_NEAR(sum, 1, 1e-12);
    CHECK_NEAR(trace, (double)c->rank, 1e-9 * (double)c->rank);
    assert_int_equal(support, tarry__core_support(c));
    assert_true(support >= c->rank);
}

static double log_det(const tarry__core *c)
{
    const size_t r = c->rank;
    double *V = malloc(r * r * sizeof *V), sum = 0;
    memcpy(V, c->V, r * r * sizeof *V);
    assert_true(tarry__linalg_cholesky(V, r));
    for (size_t i = 0; i < r; i++)
        sum += 2 * log(V[i * (r + 1)]);
    free(V);
    return sum;
}

/* ---- the solvers --------------------------------------------------------- */

static void exchange_reaches_its_tolerance_and_never_loses(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_KINDS; k++) {
        tarry__core core = make_core(k);
        const double r = (double)core.rank, before = log_det(&core);
        assert_true(tarry__core_exchange(&core, 1e9, 1000));
        CHECK_NEAR(log_det(&core), before, 1e-12);
        assert_true(tarry__core_exchange(&core, 1e-9, 3));
        check_core(&core);
        assert_true(tarry__core_exchange(&core, 0.01, 100000));
        check_core(&core);
        CHECK_AT_MOST(before, log_det(&core) + 1e-12);
        CHECK_AT_MOST(tarry__core_worst(&core), 1.01 * r * (1 + 1e-9));
        tarry__core_clear(&core);
    }
}

static void interior_steps_solve_every_kind_of_set(void **state)
{
    (void)state;
    const double tolerances[] = {0.3, 1e-3, 1e-6, 1e-9};
    for (size_t k = 0; k < N_KINDS; k++)
        for (size_t t = 0; t < 4; t++) {
            tarry__core core = make_core(k);
            const double target = (1 + tolerances[t]) * (double)core.rank;
            const tarry_status status =
                tarry__core_interior(&core, tolerances[t], false);
            if (status != TARRY_OK)
                fail_msg("%s: %s", kinds[k].name, tarry_status_name(status));
            check_core(&core);
            CHECK_AT_MOST(tarry__core_worst(&core), target * (1 + 1e-13));
            tarry__core_clear(&core);
        }
}

/* From the weights that exchange leaves, as in a solve; many are zero. */
static void interior_steps_continue_after_exchange(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_KINDS; k++) {
        tarry__core core = make_core(k);
        assert_true(tarry__core_exchange(&core, 0.01, 100000));
        assert_int_equal(tarry__core_interior(&core, 1e-9, false), TARRY_OK);
        check_core(&core);
        CHECK_AT_MOST(tarry__core_worst(&core),
                      (double)core.rank * (1 + 1e-9 + 1e-13));
        tarry__core_clear(&core);
    }
}

/* ---- fewer points -------------------------------------------------------- */

/* From a solution that was disturbed; where H is singular it gives up and
 * leaves the weights alone. */
static void newton_finishes_what_is_nearly_solved(void **state)
{
    (void)state;
    size_t n_solved = 0;
    for (size_t k = 0; k < N_KINDS; k++) {
        tarry__core core = make_core(k);
        const double r = (double)core.rank;
        assert_int_equal(tarry__core_interior(&core, 1e-9, true), TARRY_OK);
        for (size_t i = 0; i < core.count; i++)
            core.weight[i] *= i % 2 ? 1.001 : 0.999;
        assert_true(tarry__core_refresh(&core));
        double *before = malloc(core.count * sizeof *before);
        memcpy(before, core.weight, core.count * sizeof *before);
        const bool solved = tarry__core_newton(&core, 1e-9) == TARRY_OK;
        check_core(&core);
        n_solved += solved;
        if (solved)
            CHECK_AT_MOST(tarry__core_worst(&core), (1 + 1e-9) * r);
        for (size_t i = 0; !solved && i < core.count; i++)
            CHECK_NEAR(core.weight[i], before[i], 1e-15);
        free(before);
        tarry__core_clear(&core);
    }
    assert_true(n_solved >= 2);
}

/* Points of one length keep the sum of the weights, so V stays; in general
 * what is saved in weight makes V larger, the same in every direction. */
static void thinning_keeps_the_matrix_on_few_points(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_KINDS; k++) {
        tarry__core core = make_core(k);
        const size_t r = core.rank;
        double *V = malloc(r * r * sizeof *V), *W = malloc(r * r * sizeof *W);
        memcpy(V, core.V, r * r * sizeof *V);
        assert_int_equal(tarry__core_thin(&core), TARRY_OK);
        check_core(&core);
        CHECK_AT_MOST((double)tarry__core_support(&core), r * (r + 1) / 2.0);
        memcpy(W, core.V, r * r * sizeof *V);
        const double larger = W[0] / V[0];
        CHECK_AT_MOST(1, larger * (1 + 1e-10));
        if (kinds[k].fill == sphere || kinds[k].fill == cube)
            CHECK_NEAR(larger, 1, 1e-10);
        for (size_t i = 0; i < r * r; i++)
            CHECK_NEAR(W[i] / larger, V[i], 1e-10 * V[i / r * (r + 1)]);
        free(V);
        free(W);
        tarry__core_clear(&core);
    }
}

static void thinning_an_optimal_design_leaves_it_optimal(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_KINDS; k++) {
        tarry__core core = make_core(k);
        const double r = (double)core.rank;
        assert_int_equal(tarry__core_interior(&core, 1e-9, false), TARRY_OK);
        assert_int_equal(tarry__core_thin(&core), TARRY_OK);
        check_core(&core);
        CHECK_AT_MOST((double)tarry__core_support(&core), r * (r + 1) / 2);
        CHECK_AT_MOST(tarry__core_worst(&core), r * (1 + 2e-9));
        tarry__core_clear(&core);
    }
}

static void shrinking_takes_as_many_points_as_it_is_told(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_KINDS; k++) {
        tarry__core core = make_core(k);
        const size_t before = tarry__core_support(&core);
        const size_t excess = (before - core.rank) / 3;
        assert_true(tarry__core_shrink(&core, excess));
        check_core(&core);
        assert_int_equal(tarry__core_support(&core), before - excess);
        tarry__core_clear(&core);
    }
}

static void shrinking_spares_what_carries_a_direction(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_KINDS; k++) {
        tarry__core core = make_core(k);
        assert_true(tarry__core_shrink(&core, core.count));
        check_core(&core); /* V is still regular */
        tarry__core_clear(&core);
    }
}

static void pruning_drops_what_has_neither_weight_nor_variance(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_KINDS; k++) {
        tarry__core core = make_core(k);
        assert_true(tarry__core_exchange(&core, 0.01, 100000));
        const double limit = 0.9 * (double)core.rank;
        size_t kept = 0;
        size_t *arm = malloc(core.count * sizeof *arm);
        for (size_t i = 0; i < core.count; i++)
            if (core.weight[i] > 0 || core.variance[i] >= limit)
                arm[kept++] = core.arm[i];
        tarry__core_prune(&core, limit);
        assert_int_equal(core.count, kept);
        assert_memory_equal(core.arm, arm, kept * sizeof *arm);
        check_core(&core);
        free(arm);
        tarry__core_clear(&core);
    }
}

/* Weights that ten multiplicative steps would not make small stay; the share
 * 1e9 asks for more than can be given. */
static void fading_keeps_the_design_whole(void **state)
{
    (void)state;
    const double shares[] = {0.1, 1, 1e9};
    for (size_t k = 0; k < N_KINDS; k++)
        for (size_t s = 0; s < 3; s++) {
            tarry__core core = make_core(k);
            const double before = log_det(&core);
            const size_t support = tarry__core_support(&core);
            tarry__core_fade(&core, shares[s]);
            check_core(&core);
            if (tarry__core_support(&core) == support)
                CHECK_NEAR(log_det(&core), before, 1e-12);
            tarry__core_clear(&core);
        }
}

static void fading_removes_light_points_of_low_variance_only(void **state)
{
    (void)state;
    tarry__core core = make_core(0);
    const double r = (double)core.rank;
    assert_int_equal(tarry__core_interior(&core, 1e-3, false), TARRY_OK);
    const double least = 0.1 / (double)tarry__core_support(&core);
    size_t stay = 0;
    for (size_t i = 0; i < core.count; i++) {
        const double w = core.weight[i], d = core.variance[i];
        stay += w > 0 && (w * d >= 0.1 || w * pow(d / r, 10) >= least);
    }
    tarry__core_fade(&core, 0.1);
    assert_int_equal(tarry__core_support(&core), stay);
    tarry__core_clear(&core);
}

/* ---- no rare points ------------------------------------------------------ */

static double smallest_weight(const tarry__core *c)
{
    double least = 1;
    for (size_t i = 0; i < c->count; i++)
        if (c->weight[i] > 0)
            least = fmin(least, c->weight[i]);
    return least;
}

static void balancing_leaves_no_rare_point_and_at_most_doubles_g(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_KINDS; k++) {
        tarry__core core = make_core(k);
        assert_true(tarry__core_exchange(&core, 0.2, 100000));
        const double psi = (double)tarry__core_support(&core);
        const double least = smallest_weight(&core);
        const double g = tarry__core_worst(&core);
        assert_true(tarry__core_balance(&core));
        check_core(&core);
        CHECK_NEAR((double)tarry__core_support(&core), psi, 0);
        CHECK_AT_MOST(1 / (2 * psi), smallest_weight(&core));
        if (least < 1 / (2 * psi)) /* raised no more than needed */
            CHECK_NEAR(smallest_weight(&core), 1 / (2 * psi), 1e-11 / psi);
        CHECK_AT_MOST(tarry__core_worst(&core), 2 * g);
        tarry__core_clear(&core);
    }
}

/* ---- memory -------------------------------------------------------------- */

static void points_survive_a_larger_room(void **state)
{
    (void)state;
    tarry__core core = make_core(0);
    const tarry__core before = make_core(0);
    assert_int_equal(tarry__core_reserve(&core, 1000), TARRY_OK);
    assert_true(core.room == 1000 && core.count == before.count);
    assert_memory_equal(core.x, before.x,
                        core.rank * core.count * sizeof *core.x);
    assert_memory_equal(core.weight, before.weight,
                        core.count * sizeof *core.weight);
    assert_memory_equal(core.arm, before.arm, core.count * sizeof *core.arm);
    assert_true(tarry__core_exchange(&core, 0.01, 1000));
    tarry__core_clear(&core);
    tarry__core_clear((tarry__core *)&before);
}

static void a_singular_set_is_noticed(void **state)
{
    (void)state;
    const double sums[] = {1, 0};
    for (size_t k = 0; k < 2; k++) {
        tarry__core core = make_core(0);
        one_hot(core.x, core.rank, core.count); /* exact */
        for (size_t i = 0; i < core.count; i++)
            core.weight[i] = i % core.rank == 3 ? 0 : sums[k];
        assert_false(tarry__core_refresh(&core));
        tarry__core_clear(&core);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchange_reaches_its_tolerance_and_never_loses),
        cmocka_unit_test(interior_steps_solve_every_kind_of_set),
        cmocka_unit_test(interior_steps_continue_after_exchange),
        cmocka_unit_test(newton_finishes_what_is_nearly_solved),
        cmocka_unit_test(thinning_keeps_the_matrix_on_few_points),
        cmocka_unit_test(thinning_an_optimal_design_leaves_it_optimal),
        cmocka_unit_test(shrinking_takes_as_many_points_as_it_is_told),
        cmocka_unit_test(shrinking_spares_what_carries_a_direction),
        cmocka_unit_test(pruning_drops_what_has_neither_weight_nor_variance),
        cmocka_unit_test(fading_keeps_the_design_whole),
        cmocka_unit_test(fading_removes_light_points_of_low_variance_only),
        cmocka_unit_test(balancing_leaves_no_rare_point_and_at_most_doubles_g),
        cmocka_unit_test(points_survive_a_larger_room),
        cmocka_unit_test(a_singular_set_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
