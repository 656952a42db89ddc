/* plan.c - see plan.h: the memory of a plan, its plays, and its weights. */
#include "policy/phased/plan.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "tarry/design.h"

/* ---- memory ---------------------------------------------------------------*/

tarry_status tarry__phased_plan_open(tarry__phased_plan *p, size_t n)
{
    tarry__base_free(p->entry);
    tarry__base_free(p->tally);
    tarry__base_free(p->given_up);
    p->n_entries = n;
    p->entry = tarry__base_zalloc(n, sizeof *p->entry);
    p->tally = tarry__base_zalloc(n, sizeof *p->tally);
    p->given_up = tarry__base_zalloc(n, sizeof *p->given_up);
    return p->entry && p->tally && p->given_up ? TARRY_OK : TARRY_NO_MEMORY;
}

void tarry__phased_plan_clear(tarry__phased_plan *p)
{
    tarry__base_free(p->active);
    tarry__base_free(p->entry);
    tarry__base_free(p->tally);
    tarry__base_free(p->entry_of);
    tarry__base_free(p->given_up);
    tarry__base_free(p->extra);
    tarry_discrete_free(p->law);
    tarry__base_free(p->scratch);
    *p = (tarry__phased_plan){0};
}

tarry_status tarry__phased_plan_make_law(tarry__phased_plan *p)
{
    double *weights = tarry__base_alloc(p->n_entries, sizeof *weights);
    if (weights == NULL)
        return TARRY_NO_MEMORY;
    for (size_t i = 0; i < p->n_entries; i++)
        weights[i] = p->entry[i].weight;
    const tarry_status status =
        tarry_discrete_create(weights, p->n_entries, &p->law);
    tarry__base_free(weights);
    return status;
}

/* ---- targets and plays ----------------------------------------------------*/

/* ceil of a positive real; far beyond any horizon is the same as never. */
static uint64_t ceiling(double x)
{
    return x < 0x1p60 ? (uint64_t)ceil(x) : 1ull << 60;
}

void tarry__phased_plan_target(tarry__phased_plan *p, size_t i, double N,
                               double share)
{
    const uint64_t target = ceiling(N);
    p->entry[i].target = target + (target == 0); /* arms that are all zero */
    p->tally[i].needed = ceiling(share * (double)p->entry[i].target);
    p->tally[i].left = p->entry[i].target;
    p->tally[i].last = UINT64_MAX;
    p->entry_of[p->entry[i].arm] = (uint32_t)i;
}

void tarry__phased_plan_draw(tarry__phased_plan *p)
{
    for (size_t i = 0; i < p->n_entries; i++)
        p->tally[i].left = 0;
}

uint64_t tarry__phased_plan_plays(const tarry__phased_plan *p)
{
    uint64_t plays = 0;
    for (size_t i = 0; i < p->n_entries && plays < 1ull << 60; i++)
        plays += p->entry[i].target;
    return plays;
}

bool tarry__phased_plan_next(tarry__phased_plan *p, size_t *arm)
{
    while (p->cursor < p->n_entries && p->tally[p->cursor].left == 0)
        p->cursor++;
    if (p->cursor == p->n_entries)
        return false;
    p->tally[p->cursor].left--;
    *arm = p->entry[p->cursor].arm;
    return true;
}

size_t tarry__phased_plan_turn(tarry__phased_plan *p)
{
    const size_t i = p->turn;
    p->turn = i + 1 < p->n_entries ? i + 1 : 0;
    return p->entry[i].arm;
}

/* ---- plays that are called off, losses that are given up ------------------*/

static bool is_extra(const tarry__phased_plan *p, uint64_t round)
{
    size_t low = 0, high = p->n_extra;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (p->extra[middle] < round)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->n_extra && p->extra[low] == round;
}

bool tarry__phased_plan_counts(const tarry__phased_plan *p, size_t i,
                               uint64_t round)
{
    return (round < p->designated_end && round <= p->tally[i].last) ||
           (p->n_extra > 0 && is_extra(p, round));
}

tarry_status tarry__phased_plan_again(tarry__phased_plan *p, size_t i)
{
    if (p->n_cancelled == p->extra_room) {
        const size_t room = 2 * p->extra_room + 8;
        uint64_t *bigger =
            tarry__base_grow(p->extra, p->n_cancelled, room, sizeof *bigger);
        if (bigger == NULL)
            return TARRY_NO_MEMORY;
        p->extra = bigger;
        p->extra_room = room;
    }
    p->extra[p->n_cancelled++] = 0; /* its place, as long as it has none */
    p->tally[i].left++;
    if (i < p->cursor)
        p->cursor = i;
    return TARRY_OK;
}

void tarry__phased_plan_replace(tarry__phased_plan *p, uint64_t round)
{
    if (p->n_extra < p->n_cancelled)
        p->extra[p->n_extra++] = round;
}

void tarry__phased_plan_give_up(tarry__phased_plan *p, size_t i, bool gone)
{
    const uint64_t seen = p->entry[i].observed;
    const bool was_short = seen < tarry__phased_plan_wanted(p, i);
    if (gone) {
        p->given_up[i]++;
        p->n_given_up++;
    } else {
        p->given_up[i]--;
        p->n_given_up--;
    }
    const bool is_short = seen < tarry__phased_plan_wanted(p, i);
    p->n_short += (size_t)is_short - (size_t)was_short;
}

/* ---- arms and weights -----------------------------------------------------*/

static size_t find_active(const tarry__phased_plan *p, uint32_t arm)
{
    size_t low = 0, high = p->n_active;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (p->active[middle] < arm)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The earlier plan's arms that are still active, as numbers among these. */
static size_t likely_arms(const tarry__phased_plan *before,
                          const tarry__phased_plan *p, size_t *likely)
{
    size_t count = 0;
    for (size_t i = 0; before != NULL && i < before->n_entries; i++) {
        const uint32_t arm = (uint32_t)before->entry[i].arm;
        const size_t at = find_active(p, arm);
        if (at < p->n_active && p->active[at] == arm)
            likely[count++] = at;
    }
    return count;
}

static tarry_status take_design(tarry__phased_plan *p, const tarry_design *d)
{
    const tarry_status status = tarry__phased_plan_open(p, d->n_support);
    if (status != TARRY_OK)
        return status;
    p->rank = d->rank;
    p->g = d->g;
    for (size_t i = 0; i < d->n_support; i++) {
        p->entry[i].arm = p->active[d->arm[i]];
        p->entry[i].weight = d->weight[i];
    }
    return TARRY_OK;
}

/* A design over the active arms, accepted if g <= most * rank. */
static tarry_status lay_design(const tarry__phased_task *task,
                               tarry_design_options options, double most,
                               tarry__phased_plan *p)
{
    const size_t n = task->problem->dim;
    const size_t n_before = task->before != NULL ? task->before->n_entries : 0;
    double *rows = tarry__base_alloc(p->n_active * n, sizeof *rows);
    size_t *likely = tarry__base_alloc(n_before, sizeof *likely);
    tarry_design *d = NULL;
    tarry_status status = rows && likely ? TARRY_OK : TARRY_NO_MEMORY;
    if (status == TARRY_OK) {
        for (size_t i = 0; i < p->n_active; i++)
            memcpy(rows + i * n, task->problem->arms + p->active[i] * n,
                   n * sizeof *rows);
        options.rank_tolerance = task->rank_tolerance;
        options.threads = 1;
        options.warm_arms = likely;
        options.warm_count = likely_arms(task->before, p, likely);
        status = tarry_design_solve(rows, p->n_active, n, &options, &d);
    }
    if (status == TARRY_TARGET_NOT_MET && d != NULL &&
        d->g <= most * (double)d->rank)
        status = TARRY_OK; /* the solver aims lower than is needed */
    if (status == TARRY_OK)
        status = take_design(p, d);
    tarry_design_free(d);
    tarry__base_free(likely);
    tarry__base_free(rows);
    return status;
}

tarry_status tarry__phased_lay_balanced(const tarry__phased_task *task,
                                        tarry__phased_plan *p)
{
    tarry_design_options options = tarry_design_defaults();
    options.rule = TARRY_DESIGN_PAPER;
    return lay_design(task, options, 4, p);
}

/* As many arms suffice (Caratheodory), and any g will do: it is measured. */
tarry_status tarry__phased_lay_near(const tarry__phased_task *task,
                                    tarry__phased_plan *p)
{
    const size_t n = task->problem->dim;
    tarry_design_options options = tarry_design_defaults();
    options.rule = TARRY_DESIGN_NEAR;
    options.max_support = n * (n + 1) / 2;
    return lay_design(task, options, INFINITY, p);
}

tarry_status tarry__phased_lay_all(const tarry__phased_task *task,
                                   tarry__phased_plan *p)
{
    (void)task;
    const tarry_status status = tarry__phased_plan_open(p, p->n_active);
    p->g = (double)p->n_active;
    for (size_t i = 0; status == TARRY_OK && i < p->n_entries; i++) {
        p->entry[i].arm = p->active[i];
        p->entry[i].weight = 1 / (double)p->n_active;
    }
    return status;
}
