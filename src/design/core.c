/* core.c - the core set: its points, weights and variances.  See exchange.c and
 * interior.c for what changes the weights. */
#include "design/core.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "design/exchange_kernel.h"
#include "linalg/linalg.h"

enum { BATCH = 64 };

tarry_status tarry__core_create(tarry__core *core, size_t rank, size_t room)
{
    memset(core, 0, sizeof *core);
    core->rank = rank;
    core->V = tarry__base_alloc(rank * rank, sizeof(double));
    core->inverse = tarry__base_alloc(rank * rank, sizeof(double));
    core->panel.values = tarry__base_alloc(
        TARRY__DESIGN_SMALL_DIM * TARRY__DESIGN_SMALL_DIM, sizeof(double));
    core->direction = tarry__base_alloc(2 * rank, sizeof(double));
    core->batch = tarry__base_alloc(rank * BATCH, sizeof(double));
    if (!core->V || !core->inverse || !core->panel.values || !core->direction ||
        !core->batch)
        return TARRY_NO_MEMORY;
    return tarry__core_reserve(core, room);
}

void tarry__core_clear(tarry__core *core)
{
    tarry__base_free(core->batch);
    tarry__base_free(core->direction);
    tarry__base_free(core->panel.values);
    tarry__base_free(core->inverse);
    tarry__base_free(core->V);
    tarry__base_free(core->scratch);
    tarry__base_free(core->rows);
    tarry__base_free(core->arm);
    tarry__base_free(core->variance);
    tarry__base_free(core->weight);
    tarry__base_free(core->x);
}

static bool grow(void *field, size_t old_count, size_t count, size_t size)
{
    void **block = field;
    void *bigger = tarry__base_grow(*block, old_count, count, size);
    if (bigger == NULL)
        return false;
    *block = bigger;
    return true;
}

tarry_status tarry__core_reserve(tarry__core *c, size_t room)
{
    if (room <= c->room)
        return TARRY_OK;
    const size_t padded = room + TARRY__EXCHANGE_PAD;
    if (!grow(&c->x, c->count * c->rank,
              room * c->rank + TARRY__DESIGN_SMALL_DIM, sizeof(double)) ||
        !grow(&c->weight, c->count, padded, sizeof(double)) ||
        !grow(&c->variance, c->count, padded, sizeof(double)) ||
        !grow(&c->arm, c->count, room, sizeof(size_t)) ||
        !grow(&c->scratch, 0, 2 * padded, sizeof(double)) ||
        !grow(&c->rows, 0, padded, c->rank * sizeof(double)))
        return TARRY_NO_MEMORY;
    c->room = room;
    return TARRY_OK;
}

/* V of the weights, some points at a time, as products
 * of matrices. */
static void sum_up(tarry__core *core)
{
    const size_t r = core->rank;
    size_t count = 0;
    if (r <= TARRY__DESIGN_SMALL_DIM) {
        tarry__design_moments(core->x, core->weight, core->count, r, core->V);
        tarry__linalg_mirror(core->V, r);
        return;
    }
    memset(core->V, 0, r * r * sizeof *core->V);
    for (size_t i = 0; i < core->count; i++) {
        if (core->weight[i] > 0) {
            const double root = sqrt(core->weight[i]);
            for (size_t j = 0; j < r; j++)
                core->batch[count * r + j] = root * core->x[i * r + j];
            count++;
        }
        if (count == BATCH || i + 1 == core->count) {
            tarry__linalg_add_outer(core->batch, r, count, core->V);
            count = 0;
        }
    }
    tarry__linalg_mirror(core->V, r);
}

static void scale_weights(tarry__core *core)
{
    double sum = 0;
    for (size_t i = 0; i < core->count; i++)
        sum += core->weight[i];
    for (size_t i = 0; i < core->count; i++)
        core->weight[i] /= sum;
}

/* V^-1 and, with few dimensions, L^-1 for V = L L'. */
static bool invert(tarry__core *core)
{
    const size_t r = core->rank;
    memcpy(core->inverse, core->V, r * r * sizeof *core->V);
    if (!tarry__linalg_cholesky(core->inverse, r))
        return false;
    if (r <= TARRY__DESIGN_SMALL_DIM) {
        core->panel.n_columns = r;
        core->panel.is_small = true;
        memcpy(core->panel.values, core->inverse, r * r * sizeof *core->V);
        tarry__linalg_lower_inverse(core->panel.values, r);
    }
    tarry__linalg_cholesky_inverse(core->inverse, r);
    tarry__linalg_mirror(core->inverse, r);
    return true;
}

void tarry__core_evaluate(tarry__core *core, size_t first)
{
    const size_t r = core->rank;
    if (r <= TARRY__DESIGN_SMALL_DIM) {
        tarry__variances(&core->panel, core->x + first * r, NULL,
                         core->count - first, core->variance + first);
        return;
    }
    for (; first < core->count; first += BATCH) {
        const size_t left = core->count - first;
        const size_t count = left < BATCH ? left : BATCH;
        const double *x = core->x + first * r, *y = core->batch;
        tarry__linalg_multiply(core->inverse, x, r, r, count, core->batch);
        for (size_t i = 0; i < count; i++, x += r, y += r)
            core->variance[first + i] = tarry__linalg_dot(x, y, r);
    }
}

bool tarry__core_refresh(tarry__core *core)
{
    scale_weights(core);
    sum_up(core);
    if (!invert(core))
        return false;
    tarry__core_evaluate(core, 0);
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

static double to_tenth(double x)
{
    const double fourth = x * x * (x * x);
    return fourth * fourth * (x * x);
}

static bool is_fading(const tarry__core *c, size_t i, double least)
{
    const double r = (double)c->rank, w = c->weight[i], d = c->variance[i];
    return w * d < 0.1 /* else it carries a direction */ &&
           w * to_tenth(d / r) < least;
}

void tarry__core_fade(tarry__core *c, double share)
{
    const double least = share / (double)tarry__core_support(c);
    size_t gone = 0;
    memcpy(c->scratch, c->weight, c->count * sizeof *c->weight);
    for (size_t i = 0; i < c->count; i++)
        if (c->weight[i] > 0 && is_fading(c, i, least)) {
            c->weight[i] = 0;
            gone++;
        }
    if (gone > 0 && !tarry__core_refresh(c)) {
        memcpy(c->weight, c->scratch, c->count * sizeof *c->weight);
        tarry__core_refresh(c);
    }
}
