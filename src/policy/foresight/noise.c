/* noise.c - see noise.h. */
#include "policy/foresight/noise.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"
#include "policy/foresight/root.h"

static const double KAPPA = 3;
static const double LEAST = 0.00025; /* a loss is never taken for surer */

tarry_status tarry__noise_open(tarry__noise *o, const tarry__view *view)
{
    const size_t r = view->rank, K = view->problem->n_arms;
    o->N = tarry__base_zalloc(5 * r * r + r + 4 * K, sizeof *o->N);
    if (o->N == NULL)
        return TARRY_NO_MEMORY;
    o->Q = o->N + r * r;
    o->P = o->Q + r * r;
    o->R = o->P + r * r;
    o->T = o->R + r * r;
    o->y = o->T + r * r;
    o->variance = o->y + r;
    o->h = o->variance + K;
    o->square = o->h + K;
    o->spare = o->square + K;
    for (size_t k = 0; k < K; k++)
        o->variance[k] = 1;
    return TARRY_OK;
}

void tarry__noise_clear(tarry__noise *o)
{
    tarry__base_free(o->N);
}

void tarry__noise_start(tarry__noise *o, const tarry__view *view)
{
    const size_t r = view->rank;
    memset(o->N, 0, 2 * r * r * sizeof *o->N);
    for (size_t i = 0; i < r; i++)
        o->N[i + i * r] = o->Q[i + i * r] = 1;
}

void tarry__noise_add(tarry__noise *o, const tarry__view *view, size_t arm,
                      double count, double squares)
{
    const size_t r = view->rank;
    const double *z = tarry__view_arm(view, arm);
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < r; i++) {
            const double x = z[i] * z[j];
            o->N[i + j * r] += count * x;
            o->Q[i + j * r] += squares * x;
        }
}

/* `out` is the share of what might move the mean to the other end. */
static double largest_variance(double mean, double n, double out)
{
    const double off = fmax(0, (1 - out) * fabs(mean) - out - 1 / sqrt(n));
    return off < 1 ? 1 - off * off : 0;
}

/* The bound of an arm with these h and s^2 h. */
static double bound(double mean, double h, double square, double out,
                    double misfit)
{
    if (!(h > 0))
        return 1;
    const double most = largest_variance(mean, 1 / h, out);
    return fmax(LEAST, fmin(square / h + 4 * KAPPA * h, most + misfit));
}

/* R with P = R R', and T with P Q P = T T', so that forms are squares of
 * lengths: R = L'^-1 and T = P M, with L and M the factors of N and Q. */
static bool find_roots(tarry__noise *o, size_t r)
{
    if (!tarry__root_factor(o->N, r) || !tarry__root_factor(o->Q, r))
        return false;
    tarry__root_inverse(o->N, r, o->P);
    memset(o->R, 0, 2 * r * r * sizeof *o->R);
    for (size_t j = 0; j < r; j++) {
        o->R[j + j * r] = 1;
        tarry__root_solve_back(o->N, r, o->R + j * r);
        for (size_t k = j; k < r; k++)
            for (size_t i = 0; i < r; i++)
                o->T[i + j * r] += o->P[i + k * r] * o->Q[k + j * r];
    }
    return true;
}

static double length(const double *root, const double *z, size_t r)
{
    double sum = 0;
    for (size_t j = 0; j < r; j++) {
        const double x = tarry__linalg_dot(root + j * r, z, r);
        sum += x * x;
    }
    return sum;
}

void tarry__noise_find(tarry__noise *o, const tarry__view *view,
                       const double *theta, double out, double misfit)
{
    const tarry__policy_problem *p = view->problem;
    const size_t r = view->rank, K = p->n_arms;
    if (!find_roots(o, r))
        return;
    memset(o->y, 0, r * sizeof *o->y);
    tarry__view_squares(view, o->R, o->y, o->h, o->spare);
    tarry__view_squares(view, o->T, o->y, o->square, o->spare);
    tarry__view_times(view, theta, o->spare);
    for (size_t i = 0; i < view->count; i++)
        o->variance[tarry__policy_choice(p, i)] =
            bound(o->spare[i], o->h[i], o->square[i], out, misfit);
    for (size_t k = 0; k < K && view->count < K; k++) {
        const double *z = tarry__view_arm(view, k);
        if (!tarry__policy_may_choose(p, k))
            o->variance[k] =
                bound(tarry__linalg_dot(z, theta, r), length(o->R, z, r),
                      length(o->T, z, r), out, misfit);
    }
}
