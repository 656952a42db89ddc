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
 * that all constraints hold, exactly, whatever the steps have reached.  V of
 * any plan is that of one on at most r(r+1)/2 arms, which costs no more. */
#include "policy/phased/phased.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "design/core.h"
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
static tarry_status fill_arms(const tarry__policy_problem *q,
                              const tarry__phased_plan *near, problem *o)
{
    const size_t n = q->dim;
    double *rows = o->q + o->m, *W = rows + n * o->m;
    for (size_t i = 0; i < o->m; i++)
        memcpy(rows + i * n, q->arms + near->active[i] * n, n * sizeof *rows);
    const tarry_status status = tarry__phased_whitening(q, near, W);
    if (status == TARRY_OK)
        tarry__linalg_multiply(W, rows, o->r, n, o->m, o->Z);
    return status;
}

static void fill_limits(const tarry__phased_task *task, const uint32_t *active,
                        double floor, problem *o)
{
    const double L = tarry__phased_tight_log(task->problem, task->confidence,
                                             task->ordinal, task->replans);
    const double eps = task->epsilon, *means = task->books->means;
    for (size_t i = 1; i < o->m; i++)
        if (means[active[i]] < means[active[o->best]])
            o->best = i;
    for (size_t i = 0; i < o->m; i++) {
        const double gap = means[active[i]] - means[active[o->best]];
        const double u = fmin(fmax(SHARE * gap, LEAST * eps), MOST * eps);
        o->cost[i] = gap + floor * eps;
        o->limit[i] = u / sqrt(2 * L);
        for (size_t j = 0; j < o->r; j++)
            o->Y[i * o->r + j] =
                (o->Z[i * o->r + j] - o->Z[o->best * o->r + j]) / o->limit[i];
    }
}

/* The near design, and a little of everything. */
static void fill_start(const tarry__phased_plan *near, problem *o)
{
    for (size_t i = 0, j = 0; i < o->m; i++) {
        o->l[i] = o->p[i] = 0.5 / (double)o->m;
        if (j < near->n_entries && near->entry[j].arm == near->active[i])
            o->p[i] += 0.5 * near->entry[j++].weight;
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

/* Moves p to at most r(r+1)/2 points with the same V (see design/core.h), so
 * that the cost, the sum of p, does not grow. */
static tarry_status thin(problem *o)
{
    const size_t r = o->r;
    tarry__core core;
    tarry_status status = tarry__core_create(&core, r, o->m);
    for (size_t i = 0; status == TARRY_OK && i < o->m; i++)
        if (o->p[i] > 0) {
            for (size_t j = 0; j < r; j++)
                core.x[core.count * r + j] = o->Z[i * r + j] / sqrt(o->cost[i]);
            core.weight[core.count] = o->p[i];
            core.arm[core.count++] = i;
        }
    if (status == TARRY_OK && core.count > r * (r + 1) / 2)
        status = tarry__core_thin(&core);
    for (size_t i = 0; status == TARRY_OK && i < core.count; i++)
        o->p[core.arm[i]] = core.weight[i];
    tarry__core_clear(&core);
    return status;
}

/* N from p, without the arms of which less than half a play is wanted. */
static tarry_status finish(problem *o, double *N, double *sum)
{
    double largest = evaluate(o);
    for (size_t i = 0; i < o->m; i++)
        if (!(largest * o->p[i] / o->cost[i] >= 0.5))
            o->p[i] = 0;
    *sum = 0;
    if (!isfinite(evaluate(o)))
        return TARRY_OK;
    const tarry_status status = thin(o);
    largest = evaluate(o);
    for (size_t i = 0; i < o->m; i++) {
        N[i] = largest * o->p[i] / o->cost[i];
        *sum += N[i];
    }
    *sum = isfinite(*sum) ? *sum : 0;
    return status == TARRY_TARGET_NOT_MET ? TARRY_OK : status;
}

/* The N of the problem as it stands, and their sum; 0 if there are none. */
static tarry_status solve(const tarry__phased_plan *near, problem *o, double *N,
                          double *sum)
{
    fill_start(near, o);
    double largest = evaluate(o);
    for (int i = 0; i < STEPS && isfinite(largest) && largest > 0; i++) {
        step(o, largest);
        largest = evaluate(o);
    }
    return finish(o, N, sum);
}

/* Where good arms are many and close the cheapest plan may be long: then plays
 * are made dearer. */
static tarry_status find_plan(const tarry__phased_task *task,
                              const tarry__phased_plan *near, double most,
                              problem *o, double *N, bool *better)
{
    double sum = 0;
    tarry_status status = fill_arms(task->problem, near, o);
    if (status != TARRY_OK || !tarry__books_fit(task->books))
        return status;
    for (double floor = FLOOR; status == TARRY_OK && !*better && floor <= 2;
         floor *= 4) {
        fill_limits(task, near->active, floor, o);
        status = solve(near, o, N, &sum);
        *better = status == TARRY_OK && sum > 0 && sum <= most;
    }
    return status;
}

tarry_status tarry__phased_regret_plan(const tarry__phased_task *task,
                                       const tarry__phased_plan *near,
                                       double most, double *N, bool *better)
{
    problem o;
    *better = false;
    if (task->books->learned == 0 || near->rank == 0)
        return TARRY_OK;
    tarry_status status =
        open_problem(&o, near->rank, near->n_active, task->problem->dim);
    if (status != TARRY_OK)
        return status;
    status = find_plan(task, near, most, &o, N, better);
    tarry__base_free(o.memory);
    return status;
}
