/* thin.c - fewer supported points with the same V (Caratheodory).
 *
 * V = sum w_i x_i x_i' is one point in N = r(r+1)/2 dimensions, so at most N of
 * the x_i x_i' are needed to write it.  A pivoted QR picks a basis B among
 * them and writes each other one j as a combination, column c_j of a tableau.
 * Then, as in the simplex method, weight moves between j and the basis along
 * w_B + t c_j, w_j - t until j or a basic point is empty; in the latter case
 * the two trade places.  Of the two directions the one is taken in which the
 * sum of weights does not grow. */
#include "design/core.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"

typedef struct {
    tarry__core *core;
    size_t n_basic, n_other;
    size_t *basic, *other; /* points */
    double *C;             /* tableau, n_basic by n_other */
} tableau;

/* x x' as N numbers that keep inner products. */
static void products(const double *x, size_t r, double *y)
{
    for (size_t a = 0; a < r; a++) {
        *y++ = x[a] * x[a];
        for (size_t b = 0; b < a; b++)
            *y++ = M_SQRT2 * x[a] * x[b];
    }
}

/* The length t > 0 at which the first basic weight w_B + sign t c is empty. */
static double step_to_empty(const tableau *t, const double *c, double sign,
                            size_t *row)
{
    double step = INFINITY;
    for (size_t i = 0; i < t->n_basic; i++) {
        const double slope = -sign * c[i];
        const double weight = t->core->weight[t->basic[i]];
        if (slope > 1e-9 && weight / slope < step) {
            step = weight / slope;
            *row = i;
        }
    }
    return step;
}

/* Point `column` enters the basis at `row`; later columns follow. */
static void pivot(tableau *t, size_t row, size_t column)
{
    const size_t m = t->n_basic;
    const double *c = t->C + column * m;
    for (size_t j = column + 1; j < t->n_other; j++) {
        double *d = t->C + j * m;
        const double share = d[row] / c[row];
        for (size_t i = 0; i < m; i++)
            d[i] -= share * c[i];
        d[row] = share;
    }
    t->basic[row] = t->other[column];
}

static void remove_one(tableau *t, size_t column)
{
    const double *c = t->C + column * t->n_basic;
    double *w = t->core->weight, sum = 0;
    for (size_t i = 0; i < t->n_basic; i++)
        sum += c[i];
    const double sign = sum <= 1 ? 1 : -1;
    const size_t j = t->other[column];
    size_t row = 0;
    const double to_empty = step_to_empty(t, c, sign, &row);
    const bool trade = sign < 0 || to_empty < w[j];
    const double step = trade ? to_empty : w[j];
    if (!isfinite(step))
        return; /* j stays; rounding has spoiled its column */
    for (size_t i = 0; i < t->n_basic; i++)
        w[t->basic[i]] = fmax(w[t->basic[i]] + sign * step * c[i], 0);
    w[j] = trade ? w[j] - sign * step : 0;
    if (trade) {
        w[t->basic[row]] = 0;
        pivot(t, row, column);
    }
}

/* Basis and tableau from a pivoted QR of the products Y (N by count):
 * C = R11^-1 R12. */
static void fill_tableau(tableau *t, const double *Y, size_t N, size_t count,
                         const int *order, const size_t *points)
{
    size_t rank = 0;
    const size_t most = N < count ? N : count;
    while (rank < most && fabs(Y[rank * (N + 1)]) > 1e-10 * fabs(Y[0]))
        rank++;
    t->n_basic = rank;
    t->n_other = count - rank;
    for (size_t i = 0; i < rank; i++)
        t->basic[i] = points[order[i]];
    for (size_t j = 0; j < t->n_other; j++) {
        t->other[j] = points[order[rank + j]];
        memcpy(t->C + j * rank, Y + (rank + j) * N, rank * sizeof *t->C);
    }
    tarry__linalg_upper_solve(Y, N, rank, t->C, t->n_other);
}

static tarry_status thin_points(tarry__core *core, size_t *points, size_t count,
                                size_t N)
{
    const size_t most = N < count ? N : count, r = core->rank;
    const size_t work_size = tarry__linalg_factor_work(N, count);
    double *Y = tarry__base_alloc(N * count + N * most + N * count + work_size,
                                  sizeof *Y);
    int *order = tarry__base_alloc(count, sizeof *order);
    tableau t = {.core = core,
                 .basic = tarry__base_alloc(count, sizeof *t.basic),
                 .other = tarry__base_alloc(count, sizeof *t.other)};
    const bool ok = Y && order && t.basic && t.other;
    if (ok) {
        double *Q = Y + N * count;
        t.C = Q + N * most;
        for (size_t i = 0; i < count; i++)
            products(core->x + points[i] * r, r, Y + i * N);
        tarry__linalg_qr_pivoted(Y, N, count, order, Q, t.C + N * count);
        fill_tableau(&t, Y, N, count, order, points);
        for (size_t j = 0; j < t.n_other; j++)
            remove_one(&t, j);
    }
    tarry__base_free(t.other);
    tarry__base_free(t.basic);
    tarry__base_free(order);
    tarry__base_free(Y);
    return ok ? TARRY_OK : TARRY_NO_MEMORY;
}

tarry_status tarry__core_thin(tarry__core *core)
{
    const size_t N = core->rank * (core->rank + 1) / 2;
    size_t *points = tarry__base_alloc(core->count, sizeof *points), count = 0;
    if (points == NULL)
        return TARRY_NO_MEMORY;
    for (size_t i = 0; i < core->count; i++)
        if (core->weight[i] > 0)
            points[count++] = i;
    tarry_status status = thin_points(core, points, count, N);
    tarry__base_free(points);
    if (status == TARRY_OK && !tarry__core_refresh(core))
        status = TARRY_TARGET_NOT_MET;
    return status;
}
