/* books.c - see books.h.
 *
 * In coordinates z = W a the first design's V is the identity, so that the
 * unknown vector has length at most 1: its square is the design's mean of
 * <b, theta>^2 <= 1.  All losses together bound every difference of means
 * (ellipsoid.h), an arm's own losses bound its mean (own_mean.h), and no mean
 * is below the lowest loss.  Each kind of bound has half of delta, and the
 * smallest counts: gap(b) <= max_a min(bound of the difference, upper(b) -
 * lower(a)). Counts are those of losses that have arrived, in the order of
 * arrival, which is right if delays do not look at losses.  If they may, counts
 * are those of plays, in their order, and missing losses are completed the
 * worst way. */
#include "policy/phased/books.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"
#include "policy/phased/ellipsoid.h"
#include "policy/phased/own_mean.h"
#include "policy/phased/plan.h"

/* Z = W A, of all arms at once: the same bytes whenever it is done. */
static void fill_coordinates(tarry__books *b)
{
    double *rest = b->work + b->rank * (b->rank + 3);
    tarry__phased_columns(b->problem, NULL, b->problem->n_arms, b->column);
    if (b->rank == 0)
        return;
    b->sees_all = true;
    for (size_t k = 0; b->sees_all && k < b->problem->n_arms; k++)
        b->sees_all = tarry__phased_spans_arm(b->problem, b->W, b->rank,
                                              b->column, k, rest);
    tarry__linalg_multiply(b->W, b->problem->arms, b->rank, b->problem->dim,
                           b->problem->n_arms, b->Z);
}

static tarry_status open_coordinates(tarry__books *b)
{
    const size_t K = b->problem->n_arms;
    b->column = tarry__base_alloc(b->problem->dim, sizeof *b->column);
    b->Z = tarry__base_alloc(K * b->rank, sizeof *b->Z);
    b->means = tarry__base_zalloc(K, sizeof *b->means);
    b->work = tarry__base_alloc(b->rank * (b->rank + 3) + 2 * b->problem->dim,
                                sizeof *b->work);
    b->lacking = tarry__base_alloc(K, sizeof *b->lacking);
    b->bounds = tarry__base_alloc(K, sizeof *b->bounds);
    if (b->column == NULL || b->Z == NULL || b->means == NULL ||
        b->work == NULL || b->lacking == NULL || b->bounds == NULL)
        return TARRY_NO_MEMORY;
    fill_coordinates(b);
    return TARRY_OK;
}

static tarry_status open_coordinates_by(tarry__books *b, const double *W)
{
    memcpy(b->W, W, b->rank * b->problem->dim * sizeof *b->W);
    return open_coordinates(b);
}

tarry_status tarry__books_open(tarry__books *b,
                               const tarry__policy_problem *problem,
                               size_t rank, const double *W)
{
    const size_t K = problem->n_arms;
    b->problem = problem;
    b->n_arms = K;
    b->dim = problem->dim;
    b->rank = rank;
    b->plays = tarry__base_zalloc(K, sizeof *b->plays);
    b->arrivals = tarry__base_zalloc(K, sizeof *b->arrivals);
    b->sums = tarry__base_zalloc(K, sizeof *b->sums);
    b->W = tarry__base_alloc(rank * problem->dim, sizeof *b->W);
    if (b->plays == NULL || b->arrivals == NULL || b->sums == NULL ||
        b->W == NULL)
        return TARRY_NO_MEMORY;
    return open_coordinates_by(b, W);
}

static tarry_status grow(void *array, size_t old, size_t n, size_t size)
{
    void **block = array;
    void *bigger = tarry__base_grow(*block, old, n, size);
    if (bigger == NULL)
        return TARRY_NO_MEMORY;
    *block = bigger;
    return TARRY_OK;
}

tarry_status tarry__books_reserve(tarry__books *b, size_t n)
{
    const size_t K = b->problem->n_arms, r = b->rank, dim = b->problem->dim;
    tarry_status status = grow(&b->plays, K, n, sizeof *b->plays);
    if (status == TARRY_OK)
        status = grow(&b->arrivals, K, n, sizeof *b->arrivals);
    if (status == TARRY_OK)
        status = grow(&b->sums, K, n, sizeof *b->sums);
    if (status == TARRY_OK)
        status = grow(&b->Z, K * r, n * r, sizeof *b->Z);
    if (status == TARRY_OK) /* one feature more, with the arm */
        status = grow(&b->W, r * dim, r * (dim + 1), sizeof *b->W);
    if (status == TARRY_OK)
        status = grow(&b->column, dim, dim + 1, sizeof *b->column);
    if (status == TARRY_OK)
        status =
            grow(&b->work, 0, r * (r + 3) + 2 * (dim + 1), sizeof *b->work);
    if (status == TARRY_OK)
        status = grow(&b->means, K, n, sizeof *b->means);
    if (status == TARRY_OK)
        status = grow(&b->lacking, K, n, sizeof *b->lacking);
    if (status == TARRY_OK)
        status = grow(&b->bounds, K, n, sizeof *b->bounds);
    return status;
}

/* New arms have the coordinates that they would have after a restore, until
 * there are some that fit them. */
void tarry__books_extend(tarry__books *b)
{
    if (b->n_arms == b->problem->n_arms)
        return;
    for (size_t k = b->n_arms; k < b->problem->n_arms; k++) {
        b->plays[k] = b->arrivals[k] = 0;
        b->sums[k] = b->means[k] = 0;
    }
    b->n_arms = b->problem->n_arms;
    for (size_t i = b->rank * b->dim; i < b->rank * b->problem->dim; i++)
        b->W[i] = 0; /* a feature that no arm had has no coordinate */
    b->dim = b->problem->dim;
    fill_coordinates(b);
}

tarry_status tarry__books_change(tarry__books *b, size_t rank, const double *W)
{
    tarry__books next = *b;
    next.rank = rank;
    next.W = tarry__base_alloc(rank * b->problem->dim, sizeof *next.W);
    next.column = next.Z = next.means = next.work = next.bounds = NULL;
    next.lacking = NULL;
    const tarry_status status =
        next.W != NULL ? open_coordinates_by(&next, W) : TARRY_NO_MEMORY;
    tarry__books *loser = status == TARRY_OK ? b : &next;
    tarry__base_free(loser->W);
    tarry__base_free(loser->column);
    tarry__base_free(loser->Z);
    tarry__base_free(loser->means);
    tarry__base_free(loser->work);
    tarry__base_free(loser->lacking);
    tarry__base_free(loser->bounds);
    if (status == TARRY_OK)
        *b = next;
    return status;
}

void tarry__books_clear(tarry__books *b)
{
    tarry__base_free(b->plays);
    tarry__base_free(b->arrivals);
    tarry__base_free(b->sums);
    tarry__base_free(b->W);
    tarry__base_free(b->column);
    tarry__base_free(b->Z);
    tarry__base_free(b->means);
    tarry__base_free(b->work);
    tarry__base_free(b->lacking);
    tarry__base_free(b->bounds);
}

void tarry__books_archive(tarry__books *b, const tarry__policy_problem *problem,
                          tarry__archive *a)
{
    size_t K = problem->n_arms, n_plays = K, n_arrivals = K, n_sums = K;
    size_t size = b->rank * problem->dim;
    b->problem = problem;
    b->n_arms = K;
    b->dim = problem->dim;
    tarry__archive_field(a, b->rank);
    tarry__archive_array(a, &b->plays, &n_plays, sizeof *b->plays, K);
    tarry__archive_array(a, &b->arrivals, &n_arrivals, sizeof *b->arrivals, K);
    tarry__archive_array(a, &b->sums, &n_sums, sizeof *b->sums, K);
    tarry__archive_array(a, &b->W, &size, sizeof *b->W,
                         problem->dim * problem->dim);
    tarry__archive_require(a, n_plays == K && n_arrivals == K && n_sums == K &&
                                  b->rank <= problem->dim &&
                                  size == b->rank * problem->dim);
    for (size_t k = 0; a->loading && a->status == TARRY_OK && k < K; k++) {
        tarry__archive_require(a, b->arrivals[k] <= b->plays[k]);
        b->learned += b->arrivals[k];
    }
    if (a->loading && a->status == TARRY_OK)
        a->status = open_coordinates(b);
}

/* ---- all losses together --------------------------------------------------*/

/* Of M = I + sum counts z z': a root of M^-1 and theta_hat. */
typedef struct {
    double *L, *theta;
} fit;

static bool make_fit(const tarry__books *b, const uint64_t *counts, fit *f)
{
    const size_t r = b->rank, K = b->problem->n_arms;
    memset(b->work, 0, r * (r + 3) * sizeof *b->work);
    f->L = b->work;
    f->theta = f->L + r * r;
    for (size_t i = 0; i < r; i++)
        f->L[i + i * r] = 1;
    for (size_t k = 0; k < K; k++) {
        const double *z = b->Z + k * r;
        if (counts[k] > 0)
            tarry__linalg_rank_one(f->L, r, (double)counts[k], z);
        if (b->sums[k] != 0)
            for (size_t i = 0; i < r; i++)
                f->theta[i] += b->sums[k] * z[i];
    }
    if (!tarry__linalg_cholesky(f->L, r))
        return false;
    tarry__linalg_cholesky_solve(f->L, r, f->theta);
    return true;
}

bool tarry__books_fit(const tarry__books *b)
{
    const size_t r = b->rank, K = b->problem->n_arms;
    fit f;
    for (size_t k = 0; r == 0 && k < K; k++)
        b->means[k] =
            b->arrivals[k] > 0 ? b->sums[k] / (double)b->arrivals[k] : 0;
    if (r == 0)
        return true;
    const bool fits = make_fit(b, b->arrivals, &f);
    if (fits)
        tarry__linalg_transposed_times(b->Z, r, K, f.theta, b->means);
    return fits;
}

/* ---- the certificate ------------------------------------------------------*/

/* The end of an interval around the mean of n losses, with the width asked
 * for. */
static double scaled(const tarry__books *b, double n, double sum, double end)
{
    const double mean = n > 0 ? sum / n : 0;
    return b->width == 1 ? end : mean + b->width * (end - mean);
}

/* Bounds on the mean of arm k from its own losses; fails for some arm or time
 * with probability delta. */
static double own_upper(const tarry__books *b, double delta, bool complete,
                        size_t k)
{
    const double missing =
        complete ? (double)(b->plays[k] - b->arrivals[k]) : 0;
    const double n = (double)b->arrivals[k] + missing;
    const double sum = b->sums[k] + missing;
    return scaled(b, n, sum,
                  tarry__own_mean_upper(n, sum, b->lowest,
                                        delta / (double)b->problem->n_arms));
}

static double own_lower(const tarry__books *b, double delta, bool complete,
                        size_t k)
{
    const double missing =
        complete ? (double)(b->plays[k] - b->arrivals[k]) : 0;
    const double n = (double)b->arrivals[k] + missing;
    const double sum = b->sums[k] + missing * b->lowest;
    return scaled(b, n, sum,
                  tarry__own_mean_lower(n, sum, b->lowest,
                                        delta / (double)b->problem->n_arms));
}

static size_t smallest_mean(const tarry__books *b, const double *theta,
                            const uint32_t *among, size_t count)
{
    size_t arm = among[0];
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double mean =
            tarry__linalg_dot(b->Z + among[i] * b->rank, theta, b->rank);
        if (mean < least) {
            least = mean;
            arm = among[i];
        }
    }
    return arm;
}

/* Whether the coordinates know the difference of two arms. */
static bool knows(const tarry__books *b, size_t arm, size_t other)
{
    const size_t n = b->problem->dim, r = b->rank;
    const double *A = b->problem->arms;
    double *x = b->work + r * (r + 3), *rest = x + n;
    if (!b->sees_all)
        return false;
    for (size_t j = 0; j < n; j++)
        x[j] = A[arm * n + j] - A[other * n + j];
    return tarry__phased_spans(b->W, r, n, b->column, x, rest);
}

static void certify_linear(const tarry__books *b, double delta, bool complete,
                           const uint32_t *among, size_t count, size_t *arm)
{
    const tarry__ellipsoid_data data = {.rank = b->rank,
                                        .n_arms = b->problem->n_arms,
                                        .Z = b->Z,
                                        .counts =
                                            complete ? b->plays : b->arrivals,
                                        .seen = b->arrivals,
                                        .sums = b->sums,
                                        .width = b->width};
    double own;
    fit f;
    if (make_fit(b, data.counts, &f))
        *arm = smallest_mean(b, f.theta, among, count);
    tarry__ellipsoid_bound(&data, delta / 2, *arm, among, count, b->bounds,
                           &own, b->lacking, b->work);
    const double upper = fmin(b->sees_all ? own : INFINITY,
                              own_upper(b, delta / 2, complete, *arm));
    for (size_t i = 0; i < count; i++)
        b->bounds[i] =
            among[i] == *arm
                ? 0
                : fmin(knows(b, among[i], *arm) ? b->bounds[i] : INFINITY,
                       upper - own_lower(b, delta / 2, complete, among[i]));
}

static void certify_plain(const tarry__books *b, double delta, bool complete,
                          const uint32_t *among, size_t count, size_t *arm)
{
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double upper = own_upper(b, delta, complete, among[i]);
        if (upper < least) {
            least = upper;
            *arm = among[i];
        }
    }
    for (size_t i = 0; i < count; i++)
        b->bounds[i] = among[i] == *arm
                           ? 0
                           : least - own_lower(b, delta, complete, among[i]);
}

static double largest(const double *x, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, x[i]);
    return most;
}

void tarry__books_certify(const tarry__books *b, double delta, bool complete,
                          const uint32_t *among, size_t count, size_t *arm,
                          double *gap)
{
    *arm = among[0];
    if (b->rank == 0)
        certify_plain(b, delta, complete, among, count, arm);
    else
        certify_linear(b, delta, complete, among, count, arm);
    *gap = largest(b->bounds, count);
}
