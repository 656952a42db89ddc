/* interior.c - the exact solver: a primal-dual interior point method.
 *
 * Minimises -log det V(w) + r sum w over w >= 0, whose solution has sum w = 1
 * and is the optimal design.  With d_i the variances and s_i the multiplier of
 * w_i >= 0 the conditions are r - d_i = s_i >= 0 and w_i s_i = 0.  Since
 * d(d_i)/d(w_j) = -(x_i' V^-1 x_j)^2 =: -H_ij, a Newton step towards
 * w_i s_i = mu solves
 *     (H + diag(s/w)) dw = mu/w - (r - d),
 *     ds = mu/w - s - (s/w) dw,
 * with Mehrotra's predictor and corrector on one factorisation.
 *
 * H = Y'Y where column i of Y holds z_i z_i' as N = r(r+1)/2 numbers, z = L^-1
 * x.  With more points than that, as on spheres, balls and grids where vertex
 * methods stall, the system is solved in N dimensions (Woodbury).
 *
 * If allowed, points that are clearly out are left out on the way, as the cost
 * grows with the cube of their number: near the solution a step lets the
 * weights of those fall with mu and their multipliers stay, and the other way
 * round for the rest (Tapia's indicators). */
#include "design/core.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"

enum { MAX_STEPS = 100, NEWTON_STEPS = 5 };
static const double BOUNDARY = 0.99;    /* share of the way to w, s = 0 */
static const double CENTRE_SHARE = 0.1; /* weight spread evenly at the start */
/* When points are left out: g/r - 1 and s/r; trend. */
static const double NEAR = 0.01, FALLING = 0.2;
static const double MOST_LEFT_OUT = 0.5; /* of V, in one step */

typedef struct {
    tarry__core *core;
    size_t m, r, order; /* points, rank, order of the linear system */
    bool by_points;     /* system in m dimensions, else in N = order */
    bool may_leave_out;
    double *V, *x, *z; /* factor of V; points; z = L^-1 x, r by m */
    size_t *at;        /* the points' places in the core */
    double *w, *d, *s;
    double *best; /* the best weights so far, by places in the core */
    double *dw, *ds, *affine; /* steps; product dw ds of the predictor */
    double *trend;            /* (w/s) after over before the last step */
    double *rhs;
    double *system; /* order by order */
    double *Y;      /* N by m, only if !by_points */
    double *t;      /* order */
    double *memory;
} interior;

static void choose_order(interior *in)
{
    const size_t N = in->r * (in->r + 1) / 2;
    in->by_points = in->m <= N + N / 4;
    in->order = in->by_points ? in->m : N;
}

static tarry_status open_interior(interior *in, tarry__core *core)
{
    const size_t m = core->count, r = core->rank, N = r * (r + 1) / 2;
    memset(in, 0, sizeof *in);
    in->core = core;
    in->m = m;
    in->r = r;
    choose_order(in);
    const size_t most = in->by_points ? m : N + N / 4;
    const struct {
        double **field;
        size_t size;
    } parts[] = {{&in->V, r * r},
                 {&in->x, r * m + TARRY__DESIGN_SMALL_DIM},
                 {&in->z, r * m},
                 {&in->w, m},
                 {&in->d, m},
                 {&in->s, m},
                 {&in->best, m},
                 {&in->dw, m},
                 {&in->ds, m},
                 {&in->affine, m},
                 {&in->trend, m},
                 {&in->rhs, m},
                 {&in->t, most},
                 {&in->system, most * most},
                 {&in->Y, in->by_points ? 0 : N * m}};
    enum { N_PARTS = sizeof parts / sizeof *parts };
    size_t total = 0;
    for (size_t i = 0; i < N_PARTS; i++)
        total += (parts[i].size + 7) / 8 * 8;
    in->memory = tarry__base_alloc(total, sizeof(double));
    in->at = tarry__base_alloc(m, sizeof *in->at);
    if (in->memory == NULL || in->at == NULL)
        return TARRY_NO_MEMORY;
    double *next = in->memory;
    for (size_t i = 0; i < N_PARTS; i++) {
        *parts[i].field = next;
        next += (parts[i].size + 7) / 8 * 8;
    }
    return TARRY_OK;
}

static void close_interior(interior *in)
{
    tarry__base_free(in->at);
    tarry__base_free(in->memory);
}

static void sum_up(interior *in)
{
    const size_t m = in->m, r = in->r;
    if (r <= TARRY__DESIGN_SMALL_DIM) {
        tarry__design_moments(in->x, in->w, m, r, in->V);
        return;
    }
    for (size_t i = 0; i < m; i++) {
        const double root = sqrt(in->w[i]);
        for (size_t j = 0; j < r; j++)
            in->z[j + i * r] = root * in->x[j + i * r];
    }
    tarry__linalg_outer(in->z, r, m, in->V);
}

/* V = L L', z = L^-1 x, d = |z|^2; false if V is singular. */
static bool evaluate(interior *in)
{
    const size_t m = in->m, r = in->r;
    sum_up(in);
    if (!tarry__linalg_cholesky(in->V, r))
        return false;
    memcpy(in->z, in->x, r * m * sizeof *in->z);
    tarry__linalg_lower_solve(in->V, r, in->z, m);
    for (size_t i = 0; i < m; i++)
        in->d[i] = tarry__linalg_dot(in->z + i * r, in->z + i * r, r);
    return true;
}

/* g of the weights scaled to sum 1. */
static double worst_variance(const interior *in)
{
    double sum = 0, worst = 0;
    for (size_t i = 0; i < in->m; i++) {
        sum += in->w[i];
        worst = fmax(worst, in->d[i]);
    }
    return worst * sum;
}

static void start(interior *in)
{
    const double r = (double)in->r, even = CENTRE_SHARE / (double)in->m;
    for (size_t i = 0; i < in->m; i++)
        in->w[i] = (1 - CENTRE_SHARE) * in->core->weight[i] + even;
    memcpy(in->best, in->core->weight, in->m * sizeof *in->best);
    memcpy(in->x, in->core->x, in->r * in->m * sizeof *in->x);
    for (size_t i = 0; i < in->m; i++) {
        in->s[i] = fmax(r - in->core->variance[i], CENTRE_SHARE * r);
        in->at[i] = i;
    }
}

/* On their way out, with clear multipliers. */
static bool is_falling(const interior *in, size_t i)
{
    return in->trend[i] < FALLING && in->s[i] > NEAR * (double)in->r;
}

/* As w x x' <= w d V, what stays of V is a half or more: points that alone
 * carry a direction do not go together. */
static void leave_out(interior *in)
{
    const size_t r = in->r;
    size_t kept = 0;
    double gone = 0;
    for (size_t i = 0; i < in->m; i++) {
        const double share = in->w[i] * in->d[i];
        if (is_falling(in, i) && gone + share <= MOST_LEFT_OUT) {
            gone += share;
            continue;
        }
        memmove(in->x + kept * r, in->x + i * r, r * sizeof *in->x);
        memmove(in->z + kept * r, in->z + i * r, r * sizeof *in->z);
        in->w[kept] = in->w[i];
        in->d[kept] = in->d[i];
        in->s[kept] = in->s[i];
        in->at[kept++] = in->at[i];
    }
    in->m = kept;
    choose_order(in);
}

static void keep_as_best(interior *in)
{
    memset(in->best, 0, in->core->count * sizeof *in->best);
    for (size_t i = 0; i < in->m; i++)
        in->best[in->at[i]] = in->w[i];
}

static double mean_product(const double *a, const double *b, size_t m)
{
    return tarry__linalg_dot(a, b, m) / (double)m;
}

/* ---- the linear system ----------------------------------------------------*/

static void fill_by_points(interior *in)
{
    tarry__linalg_gram(in->z, in->r, in->m, in->system);
    for (size_t j = 0; j < in->m; j++) {
        double *column = in->system + j * in->m;
        for (size_t i = j; i < in->m; i++)
            column[i] *= column[i];
        if (in->s[j] > 0)
            column[j] += in->s[j] / in->w[j];
    }
}

/* Column i of Y: products of z_i, off-diagonal ones times sqrt 2, all times
 * sqrt(w_i/s_i); the system is I + Y Y'. */
static void fill_by_products(interior *in)
{
    for (size_t i = 0; i < in->m; i++) {
        const double *z = in->z + i * in->r;
        const double root = sqrt(in->w[i] / in->s[i]);
        double *y = in->Y + i * in->order;
        for (size_t a = 0; a < in->r; a++) {
            *y++ = root * z[a] * z[a];
            for (size_t b = 0; b < a; b++)
                *y++ = root * M_SQRT2 * z[a] * z[b];
        }
    }
    tarry__linalg_outer(in->Y, in->order, in->m, in->system);
    for (size_t j = 0; j < in->order; j++)
        in->system[j + j * in->order] += 1;
}

static bool factor_system(interior *in)
{
    if (in->by_points)
        fill_by_points(in);
    else
        fill_by_products(in);
    return tarry__linalg_cholesky(in->system, in->order);
}

/* dw = (H + D)^-1 rhs with D = s/w.  Woodbury: with c = D^-1/2 rhs,
 * dw = D^-1/2 (c - Y'(I + Y Y')^-1 Y c). */
static void solve_system(interior *in)
{
    if (in->by_points) {
        memcpy(in->dw, in->rhs, in->m * sizeof *in->dw);
        tarry__linalg_cholesky_solve(in->system, in->order, in->dw);
        return;
    }
    for (size_t i = 0; i < in->m; i++)
        in->rhs[i] *= sqrt(in->w[i] / in->s[i]);
    tarry__linalg_times(in->Y, in->order, in->m, in->rhs, in->t);
    tarry__linalg_cholesky_solve(in->system, in->order, in->t);
    tarry__linalg_transposed_times(in->Y, in->order, in->m, in->t, in->dw);
    for (size_t i = 0; i < in->m; i++)
        in->dw[i] = (in->rhs[i] - in->dw[i]) * sqrt(in->w[i] / in->s[i]);
}

/* ---- steps ----------------------------------------------------------------*/

/* Direction towards w s = mu - correction. */
static void direction(interior *in, double mu, const double *correction)
{
    const double r = (double)in->r;
    for (size_t i = 0; i < in->m; i++) {
        const double goal = mu - (correction != NULL ? correction[i] : 0);
        in->rhs[i] = goal / in->w[i] - (r - in->d[i]);
    }
    solve_system(in);
    for (size_t i = 0; i < in->m; i++) {
        const double goal = mu - (correction != NULL ? correction[i] : 0);
        in->ds[i] =
            goal / in->w[i] - in->s[i] - in->s[i] / in->w[i] * in->dw[i];
    }
}

/* The longest step up to 1 that keeps x + step dx >= (1 - share) x. */
static double step_length(const double *x, const double *dx, size_t m,
                          double share)
{
    double step = 1;
    for (size_t i = 0; i < m; i++)
        if (dx[i] < 0)
            step = fmin(step, -share * x[i] / dx[i]);
    return step;
}

/* Mehrotra: how far the predictor would get tells how much to centre. */
static double centring(const interior *in)
{
    const double p = step_length(in->w, in->dw, in->m, 1);
    const double q = step_length(in->s, in->ds, in->m, 1);
    double after = 0;
    for (size_t i = 0; i < in->m; i++)
        after += (in->w[i] + p * in->dw[i]) * (in->s[i] + q * in->ds[i]);
    const double mu = mean_product(in->w, in->s, in->m);
    const double ratio = after / (double)in->m / mu;
    return fmax(ratio * ratio * ratio, 1e-6) * mu;
}

static void move(interior *in)
{
    const double p = step_length(in->w, in->dw, in->m, BOUNDARY);
    const double q = step_length(in->s, in->ds, in->m, BOUNDARY);
    for (size_t i = 0; i < in->m; i++) {
        const double before = in->w[i] / in->s[i];
        in->w[i] += p * in->dw[i];
        in->s[i] += q * in->ds[i];
        in->trend[i] = in->w[i] / in->s[i] / before;
    }
}

static bool step(interior *in)
{
    if (!factor_system(in))
        return false;
    direction(in, 0, NULL);
    for (size_t i = 0; i < in->m; i++)
        in->affine[i] = in->dw[i] * in->ds[i];
    const double mu = centring(in);
    direction(in, mu, in->affine);
    move(in);
    return true;
}

/* Iterates to the target; returns the best g reached, weights in `best`. */
static double iterate(interior *in, double target)
{
    double best = tarry__core_worst(in->core);
    int stalled = 0;
    for (int k = 0; k < MAX_STEPS && evaluate(in); k++) {
        const double g = worst_variance(in);
        stalled = g < best ? 0 : stalled + 1;
        if (g < best) {
            best = g;
            keep_as_best(in);
        }
        if (best <= target || stalled > 25)
            break;
        if (in->may_leave_out && k > 0 && g < (1 + NEAR) * (double)in->r)
            leave_out(in);
        if (!step(in))
            break;
    }
    return best;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Removes the weights with the smallest shares w_i d_i while those sum to at
 * most `share`: w_i x_i x_i' <= w_i d_i V, so no variance grows by more than
 * 1/(1 - share). */
static void drop_small(tarry__core *core, double share)
{
    double *sorted = core->scratch, sum = 0;
    for (size_t i = 0; i < core->count; i++)
        sorted[i] = core->weight[i] * core->variance[i];
    qsort(sorted, core->count, sizeof *sorted, by_value);
    size_t first = 0; /* the smallest share that stays */
    while ((sum += sorted[first]) <= share)
        first++;
    const double least = sorted[first];
    for (size_t i = 0; i < core->count; i++)
        if (core->weight[i] * core->variance[i] < least)
            core->weight[i] = 0;
}

tarry_status tarry__core_interior(tarry__core *core, double tolerance,
                                  bool may_leave_out)
{
    interior in;
    tarry_status status = open_interior(&in, core);
    if (status != TARRY_OK) {
        close_interior(&in);
        return status;
    }
    const double target = (1 + tolerance / 2) * (double)in.r;
    start(&in);
    in.may_leave_out = may_leave_out;
    const double g = iterate(&in, target);
    memcpy(core->weight, in.best, core->count * sizeof *in.best);
    close_interior(&in);
    if (!tarry__core_refresh(core))
        return TARRY_TARGET_NOT_MET;
    drop_small(core, fmin(tolerance, 0.1) / 4);
    if (!tarry__core_refresh(core))
        return TARRY_TARGET_NOT_MET;
    return g <= (1 + tolerance) * (double)core->rank ? TARRY_OK
                                                     : TARRY_TARGET_NOT_MET;
}

/* ---- Newton's method, near the end ----------------------------------------*/

/* Takes the points with weight and those that want some. */
static void take_active(interior *in)
{
    const tarry__core *core = in->core;
    const size_t r = in->r;
    in->m = 0;
    for (size_t i = 0; i < core->count; i++)
        if (core->weight[i] > 0 || core->variance[i] > (double)r) {
            memcpy(in->x + in->m * r, core->x + i * r, r * sizeof *in->x);
            in->w[in->m] = core->weight[i];
            in->s[in->m] = 0;
            in->at[in->m++] = i;
        }
    choose_order(in);
}

/* w += H^-1 (d - r); what would become negative becomes zero. */
static bool newton_step(interior *in)
{
    take_active(in);
    if (in->m > in->r * (in->r + 1) / 2 || !evaluate(in) || !factor_system(in))
        return false; /* H is singular */
    for (size_t i = 0; i < in->m; i++)
        in->rhs[i] = in->d[i] - (double)in->r;
    solve_system(in);
    for (size_t i = 0; i < in->m; i++)
        in->core->weight[in->at[i]] = fmax(in->w[i] + in->dw[i], 0);
    return tarry__core_refresh(in->core);
}

static bool newton(interior *in, double target)
{
    for (int k = 0; k < NEWTON_STEPS; k++) {
        if (tarry__core_worst(in->core) <= target)
            return true;
        if (!newton_step(in))
            return false;
    }
    return tarry__core_worst(in->core) <= target;
}

tarry_status tarry__core_newton(tarry__core *core, double tolerance)
{
    interior in;
    tarry_status status = open_interior(&in, core);
    if (status == TARRY_OK) {
        memcpy(in.best, core->weight, core->count * sizeof *in.best);
        if (!newton(&in, (1 + tolerance / 2) * (double)core->rank)) {
            memcpy(core->weight, in.best, core->count * sizeof *in.best);
            tarry__core_refresh(core);
            status = TARRY_TARGET_NOT_MET;
        }
    }
    close_interior(&in);
    return status;
}
