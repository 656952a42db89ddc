/* regret_design.c - design=regret: as few plays of bad arms as will do.
 *
 * With gaps d(a) estimated from all that has arrived and b the arm that looks
 * best, a phase needs not know every arm equally well: a - b may be off by
 * about d(a).  So it takes the N that minimises sum_a N(a) (d(a) + eps floor)
 * such that |a - b|^2 in the norm of V^+ is at most u(a)^2 / (2 L), where
 * u(a) = SHARE d(a), but from LEAST eps, which the near design keeps in any
 * case, to MOST eps, so that survivors' gaps stay of the order of eps even
 * where the estimates are wrong.
 *
 * With p(a) proportional to N(a) cost(a), points x = a / sqrt(cost(a)) and
 * y = (a - b) / u(a) this is min_p max_y y' V(p)^-1 y.  Both sides are moved by
 * factors: l(y) <- l(y) times y' V^-1 y, for the largest; p(x) <- p(x) times
 * the root of x' V^-1 A V^-1 x with A = sum l(y) y y', which for fixed l lowers
 * the trace of A V^-1 in every step (Yu 2010).  The result is then scaled so
 * that all constraints hold, exactly, whatever the steps have reached. */
#include "policy/phased/phased.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"

static const double FLOOR = 1.0 / 32, SHARE = 0.75, LEAST = 2, MOST = 4;
enum { STEPS = 30 };

typedef struct {
    size_t r, m; /* rank and active arms */
    double *memory;
    double *Z, *Y, *T;     /* r by m each: arms, directions, scratch */
    double *V, *A, *B, *C; /* r by r */
    double *cost, *limit, *p, *l, *q; /* per arm */
    size_t best;
} problem;

static tarry_status open_problem(problem *o, size_t r, size_t m, size_t n)
{
    *o = (problem){.r = r, .m = m};
    o->memory = tarry__base_zalloc(3 * r * m + 4 * r * r + 5 * m + n * (m + r),
                                   sizeof *o->memory);
    if (o->memory == NULL)
        return TARRY_NO_MEMORY;
    o->Z = o->memory;
    o->Y = o->Z + r * m;
    o->T = o->Y + r * m;
    o->V = o->T + r * m;
    o->A = o->V + r * r;
    o->B = o->A + r * r;
    o->C = o->B + r * r;
    o->cost = o->C + r * r;
    o->limit = o->cost + m;
    o->p = o->limit + m;
    o->l = o->p + m;
    o->q = o->l + m;
    return TARRY_OK;
}

/* Coordinates in which the near design has V = 1. */
static tarry_status fill_arms(const tarry__phased *ph, problem *o)
{
    const size_t n = ph->problem->dim;
    double *rows = o->q + o->m, *W = rows + n * o->m;
    for (size_t i = 0; i < o->m; i++)
        memcpy(rows + i * n, ph->problem->arms + ph->active[i] * n,
               n * sizeof *rows);
    const tarry_status status = tarry__phased_whitening(ph, W);
    if (status == TARRY_OK)
        tarry__linalg_multiply(W, rows, o->r, n, o->m, o->Z);
    return status;
}

static void fill_limits(const tarry__phased *ph, const double *means,
                        double floor, problem *o)
{
    const double L = tarry__phased_tight_log((double)ph->problem->n_arms,
                                             (double)ph->problem->horizon);
    const double eps = ph->epsilon;
    for (size_t i = 1; i < o->m; i++)
        if (means[ph->active[i]] < means[ph->active[o->best]])
            o->best = i;
    for (size_t i = 0; i < o->m; i++) {
        const double gap = means[ph->active[i]] - means[ph->active[o->best]];
        const double u = fmin(fmax(SHARE * gap, LEAST * eps), MOST * eps);
        o->cost[i] = gap + floor * eps;
        o->limit[i] = u / sqrt(2 * L);
        for (size_t j = 0; j < o->r; j++)
            o->Y[i * o->r + j] =
                (o->Z[i * o->r + j] - o->Z[o->best * o->r + j]) / o->limit[i];
    }
}

/* The near design, and a little of everything. */
static void fill_start(const tarry__phased *ph, problem *o)
{
    for (size_t i = 0, j = 0; i < o->m; i++) {
        o->l[i] = o->p[i] = 0.5 / (double)o->m;
        if (j < ph->n_plan && ph->plan[j].arm == ph->active[i])
            o->p[i] += 0.5 * ph->plan[j++].weight;
        o->p[i] *= o->cost[i];
    }
}

/* V of plays p / cost, as a factor, and q = y' V^-1 y; the largest of them or,
 * if V is singular, infinity. */
static double evaluate(problem *o)
{
    const size_t r = o->r;
    double largest = 0;
    for (size_t i = 0; i < o->m; i++) {
        const double root = sqrt(o->p[i] / o->cost[i]);
        for (size_t j = 0; j < r; j++)
            o->T[i * r + j] = root * o->Z[i * r + j];
    }
    tarry__linalg_outer(o->T, r, o->m, o->V);
    if (!tarry__linalg_cholesky(o->V, r))
        return INFINITY;
    memcpy(o->T, o->Y, r * o->m * sizeof *o->T);
    tarry__linalg_lower_solve(o->V, r, o->T, o->m);
    for (size_t i = 0; i < o->m; i++) {
        o->q[i] = tarry__linalg_dot(o->T + i * r, o->T + i * r, r);
        largest = fmax(largest, o->q[i]);
    }
    return largest;
}

static void normalise(double *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i];
    for (size_t i = 0; i < count; i++)
        x[i] /= sum;
}

static void step(problem *o, double largest)
{
    const size_t r = o->r, m = o->m;
    for (size_t i = 0; i < m; i++)
        o->l[i] *= o->q[i] / largest;
    normalise(o->l, m);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < r; j++)
            o->T[i * r + j] = sqrt(o->l[i]) * o->Y[i * r + j];
    tarry__linalg_outer(o->T, r, m, o->A);
    tarry__linalg_mirror(o->A, r);
    tarry__linalg_cholesky_inverse(o->V, r);
    tarry__linalg_mirror(o->V, r);
    tarry__linalg_multiply(o->V, o->A, r, r, r, o->C);
    tarry__linalg_multiply(o->C, o->V, r, r, r, o->B);
    tarry__linalg_multiply(o->B, o->Z, r, r, m, o->T);
    for (size_t i = 0; i < m; i++)
        o->p[i] *=
            sqrt(fmax(tarry__linalg_dot(o->T + i * r, o->Z + i * r, r), 0) /
                 o->cost[i]);
    normalise(o->p, m);
}

/* N from p, without the arms of which less than half a play is wanted. */
static bool finish(problem *o, double *N)
{
    double largest = evaluate(o);
    for (size_t i = 0; i < o->m; i++)
        if (!(largest * o->p[i] / o->cost[i] >= 0.5))
            o->p[i] = 0;
    largest = evaluate(o);
    for (size_t i = 0; i < o->m; i++)
        N[i] = largest * o->p[i] / o->cost[i];
    return isfinite(largest);
}

/* The N of the problem as it stands, and their sum; 0 if there are none. */
static double solve(const tarry__phased *ph, problem *o, double *N)
{
    double sum = 0;
    fill_start(ph, o);
    double largest = evaluate(o);
    for (int i = 0; i < STEPS && isfinite(largest) && largest > 0; i++) {
        step(o, largest);
        largest = evaluate(o);
    }
    if (finish(o, N))
        for (size_t i = 0; i < o->m; i++)
            sum += N[i];
    return sum;
}

/* Where good arms are many and close the cheapest plan may be long: then plays
 * are made dearer. */
tarry_status tarry__phased_regret_plan(const tarry__phased *ph, double most,
                                       double *N, bool *better)
{
    problem o;
    *better = false;
    if (ph->books.learned == 0 || ph->rank == 0)
        return TARRY_OK;
    tarry_status status =
        open_problem(&o, ph->rank, ph->n_active, ph->problem->dim);
    if (status != TARRY_OK)
        return status;
    tarry__linalg_blas_quiet_begin();
    status = fill_arms(ph, &o);
    if (status == TARRY_OK)
        status = tarry__books_fit(&ph->books);
    for (double floor = FLOOR; status == TARRY_OK && !*better && floor <= 2;
         floor *= 4) {
        fill_limits(ph, ph->books.means, floor, &o);
        const double sum = solve(ph, &o, N);
        *better = sum > 0 && sum <= most;
    }
    tarry__linalg_blas_quiet_end();
    tarry__base_free(o.memory);
    return status;
}
