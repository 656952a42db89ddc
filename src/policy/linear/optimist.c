/* optimist.c - see optimist.h. */
#include "policy/linear/optimist.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"

enum { ALL_HOT = 512 }; /* arms up to which laziness does not pay */

/* How much of width and index reach and ceiling leave as room. */
static const double ROOM = 0.05;

static size_t places(const tarry__policy_problem *problem)
{
    return tarry__linear_n_tiles(problem->n_arms) * TARRY__LINEAR_TILE;
}

static bool is_lazy(const tarry__policy_problem *problem)
{
    return problem->n_arms > ALL_HOT;
}

static const double *arm_at(const tarry__optimist *o, size_t k)
{
    return o->problem->arms + k * o->problem->dim;
}

static tarry_status open_memory(tarry__optimist *o,
                                const tarry__policy_problem *problem)
{
    const size_t n = problem->dim, K = problem->n_arms, P = places(problem);
    o->problem = problem;
    o->hot = tarry__base_alloc(K, sizeof *o->hot);
    o->tiles = tarry__base_alloc(P * n, sizeof *o->tiles);
    o->m = tarry__base_zalloc(P, sizeof *o->m);
    o->q = tarry__base_zalloc(P, sizeof *o->q);
    o->u = tarry__base_zalloc(TARRY__LINEAR_MOST_CHANGES * n, sizeof *o->u);
    bool ok = o->hot && o->tiles && o->m && o->q && o->u;
    if (is_lazy(problem)) {
        o->m0 = tarry__base_zalloc(K, sizeof *o->m0);
        o->r0 = tarry__base_zalloc(K, sizeof *o->r0);
        o->theta0 = tarry__base_zalloc(2 * n, sizeof *o->theta0);
        ok = ok && o->m0 && o->r0 && o->theta0;
    }
    return ok ? TARRY_OK : TARRY_NO_MEMORY;
}

tarry_status tarry__optimist_init(tarry__optimist *o,
                                  const tarry__policy_problem *problem)
{
    const tarry_status status = open_memory(o, problem);
    if (status == TARRY_OK)
        tarry__optimist_narrow(o);
    return status;
}

tarry_status tarry__optimist_reserve(tarry__optimist *o, size_t n_arms)
{
    tarry__policy_problem wider = *o->problem;
    tarry__optimist next = {.squared = o->squared};
    wider.n_arms = n_arms;
    const tarry_status status = open_memory(&next, &wider);
    tarry__optimist *loser = status == TARRY_OK ? o : &next;
    next.problem = o->problem;
    tarry__optimist_clear(loser);
    if (status != TARRY_OK)
        return status;
    *o = next;
    tarry__optimist_narrow(o);
    return TARRY_OK;
}

/* All are hot, or none yet. */
void tarry__optimist_narrow(tarry__optimist *o)
{
    const tarry__policy_problem *problem = o->problem;
    o->stale = true;
    o->settled = false;
    o->n_changes = 0;
    o->n_hot = is_lazy(problem) ? 0 : tarry__policy_n_choices(problem);
    for (size_t i = 0; i < o->n_hot; i++)
        o->hot[i] = (uint32_t)tarry__policy_choice(problem, i);
    tarry__linear_tiles_fill(o->tiles, problem->arms, problem->dim, o->hot, 0,
                             o->n_hot);
}

void tarry__optimist_clear(tarry__optimist *o)
{
    tarry__base_free(o->hot);
    tarry__base_free(o->tiles);
    tarry__base_free(o->m);
    tarry__base_free(o->q);
    tarry__base_free(o->u);
    tarry__base_free(o->m0);
    tarry__base_free(o->r0);
    tarry__base_free(o->theta0);
}

/* ---- hot arms -------------------------------------------------------------*/

/* The last tile is filled up with the last hot arm's numbers. */
static void fill_copies(tarry__optimist *o)
{
    const size_t end = tarry__linear_n_tiles(o->n_hot) * TARRY__LINEAR_TILE;
    for (size_t at = o->n_hot; at < end; at++) {
        o->m[at] = o->m[o->n_hot - 1];
        o->q[at] = o->q[o->n_hot - 1];
    }
}

/* m and q of the places from `from` on, by the ridge itself. */
static void evaluate(tarry__optimist *o, const tarry__ridge *ridge, size_t from)
{
    for (size_t at = from; at < o->n_hot; at++) {
        const double *a = arm_at(o, o->hot[at]);
        o->m[at] = tarry__linalg_dot(a, ridge->theta, ridge->n);
        o->q[at] = tarry__ridge_variance(ridge, a);
    }
    fill_copies(o);
    o->work += (double)(o->n_hot - from) * (double)ridge->n;
}

/* Makes the changes; the place of the smallest index, and that. */
static size_t advance(tarry__optimist *o, const tarry__ridge *ridge,
                      double width, double *value)
{
    const tarry__linear_advance a = {.tiles = o->tiles,
                                     .n = ridge->n,
                                     .n_tiles = tarry__linear_n_tiles(o->n_hot),
                                     .m = o->m,
                                     .q = o->q,
                                     .n_changes = o->n_changes,
                                     .u = o->u,
                                     .c = o->c,
                                     .d = o->d,
                                     .width = width,
                                     .squared = o->squared};
    o->n_changes = 0;
    return ridge->kernels->advance(&a, value);
}

void tarry__optimist_note(tarry__optimist *o, const tarry__ridge *ridge,
                          tarry__ridge_change change)
{
    o->settled = false;
    o->stale = o->stale || change.fresh;
    if (o->stale) {
        o->n_changes = 0;
        return;
    }
    if (o->n_changes == TARRY__LINEAR_MOST_CHANGES) {
        double value;
        advance(o, ridge, 0, &value);
    }
    memcpy(o->u + o->n_changes * ridge->n, ridge->u, ridge->n * sizeof *o->u);
    o->c[o->n_changes] = change.c;
    o->d[o->n_changes] = change.d;
    o->n_changes++;
    o->work += (double)o->n_hot; /* whenever it will be made, or not */
}

/* ---- cold arms ------------------------------------------------------------*/

/* |theta - theta0| in the norm of V. */
static double moved(const tarry__optimist *o, const tarry__ridge *ridge)
{
    for (size_t i = 0; i < ridge->n; i++)
        o->theta0[ridge->n + i] = ridge->theta[i] - o->theta0[i];
    return sqrt(fmax(tarry__ridge_square(ridge, o->theta0 + ridge->n), 0));
}

/* With squared norms the width belongs to r0^2 and only the move to r0. */
static double bracket(const tarry__optimist *o, double width, double move,
                      double r)
{
    return o->squared ? (width * r + move) * r : (width + move) * r;
}

static double above(double value)
{
    return value + ROOM * fabs(value) + 1e-12;
}

/* Makes hot what is not certain to stay above the ceiling. */
static void warm(tarry__optimist *o, const tarry__ridge *ridge, double width,
                 double move, double least)
{
    const size_t from = o->n_hot, K = o->problem->n_arms;
    o->reach_width = (1 + ROOM) * width;
    o->reach_move = (1 + ROOM) * move + ROOM * width * (o->squared ? 0.1 : 1);
    o->ceiling = above(least);
    for (size_t k = 0; k < K; k++)
        if (o->m0[k] < INFINITY &&
            !(o->m0[k] - bracket(o, o->reach_width, o->reach_move, o->r0[k]) >
              o->ceiling) &&
            tarry__policy_may_choose(o->problem, k)) {
            o->hot[o->n_hot++] = (uint32_t)k;
            o->m0[k] = INFINITY;
        }
    if (o->n_hot == 0) /* numbers have overflown: anything goes */
        o->hot[o->n_hot++] = (uint32_t)tarry__policy_choice(o->problem, 0);
    o->work += 0.2 * (double)K;
    if (o->n_hot == from)
        return;
    tarry__linear_tiles_fill(o->tiles, o->problem->arms, ridge->n,
                             o->hot + from, from, o->n_hot - from);
    evaluate(o, ridge, from);
}

/* Everything anew: theta0 is theta. */
static void start_again(tarry__optimist *o, const tarry__ridge *ridge,
                        double width)
{
    const size_t K = o->problem->n_arms;
    double least = INFINITY;
    memcpy(o->theta0, ridge->theta, ridge->n * sizeof *o->theta0);
    for (size_t k = 0; k < K; k++) { /* never hot, if not to be chosen */
        o->m0[k] = DBL_MAX;
        o->r0[k] = 0;
    }
    for (size_t i = 0; i < tarry__policy_n_choices(o->problem); i++) {
        const size_t k = tarry__policy_choice(o->problem, i);
        const double *a = arm_at(o, k);
        o->m0[k] = tarry__linalg_dot(a, ridge->theta, ridge->n);
        o->r0[k] = sqrt(tarry__ridge_variance(ridge, a));
        least = fmin(least, o->m0[k] - bracket(o, width, 0, o->r0[k]));
    }
    o->n_hot = 0;
    o->n_changes = 0;
    o->stale = false;
    warm(o, ridge, width, 0, least);
    o->work = 0;
}

/* ---- the choice -----------------------------------------------------------*/

static size_t lowest(tarry__optimist *o, const tarry__ridge *ridge,
                     double width)
{
    const double afresh = (double)o->problem->n_arms * (double)ridge->n;
    const bool lazy = is_lazy(o->problem);
    double least;
    if (lazy && (o->n_hot == 0 || o->work > afresh))
        start_again(o, ridge, width);
    if (o->stale)
        evaluate(o, ridge, 0);
    o->stale = false;
    o->work += (double)o->n_hot;
    size_t place = advance(o, ridge, width, &least);
    if (!lazy)
        return place;
    const double move = moved(o, ridge);
    if (least > o->ceiling || width > o->reach_width || move > o->reach_move) {
        warm(o, ridge, width, move, least);
        o->work += (double)o->n_hot;
        place = advance(o, ridge, width, &least);
    }
    return place;
}

size_t tarry__optimist_choose(tarry__optimist *o, const tarry__ridge *ridge,
                              double width)
{
    if (!o->settled || width != o->width) {
        const size_t place = lowest(o, ridge, width);
        o->last = o->hot[place < o->n_hot ? place : 0]; /* all may be NaN */
        o->settled = true;
        o->width = width;
    }
    return o->last;
}

/* ---- saving ---------------------------------------------------------------*/

/* Numbers that are to be computed anew are no part of the state. */
static void forget_stale(tarry__optimist *o)
{
    memset(o->m, 0, o->n_hot * sizeof *o->m);
    memset(o->q, 0, o->n_hot * sizeof *o->q);
}

/* Changes are made first: an arm's numbers do not depend on when. */
static void archive_hot(tarry__optimist *o,
                        const tarry__policy_problem *problem, tarry__archive *a)
{
    tarry__archive_field(a, o->n_hot);
    tarry__archive_require(a, o->n_hot <= problem->n_arms);
    if (a->status != TARRY_OK)
        return;
    tarry__archive_bytes(a, o->hot, o->n_hot * sizeof *o->hot);
    tarry__archive_bytes(a, o->m, o->n_hot * sizeof *o->m);
    tarry__archive_bytes(a, o->q, o->n_hot * sizeof *o->q);
    for (size_t i = 0; i < o->n_hot; i++)
        tarry__archive_require(a, tarry__policy_may_choose(problem, o->hot[i]));
    if (!a->loading || a->status != TARRY_OK)
        return;
    tarry__linear_tiles_fill(o->tiles, problem->arms, problem->dim, o->hot, 0,
                             o->n_hot);
    fill_copies(o);
}

/* Every arm is hot or cold, not both. */
static bool is_sound(const tarry__optimist *o)
{
    size_t n_hot = 0;
    if (o->m0 == NULL)
        return o->n_hot == tarry__policy_n_choices(o->problem);
    for (size_t k = 0; k < o->problem->n_arms; k++)
        n_hot += !(o->m0[k] < INFINITY); /* hot; a NaN is not cold either */
    return n_hot == o->n_hot;
}

void tarry__optimist_archive(tarry__optimist *o,
                             const tarry__policy_problem *problem,
                             const tarry__ridge *ridge, tarry__archive *a)
{
    double value;
    if (a->status == TARRY_OK && a->loading)
        a->status = open_memory(o, problem);
    else if (a->status == TARRY_OK && o->n_changes > 0)
        advance(o, ridge, 0, &value);
    if (a->status != TARRY_OK)
        return;
    if (!a->loading && o->stale)
        forget_stale(o);
    archive_hot(o, problem, a);
    if (is_lazy(problem)) {
        const size_t K = problem->n_arms;
        tarry__archive_bytes(a, o->m0, K * sizeof *o->m0);
        tarry__archive_bytes(a, o->r0, K * sizeof *o->r0);
        tarry__archive_bytes(a, o->theta0, problem->dim * sizeof *o->theta0);
    }
    tarry__archive_field(a, o->squared);
    tarry__archive_field(a, o->stale);
    tarry__archive_field(a, o->reach_width);
    tarry__archive_field(a, o->reach_move);
    tarry__archive_field(a, o->ceiling);
    tarry__archive_field(a, o->work);
    tarry__archive_field(a, o->settled);
    tarry__archive_field(a, o->width);
    tarry__archive_field(a, o->last);
    tarry__archive_require(
        a, (!o->settled || tarry__policy_may_choose(problem, o->last)) &&
               is_sound(o));
}
