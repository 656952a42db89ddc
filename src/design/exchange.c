/* exchange.c - vertex steps on the core.
 *
 * Exchange takes the point k of largest and the supported point l of smallest
 * variance and makes the better of two steps, both with closed-form lengths:
 *   Frank-Wolfe:  w <- (1 - t) w + t e_k,  t = (d_k/r - 1) / (d_k - 1);
 *   pairwise:     w <- w + t (e_k - e_l),  t = (d_k - d_l) /
 *                 (2 (d_k d_l - d_kl^2)), at most w_l, which empties l.
 * V^-1 and all d follow by rank-one updates: O(m r), exchange_kernel.h. */
#include <math.h>
#include <string.h>
#include "base/machine.h"
#include "design/core.h"
#include "design/exchange_kernel.h"

enum { REFRESH_STEPS = 500 };

static const tarry__exchange_change NOTHING = {.scale = 1, .keep = 1};

/* ---- this machine's kernels -----------------------------------------------*/

void tarry__exchange_look(tarry__exchange *ex, size_t k, size_t l)
{
    TARRY__BASE_VARIANT(tarry__exchange_look)(ex, k, l);
}

void tarry__exchange_make(tarry__exchange *ex, tarry__exchange_change change)
{
    TARRY__BASE_VARIANT(tarry__exchange_make)(ex, change);
}

void tarry__exchange_begin(tarry__exchange *ex)
{
    const size_t r = ex->rank, m = ex->count;
    for (size_t j = 0; j < r; j++) {
        double *row = ex->rows + j * ex->stride;
        for (size_t i = 0; i < m; i++)
            row[i] = ex->x[j + i * r];
        for (size_t i = m; i < ex->stride; i++)
            row[i] = 0;
    }
    for (size_t i = m; i < m + TARRY__EXCHANGE_PAD; i++)
        ex->weight[i] = ex->variance[i] = 0;
    memset(ex->c, 0, (m + TARRY__EXCHANGE_PAD) * sizeof *ex->c);
    memset(ex->e, 0, (m + TARRY__EXCHANGE_PAD) * sizeof *ex->e);
    memset(ex->u, 0, r * sizeof *ex->u);
    memset(ex->v, 0, r * sizeof *ex->v);
}

static tarry__exchange open_exchange(tarry__core *core)
{
    const size_t m = core->count;
    tarry__exchange ex = {.rank = core->rank,
                          .count = m,
                          .x = core->x,
                          .rows = core->rows,
                          .stride = (m + TARRY__EXCHANGE_PAD - 1) /
                                    TARRY__EXCHANGE_PAD * TARRY__EXCHANGE_PAD,
                          .weight = core->weight,
                          .variance = core->variance,
                          .c = core->scratch,
                          .e = core->scratch + m + TARRY__EXCHANGE_PAD,
                          .inverse = core->inverse,
                          .u = core->direction,
                          .v = core->direction + core->rank};
    tarry__exchange_begin(&ex);
    return ex;
}

/* ---- steps ----------------------------------------------------------------*/

static double frank_wolfe_length(const tarry__exchange *ex, double d)
{
    return (d / (double)ex->rank - 1) / (d - 1);
}

static double power(double x, size_t n)
{
    double result = 1;
    for (; n > 0; n /= 2, x *= x)
        if (n % 2 == 1)
            result *= x;
    return result;
}

/* Gains are factors of det V. */
static double frank_wolfe_gain(const tarry__exchange *ex, double d, double t)
{
    if (ex->rank == 1) /* would take all weight; pairwise does that */
        return 0;
    return power(1 - t, ex->rank - 1) * (1 - t + t * d);
}

/* w_k = (1 - t) w_k + t: before the others are scaled. */
static void frank_wolfe_step(tarry__exchange *ex, size_t k, double t)
{
    const double left = 1 - t;
    ex->weight[k] += t / left;
    tarry__exchange_make(
        ex, (tarry__exchange_change){.scale = 1 / left,
                                     .s = t / (left + t * ex->variance[k]),
                                     .keep = left});
}

/* After look(k, l): c_l = d_kl. */
static double pairwise_length(const tarry__exchange *ex, size_t k, size_t l)
{
    const double dk = ex->variance[k], dl = ex->variance[l], dkl = ex->c[l];
    const double curvature = 2 * (dk * dl - dkl * dkl);
    const double t = curvature > 1e-14 * dk * dl ? (dk - dl) / curvature
                                                 : INFINITY; /* collinear */
    return fmin(t, ex->weight[l]);
}

static double pairwise_gain(const tarry__exchange *ex, size_t k, size_t l,
                            double t)
{
    const double dk = ex->variance[k], dl = ex->variance[l], dkl = ex->c[l];
    return (1 + t * dk) * (1 - t * dl) + t * t * dkl * dkl;
}

/* First V += t x_k x_k', which changes v and d_l; then V -= t x_l x_l'. */
static void pairwise_step(tarry__exchange *ex, size_t k, size_t l, double t)
{
    const double s = t / (1 + t * ex->variance[k]), dkl = ex->c[l];
    const double dl = ex->variance[l] - s * dkl * dkl;
    ex->weight[k] += t;
    ex->weight[l] = t == ex->weight[l] ? 0 : ex->weight[l] - t;
    tarry__exchange_make(ex, (tarry__exchange_change){.scale = 1,
                                                      .s = s,
                                                      .t = -t / (1 - t * dl),
                                                      .f = s * dkl,
                                                      .keep = 1});
}

static void exchange_step(tarry__exchange *ex)
{
    const size_t k = ex->most, l = ex->least;
    tarry__exchange_look(ex, k, l);
    const double fw = frank_wolfe_length(ex, ex->variance[k]);
    const double pair = pairwise_length(ex, k, l);
    if (frank_wolfe_gain(ex, ex->variance[k], fw) >
        pairwise_gain(ex, k, l, pair))
        frank_wolfe_step(ex, k, fw);
    else
        pairwise_step(ex, k, l, pair);
}

bool tarry__core_exchange(tarry__core *core, double tolerance, size_t max_steps)
{
    const double target = (1 + tolerance) * (double)core->rank;
    if (tarry__core_worst(core) <= target)
        return true;
    tarry__exchange ex = open_exchange(core);
    tarry__exchange_make(&ex, NOTHING);
    for (size_t step = 0; step < max_steps && core->variance[ex.most] > target;
         step++) {
        exchange_step(&ex);
        if (step % REFRESH_STEPS == REFRESH_STEPS - 1) {
            if (!tarry__core_refresh(core))
                return false;
            tarry__exchange_make(&ex, NOTHING);
        }
    }
    return tarry__core_refresh(core);
}

/* ---- fewer points ---------------------------------------------------------*/

/* The supported point with the least share w d of V, if any is dispensable.
 * The shares sum to r, so of more than r points one is: r/(r+1) or less. */
static size_t least_important(const tarry__core *c)
{
    size_t least = c->count;
    double share = 1 - 1e-6;
    for (size_t i = 0; i < c->count; i++) {
        const double here = c->weight[i] * c->variance[i];
        if (c->weight[i] > 0 && here < share) {
            share = here;
            least = i;
        }
    }
    return least;
}

bool tarry__core_shrink(tarry__core *core, size_t excess)
{
    tarry__exchange ex = open_exchange(core);
    for (size_t k = 0; k < excess; k++) {
        const size_t i = least_important(core);
        if (i == core->count)
            break;
        const double w = core->weight[i];
        core->weight[i] = 0;
        tarry__exchange_look(&ex, i, i);
        tarry__exchange_make(
            &ex, (tarry__exchange_change){.scale = 1,
                                          .s = -w / (1 - w * core->variance[i]),
                                          .keep = 1});
    }
    return tarry__core_refresh(core);
}
