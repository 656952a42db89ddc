/* own_law.c - see own_law.h.
 *
 * A law that draws many rounds at once is asked when the luck of these rounds
 * is prepared, before it is known which arms will be played; its answers wait
 * here, a column per arm.  For all arms that is dear if there are many.  A law
 * that can answer for some arms is asked for those that were played in this
 * block of rounds or the two before, and for the rest of the block once another
 * arm is played: policies play few arms for long. */
#include "env/own_law.h"

#include <string.h>
#include "base/base.h"

enum { LATELY = 2 }; /* blocks */

/* Where the delays of an arm stand: that of the round i of the block, i at
 * least `from`, in delay[first + (i - from) * stride]. */
typedef struct {
    size_t first, from, stride; /* stride 0: not asked for in this block */
    uint64_t played;            /* last block in which it was; 0: none */
} column;

typedef struct {
    const tarry_delay_law *law;
    tarry_problem problem;
    const tarry__loss *loss;
    void *run; /* what the law's start has made */
    bool started;
    tarry_status failed;
    tarry_random at;       /* of the block's first round */
    size_t count;          /* rounds of the block */
    uint64_t block;        /* number of the block, from 1 */
    size_t room;           /* rounds that u has room for */
    double *u;             /* the luck of the losses */
    size_t n_cells, cells; /* of losses and delays: in use, room */
    double *losses;
    uint64_t *delay;
    column *column; /* per arm; a single one if delays depend on nothing */
    size_t *arm;    /* to ask for */
} run;

static size_t n_columns(const run *r)
{
    return r->law->depends == TARRY_DELAY_BY_NOTHING ? 1 : r->problem.n_arms;
}

static bool by_loss(const run *r)
{
    return r->law->depends == TARRY_DELAY_BY_LOSS;
}

static void note_failure(run *r, tarry_status status)
{
    if (status != TARRY_OK && r->failed == TARRY_OK)
        r->failed = status;
}

static void clear(void *state)
{
    run *r = state;
    if (r->started && r->law->end != NULL)
        r->law->end(r->run);
    tarry__base_free(r->u);
    tarry__base_free(r->losses);
    tarry__base_free(r->delay);
    tarry__base_free(r->column);
    tarry__base_free(r->arm);
}

/* ---- room -----------------------------------------------------------------*/

static bool have_rounds(run *r, size_t count)
{
    if (count <= r->room)
        return true;
    tarry__base_free(r->u);
    r->u = tarry__base_alloc(count, sizeof *r->u);
    r->room = r->u != NULL ? count : 0;
    return r->u != NULL;
}

/* Room for so many cells more; delays that are there stay. */
static bool have_cells(run *r, size_t more)
{
    const size_t cells = 2 * (r->n_cells + more);
    if (r->n_cells + more <= r->cells)
        return true;
    uint64_t *delay = tarry__base_alloc(cells, sizeof *delay);
    double *losses =
        by_loss(r) ? tarry__base_alloc(cells, sizeof *losses) : NULL;
    if (delay == NULL || (losses == NULL && by_loss(r))) {
        tarry__base_free(delay);
        tarry__base_free(losses);
        return false;
    }
    if (r->n_cells > 0)
        memcpy(delay, r->delay, r->n_cells * sizeof *delay);
    tarry__base_free(r->delay);
    tarry__base_free(r->losses);
    r->delay = delay;
    r->losses = losses;
    r->cells = cells;
    return true;
}

/* ---- many rounds at once --------------------------------------------------*/

static void fill_losses(run *r, size_t from, size_t n)
{
    double *loss = r->losses;
    for (size_t i = from; i < r->count; i++)
        for (size_t j = 0; j < n; j++)
            *loss++ = r->loss->type->draw(r->loss, r->arm[j], r->u[i]);
}

/* Asks for the first n arms of the list, from round `from` of the block on. */
static void ask(run *r, size_t from, size_t n)
{
    const size_t count = r->count - from, first = r->n_cells;
    tarry_random at = r->at;
    at.round += from;
    if (n == 0 || r->failed != TARRY_OK)
        return;
    if (!have_cells(r, count * n)) {
        note_failure(r, TARRY_NO_MEMORY);
        return;
    }
    if (by_loss(r))
        fill_losses(r, from, n);
    note_failure(r, r->law->draw_arms != NULL
                        ? r->law->draw_arms(r->run, count, &at, n, r->arm,
                                            r->losses, r->delay + first)
                        : r->law->draw_many(r->run, count, &at, r->losses,
                                            r->delay + first));
    r->n_cells += count * n;
    for (size_t j = 0; j < n; j++) {
        column *c = &r->column[r->arm[j]];
        c->first = first + j;
        c->from = from;
        c->stride = n;
    }
}

/* Begins a block.  Round 0 is no round; it only fills the first one. */
static void draw_rounds(void *state, const tarry_random *at, size_t count,
                        const double *u)
{
    run *r = state;
    const size_t skip = at->round == 0;
    size_t n = 0;
    if (r->failed != TARRY_OK || r->column == NULL || count == skip)
        return;
    if (!have_rounds(r, count)) {
        note_failure(r, TARRY_NO_MEMORY);
        return;
    }
    r->at = *at;
    r->at.stream = TARRY__ENV_STREAM_OWN;
    r->at.round += skip;
    r->count = count - skip;
    memcpy(r->u, u + skip, r->count * sizeof *u);
    r->n_cells = 0;
    r->block++;
    for (size_t k = 0; k < n_columns(r); k++) {
        column *c = &r->column[k];
        c->stride = 0;
        if (r->law->draw_arms == NULL ||
            (c->played > 0 && c->played + LATELY >= r->block))
            r->arm[n++] = k;
    }
    ask(r, 0, n);
}

static uint64_t whole(uint64_t delay)
{
    return delay <= (uint64_t)TARRY__DELAY_LONGEST ? delay : TARRY__DELAY_NEVER;
}

static uint64_t look_up(run *r, uint64_t round, size_t arm)
{
    const size_t i = (size_t)(round - r->at.round);
    column *c = &r->column[arm];
    c->played = r->block;
    if (c->stride == 0) {
        r->arm[0] = arm;
        ask(r, i, 1);
    }
    return r->failed == TARRY_OK
               ? whole(r->delay[c->first + (i - c->from) * c->stride])
               : TARRY__DELAY_NEVER;
}

static uint64_t finish(const void *state, const tarry__delay_play *play)
{
    /* A law may change what it knows while it draws. */
    run *r = (run *)(uintptr_t)state;
    uint64_t delay = TARRY__DELAY_NEVER;
    tarry_random at = play->at;
    at.stream = TARRY__ENV_STREAM_OWN;
    at.attempt = 0;
    if (r->failed != TARRY_OK)
        return delay;
    if (r->column != NULL)
        return look_up(r, at.round, n_columns(r) > 1 ? play->arm : 0);
    note_failure(
        r, r->law->draw(r->run, at.round, play->arm, play->loss, &at, &delay));
    return r->failed == TARRY_OK ? whole(delay) : TARRY__DELAY_NEVER;
}

/* ---- both kinds -----------------------------------------------------------*/

const tarry__delay_type tarry__own_law = {
    .entry = {"own", "a law of functions", NULL},
    .state_size = sizeof(run),
    .clear = clear,
    .finish = finish,
    .draw_rounds = draw_rounds,
};

const tarry__delay_type tarry__own_law_by_loss = {
    .entry = {"own", "a law of functions that look at the loss", NULL},
    .by_loss = true,
    .state_size = sizeof(run),
    .clear = clear,
    .finish = finish,
    .draw_rounds = draw_rounds,
};

tarry_status tarry__own_law_failed(const void *state)
{
    return ((const run *)state)->failed;
}

/* A law that draws round by round needs no columns. */
static bool make_columns(run *r)
{
    if (r->law->draw_many == NULL && r->law->draw_arms == NULL)
        return true;
    r->column = tarry__base_zalloc(n_columns(r), sizeof *r->column);
    r->arm = tarry__base_alloc(n_columns(r), sizeof *r->arm);
    return r->column != NULL && r->arm != NULL;
}

tarry_status tarry__own_law_begin(void *state, const tarry_delay_law *law,
                                  const tarry_problem *problem,
                                  const tarry__loss *loss, tarry_error *error)
{
    run *r = state;
    r->law = law;
    r->loss = loss;
    r->problem = *problem;
    r->run = law->context;
    if (!make_columns(r))
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    const tarry_status status =
        law->start != NULL ? law->start(law->context, &r->problem, &r->run)
                           : TARRY_OK;
    r->started = status == TARRY_OK;
    return status == TARRY_OK
               ? status
               : tarry__base_fail(error, status, "%s: %s", law->name,
                                  tarry_status_text(status));
}
