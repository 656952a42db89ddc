/* One change of V by two points: every variant of the kernel against the
 * inverse and the variances computed from scratch. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include "base/machine.h"
#include "design/exchange_kernel.h"
#include "linalg/linalg.h"

enum {
    MOST_POINTS = 131,
    MOST_RANK = 23,
    ROOM = MOST_POINTS + TARRY__EXCHANGE_PAD
};

typedef struct {
    size_t lanes;
    tarry__exchange_look_kernel *look;
    tarry__exchange_make_kernel *make;
} variant;

static const variant variants[] = {
    {2, tarry__exchange_look_base, tarry__exchange_make_base},
#ifdef __x86_64__
    {4, tarry__exchange_look_avx2, tarry__exchange_make_avx2},
    {8, tarry__exchange_look_avx512, tarry__exchange_make_avx512},
#endif
};

/* Points, weights and all that hangs on them. */
typedef struct {
    double x[MOST_RANK * MOST_POINTS], rows[MOST_RANK * ROOM];
    double weight[ROOM], variance[ROOM], c[ROOM], e[ROOM];
    double inverse[MOST_RANK * MOST_RANK], u[MOST_RANK], v[MOST_RANK];
    tarry__exchange ex;
} core;

static void invert(const double *x, const double *weight, size_t r, size_t m,
                   double *inverse)
{
    memset(inverse, 0, r * r * sizeof *inverse);
    for (size_t i = 0; i < m; i++)
        tarry__linalg_rank_one(inverse, r, weight[i], x + i * r);
    assert_true(tarry__linalg_cholesky(inverse, r));
    tarry__linalg_cholesky_inverse(inverse, r);
    tarry__linalg_mirror(inverse, r);
}

static double variance_of(const double *inverse, const double *x, size_t r)
{
    double y[MOST_RANK];
    tarry__linalg_times(inverse, r, r, x, y);
    return tarry__linalg_dot(x, y, r);
}

static void fill(core *c, size_t r, size_t m)
{
    uint64_t seed = 100 * r + m;
    double sum = 0;
    for (size_t i = 0; i < r * m; i++)
        c->x[i] = test_normal(&seed);
    for (size_t i = 0; i < m; i++)
        sum += c->weight[i] = i % 4 == 1 ? 0 : test_uniform(&seed);
    for (size_t i = 0; i < m; i++)
        c->weight[i] /= sum;
    invert(c->x, c->weight, r, m, c->inverse);
    for (size_t i = 0; i < m; i++)
        c->variance[i] = variance_of(c->inverse, c->x + i * r, r);
    c->ex = (tarry__exchange){
        r,         m,           c->x, c->rows, (m + 7) / 8 * 8,
        c->weight, c->variance, c->c, c->e,    c->inverse,
        c->u,      c->v,        0,    0};
    tarry__exchange_begin(&c->ex);
}

static void check(const core *c)
{
    const size_t r = c->ex.rank, m = c->ex.count;
    double inverse[MOST_RANK * MOST_RANK], most = 0, least = 1e300;
    invert(c->x, c->weight, r, m, inverse);
    for (size_t i = 0; i < r * r; i++)
        CHECK_NEAR(c->inverse[i], inverse[i], 1e-9 * inverse[i / r * (r + 1)]);
    for (size_t i = 0; i < m; i++) {
        const double d = variance_of(inverse, c->x + i * r, r);
        CHECK_NEAR(c->variance[i], d, 1e-9 * d);
        most = c->variance[i] > most ? c->variance[i] : most;
        if (c->weight[i] > 0 && c->variance[i] < least)
            least = c->variance[i];
    }
    assert_true(c->variance[c->ex.most] == most);
    assert_true(c->variance[c->ex.least] == least);
    assert_true(c->weight[c->ex.least] > 0);
}

/* w_k += t, w_l -= t, then all weights times `keep`. */
static void make_step(core *c, const variant *v, size_t k, size_t l, double t,
                      double keep)
{
    v->look(&c->ex, k, l);
    const double s = t / (1 + t * c->variance[k]), dkl = c->c[l];
    const double dl = c->variance[l] - s * dkl * dkl;
    c->weight[k] += t;
    c->weight[l] -= t;
    v->make(&c->ex, (tarry__exchange_change){.scale = 1 / keep,
                                             .s = s,
                                             .t = -t / (1 - t * dl),
                                             .f = s * dkl,
                                             .keep = keep});
}

static void a_step_gives_what_a_fresh_start_gives(void **state)
{
    (void)state;
    const size_t ranks[] = {1, 2, 5, 8, 10, 17, MOST_RANK};
    const size_t points[] = {40, 64, MOST_POINTS};
    core *c = malloc(sizeof *c);
    assert_non_null(c);
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        for (size_t i = 0; i < 7; i++)
            for (size_t j = 0; j < 3; j++) {
                if (variants[v].lanes > tarry__base_vector_lanes())
                    continue;
                fill(c, ranks[i], points[j]);
                const size_t l = points[j] - 1;
                make_step(c, &variants[v], 1, l - (l % 4 == 1),
                          c->weight[l - (l % 4 == 1)] / 3, 1);
                check(c);
                make_step(c, &variants[v], 5, 0, c->weight[0] / 2, 0.75);
                check(c);
            }
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_gives_what_a_fresh_start_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
