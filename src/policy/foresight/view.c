/* view.c - see view.h.  Independent features are found by a Cholesky factor
 * with pivots, each feature measured in its own unit. */
#include "policy/foresight/view.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/machine.h"
#include "linalg/linalg.h"
#include "policy/foresight/view_kernel.h"

/* Of a feature's square: below this it is a mixture of earlier ones. */
static const double NOTHING_LEFT = 1e-11;

/* M = sum of a a' over all arms, each feature divided by its own norm. */
static void correlate(const tarry__policy_problem *p, double *M, double *unit)
{
    const size_t n = p->dim;
    tarry__linalg_outer(p->arms, n, p->n_arms, M);
    tarry__linalg_mirror(M, n);
    for (size_t i = 0; i < n; i++)
        unit[i] = M[i + i * n] > 0 ? sqrt(M[i + i * n]) : 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            M[i + j * n] /= unit[i] * unit[j];
}

static size_t largest(const double *M, size_t n, const uint32_t *order,
                      size_t from)
{
    size_t best = from;
    for (size_t i = from + 1; i < n; i++)
        if (M[order[i] * (n + 1)] > M[order[best] * (n + 1)])
            best = i;
    return best;
}

/* Takes the step of the next pivot: M -= l l', l in place of its column. */
static void eliminate(double *M, size_t n, const uint32_t *order, size_t at)
{
    double *l = M + order[at] * n;
    const double root = sqrt(l[order[at]]);
    for (size_t i = at; i < n; i++)
        l[order[i]] /= root;
    for (size_t j = at + 1; j < n; j++)
        for (size_t i = at + 1; i < n; i++)
            M[order[i] + order[j] * n] -= l[order[i]] * l[order[j]];
}

/* The rank; `order` then starts with as many independent features. */
static size_t factor(double *M, size_t n, uint32_t *order)
{
    size_t rank = 0;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (; rank < n; rank++) {
        const size_t best = largest(M, n, order, rank);
        const uint32_t feature = order[best];
        if (!(M[feature * (n + 1)] > NOTHING_LEFT))
            break;
        order[best] = order[rank];
        order[rank] = feature;
        eliminate(M, n, order, rank);
    }
    return rank;
}

/* z = sqrt(K / r) L^-1 a on the independent features. */
static void turn(const tarry__view *v, const double *M, const double *unit,
                 const uint32_t *order)
{
    const size_t n = v->problem->dim, r = v->rank;
    const double scale = sqrt((double)v->problem->n_arms / (double)r);
    for (size_t k = 0; k < v->problem->n_arms; k++) {
        const double *a = v->problem->arms + k * n;
        double *z = v->Z + k * r;
        for (size_t i = 0; i < r; i++) {
            double rest = scale * a[order[i]] / unit[order[i]];
            for (size_t j = 0; j < i; j++)
                rest -= M[order[i] + order[j] * n] * z[j];
            z[i] = rest / M[order[i] * (n + 1)];
        }
    }
}

static tarry_status find_view(tarry__view *v, double *M, double *unit,
                              uint32_t *order)
{
    const tarry__policy_problem *p = v->problem;
    if (M == NULL || unit == NULL || order == NULL)
        return TARRY_NO_MEMORY;
    correlate(p, M, unit);
    v->rank = factor(M, p->dim, order);
    v->Z = tarry__base_alloc(p->n_arms * v->rank, sizeof *v->Z);
    v->columns = tarry__base_alloc(p->n_arms * v->rank, sizeof *v->columns);
    if (v->Z == NULL || v->columns == NULL)
        return TARRY_NO_MEMORY;
    turn(v, M, unit, order);
    tarry__view_narrow(v);
    return TARRY_OK;
}

tarry_status tarry__view_open(tarry__view *v,
                              const tarry__policy_problem *problem)
{
    const size_t n = problem->dim;
    double *M = tarry__base_alloc(n * n, sizeof *M);
    double *unit = tarry__base_alloc(n, sizeof *unit);
    uint32_t *order = tarry__base_alloc(n, sizeof *order);
    v->problem = problem;
    const tarry_status status = find_view(v, M, unit, order);
    tarry__base_free(M);
    tarry__base_free(unit);
    tarry__base_free(order);
    return status;
}

void tarry__view_clear(tarry__view *v)
{
    tarry__base_free(v->Z);
    tarry__base_free(v->columns);
}

void tarry__view_narrow(tarry__view *v)
{
    v->count = tarry__policy_n_choices(v->problem);
    for (size_t i = 0; i < v->count; i++) {
        const double *z =
            tarry__view_arm(v, tarry__policy_choice(v->problem, i));
        for (size_t j = 0; j < v->rank; j++)
            v->columns[j * v->count + i] = z[j];
    }
}

enum { BLOCK = 32 }; /* arms at a time, so that they stay in the cache */

static tarry__view_kernel *kernel(void)
{
    return TARRY__BASE_VARIANT(tarry__view);
}

static size_t block_at(const tarry__view *v, size_t from)
{
    return v->count - from < BLOCK ? v->count - from : BLOCK;
}

void tarry__view_times(const tarry__view *v, const double *x, double *out)
{
    kernel()(v->columns, v->count, v->rank, x, v->count, out);
}

void tarry__view_squares(const tarry__view *v, const double *R,
                         const double *origin, double *s, double *w)
{
    tarry__view_kernel *times = kernel();
    double t[BLOCK];
    memset(s, 0, v->count * sizeof *s);
    memset(w, 0, v->count * sizeof *w);
    for (size_t from = 0; from < v->count; from += BLOCK)
        for (size_t j = 0; j < v->rank; j++) {
            const size_t count = block_at(v, from);
            times(v->columns + from, v->count, v->rank, R + j * v->rank, count,
                  t);
            for (size_t i = 0; i < count; i++) {
                s[from + i] += t[i] * t[i];
                w[from + i] += (t[i] - origin[j]) * (t[i] - origin[j]);
            }
        }
}
