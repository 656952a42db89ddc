/* scan.c - see scan.h.  Threads share the blocks of a pass; each keeps its own
 * list of hits, and the best of the union does not depend on the sharing. */
#include "design/scan.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/threads.h"
#include "design/bounds_kernel.h"
#include "linalg/linalg.h"

enum { MAX_BLOCK_ROWS = 1024 };

/* ---- hits -----------------------------------------------------------------*/

static inline bool is_better(const tarry__design_hit *x,
                             const tarry__design_hit *y)
{
    return x->variance > y->variance ||
           (x->variance == y->variance && x->arm < y->arm);
}

static int better_first(const void *a, const void *b)
{
    return is_better(b, a) - is_better(a, b);
}

/* Moves the `limit` best to the front, in any order (quickselect). */
static void select_best(tarry__design_hit *hit, size_t count, size_t limit)
{
    size_t first = 0, last = count - 1;
    while (first < last) {
        const tarry__design_hit middle = hit[first + (last - first) / 2];
        size_t i = first, j = last;
        while (i <= j) {
            while (is_better(&hit[i], &middle))
                i++;
            while (is_better(&middle, &hit[j]))
                j--;
            if (i > j)
                break;
            const tarry__design_hit swapped = hit[i];
            hit[i++] = hit[j];
            hit[j--] = swapped;
        }
        if (limit - 1 <= j)
            last = j;
        else if (limit - 1 >= i)
            first = i;
        else
            return;
    }
}

static void keep_best(tarry__design_hits *hits)
{
    if (hits->count < hits->limit)
        return;
    select_best(hits->hit, hits->count, hits->limit);
    hits->count = hits->limit;
    hits->least = hits->hit[hits->limit - 1].variance;
}

static void add_hit(tarry__design_hits *hits, double variance, size_t arm)
{
    if (variance < hits->least)
        return;
    if (hits->count == 2 * hits->limit)
        keep_best(hits);
    hits->hit[hits->count++] = (tarry__design_hit){variance, arm};
}

static void merge_hits(tarry__scan *scan)
{
    tarry__design_hits *all = &scan->hits[0];
    for (int t = 1; t < scan->threads; t++)
        for (size_t i = 0; i < scan->hits[t].count; i++)
            add_hit(all, scan->hits[t].hit[i].variance,
                    scan->hits[t].hit[i].arm);
    keep_best(all);
    qsort(all->hit, all->count, sizeof *all->hit, better_first);
}

/* ---- blocks ---------------------------------------------------------------*/

static uint64_t mix(uint64_t x) /* splitmix64 finaliser */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void shuffle(uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t i = count; i > 1; i--) {
        const size_t j = mix(i) % i;
        const uint32_t swapped = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swapped;
    }
}

/* 32 to 1024 rows, such that small sets still have some dozens of blocks. */
static size_t choose_block_rows(size_t n_arms)
{
    size_t rows = 32;
    while (rows < MAX_BLOCK_ROWS && rows * 128 < n_arms)
        rows *= 2;
    return rows;
}

static size_t rows_of(const tarry__scan *scan, size_t block)
{
    const size_t left = scan->n_arms - block * scan->block_rows;
    return left < scan->block_rows ? left : scan->block_rows;
}

tarry_status tarry__scan_create(tarry__scan *s, const double *arms,
                                size_t n_arms, size_t dim, size_t hit_limit,
                                int threads)
{
    memset(s, 0, sizeof *s);
    s->arms = arms;
    s->n_arms = n_arms;
    s->dim = dim;
    s->threads = tarry__base_threads(threads);
    s->block_rows = choose_block_rows(n_arms);
    s->n_blocks = (n_arms + s->block_rows - 1) / s->block_rows;
    s->order = tarry__base_alloc(s->n_blocks, sizeof *s->order);
    s->reference = tarry__base_alloc(s->n_blocks, sizeof *s->reference);
    s->bound = tarry__base_alloc(n_arms, sizeof *s->bound);
    s->block_bound = tarry__base_alloc(s->n_blocks, sizeof *s->block_bound);
    s->block_sum = tarry__base_alloc(s->n_blocks, sizeof *s->block_sum);
    s->hits = tarry__base_zalloc((size_t)s->threads, sizeof *s->hits);
    bool ok = s->order && s->reference && s->bound && s->block_bound &&
              s->block_sum && s->hits;
    for (int t = 0; ok && t < s->threads; t++) {
        s->hits[t].limit = hit_limit;
        s->hits[t].hit =
            tarry__base_alloc(2 * hit_limit, sizeof(tarry__design_hit));
        ok = s->hits[t].hit != NULL;
    }
    if (!ok)
        return TARRY_NO_MEMORY;
    shuffle(s->order, s->n_blocks);
    return TARRY_OK;
}

void tarry__scan_clear(tarry__scan *s)
{
    for (int t = 0; s->hits != NULL && t < s->threads; t++)
        tarry__base_free(s->hits[t].hit);
    tarry__base_free(s->hits);
    tarry__base_free(s->block_sum);
    tarry__base_free(s->block_bound);
    tarry__base_free(s->bound);
    tarry__base_free(s->reference);
    tarry__base_free(s->order);
}

/* ---- one block ------------------------------------------------------------*/

/* What a thread gathers in a pass. */
typedef struct {
    tarry__design_hits *hits;
    double largest, wanted;
    uint64_t evaluations;
    bool finite;
} gathered;

static bool is_finite_row(const double *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(row[i]))
            return false;
    return true;
}

/* A variance that overflows is large, unless the arm itself is not finite. */
static double repaired(const tarry__scan *scan, double variance, size_t arm,
                       bool *finite)
{
    if (isfinite(variance))
        return variance;
    *finite &= is_finite_row(scan->arms + arm * scan->dim, scan->dim);
    return FLT_MAX / 4;
}

static void take(const tarry__scan *scan, gathered *g, double *variance,
                 size_t arm)
{
    if (!(*variance <= FLT_MAX / 4))
        *variance = repaired(scan, *variance, arm, &g->finite);
    if (*variance > g->largest)
        g->largest = *variance;
    if (*variance > g->wanted)
        add_hit(g->hits, *variance, arm);
}

/* The rows that may be hits; all if some variances are odd. */
static size_t list_candidates(const float *bound, size_t rows, bool are_odd,
                              const gathered *g, size_t *list)
{
    if (!are_odd)
        return tarry__bounds_list(
            bound, rows, (float)fmax(g->wanted, g->hits->least), 0, list);
    for (size_t i = 0; i < rows; i++)
        list[i] = i;
    return rows;
}

static void evaluate_block(tarry__scan *scan, const tarry__design_panel *panel,
                           size_t block, uint16_t reference, gathered *g)
{
    double variance[MAX_BLOCK_ROWS];
    const size_t rows = rows_of(scan, block), first = block * scan->block_rows;
    float *bound = scan->bound + first;
    tarry__variances(panel, scan->arms + first * scan->dim, NULL, rows,
                     variance);
    tarry__design_summary s = tarry__bounds_set(variance, rows, bound);
    const bool are_odd = !(s.sum <= FLT_MAX / 4);
    if ((s.largest > g->wanted && s.largest >= g->hits->least) || are_odd) {
        size_t list[MAX_BLOCK_ROWS];
        const size_t n = list_candidates(bound, rows, are_odd, g, list);
        for (size_t i = 0; i < n; i++)
            take(scan, g, &variance[list[i]], first + list[i]);
    }
    if (are_odd) /* some were repaired */
        s = tarry__bounds_set(variance, rows, bound);
    if (s.largest > g->largest)
        g->largest = s.largest;
    scan->block_sum[block] = s.sum;
    scan->block_bound[block] =
        (float)(s.largest * TARRY__DESIGN_ROUND_UP) + FLT_MIN;
    scan->reference[block] = reference;
    g->evaluations += rows;
}

static void evaluate_some(const tarry__scan *scan,
                          const tarry__design_panel *panel, const size_t *arms,
                          size_t count, gathered *g)
{
    double variance[MAX_BLOCK_ROWS];
    tarry__variances(panel, scan->arms, arms, count, variance);
    for (size_t i = 0; i < count; i++)
        take(scan, g, &variance[i], arms[i]);
    g->evaluations += count;
}

static void check_block(tarry__scan *scan, const tarry__design_panel *panel,
                        size_t block, float limit, uint16_t reference,
                        gathered *g)
{
    size_t arms[MAX_BLOCK_ROWS];
    if (scan->block_bound[block] < limit)
        return;
    const size_t rows = rows_of(scan, block), first = block * scan->block_rows;
    const size_t count =
        tarry__bounds_list(scan->bound + first, rows, limit, first, arms);
    if (2 * count > rows)
        evaluate_block(scan, panel, block, reference, g);
    else if (count > 0)
        evaluate_some(scan, panel, arms, count, g);
}

/* ---- passes ---------------------------------------------------------------*/

/* rho NULL: a fresh pass. */
static tarry_status pass(tarry__scan *scan, const tarry__design_panel *panel,
                         size_t first, size_t last, const double *rho,
                         uint16_t reference, double skip_below, double wanted,
                         double *out_largest)
{
    const size_t work =
        (last - first) * scan->block_rows * scan->dim * scan->dim;
    const int threads = work < TARRY__DESIGN_SERIAL_WORK ? 1 : scan->threads;
    double largest = 0;
    uint64_t evaluations = 0;
    bool finite = true;
    for (int t = 0; t < scan->threads; t++) {
        scan->hits[t].count = 0;
        scan->hits[t].least = 0;
    }
#pragma omp parallel num_threads(threads) reduction(max : largest)             \
    reduction(+ : evaluations) reduction(&& : finite)
    {
        gathered g = {&scan->hits[omp_get_thread_num()], 0, wanted, 0, true};
#pragma omp for schedule(dynamic, 4)
        for (size_t i = first; i < last; i++) {
            const size_t block = scan->order[i];
            if (rho == NULL)
                evaluate_block(scan, panel, block, reference, &g);
            else
                check_block(scan, panel, block,
                            (float)(skip_below / rho[scan->reference[block]]),
                            reference, &g);
        }
        largest = g.largest;
        evaluations = g.evaluations;
        finite = g.finite;
    }
    scan->evaluations += evaluations;
    *out_largest = largest;
    merge_hits(scan);
    return finite ? TARRY_OK : TARRY_NOT_FINITE;
}

tarry_status tarry__scan_fresh(tarry__scan *scan,
                               const tarry__design_panel *panel, size_t first,
                               size_t last, uint16_t reference, double wanted,
                               double *largest)
{
    return pass(scan, panel, first, last, NULL, reference, 0, wanted, largest);
}

tarry_status tarry__scan_again(tarry__scan *scan,
                               const tarry__design_panel *panel,
                               const double *rho, uint16_t reference,
                               double skip_below, double wanted,
                               double *largest)
{
    return pass(scan, panel, 0, scan->n_blocks, rho, reference, skip_below,
                wanted, largest);
}
