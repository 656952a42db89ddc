/* core.c - the core set and vertex exchange on it.
 *
 * Exchange takes the point k of largest and the supported point l of smallest
 * variance and makes the better of two steps, both with closed-form lengths:
 *   Frank-Wolfe:  w <- (1 - t) w + t e_k,  t = (d_k/r - 1) / (d_k - 1);
 *   pairwise:     w <- w + t (e_k - e_l),  t = (d_k - d_l) /
 *                 (2 (d_k d_l - d_kl^2)), at most w_l, which empties l.
 * V^-1 and all d follow by rank-one updates (Sherman-Morrison): O(m r). */
#include "core.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"

enum { REFRESH_STEPS = 500, BATCH = 64 };

tarry_status tarry__core_create(tarry__core *core, size_t rank, size_t room)
{
    memset(core, 0, sizeof *core);
    core->rank = rank;
    core->inverse = tarry__alloc(rank * rank, sizeof(double));
    core->direction = tarry__alloc(rank, sizeof(double));
    core->batch = tarry__alloc(rank * BATCH, sizeof(double));
    if (!core->inverse || !core->direction || !core->batch)
        return TARRY_NO_MEMORY;
    return tarry__core_reserve(core, room);
}

void tarry__core_clear(tarry__core *core)
{
    tarry__free(core->batch);
    tarry__free(core->direction);
    tarry__free(core->inverse);
    tarry__free(core->scratch);
    tarry__free(core->arm);
    tarry__free(core->variance);
    tarry__free(core->weight);
    tarry__free(core->x);
}

static bool grow(void *field, size_t old_count, size_t count, size_t size)
{
    void **block = field;
    void *bigger = tarry__grow(*block, old_count, count, size);
    if (bigger == NULL)
        return false;
    *block = bigger;
    return true;
}

tarry_status tarry__core_reserve(tarry__core *c, size_t room)
{
    if (room <= c->room)
        return TARRY_OK;
    if (!grow(&c->x, c->count, room, c->rank * sizeof(double)) ||
        !grow(&c->weight, c->count, room, sizeof(double)) ||
        !grow(&c->variance, c->count, room, sizeof(double)) ||
        !grow(&c->arm, c->count, room, sizeof(size_t)) ||
        !grow(&c->scratch, c->count, room, sizeof(double)))
        return TARRY_NO_MEMORY;
    c->room = room;
    return TARRY_OK;
}

/* Some points at a time, so that BLAS has products of matrices to do. */
static size_t batch_at(const tarry__core *core, size_t first)
{
    const size_t left = core->count - first;
    return left < BATCH ? left : BATCH;
}

void tarry__core_matrix(const tarry__core *core, double *V)
{
    const size_t r = core->rank;
    memset(V, 0, r * r * sizeof *V);
    for (size_t first = 0; first < core->count; first += BATCH) {
        const size_t count = batch_at(core, first);
        for (size_t i = 0; i < count; i++) {
            const double root = sqrt(core->weight[first + i]);
            for (size_t j = 0; j < r; j++)
                core->batch[i * r + j] = root * core->x[(first + i) * r + j];
        }
        tarry__add_outer(core->batch, r, count, V);
    }
    tarry__mirror(V, r);
}

static void scale_weights(tarry__core *core)
{
    double sum = 0;
    for (size_t i = 0; i < core->count; i++)
        sum += core->weight[i];
    for (size_t i = 0; i < core->count; i++)
        core->weight[i] /= sum;
}

bool tarry__core_refresh(tarry__core *core)
{
    const size_t r = core->rank;
    scale_weights(core);
    tarry__core_matrix(core, core->inverse);
    if (!tarry__cholesky(core->inverse, r))
        return false;
    tarry__cholesky_inverse(core->inverse, r);
    tarry__mirror(core->inverse, r);
    for (size_t first = 0; first < core->count; first += BATCH) {
        const size_t count = batch_at(core, first);
        const double *x = core->x + first * r, *y = core->batch;
        tarry__multiply(core->inverse, x, r, r, count, core->batch);
        for (size_t i = 0; i < count; i++, x += r, y += r)
            core->variance[first + i] = tarry__dot(x, y, r);
    }
    return true;
}

double tarry__core_worst(const tarry__core *core)
{
    double worst = 0;
    for (size_t i = 0; i < core->count; i++)
        worst = fmax(worst, core->variance[i]);
    return worst;
}

size_t tarry__core_support(const tarry__core *core)
{
    size_t support = 0;
    for (size_t i = 0; i < core->count; i++)
        support += core->weight[i] > 0;
    return support;
}

void tarry__core_prune(tarry__core *c, double keep_above)
{
    const size_t r = c->rank;
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (c->weight[i] <= 0 && c->variance[i] < keep_above)
            continue;
        memmove(c->x + kept * r, c->x + i * r, r * sizeof *c->x);
        c->weight[kept] = c->weight[i];
        c->variance[kept] = c->variance[i];
        c->arm[kept++] = c->arm[i];
    }
    c->count = kept;
}

static bool is_fading(const tarry__core *c, size_t i, double least)
{
    const double r = (double)c->rank, w = c->weight[i], d = c->variance[i];
    return w * d < 0.1 /* else it carries a direction */ &&
           w * pow(d / r, 10) < least;
}

void tarry__core_fade(tarry__core *c, double share)
{
    const double least = share / (double)tarry__core_support(c);
    memcpy(c->scratch, c->weight, c->count * sizeof *c->weight);
    for (size_t i = 0; i < c->count; i++)
        if (is_fading(c, i, least))
            c->weight[i] = 0;
    if (!tarry__core_refresh(c)) {
        memcpy(c->weight, c->scratch, c->count * sizeof *c->weight);
        tarry__core_refresh(c);
    }
}

/* ---- exchange -------------------------------------------------------------*/

/* Most variable point, and least variable among the supported. */
static void extremes(const tarry__core *c, size_t *high, size_t *low)
{
    double most = -1, least = INFINITY;
    for (size_t i = 0; i < c->count; i++) {
        if (c->variance[i] > most) {
            most = c->variance[i];
            *high = i;
        }
        if (c->weight[i] > 0 && c->variance[i] < least) {
            least = c->variance[i];
            *low = i;
        }
    }
}

/* direction = V^-1 x_k and scratch_i = x_i' V^-1 x_k. */
static void correlate(tarry__core *c, size_t k)
{
    const size_t r = c->rank;
    tarry__times(c->inverse, r, r, c->x + k * r, c->direction);
    tarry__transposed_times(c->x, r, c->count, c->direction, c->scratch);
}

/* V += t x_k x_k' after correlate(k). */
static void add_weight(tarry__core *c, size_t k, double t)
{
    const double scale = t / (1 + t * c->variance[k]);
    tarry__rank_one(c->inverse, c->rank, -scale, c->direction);
    for (size_t i = 0; i < c->count; i++)
        c->variance[i] -= scale * c->scratch[i] * c->scratch[i];
    c->weight[k] += t;
}

static double frank_wolfe_length(const tarry__core *c, size_t k)
{
    const double d = c->variance[k];
    return (d / (double)c->rank - 1) / (d - 1);
}

static double frank_wolfe_gain(const tarry__core *c, size_t k, double t)
{
    if (c->rank == 1) /* would take all weight; pairwise does that */
        return -INFINITY;
    return (double)c->rank * log1p(-t) + log1p(t / (1 - t) * c->variance[k]);
}

/* After correlate(k): scratch holds d_kl. */
static double pairwise_length(const tarry__core *c, size_t k, size_t l)
{
    const double dk = c->variance[k], dl = c->variance[l], dkl = c->scratch[l];
    const double curvature = 2 * (dk * dl - dkl * dkl);
    const double t = curvature > 1e-14 * dk * dl ? (dk - dl) / curvature
                                                 : INFINITY; /* collinear */
    return fmin(t, c->weight[l]);
}

static double pairwise_gain(const tarry__core *c, size_t k, size_t l, double t)
{
    const double dk = c->variance[k], dl = c->variance[l], dkl = c->scratch[l];
    return log((1 + t * dk) * (1 - t * dl) + t * t * dkl * dkl);
}

static void frank_wolfe_step(tarry__core *c, size_t k, double t)
{
    const double left = 1 - t;
    for (size_t i = 0; i < c->rank * c->rank; i++)
        c->inverse[i] /= left;
    for (size_t i = 0; i < c->rank; i++)
        c->direction[i] /= left;
    for (size_t i = 0; i < c->count; i++) {
        c->weight[i] *= left;
        c->variance[i] /= left;
        c->scratch[i] /= left;
    }
    add_weight(c, k, t);
}

static void pairwise_step(tarry__core *c, size_t k, size_t l, double t)
{
    const bool empties = t == c->weight[l];
    add_weight(c, k, t);
    correlate(c, l);
    add_weight(c, l, -t);
    if (empties)
        c->weight[l] = 0;
}

static void exchange_step(tarry__core *c, size_t k, size_t l)
{
    correlate(c, k);
    const double fw = frank_wolfe_length(c, k);
    const double pair = pairwise_length(c, k, l);
    if (frank_wolfe_gain(c, k, fw) > pairwise_gain(c, k, l, pair))
        frank_wolfe_step(c, k, fw);
    else
        pairwise_step(c, k, l, pair);
}

bool tarry__core_exchange(tarry__core *c, double tolerance, size_t max_steps)
{
    const double target = (1 + tolerance) * (double)c->rank;
    for (size_t step = 0; step < max_steps; step++) {
        size_t k = 0, l = 0;
        extremes(c, &k, &l);
        if (c->variance[k] <= target)
            break;
        exchange_step(c, k, l);
        if (step % REFRESH_STEPS == REFRESH_STEPS - 1 &&
            !tarry__core_refresh(c))
            return false;
    }
    return tarry__core_refresh(c);
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

bool tarry__core_shrink(tarry__core *c, size_t excess)
{
    for (size_t k = 0; k < excess; k++) {
        const size_t i = least_important(c);
        if (i == c->count)
            break;
        correlate(c, i);
        add_weight(c, i, -c->weight[i]);
        c->weight[i] = 0;
    }
    return tarry__core_refresh(c);
}
