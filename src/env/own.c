/* own.c - see own.h.
 *
 * A table is a law whose play has the row floor(x * rows) of its arm: one
 * uniform gives loss and delay.  A law of functions that draws many rounds at
 * once is asked when the luck of these rounds is prepared; its answers wait
 * here, count by n_arms, or are x themselves if they do not depend on the
 * arm. */
#include "env/own.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
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

uint64_t tarry__own_digest(const tarry__own_world *own)
{
    const size_t sizes[] = {own->n_arms, own->dim, own->n_rows};
    uint64_t h = tarry__base_digest(TARRY__BASE_DIGEST, sizes, sizeof sizes);
    h = add(h, own->arms, own->n_arms * own->dim);
    h = add(h, own->theta, own->dim);
    h = add(h, own->means, own->n_arms);
    if (own->n_rows > 0) {
        h = add(h, own->row_first, own->n_arms + 1);
        h = add(h, own->row_loss, own->n_rows);
        h = add(h, own->row_delay, own->n_rows);
    }
    return own->law != NULL
               ? tarry__base_digest(h, own->law->name, strlen(own->law->name))
               : h;
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

/* ---- laws -----------------------------------------------------------------*/

typedef struct {
    const tarry_delay_law *law;
    tarry_problem problem;
    const tarry__loss *loss;
    void *run; /* what the law's start has made */
    bool started;
    size_t n_arms;
    tarry_status failed;
    uint64_t first;  /* round of the answers below */
    size_t room;     /* rounds */
    double *losses;  /* room by n_arms */
    uint64_t *delay; /* the same, or room if they do not depend on the arm */
} law;

static void note_failure(law *l, tarry_status status)
{
    if (status != TARRY_OK && l->failed == TARRY_OK)
        l->failed = status;
}

static void clear(void *state)
{
    law *l = state;
    if (l->started && l->law->end != NULL)
        l->law->end(l->run);
    tarry__base_free(l->losses);
    tarry__base_free(l->delay);
}

static size_t width(const law *l)
{
    return l->law->depends == TARRY_DELAY_BY_NOTHING ? 1 : l->n_arms;
}

static bool make_room(law *l, size_t count)
{
    if (count <= l->room)
        return true;
    tarry__base_free(l->losses);
    tarry__base_free(l->delay);
    l->losses = tarry__base_alloc(count * l->n_arms, sizeof *l->losses);
    l->delay = tarry__base_alloc(count * width(l), sizeof *l->delay);
    l->room = l->losses != NULL && l->delay != NULL ? count : 0;
    if (l->room == 0)
        note_failure(l, TARRY_NO_MEMORY);
    return l->room > 0;
}

/* Round 0 is no round; it only fills the first block. */
static void draw_rounds(void *state, tarry_random at, size_t count,
                        const double *u)
{
    law *l = state;
    const size_t skip = at.round == 0;
    if (l->failed != TARRY_OK || count == skip || !make_room(l, count))
        return;
    at.round += skip;
    l->first = at.round;
    const bool by_loss = l->law->depends == TARRY_DELAY_BY_LOSS;
    for (size_t i = 0; by_loss && i < count - skip; i++)
        for (size_t k = 0; k < l->n_arms; k++)
            l->losses[i * l->n_arms + k] =
                l->loss->type->draw(l->loss, k, u[i + skip]);
    note_failure(l, l->law->draw_many(l->run, count - skip, &at,
                                      by_loss ? l->losses : NULL, l->delay));
}

static uint64_t finish(const void *state, const tarry__delay_play *play)
{
    /* A law may change what it knows while it draws. */
    law *l = (law *)(uintptr_t)state;
    uint64_t delay = TARRY__DELAY_NEVER;
    tarry_random at = play->at;
    at.stream = TARRY__ENV_STREAM_OWN;
    at.attempt = 0;
    if (l->failed != TARRY_OK)
        return delay;
    if (l->law->draw_many != NULL)
        return whole(l->delay[(at.round - l->first) * width(l) +
                              (width(l) > 1 ? play->arm : 0)]);
    note_failure(
        l, l->law->draw(l->run, at.round, play->arm, play->loss, &at, &delay));
    return l->failed == TARRY_OK ? whole(delay) : TARRY__DELAY_NEVER;
}

static void draw_many(void *state, const tarry_random *at, size_t count,
                      const double *u)
{
    tarry_random own = *at;
    own.stream = TARRY__ENV_STREAM_OWN;
    if (((law *)state)->law->draw_many != NULL)
        draw_rounds(state, own, count, u);
}

static const tarry__delay_type law_type = {
    .entry = {"own", "a law of functions", NULL},
    .state_size = sizeof(law),
    .clear = clear,
    .finish = finish,
    .draw_rounds = draw_many,
};

static const tarry__delay_type law_by_loss_type = {
    .entry = {"own", "a law of functions that look at the loss", NULL},
    .by_loss = true,
    .state_size = sizeof(law),
    .clear = clear,
    .finish = finish,
    .draw_rounds = draw_many,
};

/* ---- both -----------------------------------------------------------------*/

static bool is_law(const tarry__delay *delay)
{
    return delay->type != NULL && delay->type->draw_rounds != NULL;
}

tarry_status tarry__own_failure(const tarry__delay *delay)
{
    return is_law(delay) ? ((const law *)delay->state)->failed : TARRY_OK;
}

static tarry_status begin(law *l, const tarry__own_world *own,
                          const tarry_problem *problem, const tarry__loss *loss,
                          tarry_error *error)
{
    l->law = own->law;
    l->loss = loss;
    l->problem = *problem;
    l->n_arms = problem->n_arms;
    l->run = l->law->context;
    const tarry_status status =
        l->law->start != NULL
            ? l->law->start(l->law->context, &l->problem, &l->run)
            : TARRY_OK;
    l->started = status == TARRY_OK;
    return status == TARRY_OK
               ? status
               : tarry__base_fail(error, status, "%s: %s", l->law->name,
                                  tarry_status_text(status));
}

tarry_status tarry__own_delay(const tarry__own_world *own,
                              const tarry_problem *problem, tarry__delay *out,
                              const tarry__loss *loss, tarry_error *error)
{
    const bool by_arm = own->law != NULL && own->law->depends > 0;
    memset(out, 0, sizeof *out);
    out->type = own->law == NULL                           ? &table_type
                : own->law->depends == TARRY_DELAY_BY_LOSS ? &law_by_loss_type
                                                           : &law_type;
    out->n_scales = by_arm ? problem->n_arms : 1;
    out->state = tarry__base_zalloc(1, out->type->state_size);
    out->scale = tarry__base_zalloc(out->n_scales, sizeof *out->scale);
    tarry_status status = TARRY_OK;
    if (out->state == NULL || out->scale == NULL)
        status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    else if (own->law == NULL)
        ((table *)out->state)->own = own;
    else
        status = begin(out->state, own, problem, loss, error);
    if (status != TARRY_OK)
        tarry__delay_clear(out);
    return status;
}
