/* books.c - see books.h.
 *
 * In coordinates z = W a the first design's V is the identity, so that the
 * unknown vector has length at most 1: its square is the design's mean of
 * <b, theta>^2 <= 1.  With M = I + sum of counts z z' and theta_hat = M^-1 sum
 * of losses z, the bound of Abbasi-Yadkori, Pal and Szepesvari (2011, Theorem
 * 2) is, at all times at once with probability 1 - delta,
 *     |<theta_hat - theta, x>| <= beta |x|_{M^-1},
 *     beta = sqrt(2 log(1/delta) + log det M) + 1,
 * for noise of proxy 1.  Counts are those of losses that have arrived, in the
 * order of arrival, which is right if delays do not look at losses.  If they
 * may, counts are those of plays, in their order, and theta_hat lacks
 * missing(c) losses of arm c in [-1, 1], which can shift <theta_hat, x> by at
 * most sum_c missing(c) |x' M^-1 z_c|.
 *
 * Arms without features: each has its own mean of n losses, off by at most
 *     sqrt(2 log(2 K n (n + 1) / delta) / n),
 * since 1/(n(n+1)) sums to 1 over all n; missing ones add missing / n. */
#include "policy/phased/books.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"

static tarry_status open_coordinates(tarry__books *b)
{
    const size_t n = b->problem->dim, K = b->problem->n_arms;
    b->Z = tarry__base_alloc(K * b->rank, sizeof *b->Z);
    b->means = tarry__base_zalloc(K, sizeof *b->means);
    b->work = tarry__base_alloc(b->rank * (b->rank + 3), sizeof *b->work);
    b->lacking = tarry__base_alloc(K, sizeof *b->lacking);
    if (b->Z == NULL || b->means == NULL || b->work == NULL ||
        b->lacking == NULL)
        return TARRY_NO_MEMORY;
    if (b->rank == 0)
        return TARRY_OK;
    tarry__linalg_blas_quiet_begin();
    tarry__linalg_multiply(b->W, b->problem->arms, b->rank, n, K, b->Z);
    tarry__linalg_blas_quiet_end();
    return TARRY_OK;
}

tarry_status tarry__books_open(tarry__books *b,
                               const tarry__policy_problem *problem,
                               size_t rank, const double *W)
{
    const size_t K = problem->n_arms;
    b->problem = problem;
    b->rank = rank;
    b->plays = tarry__base_zalloc(K, sizeof *b->plays);
    b->arrivals = tarry__base_zalloc(K, sizeof *b->arrivals);
    b->sums = tarry__base_zalloc(K, sizeof *b->sums);
    b->W = tarry__base_alloc(rank * problem->dim, sizeof *b->W);
    if (b->plays == NULL || b->arrivals == NULL || b->sums == NULL ||
        b->W == NULL)
        return TARRY_NO_MEMORY;
    memcpy(b->W, W, rank * problem->dim * sizeof *b->W);
    return open_coordinates(b);
}

void tarry__books_clear(tarry__books *b)
{
    tarry__base_free(b->plays);
    tarry__base_free(b->arrivals);
    tarry__base_free(b->sums);
    tarry__base_free(b->W);
    tarry__base_free(b->Z);
    tarry__base_free(b->means);
    tarry__base_free(b->work);
    tarry__base_free(b->lacking);
}

void tarry__books_archive(tarry__books *b, const tarry__policy_problem *problem,
                          tarry__archive *a)
{
    size_t K = problem->n_arms, n_plays = K, n_arrivals = K, n_sums = K;
    size_t size = b->rank * problem->dim;
    b->problem = problem;
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
    double *L, *theta, *u, *v;
    double log_det;
    size_t n_lacking; /* arms that miss losses, in books->lacking */
} fit;

static tarry_status make_fit(const tarry__books *b, const uint64_t *counts,
                             fit *f)
{
    const size_t r = b->rank, K = b->problem->n_arms;
    memset(b->work, 0, r * (r + 3) * sizeof *b->work);
    f->L = b->work;
    f->theta = f->L + r * r;
    f->u = f->theta + r;
    f->v = f->u + r;
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
        return TARRY_TARGET_NOT_MET;
    f->n_lacking = 0;
    for (size_t k = 0; k < K; k++)
        if (b->plays[k] > b->arrivals[k])
            b->lacking[f->n_lacking++] = (uint32_t)k;
    f->log_det = 0;
    for (size_t i = 0; i < r; i++)
        f->log_det += 2 * log(f->L[i + i * r]);
    tarry__linalg_cholesky_solve(f->L, r, f->theta);
    return TARRY_OK;
}

tarry_status tarry__books_fit(const tarry__books *b)
{
    const size_t r = b->rank, K = b->problem->n_arms;
    fit f;
    for (size_t k = 0; r == 0 && k < K; k++)
        b->means[k] =
            b->arrivals[k] > 0 ? b->sums[k] / (double)b->arrivals[k] : 0;
    if (r == 0)
        return TARRY_OK;
    tarry__linalg_blas_quiet_begin();
    const tarry_status status = make_fit(b, b->arrivals, &f);
    if (status == TARRY_OK)
        tarry__linalg_transposed_times(b->Z, r, K, f.theta, b->means);
    tarry__linalg_blas_quiet_end();
    return status;
}

/* ---- the certificate ------------------------------------------------------*/

/* What missing losses can do in the direction of M^-1 x, which is in f->v. */
static double shift(const tarry__books *b, const fit *f)
{
    double sum = 0;
    for (size_t i = 0; i < f->n_lacking; i++) {
        const size_t k = b->lacking[i];
        sum += (double)(b->plays[k] - b->arrivals[k]) *
               fabs(tarry__linalg_dot(b->Z + k * b->rank, f->v, b->rank));
    }
    return sum;
}

/* A bound on <theta, x> for x = z(best) - z(arm). */
static double difference(const tarry__books *b, const fit *f, double beta,
                         bool complete, size_t best, size_t arm)
{
    const size_t r = b->rank;
    for (size_t i = 0; i < r; i++)
        f->u[i] = f->v[i] = b->Z[best * r + i] - b->Z[arm * r + i];
    tarry__linalg_lower_solve(f->L, r, f->u, 1);
    double bound = tarry__linalg_dot(f->theta, f->v, r) +
                   beta * sqrt(tarry__linalg_dot(f->u, f->u, r));
    if (complete) {
        tarry__linalg_cholesky_solve(f->L, r, f->v);
        bound += shift(b, f);
    }
    return bound;
}

static void certify_linear(const tarry__books *b, const fit *f, double delta,
                           bool complete, const uint32_t *among, size_t count,
                           size_t *arm, double *gap)
{
    const double beta = sqrt(2 * log(1 / delta) + f->log_det) + 1;
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double mean =
            tarry__linalg_dot(b->Z + among[i] * b->rank, f->theta, b->rank);
        if (mean < least) {
            least = mean;
            *arm = among[i];
        }
    }
    *gap = 0;
    for (size_t i = 0; i < count; i++)
        if (among[i] != *arm)
            *gap = fmax(*gap, difference(b, f, beta, complete, *arm, among[i]));
}

/* A mean and how far it may be off. */
static double plain_mean(const tarry__books *b, double delta, bool complete,
                         size_t k, double *off)
{
    const double n = (double)(complete ? b->plays[k] : b->arrivals[k]);
    const double missing = n - (double)b->arrivals[k];
    *off = 2;
    if (n == 0)
        return 0;
    *off = sqrt(2 * log(2 * (double)b->problem->n_arms * n * (n + 1) / delta) /
                n) +
           missing / n;
    return b->sums[k] / n;
}

static void certify_plain(const tarry__books *b, double delta, bool complete,
                          const uint32_t *among, size_t count, size_t *arm,
                          double *gap)
{
    double least = INFINITY, off;
    for (size_t i = 0; i < count; i++) {
        const double mean = plain_mean(b, delta, complete, among[i], &off);
        if (mean + off < least) {
            least = mean + off;
            *arm = among[i];
        }
    }
    *gap = 0;
    for (size_t i = 0; i < count; i++) {
        const double mean = plain_mean(b, delta, complete, among[i], &off);
        if (among[i] != *arm)
            *gap = fmax(*gap, least - mean + off);
    }
}

tarry_status tarry__books_certify(const tarry__books *b, double delta,
                                  bool complete, const uint32_t *among,
                                  size_t count, size_t *arm, double *gap)
{
    fit f;
    *arm = among[0];
    if (b->rank == 0) {
        certify_plain(b, delta, complete, among, count, arm, gap);
        return TARRY_OK;
    }
    tarry__linalg_blas_quiet_begin();
    const tarry_status status =
        make_fit(b, complete ? b->plays : b->arrivals, &f);
    if (status == TARRY_OK)
        certify_linear(b, &f, delta, complete, among, count, arm, gap);
    tarry__linalg_blas_quiet_end();
    return status;
}
