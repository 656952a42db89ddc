/* ellipsoid.c - see ellipsoid.h. */
#include "policy/phased/ellipsoid.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include "base/elementary.h"
#include "linalg/linalg.h"

static const double lambdas[] = {1, 4, 16, 64, 256, 1024};
enum { N_LAMBDAS = sizeof lambdas / sizeof *lambdas };
static const double VANISHING = 1e-4; /* rounding of M, as a share of lambda */

typedef struct {
    const tarry__ellipsoid_data *data;
    double *L, *theta, *u, *v;
    double radius;
    const uint32_t *lacking; /* arms that miss losses */
    size_t n_lacking;
} ellipsoid;

/* Whether lambda is lost in the rounding of M, in whose place L is. */
static bool vanishes(const ellipsoid *e, double lambda)
{
    const size_t r = e->data->rank;
    double largest = 0;
    for (size_t i = 0; i < r; i++)
        largest = fmax(largest, e->L[i + i * r]);
    return !((double)r * DBL_EPSILON * largest <= VANISHING * lambda);
}

/* L L' = M, theta = M^-1 sum of losses z, and the radius. */
static bool fit(ellipsoid *e, double lambda, double delta)
{
    const tarry__ellipsoid_data *d = e->data;
    const size_t r = d->rank;
    double log_det = -(double)r * tarry__ln(lambda);
    memset(e->L, 0, r * (r + 1) * sizeof *e->L);
    for (size_t i = 0; i < r; i++)
        e->L[i + i * r] = lambda;
    for (size_t k = 0; k < d->n_arms; k++) {
        if (d->counts[k] == 0)
            continue;
        tarry__linalg_rank_one(e->L, r, (double)d->counts[k], d->Z + k * r);
        for (size_t i = 0; i < r; i++)
            e->theta[i] += d->sums[k] * d->Z[k * r + i];
    }
    if (vanishes(e, lambda) || !tarry__linalg_cholesky(e->L, r))
        return false;
    for (size_t i = 0; i < r; i++)
        log_det += 2 * tarry__ln(e->L[i + i * r]);
    tarry__linalg_cholesky_solve(e->L, r, e->theta);
    e->radius = d->width * sqrt(2 * tarry__ln(1 / delta) + log_det + lambda);
    return true;
}

/* A bound on <unknown, x>, x being in u and v: the middle, the width, and what
 * missing losses can do. */
static double bound_of(const ellipsoid *e)
{
    const tarry__ellipsoid_data *d = e->data;
    const size_t r = d->rank;
    const double middle = tarry__linalg_dot(e->theta, e->u, r);
    double shift = 0;
    tarry__linalg_lower_solve(e->L, r, e->u, 1);
    if (e->n_lacking > 0)
        tarry__linalg_cholesky_solve(e->L, r, e->v);
    for (size_t i = 0; i < e->n_lacking; i++) {
        const size_t k = e->lacking[i];
        shift += (double)(d->counts[k] - d->seen[k]) *
                 fabs(tarry__linalg_dot(d->Z + k * r, e->v, r));
    }
    return middle + e->radius * sqrt(tarry__linalg_dot(e->u, e->u, r)) + shift;
}

static double difference(const ellipsoid *e, const double *z, const double *y)
{
    for (size_t i = 0; i < e->data->rank; i++)
        e->u[i] = e->v[i] = z[i] - (y != NULL ? y[i] : 0);
    return bound_of(e);
}

static size_t find_lacking(const tarry__ellipsoid_data *d, uint32_t *lacking)
{
    size_t n = 0;
    for (size_t k = 0; k < d->n_arms; k++)
        if (d->counts[k] > d->seen[k])
            lacking[n++] = (uint32_t)k;
    return n;
}

void tarry__ellipsoid_bound(const tarry__ellipsoid_data *d, double delta,
                            size_t arm, const uint32_t *among, size_t count,
                            double *bound, double *own, uint32_t *lacking,
                            double *work)
{
    const size_t r = d->rank;
    ellipsoid e = {.data = d,
                   .L = work,
                   .theta = work + r * r,
                   .u = work + r * r + r,
                   .v = work + r * r + 2 * r,
                   .lacking = lacking,
                   .n_lacking = find_lacking(d, lacking)};
    *own = INFINITY;
    for (size_t i = 0; i < count; i++)
        bound[i] = INFINITY;
    for (size_t l = 0; l < N_LAMBDAS; l++) {
        if (!fit(&e, lambdas[l], delta / N_LAMBDAS))
            continue;
        *own = fmin(*own, difference(&e, d->Z + arm * r, NULL));
        for (size_t i = 0; i < count; i++)
            bound[i] = fmin(
                bound[i], difference(&e, d->Z + arm * r, d->Z + among[i] * r));
    }
}
