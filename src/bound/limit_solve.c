/* limit_solve.c - the smallest plan, by Newton steps on a barrier.
 *
 * With q(y) = y' V^-1 y and V = sum p x x', minimise
 *     tau sum p - sum_y log(1 - q(y)) - sum_j log p_j
 * for larger and larger tau.  With G = X' V^-1 Y, u(y) = 1/(1 - q(y)) and
 * C = G diag(u) G', the gradient is tau - C_jj - 1/p_j, and the Hessian
 *     S S' + 2 (X' V^-1 X) o C + diag(1/p^2),  S_jy = u(y) G_jy^2
 * (o: element by element).  Prices of the conditions are u / tau. */
#include "bound/limit.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "linalg/linalg.h"

enum { STEPS = 60, STAGES = 40 };
static const double FIRST = 1, FASTER = 6, CLOSE = 2e-5;

typedef struct {
    tarry__limit_problem *at;
    double tau;
    double *L, *x, *y, *G, *C, *H, *S, *u, *gradient, *step, *trial;
} path;

static tarry_status open_path(path *t, tarry__limit_problem *o)
{
    const size_t r = o->r, w = o->w;
    double *m =
        tarry__base_alloc(r * r + 2 * r * w + 4 * w * w + 4 * w, sizeof *m);
    *t = (path){.at = o, .tau = FIRST, .L = m};
    if (m == NULL)
        return TARRY_NO_MEMORY;
    t->x = t->L + r * r;
    t->y = t->x + r * w;
    t->G = t->y + r * w;
    t->C = t->G + w * w;
    t->H = t->C + w * w;
    t->S = t->H + w * w;
    t->u = t->S + w * w;
    t->gradient = t->u + w;
    t->step = t->gradient + w;
    t->trial = t->step + w;
    return TARRY_OK;
}

/* V of p as a factor, y = L^-1 Y, u; the largest q, infinite if V is
 * singular. */
static double evaluate(path *t, const double *p)
{
    const tarry__limit_problem *o = t->at;
    const size_t r = o->r, w = o->w;
    double largest = 0;
    for (size_t j = 0; j < w; j++)
        for (size_t i = 0; i < r; i++)
            t->x[j * r + i] = sqrt(p[j]) * o->X[j * r + i];
    tarry__linalg_outer(t->x, r, w, t->L);
    if (!tarry__linalg_cholesky(t->L, r))
        return INFINITY;
    memcpy(t->y, o->Y, r * w * sizeof *t->y);
    tarry__linalg_lower_solve(t->L, r, t->y, w);
    for (size_t j = 0; j < w; j++) {
        const double q = tarry__linalg_dot(t->y + j * r, t->y + j * r, r);
        t->u[j] = 1 / (1 - q);
        largest = fmax(largest, q);
    }
    return largest;
}

static double objective(path *t, const double *p)
{
    if (!(evaluate(t, p) < 1))
        return INFINITY;
    double sum = 0;
    for (size_t j = 0; j < t->at->w; j++)
        sum += t->tau * p[j] + tarry__ln(t->u[j]) - tarry__ln(p[j]);
    return sum;
}

/* At the p that was evaluated last. */
static void differentiate(path *t, const double *p)
{
    const size_t r = t->at->r, w = t->at->w;
    memcpy(t->x, t->at->X, r * w * sizeof *t->x);
    tarry__linalg_lower_solve(t->L, r, t->x, w);
    tarry__linalg_transposed_multiply(t->x, t->y, w, r, w, t->G);
    for (size_t y = 0; y < w; y++)
        for (size_t j = 0; j < w; j++)
            t->S[y * w + j] = sqrt(t->u[y]) * t->G[y * w + j];
    tarry__linalg_outer(t->S, w, w, t->C);
    tarry__linalg_gram(t->x, r, w, t->H);
    for (size_t k = 0; k < w; k++)
        for (size_t j = k; j < w; j++)
            t->H[k * w + j] *= 2 * t->C[k * w + j];
    for (size_t i = 0; i < w * w; i++)
        t->S[i] *= t->S[i];
    tarry__linalg_add_outer(t->S, w, w, t->H);
    for (size_t j = 0; j < w; j++) {
        t->H[j * w + j] += 1 / (p[j] * p[j]);
        t->gradient[j] = t->tau - t->C[j * w + j] - 1 / p[j];
    }
}

/* As far along the step as the objective falls; false: nowhere. */
static bool move(path *t, double *p, double slope)
{
    const size_t w = t->at->w;
    const double start = objective(t, p);
    double length = 1;
    for (size_t j = 0; j < w; j++)
        if (t->step[j] < 0)
            length = fmin(length, -0.99 * p[j] / t->step[j]);
    for (; length > 1e-10; length /= 2) {
        for (size_t j = 0; j < w; j++)
            t->trial[j] = p[j] + length * t->step[j];
        if (objective(t, t->trial) <= start + 0.1 * length * slope) {
            memcpy(p, t->trial, w * sizeof *p);
            return true;
        }
    }
    return false;
}

/* To the middle of the path at tau. */
static bool settle(path *t, double *p)
{
    const size_t w = t->at->w;
    for (int i = 0; i < STEPS; i++) {
        if (!isfinite(objective(t, p)))
            return false;
        differentiate(t, p);
        for (size_t j = 0; j < w; j++)
            t->step[j] = -t->gradient[j];
        if (!tarry__linalg_cholesky(t->H, w))
            return false;
        tarry__linalg_cholesky_solve(t->H, w, t->step);
        const double slope = tarry__linalg_dot(t->gradient, t->step, w);
        if (slope > -1e-6 || !move(t, p, slope))
            return true;
    }
    return true;
}

/* All the same, so that conditions hold with room to spare. */
static bool begin(path *t)
{
    tarry__limit_problem *o = t->at;
    for (size_t j = 0; j < o->w; j++)
        o->p[j] = 1;
    const double largest = evaluate(t, o->p);
    for (size_t j = 0; j < o->w; j++)
        o->p[j] = 2 * largest;
    t->tau = FIRST / (2 * largest);
    return isfinite(largest) && largest > 0;
}

static bool follow(path *t)
{
    tarry__limit_problem *o = t->at;
    for (int stage = 0; stage < STAGES; stage++) {
        double sum = 0;
        if (!settle(t, o->p))
            return false;
        for (size_t j = 0; j < o->w; j++)
            sum += o->p[j];
        if (2 * (double)o->w / t->tau < CLOSE * sum)
            break;
        t->tau *= FASTER;
    }
    evaluate(t, o->p);
    for (size_t j = 0; j < o->w; j++)
        o->dual[j] = t->u[j] / t->tau;
    memcpy(o->V, t->L, o->r * o->r * sizeof *o->V);
    tarry__linalg_cholesky_inverse(o->V, o->r);
    tarry__linalg_mirror(o->V, o->r);
    return true;
}

tarry_status tarry__limit_solve(tarry__limit_problem *o)
{
    path t;
    tarry_status status = open_path(&t, o);
    if (status != TARRY_OK)
        return status;
    if (!begin(&t) || !follow(&t))
        status = TARRY_TARGET_NOT_MET;
    tarry__base_free(t.L);
    return status;
}
