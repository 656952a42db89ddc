/* start.c - where a solve begins: coordinates and arms that span.
 *
 * A sample of arms goes through a QR with column pivoting, which picks arms
 * one by one, each the farthest from the span of those before (the start of
 * Kumar and Yildirim 2005).  With few doubts about the rank this is all.
 * Otherwise the rank and a basis come from all arms (span.c), and directions
 * that the sample lacks are sought by passes for the arms that stick out
 * farthest from its span. */
#include "design/solver.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"
#include "design/span.h"

static const double CLEAR_PIVOT = 1e-6; /* of the first: no doubt about it */

/* ---- the sample -----------------------------------------------------------*/

/* One arm from each of `count` equal stretches, at a place that jumps. */
static void stratify(size_t n_arms, size_t count, size_t *sample)
{
    for (size_t i = 0; i < count; i++) {
        const double place = fmod(0.6180339887498949 * (double)(i + 1), 1);
        size_t k =
            (size_t)(((double)i + place) * (double)n_arms / (double)count);
        sample[i] = k < n_arms ? k : n_arms - 1;
    }
}

/* Warm arms, then all arms or some of everywhere. */
static tarry_status draw_sample(tarry__solver *s)
{
    const tarry_design_options *o = s->options;
    const size_t wanted = 8 * s->n + 10;
    const size_t count = s->n_arms < wanted ? s->n_arms : wanted;
    s->room_sample = o->warm_count + count;
    s->sample = tarry__base_alloc(s->room_sample, sizeof *s->sample);
    if (s->sample == NULL)
        return TARRY_NO_MEMORY;
    for (size_t i = 0; i < o->warm_count; i++)
        s->sample[i] = o->warm_arms[i];
    stratify(s->n_arms, count, s->sample + o->warm_count);
    s->n_sample = s->room_sample;
    return TARRY_OK;
}

static tarry_status add_hits_to_sample(tarry__solver *s)
{
    const tarry__design_hits *hits = &s->scan.hits[0];
    const size_t count = s->n_sample + hits->count;
    size_t *bigger =
        tarry__base_grow(s->sample, s->n_sample, count, sizeof *bigger);
    if (bigger == NULL)
        return TARRY_NO_MEMORY;
    s->sample = bigger;
    for (size_t i = 0; i < hits->count; i++)
        s->sample[s->n_sample++] = hits->hit[i].arm;
    return TARRY_OK;
}

static tarry_status scale_of_sample(tarry__solver *s)
{
    double largest = 0;
    for (size_t i = 0; i < s->n_sample; i++) {
        const double here =
            tarry__design_largest(s->arms + s->sample[i] * s->n, s->n);
        if (isnan(here))
            return TARRY_NOT_FINITE;
        largest = fmax(largest, here);
    }
    s->scale =
        largest < TARRY__DESIGN_LEAST ? 0 : tarry__design_unit_scale(largest);
    return s->scale > 0 ? TARRY_OK : TARRY_TARGET_NOT_MET;
}

/* ---- the start ------------------------------------------------------------*/

/* The pivoted QR of the sample's coordinates X. */
typedef struct {
    size_t count, found; /* columns; clear pivots */
    double *X, *Q, *work;
    int *pivot;
    void *memory;
} pivoting;

static tarry_status factor_sample(const tarry__solver *s, pivoting *p)
{
    const size_t r = s->r, count = s->n_sample;
    p->count = count;
    p->memory = p->X = tarry__base_alloc(
        2 * r * count + tarry__linalg_factor_work(r, count), sizeof *p->X);
    p->pivot = tarry__base_alloc(count, sizeof *p->pivot);
    if (p->X == NULL || p->pivot == NULL)
        return TARRY_NO_MEMORY;
    p->Q = p->X + r * count;
    p->work = p->Q + r * count;
    for (size_t i = 0; i < count; i++)
        tarry__linalg_times(s->T, r, s->n, s->arms + s->sample[i] * s->n,
                            p->X + i * r);
    tarry__linalg_qr_pivoted(p->X, r, count, p->pivot, p->Q, p->work);
    const size_t most = r < count ? r : count;
    p->found = 0;
    while (p->found < most &&
           fabs(p->X[p->found * (r + 1)]) > CLEAR_PIVOT * fabs(p->X[0]))
        p->found++;
    return TARRY_OK;
}

static void free_pivoting(pivoting *p)
{
    tarry__base_free(p->memory);
    tarry__base_free(p->pivot);
}

/* A pass for the arms that stick out of the span of Q's first columns:
 * |(I - Q Q') T a|^2. */
static tarry_status seek_outside(tarry__solver *s, const pivoting *p)
{
    const size_t r = s->r;
    double *outside = s->square[0], largest;
    memset(outside, 0, r * r * sizeof *outside);
    for (size_t i = 0; i < r; i++)
        outside[i * (r + 1)] = 1;
    for (size_t j = 0; j < p->found; j++)
        tarry__linalg_rank_one(outside, r, -1, p->Q + j * r);
    tarry__linalg_multiply(outside, s->T, r, r, s->n, s->M);
    tarry__design_panel_pack(&s->panel, s->M, r, s->n);
    const tarry_status status = tarry__scan_fresh(
        &s->scan, &s->panel, 0, s->scan.n_blocks, 0, 0, &largest);
    return status != TARRY_OK ? status : add_hits_to_sample(s);
}

/* T = R^-1 Q' T: the chosen arms become unit vectors. */
static void adopt_basis(tarry__solver *s, const pivoting *p)
{
    const size_t r = s->r, n = s->n;
    for (size_t j = 0; j < n; j++) {
        tarry__linalg_transposed_times(p->Q, r, r, s->T + j * r, s->M + j * r);
    }
    memcpy(s->T, s->M, r * n * sizeof *s->T);
    tarry__linalg_upper_solve(p->X, r, r, s->T, n);
}

static tarry_status fill_core(tarry__solver *s, const pivoting *p)
{
    tarry_status status = TARRY_OK;
    for (size_t j = 0; status == TARRY_OK && j < p->count; j++) {
        status = tarry__solver_add_arm(s, s->sample[p->pivot[j]]);
        if (j + 1 == s->r)
            for (size_t i = 0; i < s->core.count; i++)
                s->core.weight[i] = 1 / (double)s->r;
    }
    if (status != TARRY_OK)
        return status;
    return tarry__core_refresh(&s->core) ? TARRY_OK : TARRY_TARGET_NOT_MET;
}

/* Coordinates before a start: those of span.c, or the arms' own, scaled. */
static tarry_status first_coordinates(tarry__solver *s)
{
    if (s->thorough)
        return tarry__span(s->arms, s->n_arms, s->n, s->options->rank_tolerance,
                           s->threads, &s->r, s->T);
    s->r = s->n;
    memset(s->T, 0, s->n * s->n * sizeof *s->T);
    for (size_t i = 0; i < s->n; i++)
        s->T[i * (s->n + 1)] = s->scale;
    return TARRY_OK;
}

static tarry_status find_spanning(tarry__solver *s)
{
    for (size_t attempt = 0; attempt <= s->r; attempt++) {
        pivoting p = {0};
        tarry_status status = factor_sample(s, &p);
        const bool spans = status == TARRY_OK && p.found == s->r;
        if (spans) {
            adopt_basis(s, &p);
            status = tarry__core_create(&s->core, s->r, 2 * s->n_sample);
            if (status == TARRY_OK)
                status = fill_core(s, &p);
        } else if (status == TARRY_OK) {
            status = s->thorough ? seek_outside(s, &p) : TARRY_TARGET_NOT_MET;
        }
        free_pivoting(&p);
        if (spans || status != TARRY_OK)
            return status;
    }
    return TARRY_TARGET_NOT_MET;
}

tarry_status tarry__solver_start(tarry__solver *s)
{
    tarry_status status = draw_sample(s);
    if (status == TARRY_OK)
        status = scale_of_sample(s);
    if (status == TARRY_TARGET_NOT_MET && s->thorough)
        status = TARRY_OK; /* zeros so far; span.c scales by itself */
    if (status == TARRY_OK)
        status = first_coordinates(s);
    if (status != TARRY_OK || s->r == 0)
        return status;
    return find_spanning(s);
}
