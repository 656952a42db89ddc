/* sampler.c - see sampler.h.  Tiles and normals follow from the problem and the
 * round, so they are not saved. */
#include "policy/linear/sampler.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"
#include "random/normals.h"

enum { MOST_NORMALS = 1024, MOST_SPAN = 64 };

static size_t half(const tarry__sampler *s)
{
    return (s->ridge.n + 1) / 2;
}

/* Rounds whose normals are drawn together; a power of two. */
static size_t best_span(const tarry__sampler *s)
{
    size_t span = MOST_SPAN;
    while (span > 1 && span * 2 * half(s) > MOST_NORMALS)
        span /= 2;
    return span;
}

/* Draws that might have been whose normals are drawn together. */
static size_t others_span(size_t n)
{
    const size_t span = MOST_NORMALS / (2 * (n / 2 + 1));
    return span > 0 ? span : 1;
}

static tarry_status open_memory(tarry__sampler *s,
                                const tarry__policy_problem *problem)
{
    const size_t n = problem->dim, K = problem->n_arms;
    s->problem = problem;
    s->tiles = tarry__base_alloc(
        tarry__linear_n_tiles(K) * TARRY__LINEAR_TILE * n, sizeof *s->tiles);
    s->normals =
        tarry__base_alloc(best_span(s) * 2 * half(s), sizeof *s->normals);
    s->z = tarry__base_zalloc(tarry__linear_stride(n), sizeof *s->z);
    s->draw = tarry__base_alloc(n, sizeof *s->draw);
    s->before = tarry__base_zalloc(2 * n + 1, sizeof *s->before);
    s->normals_others = tarry__base_alloc(others_span(n) * 2 * (n / 2 + 1),
                                          sizeof *s->normals_others);
    if (s->tiles == NULL || s->normals == NULL || s->z == NULL ||
        s->draw == NULL || s->before == NULL || s->normals_others == NULL)
        return TARRY_NO_MEMORY;
    tarry__sampler_narrowed(s);
    return TARRY_OK;
}

tarry_status tarry__sampler_reserve(void *state, size_t n_arms)
{
    tarry__sampler *s = state;
    double *tiles = tarry__base_alloc(tarry__linear_n_tiles(n_arms) *
                                          TARRY__LINEAR_TILE * s->problem->dim,
                                      sizeof *tiles);
    if (tiles == NULL)
        return TARRY_NO_MEMORY;
    tarry__base_free(s->tiles);
    s->tiles = tiles;
    tarry__sampler_narrowed(s);
    return TARRY_OK;
}

static void close_memory(tarry__sampler *s)
{
    tarry__base_free(s->tiles);
    tarry__base_free(s->normals);
    tarry__base_free(s->z);
    tarry__base_free(s->draw);
    tarry__base_free(s->before);
    tarry__base_free(s->normals_others);
}

/* The arms have more features than before. */
static tarry_status widen(tarry__sampler *s)
{
    tarry__sampler next = {.v = s->v};
    const size_t m = s->ridge.n, n = s->problem->dim;
    tarry_status status = tarry__ridge_widen(&s->ridge, n, &next.ridge);
    if (status == TARRY_OK)
        status = open_memory(&next, s->problem);
    tarry__sampler *loser = status == TARRY_OK ? s : &next;
    if (status == TARRY_OK) {
        memcpy(next.before, s->before, m * sizeof *s->before);
        next.before[n] = s->before[m];
    }
    tarry__ridge_clear(&loser->ridge);
    close_memory(loser);
    if (status == TARRY_OK)
        *s = next;
    return status;
}

tarry_status tarry__sampler_rearranged(void *state)
{
    tarry__sampler *s = state;
    if (s->ridge.n != s->problem->dim)
        return widen(s);
    tarry__sampler_narrowed(s);
    return TARRY_OK;
}

void tarry__sampler_narrowed(void *state)
{
    tarry__sampler *s = state;
    const size_t count = tarry__policy_n_choices(s->problem);
    s->n_tiles = tarry__linear_n_tiles(count);
    s->others_of = 0;
    tarry__linear_tiles_fill(s->tiles, s->problem->arms, s->problem->dim,
                             s->problem->active, 0, count);
}

tarry_status tarry__sampler_init(void *state, const tarry__policy_type *type,
                                 const tarry__policy_problem *problem,
                                 const tarry__spec *spec, tarry_error *error)
{
    tarry__sampler *s = state;
    (void)type;
    tarry_status status =
        tarry__ridge_init_by(&s->ridge, problem->dim, spec, error);
    if (status == TARRY_OK &&
        tarry__spec_real(spec, "v", &s->v, error) != TARRY_OK)
        status = TARRY_BAD_ARGUMENT;
    return status == TARRY_OK ? open_memory(s, problem) : status;
}

void tarry__sampler_clear(void *state)
{
    tarry__sampler *s = state;
    tarry__ridge_clear(&s->ridge);
    close_memory(s);
}

void tarry__sampler_archive(void *state, const tarry__policy_type *type,
                            const tarry__policy_problem *problem,
                            tarry__archive *a)
{
    tarry__sampler *s = state;
    (void)type;
    tarry__ridge_archive(&s->ridge, problem->dim, a);
    tarry__archive_field(a, s->v);
    if (a->loading && a->status == TARRY_OK)
        a->status = open_memory(s, problem);
    if (a->status == TARRY_OK)
        tarry__archive_bytes(a, s->before,
                             (problem->dim + 1) * sizeof *s->before);
    if (a->status == TARRY_OK)
        tarry__archive_field(a, s->last);
    tarry__archive_require(a, s->last < problem->n_arms);
}

void tarry__sampler_status(const void *state, tarry_policy_status *status)
{
    const tarry__sampler *s = state;
    status->best = tarry__ridge_best(&s->ridge, s->problem);
}

static const double *normals_of(tarry__sampler *s, uint64_t round)
{
    const size_t span = best_span(s);
    const uint64_t from = round / span * span;
    if (s->span == 0 || s->from != from) {
        const tarry_random at = {.seed = s->problem->seed,
                                 .run = s->problem->run,
                                 .round =
                                     tarry__sampler_address(s->ridge.n, from),
                                 .stream = TARRY__POLICY_STREAM_NORMALS};
        tarry__random_normal_rounds(&at, span * half(s), s->normals);
        s->span = span;
        s->from = from;
    }
    return s->normals + (round - from) * 2 * half(s);
}

size_t tarry__sampler_draw(tarry__sampler *s, uint64_t round, double scale)
{
    const size_t n = s->ridge.n;
    double value;
    memcpy(s->before, s->ridge.theta, n * sizeof *s->before);
    s->before[n] = scale;
    memcpy(s->z, normals_of(s, round), n * sizeof *s->z);
    s->ridge.kernels->times(s->ridge.S, n, s->z, s->draw);
    for (size_t i = 0; i < n; i++)
        s->draw[i] = s->ridge.theta[i] + scale * s->draw[i];
    s->last = (uint32_t)tarry__policy_choice(
        s->problem,
        s->ridge.kernels->lowest(s->tiles, s->n_tiles, n, s->draw, &value));
    s->others_of = 0;
    return s->last;
}

/* What the play of `a` has taken from V^-1: d u u' with u = V^-1 a, as V has it
 * now; fills u and answers sqrt(d). */
static double taken(tarry__sampler *s, const double *a, double *u)
{
    const size_t n = s->ridge.n;
    s->ridge.kernels->transposed(s->ridge.S, n, a, s->z);
    s->ridge.kernels->times(s->ridge.S, n, s->z, u);
    return 1 / sqrt(fmax(1 - tarry__linalg_dot(a, u, n), DBL_EPSILON));
}

/* A draw that might have been, from normals of its own: like that of the round,
 * if the play that followed is taken out of V again (u and root, else root is
 * 0). */
static size_t draw_other(tarry__sampler *s, const double *normals,
                         const double *u, double root)
{
    const size_t n = s->ridge.n;
    const double last = normals[2 * (n / 2) + 1];
    double value;
    memcpy(s->z, normals, n * sizeof *s->z);
    s->ridge.kernels->times(s->ridge.S, n, s->z, s->draw);
    for (size_t j = 0; j < n; j++)
        s->draw[j] =
            s->before[j] + s->before[n] * (s->draw[j] + root * last * u[j]);
    return tarry__policy_choice(
        s->problem,
        s->ridge.kernels->lowest(s->tiles, s->n_tiles, n, s->draw, &value));
}

/* The arms that the draws from number `first` on choose. */
static void draw_others(tarry__sampler *s, uint64_t first, double root)
{
    const size_t n = s->ridge.n, blocks = n / 2 + 1, span = others_span(n);
    for (size_t i = 0; i < TARRY_PROBABILITY_DRAWS; i++) {
        const size_t left = TARRY_PROBABILITY_DRAWS - i;
        const tarry_random at = {.seed = s->problem->seed,
                                 .run = s->problem->run,
                                 .round = (first + i) * blocks,
                                 .stream = TARRY__POLICY_STREAM_OTHERS};
        if (i % span == 0)
            tarry__random_normal_rounds(
                &at, (left < span ? left : span) * blocks, s->normals_others);
        s->others[i] =
            (uint32_t)draw_other(s, s->normals_others + i % span * 2 * blocks,
                                 s->before + n + 1, root);
    }
}

/* New draws for every round, also where nothing was learnt since the last: the
 * errors of the shares of many choices then average out. */
static void look_around(tarry__sampler *s, uint64_t round, bool counted)
{
    const size_t stride = tarry__linear_stride(s->ridge.n);
    double root = 0;
    memset(s->z, 0, stride * sizeof *s->z);
    if (counted)
        root = taken(s, s->problem->arms + s->last * s->ridge.n,
                     s->before + s->ridge.n + 1);
    memset(s->z, 0, stride * sizeof *s->z);
    draw_others(s, round * TARRY_PROBABILITY_DRAWS, root);
    s->others_of = round;
}

double tarry__sampler_share(tarry__sampler *s, uint64_t round, size_t arm,
                            bool counted)
{
    uint64_t same = arm == s->last;
    if (s->others_of != round)
        look_around(s, round, counted);
    for (size_t i = 0; i < TARRY_PROBABILITY_DRAWS; i++)
        same += s->others[i] == arm;
    return (double)same / (TARRY_PROBABILITY_DRAWS + 1);
}
