/* own.c - see own.h.
 *
 * A table is a law whose play has the row floor(x * rows) of its arm: one
 * uniform gives loss and delay. */
#include "env/own.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "env/own_law.h"
#include "linalg/linalg.h"

/* ---- arrays ---------------------------------------------------------------*/

static double table_mean(const tarry__own_world *own, size_t arm)
{
    const size_t first = own->row_first[arm], end = own->row_first[arm + 1];
    double sum = 0;
    for (size_t i = first; i < end; i++)
        sum += own->row_loss[i];
    return sum / (double)(end - first);
}

static double mean_of(const tarry__own_world *own, size_t arm)
{
    if (own->n_rows > 0)
        return table_mean(own, arm);
    return own->means != NULL ? own->means[arm]
                              : tarry__linalg_dot(own->arms + arm * own->dim,
                                                  own->theta, own->dim);
}

static const tarry__instance_type arrays = {
    {"arrays", "arms and means from arrays", NULL}, NULL};

tarry_status tarry__own_instance(const tarry__own_world *own,
                                 tarry__instance *out, tarry_error *error)
{
    memset(out, 0, sizeof *out);
    out->type = &arrays;
    const tarry_status status =
        tarry__instance_reserve(out, own->n_arms, own->dim, error);
    if (status != TARRY_OK)
        return status;
    memcpy(out->arms, own->arms, own->n_arms * own->dim * sizeof *out->arms);
    if (own->theta != NULL)
        memcpy(out->theta, own->theta, own->dim * sizeof *out->theta);
    for (size_t k = 0; k < own->n_arms; k++) {
        out->mean[k] = mean_of(own, k);
        if (out->mean[k] < out->mean[out->best])
            out->best = k;
    }
    out->best_mean = out->mean[out->best];
    return TARRY_OK;
}

static uint64_t add(uint64_t h, const void *bytes, size_t count)
{
    return bytes != NULL ? tarry__base_digest(h, bytes, count * 8) : h;
}

static uint64_t add_text(uint64_t h, const char *text)
{
    return text != NULL ? tarry__base_digest(h, text, strlen(text) + 1) : h;
}

/* Means may be the same numbers as another world's theta. */
uint64_t tarry__own_digest(const tarry__own_world *own)
{
    const size_t sizes[] = {own->n_arms, own->dim, own->n_rows,
                            own->means != NULL};
    uint64_t h = tarry__base_digest(TARRY__BASE_DIGEST, sizes, sizeof sizes);
    h = add(h, own->arms, own->n_arms * own->dim);
    h = add(h, own->theta, own->dim);
    h = add(h, own->means, own->n_arms);
    if (own->n_rows > 0) {
        h = add(h, own->row_first, own->n_arms + 1);
        h = add(h, own->row_loss, own->n_rows);
        h = add(h, own->row_delay, own->n_rows);
    }
    if (own->law != NULL)
        h = add_text(add_text(h, own->law->name), own->law->version);
    return h;
}

/* ---- tables ---------------------------------------------------------------*/

typedef struct {
    const tarry__own_world *own;
} table;

static size_t row_of(const tarry__own_world *own, size_t arm, double x)
{
    const size_t first = own->row_first[arm];
    return first + (size_t)(x * (double)(own->row_first[arm + 1] - first));
}

static double table_loss(const void *state, size_t arm, double u, double x)
{
    (void)u;
    const tarry__own_world *own = ((const table *)state)->own;
    return own->row_loss[row_of(own, arm, x)];
}

static uint64_t whole(uint64_t delay)
{
    return delay <= (uint64_t)TARRY__DELAY_LONGEST ? delay : TARRY__DELAY_NEVER;
}

static uint64_t table_finish(const void *state, const tarry__delay_play *play)
{
    const tarry__own_world *own = ((const table *)state)->own;
    return whole(own->row_delay[row_of(own, play->arm, play->x)]);
}

static const tarry__delay_type table_type = {
    .entry = {"table", "outcomes from a table", NULL},
    .by_loss = true,
    .state_size = sizeof(table),
    .finish = table_finish,
    .joint_loss = table_loss,
};

/* ---- both -----------------------------------------------------------------*/

tarry_status tarry__own_failure(const tarry__delay *delay)
{
    return delay->type == &tarry__own_law ||
                   delay->type == &tarry__own_law_by_loss
               ? tarry__own_law_failed(delay->state)
               : TARRY_OK;
}

tarry_status tarry__own_delay(const tarry__own_world *own,
                              const tarry_problem *problem, tarry__delay *out,
                              const tarry__loss *loss, tarry_error *error)
{
    const bool by_arm = own->law != NULL && own->law->depends > 0;
    memset(out, 0, sizeof *out);
    out->type = own->law == NULL ? &table_type
                : own->law->depends == TARRY_DELAY_BY_LOSS
                    ? &tarry__own_law_by_loss
                    : &tarry__own_law;
    out->n_scales = by_arm ? problem->n_arms : 1;
    out->state = tarry__base_zalloc(1, out->type->state_size);
    out->scale = tarry__base_zalloc(out->n_scales, sizeof *out->scale);
    tarry_status status = TARRY_OK;
    if (out->state == NULL || out->scale == NULL)
        status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    else if (own->law == NULL)
        ((table *)out->state)->own = own;
    else
        status =
            tarry__own_law_begin(out->state, own->law, problem, loss, error);
    if (status != TARRY_OK)
        tarry__delay_clear(out);
    return status;
}
