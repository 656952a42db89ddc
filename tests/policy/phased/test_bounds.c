/* The bounds behind certificates against plain versions of their formulas
 * (own_mean.h, ellipsoid.h, books.h): GSL's beta function, elimination in place
 * of factors.  Counting how often they fail, as the test of certificates does,
 * would not find one that is a little too narrow. */
#include "check.h"
#include <gsl/gsl_sf_gamma.h>
#include <string.h>
#include "policy/phased/books.h"
#include "policy/phased/ellipsoid.h"
#include "policy/phased/own_mean.h"

enum { K = 5, R = 3 };

/* ---- an arm's own mean ----------------------------------------------------*/

/* The largest p of own_mean.h, by halving. */
static double largest_p(double n, double h, double delta)
{
    double in = h / n, out = 1;
    const double least = gsl_sf_lnbeta(h + 0.5, n - h + 0.5) -
                         gsl_sf_lnbeta(0.5, 0.5) - log(1 / delta);
    if (n == 0 || h == n)
        return 1;
    for (int i = 0; i < 100; i++) {
        const double p = in + (out - in) / 2;
        const double here = (h > 0 ? h * log(p) : 0) + (n - h) * log(1 - p);
        *(here >= least ? &in : &out) = p;
    }
    return in;
}

static double plain_upper(double n, double sum, double low, double delta)
{
    const double h = n > 0 ? (sum - n * low) / (1 - low) : 0;
    return low + (1 - low) * largest_p(n, h, delta);
}

/* Of the losses' mirror image in the middle of [low, 1]. */
static double plain_lower(double n, double sum, double low, double delta)
{
    return low + 1 - plain_upper(n, n * (low + 1) - sum, low, delta);
}

static void an_own_interval_is_that_of_the_formula(void **state)
{
    (void)state;
    static const double counts[] = {0, 1, 2, 7, 60, 1234, 100000};
    static const double shares[] = {0, 0.001, 0.1, 0.5, 0.7, 0.98, 1};
    static const double deltas[] = {0.3, 0.05, 2.385e-6}, lows[] = {-1, 0};
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++)
            for (int k = 0; k < 6; k++) {
                const double n = counts[i], d = deltas[k / 2],
                             low = lows[k % 2];
                const double sum = n * (low + (1 - low) * shares[j]);
                CHECK_NEAR(tarry__own_mean_upper(n, sum, low, d),
                           plain_upper(n, sum, low, d), 1e-8);
                CHECK_NEAR(tarry__own_mean_lower(n, sum, low, d),
                           plain_lower(n, sum, low, d), 1e-8);
            }
}

/* ---- all losses together --------------------------------------------------*/

/* y = M^-1 x by elimination; the logarithm of M's determinant. */
static double eliminate(const double M[R][R], const double *x, double *y)
{
    double A[R][R], log_det = 0;
    memcpy(A, M, sizeof A);
    memcpy(y, x, R * sizeof *y);
    for (size_t k = 0; k < R; k++) {
        log_det += log(A[k][k]);
        for (size_t i = 0; i < R; i++) {
            const double factor = i == k ? 0 : A[i][k] / A[k][k];
            for (size_t j = 0; j < R; j++)
                A[i][j] -= factor * A[k][j];
            y[i] -= factor * y[k];
        }
    }
    for (size_t i = 0; i < R; i++)
        y[i] /= A[i][i];
    return log_det;
}

static double dot(const double *x, const double *y)
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

/* lambda I + sum of counts z z', and the sum of losses z. */
static void information(const tarry__ellipsoid_data *d, double lambda,
                        double M[R][R], double *sum)
{
    for (size_t i = 0; i < R; i++) {
        sum[i] = 0;
        for (size_t j = 0; j < R; j++) {
            M[i][j] = i == j ? lambda : 0;
            for (size_t k = 0; k < K; k++)
                M[i][j] +=
                    (double)d->counts[k] * d->Z[k * R + i] * d->Z[k * R + j];
        }
        for (size_t k = 0; k < K; k++)
            sum[i] += d->sums[k] * d->Z[k * R + i];
    }
}

/* A bound on <unknown, x>: the smallest of six, each with a sixth of delta. */
static double plain_bound(const tarry__ellipsoid_data *d, double delta,
                          const double *x)
{
    double least = INFINITY;
    for (double lambda = 1; lambda <= 1024; lambda *= 4) {
        double M[R][R], sum[R], theta[R], y[R];
        information(d, lambda, M, sum);
        const double log_det = eliminate(M, sum, theta) - R * log(lambda);
        eliminate(M, x, y);
        const double radius =
            d->width * sqrt(2 * log(6 / delta) + log_det + lambda);
        double bound = dot(theta, x) + radius * sqrt(dot(x, y));
        for (size_t k = 0; k < K; k++)
            bound += (double)(d->counts[k] - d->seen[k]) *
                     fabs(dot(d->Z + k * R, y));
        least = fmin(least, bound);
    }
    return least;
}

static void plain_difference(const double *z, const double *y, double *out)
{
    for (size_t i = 0; i < R; i++)
        out[i] = z[i] - (y != NULL ? y[i] : 0);
}

/* What some rounds have left: 0 plays, all losses in, few, none. */
typedef struct {
    double arms[K * R], W[R * R], sums[K];
    uint64_t plays[K], arrivals[K];
} data;

static data some_data(uint64_t seed, double lowest)
{
    data d;
    for (size_t i = 0; i < K * R; i++)
        d.arms[i] = test_normal(&seed);
    for (size_t i = 0; i < R * R; i++)
        d.W[i] = (i % (R + 1) == 0) + 0.3 * test_normal(&seed);
    for (size_t k = 0; k < K; k++) {
        const double size = pow(10, 4 * test_uniform(&seed));
        const double missing = k == 1 ? 0 : 0.2 * test_uniform(&seed);
        d.plays[k] = k == seed % K ? 0 : (uint64_t)size;
        d.arrivals[k] = (uint64_t)((1 - missing) * (double)d.plays[k]);
        d.sums[k] = (double)d.arrivals[k] *
                    (lowest + (1 - lowest) * test_uniform(&seed));
    }
    return d;
}

static void bounds_of_differences_are_those_of_the_formula(void **state)
{
    (void)state;
    static const uint32_t among[] = {0, 2, 3, 4};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        data d = some_data(seed, -1);
        double bound[4], own, work[R * (R + 3)], x[R];
        uint32_t lacking[K];
        const tarry__ellipsoid_data e = {.rank = R,
                                         .n_arms = K,
                                         .Z = d.arms,
                                         .counts =
                                             seed % 2 ? d.plays : d.arrivals,
                                         .seen = d.arrivals,
                                         .sums = d.sums,
                                         .width = seed % 3 ? 1 : 0.4};
        const size_t arm = seed % K;
        tarry__ellipsoid_bound(&e, 0.01, arm, among, 4, bound, &own, lacking,
                               work);
        plain_difference(d.arms + arm * R, NULL, x);
        CHECK_NEAR(own, plain_bound(&e, 0.01, x), 1e-8);
        for (size_t i = 0; i < 4; i++) {
            plain_difference(d.arms + arm * R, d.arms + among[i] * R, x);
            CHECK_NEAR(bound[i], plain_bound(&e, 0.01, x), 1e-8);
        }
    }
}

/* Beside an arm whose square is beyond the last digit of lambda's, nothing that
 * is known of the others can be told from rounding. */
static void what_vanishes_bounds_nothing(void **state)
{
    (void)state;
    static const uint32_t among[] = {0, 2, 3, 4};
    for (double size = 1; size < 1e13; size *= 10) {
        data d = some_data(7, -1);
        double bound[4], own, work[R * (R + 3)];
        uint32_t lacking[K];
        const tarry__ellipsoid_data e = {.rank = R,
                                         .n_arms = K,
                                         .Z = d.arms,
                                         .counts = d.plays,
                                         .seen = d.plays,
                                         .sums = d.sums,
                                         .width = 1};
        for (size_t i = 0; i < R; i++)
            d.arms[R + i] *= size;
        d.plays[1] = 3;
        tarry__ellipsoid_bound(&e, 0.01, 0, among, 4, bound, &own, lacking,
                               work);
        for (size_t i = 0; i < 4; i++)
            assert_true(size < 1e4 ? isfinite(bound[i])
                                   : size < 1e8 || bound[i] == INFINITY);
    }
}

/* ---- the certificate ------------------------------------------------------*/

typedef struct {
    const tarry__books *b;
    double delta;
    bool complete;
    double Z[K * R]; /* W a */
    tarry__ellipsoid_data e;
} question;

/* Bounds on an arm's mean, missing losses being the worst there can be. */
static double plain_end(const question *q, size_t k, double delta, bool upper)
{
    const tarry__books *b = q->b;
    const double n = (double)(q->complete ? b->plays : b->arrivals)[k];
    const double missing = n - (double)b->arrivals[k];
    const double sum = b->sums[k] + missing * (upper ? 1 : b->lowest);
    const double end = upper ? plain_upper(n, sum, b->lowest, delta / K)
                             : plain_lower(n, sum, b->lowest, delta / K);
    const double mean = n > 0 ? sum / n : 0;
    return mean + b->width * (end - mean);
}

static size_t plain_best(const question *q, const uint32_t *among, size_t count)
{
    size_t best = among[0];
    double M[R][R], sum[R], theta[R], least = INFINITY;
    information(&q->e, 1, M, sum);
    eliminate(M, sum, theta);
    for (size_t i = 0; i < count; i++) {
        const double value = q->b->rank > 0
                                 ? dot(theta, q->Z + among[i] * R)
                                 : plain_end(q, among[i], q->delta, true);
        if (value < least) {
            least = value;
            best = among[i];
        }
    }
    return best;
}

static double plain_gap(const question *q, size_t best, size_t other)
{
    double x[R];
    if (best == other)
        return 0;
    if (q->b->rank == 0)
        return plain_end(q, best, q->delta, true) -
               plain_end(q, other, q->delta, false);
    plain_difference(q->Z + best * R, NULL, x);
    const double upper = fmin(plain_bound(&q->e, q->delta / 2, x),
                              plain_end(q, best, q->delta / 2, true));
    plain_difference(q->Z + best * R, q->Z + other * R, x);
    return fmin(plain_bound(&q->e, q->delta / 2, x),
                upper - plain_end(q, other, q->delta / 2, false));
}

static void check_certificate(const question *q)
{
    static const uint32_t among[] = {0, 1, 3, 4};
    size_t arm;
    double gap, most = 0;
    tarry__books_certify(q->b, q->delta, q->complete, among, 4, &arm, &gap);
    assert_int_equal(arm, plain_best(q, among, 4));
    for (size_t i = 0; i < 4; i++) {
        CHECK_NEAR(q->b->bounds[i], plain_gap(q, arm, among[i]), 1e-8);
        most = fmax(most, q->b->bounds[i]);
    }
    assert_true(gap == most);
}

/* The estimates: ridge regression on what has arrived, or plain means. */
static void check_means(const question *q)
{
    double M[R][R], sum[R], theta[R];
    tarry__ellipsoid_data e = q->e;
    e.counts = q->b->arrivals;
    information(&e, 1, M, sum);
    eliminate(M, sum, theta);
    assert_true(tarry__books_fit(q->b));
    for (size_t k = 0; k < K; k++) {
        const double n = (double)q->b->arrivals[k];
        const double plain = n > 0 ? q->b->sums[k] / n : 0;
        CHECK_NEAR(q->b->means[k],
                   q->b->rank > 0 ? dot(theta, q->Z + k * R) : plain, 1e-9);
    }
}

static void check_books(uint64_t seed, size_t rank)
{
    const double lowest = seed % 2 ? -1 : 0;
    data d = some_data(seed, lowest);
    const tarry__policy_problem problem = {
        .n_arms = K, .dim = R, .arms = d.arms, .horizon = 1000};
    tarry__books b = {.width = seed % 5 ? 1 : 0.3, .lowest = lowest};
    assert_int_equal(tarry__books_open(&b, &problem, rank, d.W), TARRY_OK);
    memcpy(b.plays, d.plays, sizeof d.plays);
    memcpy(b.arrivals, d.arrivals, sizeof d.arrivals);
    memcpy(b.sums, d.sums, sizeof d.sums);
    question q = {.b = &b, .delta = 0.03, .complete = seed % 3 == 0};
    for (size_t k = 0; k < K; k++)
        for (size_t i = 0; i < R; i++) /* W by columns */
            for (size_t j = 0; j < R; j++)
                q.Z[k * R + i] += d.W[i + j * R] * d.arms[k * R + j];
    q.e = (tarry__ellipsoid_data){.rank = R,
                                  .n_arms = K,
                                  .Z = q.Z,
                                  .counts = q.complete ? b.plays : b.arrivals,
                                  .seen = b.arrivals,
                                  .sums = b.sums,
                                  .width = b.width};
    check_certificate(&q);
    check_means(&q);
    tarry__books_clear(&b);
}

static void certificates_are_the_smallest_of_all_bounds(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        check_books(seed, R);
        check_books(seed, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_own_interval_is_that_of_the_formula),
        cmocka_unit_test(bounds_of_differences_are_those_of_the_formula),
        cmocka_unit_test(what_vanishes_bounds_nothing),
        cmocka_unit_test(certificates_are_the_smallest_of_all_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
