/* estimate.c - what the counted losses of a phase say about the active arms.
 *
 * With N(b) planned losses of arm b, S(b) those counted, sigma(b) = N(b) -
 * |S(b)| missing, and V = sum N(b) b b', lower, upper (a) = a' V^+ sum_b b (sum
 * S(b) -/+ sigma(b) sign(a' V^+ b)) = <theta, a> -/+ sum_b sigma(b) |a' V^+ b|:
 * the missing losses are completed with -1 or +1, whichever is worse for a.
 * Algorithms 1 and 2 miss none, so there both are <theta, a>.
 *
 * (The paper prints the pessimistic estimator without its minus sign.)
 *
 * V^+ = W'W in the span of the design: with the singular values s and right
 * vectors v of the rows sqrt(N(b)) b, the rows of W are v_i / s_i.  This never
 * forms V, whose condition is the square of that of the arms. */
#include "policy/phased/plan.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"

/* The rows sqrt(mass(b)) b as columns-major m by n, zeros below. */
static void fill_rows(const tarry__policy_problem *problem,
                      const tarry__phased_plan *p, double scale,
                      double (*mass)(const tarry__phased_plan *, size_t),
                      double *rows, size_t m)
{
    const size_t n = problem->dim;
    memset(rows, 0, m * n * sizeof *rows);
    for (size_t i = 0; i < p->n_entries; i++) {
        const double *b = problem->arms + p->entry[i].arm * n;
        const double root = scale * sqrt(mass(p, i));
        for (size_t j = 0; j < n; j++)
            rows[i + j * m] = root * b[j];
    }
}

static double by_count(const tarry__phased_plan *p, size_t i)
{
    return (double)tarry__phased_count(p, i);
}

static double by_weight(const tarry__phased_plan *p, size_t i)
{
    return p->entry[i].weight;
}

void tarry__phased_columns(const tarry__policy_problem *problem,
                           const uint32_t *among, size_t count, double *column)
{
    const size_t n = problem->dim;
    memset(column, 0, n * sizeof *column);
    for (size_t i = 0; i < count; i++) {
        const double *a = problem->arms + (among != NULL ? among[i] : i) * n;
        for (size_t j = 0; j < n; j++)
            column[j] = fmax(column[j], fabs(a[j]));
    }
}

/* Rounding errors in a feature of a sum of n terms, as a share of its largest
 * value; and the share of x, in the norm of features divided by theirs, that
 * may be left of it. */
static const double ROUNDING = 64 * DBL_EPSILON, MOST_LEFT = 1e-6;

bool tarry__phased_spans(const double *W, size_t rank, size_t n,
                         const double *column, const double *x, double *rest)
{
    double left = 0, all = 0;
    if (rank == n)
        return true;
    memcpy(rest, x, n * sizeof *rest);
    for (size_t i = 0; i < rank; i++) {
        double product = 0, square = 0;
        for (size_t j = 0; j < n; j++) {
            product += W[i + j * rank] * rest[j];
            square += W[i + j * rank] * W[i + j * rank];
        }
        for (size_t j = 0; j < n; j++)
            rest[j] -= product / square * W[i + j * rank];
    }
    for (size_t j = 0; j < n; j++) {
        if (!(fabs(rest[j]) <= (double)n * ROUNDING * column[j]))
            return false;
        if (column[j] == 0)
            continue;
        left += rest[j] / column[j] * (rest[j] / column[j]);
        all += x[j] / column[j] * (x[j] / column[j]);
    }
    return left <= MOST_LEFT * MOST_LEFT * all;
}

bool tarry__phased_spans_arm(const tarry__policy_problem *problem,
                             const double *W, size_t rank, const double *column,
                             size_t arm, double *rest)
{
    return tarry__phased_spans(W, rank, problem->dim, column,
                               problem->arms + arm * problem->dim, rest);
}

bool tarry__phased_spans_plan(const tarry__policy_problem *problem,
                              const tarry__phased_plan *p, const double *W,
                              const double *column, double *rest)
{
    for (size_t i = 0; i < p->n_entries; i++)
        if (!tarry__phased_spans_arm(problem, W, p->rank, column,
                                     p->entry[i].arm, rest))
            return false;
    return true;
}

/* W, rank by n; `rows` and `work` are scratch. */
static bool fill_W(size_t n, size_t rank, double *rows, size_t m, double *W,
                   double *work)
{
    double *R = work, *Vt = R + n * n, *values = Vt + n * n;
    tarry__linalg_qr(rows, m, n);
    memset(R, 0, n * n * sizeof *R);
    for (size_t j = 0; j < n; j++)
        memcpy(R + j * n, rows + j * m, (j + 1) * sizeof *R);
    if (!tarry__linalg_svd(R, n, values, Vt))
        return false;
    for (size_t i = 0; i < rank; i++)
        for (size_t j = 0; j < n; j++)
            W[i + j * rank] = Vt[i + j * n] / values[i];
    return true;
}

/* V^+ x into `out`; `t` holds rank doubles. */
static void times_inverse(const double *W, size_t rank, size_t n,
                          const double *x, double *t, double *out)
{
    tarry__linalg_times(W, rank, n, x, t);
    tarry__linalg_transposed_times(W, rank, n, t, out);
}

/* theta (n), and the columns sigma(b) V^+ b of those b that miss losses. */
static void fill_solution(const tarry__policy_problem *problem,
                          const tarry__phased_plan *p,
                          tarry__phased_solution *s)
{
    const size_t n = problem->dim;
    double *y = s->t + p->rank;
    memset(y, 0, n * sizeof *y);
    for (size_t i = 0; i < p->n_entries; i++) {
        const double *b = problem->arms + p->entry[i].arm * n;
        for (size_t j = 0; j < n; j++)
            y[j] += s->scale * b[j] * p->tally[i].sum;
    }
    times_inverse(s->W, p->rank, n, y, s->t, s->theta);
    s->n_missing = 0;
    for (size_t i = 0; i < p->n_entries; i++) {
        const double *b = problem->arms + p->entry[i].arm * n;
        const double sigma =
            (double)(tarry__phased_count(p, i) - p->entry[i].observed);
        if (sigma == 0)
            continue;
        for (size_t j = 0; j < n; j++)
            y[j] = sigma * s->scale * b[j];
        times_inverse(s->W, p->rank, n, y, s->t,
                      s->missing + n * s->n_missing++);
    }
}

void tarry__phased_bracket_all(const tarry__policy_problem *problem,
                               const tarry__phased_plan *p,
                               const tarry__phased_solution *s,
                               tarry_estimate *estimates)
{
    const size_t n = problem->dim;
    for (size_t i = 0; i < p->n_active; i++) {
        const double *a = problem->arms + p->active[i] * n;
        const double middle = s->scale * tarry__linalg_dot(a, s->theta, n);
        double width = 0;
        if (s->n_missing > 0)
            tarry__linalg_transposed_times(s->missing, n, s->n_missing, a,
                                           s->t);
        for (size_t j = 0; j < s->n_missing; j++)
            width += s->scale * fabs(s->t[j]);
        estimates[p->active[i]] =
            (tarry_estimate){middle - width, middle + width};
    }
}

/* A power of two that brings the plan's arms to about 1. */
static double scale_of_plan(const tarry__policy_problem *problem,
                            const tarry__phased_plan *p)
{
    const size_t n = problem->dim;
    double largest = 0;
    for (size_t i = 0; i < p->n_entries; i++)
        for (size_t j = 0; j < n; j++)
            largest =
                fmax(largest, fabs(problem->arms[p->entry[i].arm * n + j]));
    return largest > 0 ? ldexp(1, -ilogb(largest)) : 1;
}

size_t tarry__phased_solution_size(size_t n, size_t psi)
{
    const size_t m = psi > n ? psi : n;
    return m * n + 3 * n * n + n * psi + 4 * n + psi;
}

bool tarry__phased_solution_find(const tarry__policy_problem *problem,
                                 const tarry__phased_plan *p, double *memory,
                                 tarry__phased_solution *s)
{
    const size_t n = problem->dim, psi = p->n_entries;
    const size_t m = psi > n ? psi : n;
    double *rows = memory, *work = rows + m * n;
    s->W = work + 2 * n * n + n;
    s->theta = s->W + n * n;
    s->missing = s->theta + n;
    s->t = s->missing + n * psi;
    s->scale = scale_of_plan(problem, p);
    fill_rows(problem, p, s->scale, by_count, rows, m);
    const bool ok = fill_W(n, p->rank, rows, m, s->W, work);
    if (ok)
        fill_solution(problem, p, s);
    return ok;
}

tarry_status tarry__phased_whitening(const tarry__policy_problem *problem,
                                     const tarry__phased_plan *p, double *W)
{
    const size_t n = problem->dim, psi = p->n_entries;
    const size_t m = psi > n ? psi : n;
    double *rows = tarry__base_alloc(m * n + 2 * n * n + n, sizeof *rows);
    if (rows == NULL)
        return TARRY_NO_MEMORY;
    const double scale = scale_of_plan(problem, p);
    fill_rows(problem, p, scale, by_weight, rows, m);
    const bool ok = fill_W(n, p->rank, rows, m, W, rows + m * n);
    for (size_t i = 0; ok && i < p->rank * n; i++)
        W[i] *= scale;
    tarry__base_free(rows);
    return ok ? TARRY_OK : TARRY_TARGET_NOT_MET;
}

/* An arm whose difference to the one that looks best lies outside the span was
 * not compared with it: its loss may be anything.  `memory` has room for 3 n
 * doubles. */
static void widen_others(const tarry__policy_problem *problem,
                         const tarry__phased_plan *p, const double *W,
                         double *memory, tarry_estimate *estimates)
{
    const size_t n = problem->dim;
    double *column = memory, *x = column + n, *rest = x + n;
    size_t best = p->active[0];
    if (p->rank == n)
        return;
    tarry__phased_columns(problem, p->active, p->n_active, column);
    const bool sees_plan =
        tarry__phased_spans_plan(problem, p, W, column, rest);
    for (size_t i = 1; i < p->n_active; i++)
        if (estimates[p->active[i]].upper < estimates[best].upper)
            best = p->active[i];
    for (size_t i = 0; i < p->n_active; i++) {
        const size_t arm = p->active[i];
        for (size_t j = 0; j < n; j++)
            x[j] = problem->arms[arm * n + j] - problem->arms[best * n + j];
        if (!sees_plan || !tarry__phased_spans(W, p->rank, n, column, x, rest))
            estimates[arm] = (tarry_estimate){-1, 1};
    }
}

tarry_status tarry__phased_estimate_linear(const tarry__policy_problem *problem,
                                           const tarry__phased_plan *p,
                                           tarry_estimate *estimates)
{
    tarry__phased_solution s;
    const size_t size = tarry__phased_solution_size(problem->dim, p->n_entries);
    double *memory = tarry__base_alloc(size + 3 * problem->dim, sizeof *memory);
    if (memory == NULL)
        return TARRY_NO_MEMORY;
    const bool ok = tarry__phased_solution_find(problem, p, memory, &s);
    if (ok) {
        tarry__phased_bracket_all(problem, p, &s, estimates);
        widen_others(problem, p, s.W, memory + size, estimates);
    }
    tarry__base_free(memory);
    return ok ? TARRY_OK : TARRY_TARGET_NOT_MET;
}

/* Without features: mu -/+ = (sum -/+ sigma) / N. */
void tarry__phased_estimate_mab(const tarry__phased_plan *p,
                                tarry_estimate *estimates)
{
    for (size_t i = 0; i < p->n_entries; i++) {
        const tarry_plan_entry *e = &p->entry[i];
        const double sigma = (double)(e->target - e->observed);
        const double N = (double)e->target, sum = p->tally[i].sum;
        estimates[e->arm] =
            (tarry_estimate){(sum - sigma) / N, (sum + sigma) / N};
    }
}
