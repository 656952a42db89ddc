/* design.c - the solve: passes over chunks of growing size, then proof.
 *
 * 1. Start from arms that span (start.c) and a small core.
 * 2. Take the arms in chunks, each three times all before.  Evaluate a chunk
 *    with the current V, put its worst offenders into the core, and mend the
 *    weights roughly (core.c).  Most arms meet a V that is already
 *    within some per cent of the final one.
 * 3. Solve the core exactly (interior.c) and look again at those arms whose
 *    old variance, times rho, does not rule them out (scan.h).  Repeat while
 *    some violate, from then on by Newton's method where it leads somewhere.
 *    What is left is a certificate over all arms.
 *
 * So an arm's row is read about once.  The rank is taken from a sample at
 * first and proven at the end; in doubt the solve starts again, thoroughly. */
#include "tarry/design.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "base/threads.h"
#include "linalg/linalg.h"
#include "design/solver.h"
#include "design/span.h"

enum { MAX_ROUNDS = 60, EXCHANGE_STEPS = 40 /* times r */ };
/* Rounds in which points may be left out, to come back in time, and in which
 * the core drops those that it seems not to need. */
enum { BOLD_ROUNDS = 3, TIDY_ROUNDS = 12 };
static const double OUT_OF_SCALE = 1e4; /* variance / r that asks to whiten */
static const double FIRST_ROUND = 0.03; /* how well the core is solved in it */

/* How well the core is solved between chunks and between rounds, and what
 * g / r - 1 is accepted in the end. */
typedef struct {
    double rough, fine, tolerance;
} goals;

/* The paper's 2r leaves room; its support does not: few and rough steps. */
static const goals PAPER_GOALS = {0.25, 0.25, 0.9};

tarry_design_options tarry_design_defaults(void)
{
    return (tarry_design_options){
        .rule = TARRY_DESIGN_NEAR, .tolerance = 1e-3, .rank_tolerance = 1e-11};
}

const char *tarry_design_options_check(const tarry_design_options *o,
                                       size_t n_arms, size_t dim)
{
    if (o == NULL)
        return "there must be options";
    if (o->warm_count > 0 && o->warm_arms == NULL)
        return "the warm arms are missing";
    if (n_arms == 0 || dim == 0)
        return "there must be at least one arm and one dimension";
    if (dim > 20000)
        return "the dimension must be at most 20000";
    if (n_arms > SIZE_MAX / dim / sizeof(double))
        return "the arms do not fit into memory";
    if (o->rule != TARRY_DESIGN_NEAR && o->rule != TARRY_DESIGN_PAPER)
        return "the rule must be near or paper";
    if (!(o->tolerance >= 1e-9 && o->tolerance <= 1e9))
        return "the tolerance must be between 1e-9 and 1e9";
    if (!(o->rank_tolerance > 0 && o->rank_tolerance < 1))
        return "the rank tolerance must be between 0 and 1";
    if (o->threads < 0 || o->threads > TARRY__BASE_MOST_THREADS)
        return "the number of threads must be 0 to 1024";
    for (size_t i = 0; i < o->warm_count; i++)
        if (o->warm_arms[i] >= n_arms)
            return "a warm arm does not exist";
    return NULL;
}

/* ---- memory ---------------------------------------------------------------*/

static tarry_status open_solver(tarry__solver *s, const double *arms,
                                size_t n_arms, size_t n,
                                const tarry_design_options *options,
                                bool thorough)
{
    memset(s, 0, sizeof *s);
    s->arms = arms;
    s->n_arms = n_arms;
    s->n = n;
    s->options = options;
    s->thorough = thorough;
    s->threads =
        (double)n_arms * (double)n * (double)n < TARRY__DESIGN_SERIAL_WORK
            ? 1
            : options->threads;
    s->T = tarry__base_alloc(n * n, sizeof(double));
    s->M = tarry__base_alloc(n * n, sizeof(double));
    s->square[0] = tarry__base_alloc(n * n, sizeof(double));
    s->square[1] = tarry__base_alloc(n * n, sizeof(double));
    s->values = tarry__base_alloc(n, sizeof(double));
    s->work =
        tarry__base_alloc(tarry__linalg_factor_work(n, n), sizeof(double));
    s->panel.values =
        tarry__base_alloc(tarry__design_panel_values(n, n), sizeof(double));
    s->panel.ends =
        tarry__base_alloc(tarry__design_panel_ends(n), sizeof(size_t));
    if (!s->T || !s->M || !s->square[0] || !s->square[1] || !s->values ||
        !s->work || !s->panel.values || !s->panel.ends)
        return TARRY_NO_MEMORY;
    const bool paper = options->rule == TARRY_DESIGN_PAPER;
    const tarry_status status = tarry__scan_create(
        &s->scan, arms, n_arms, n, paper ? 4 * n + 10 : 8 * n + 50, s->threads);
    if (status == TARRY_OK && !tarry__base_threads_have_room(s->threads))
        return TARRY_NO_MEMORY;
    return status;
}

static void close_solver(tarry__solver *s)
{
    for (size_t i = 0; i < s->n_references; i++)
        tarry__base_free(s->references[i].V);
    tarry__base_free(s->references);
    tarry__base_free(s->sample);
    tarry__core_clear(&s->core);
    tarry__scan_clear(&s->scan);
    tarry__base_free(s->panel.ends);
    tarry__base_free(s->panel.values);
    tarry__base_free(s->work);
    tarry__base_free(s->values);
    tarry__base_free(s->square[1]);
    tarry__base_free(s->square[0]);
    tarry__base_free(s->M);
    tarry__base_free(s->T);
}

/* ---- stages ---------------------------------------------------------------*/

static tarry_status report(const tarry__solver *s, double share, double g)
{
    const tarry_design_options *o = s->options;
    if (o->progress != NULL &&
        o->progress(o->progress_context, share, g / (double)s->r) != 0)
        return TARRY_CANCELLED;
    return TARRY_OK;
}

/* Takes in the hits of the last pass and mends the weights roughly. */
static tarry_status absorb_hits(tarry__solver *s, double rough, double largest,
                                size_t *added)
{
    const double r = (double)s->r;
    const size_t before = s->core.count;
    tarry_status status = tarry__solver_add_hits(s, added);
    if (status == TARRY_OK && largest > OUT_OF_SCALE * r)
        status = tarry__solver_whiten(s);
    if (status != TARRY_OK)
        return status;
    tarry__core_evaluate(&s->core, before);
    if (!tarry__core_exchange(&s->core, rough, EXCHANGE_STEPS * s->r))
        return TARRY_TARGET_NOT_MET;
    tarry__core_prune(&s->core, 0.85 * r);
    return TARRY_OK;
}

static tarry_status see_chunk(tarry__solver *s, size_t first, size_t last,
                              double rough)
{
    uint16_t reference;
    double largest;
    size_t added;
    tarry_status status = tarry__solver_panel(s);
    if (status == TARRY_OK)
        status = tarry__solver_refer(s, &reference);
    if (status == TARRY_OK)
        status = tarry__scan_fresh(&s->scan, &s->panel, first, last, reference,
                                   (1 + rough) * (double)s->r, &largest);
    if (status == TARRY_OK)
        status = absorb_hits(s, rough, largest, &added);
    if (status == TARRY_OK)
        status = report(s, (double)last / (double)s->scan.n_blocks, largest);
    return status;
}

/* All arms once, in chunks that make four times what was seen before. */
static tarry_status see_all(tarry__solver *s, double rough)
{
    const size_t blocks = s->scan.n_blocks;
    size_t chunk = blocks / 64;
    const size_t least = (32 * s->n + 1000) / s->scan.block_rows + 1;
    chunk = chunk > least ? chunk : least;
    tarry_status status = TARRY_OK;
    for (size_t first = 0; status == TARRY_OK && first < blocks;) {
        const size_t last = first + chunk < blocks ? first + chunk : blocks;
        status = see_chunk(s, first, last, rough);
        chunk = first > 0 ? 3 * last : chunk;
        first = last;
    }
    return status;
}

/* The largest variance of all arms under the core's weights, infinite if those
 * leave a direction out; arms above `wanted` become hits. */
static tarry_status certify(tarry__solver *s, double wanted, double *g)
{
    uint16_t reference;
    double largest = 0;
    *g = INFINITY;
    tarry_status status = tarry__solver_panel(s);
    if (status == TARRY_OK)
        status = tarry__solver_refer(s, &reference);
    double *rho = tarry__base_alloc(s->n_references, sizeof *rho);
    if (rho == NULL)
        return TARRY_NO_MEMORY;
    const double worst = tarry__core_worst(&s->core);
    if (status == TARRY_OK)
        status = tarry__solver_ratios(s, rho);
    if (status == TARRY_OK)
        status = tarry__scan_again(&s->scan, &s->panel, rho, reference,
                                   fmin(worst, wanted), wanted, &largest);
    tarry__base_free(rho);
    if (status == TARRY_OK)
        *g = fmax(worst, largest);
    return status;
}

/* The paper's bound on the support: 16 + 4 r log log r. */
static size_t paper_support(size_t r)
{
    const double loglog = r > 2 ? tarry__ln(tarry__ln((double)r)) : 0;
    return 16 + (size_t)(4 * (double)r * fmax(loglog, 0));
}

/* The paper's kind of weights: takes small ones away, more and more, until few
 * enough arms have any, then raises the rare. */
static tarry_status sparsen(tarry__solver *s)
{
    tarry__core *core = &s->core;
    for (int i = 1; i <= 10; i++) {
        tarry__core_fade(core, 0.1 * i);
        if (!tarry__core_exchange(core, PAPER_GOALS.fine + 0.03 * i,
                                  EXCHANGE_STEPS * s->r))
            return TARRY_TARGET_NOT_MET;
        if (tarry__core_support(core) <= paper_support(s->r))
            break;
    }
    return tarry__core_balance(core) ? TARRY_OK : TARRY_TARGET_NOT_MET;
}

/* Rough weights become final ones, up to a certificate.  In the first round
 * arms will still come, so that better ones are enough. */
static tarry_status polish(tarry__solver *s, int round, double tolerance)
{
    const double r = (double)s->r;
    if (s->options->rule == TARRY_DESIGN_PAPER)
        return sparsen(s);
    if (round == 0)
        return tarry__core_exchange(&s->core, FIRST_ROUND,
                                    EXCHANGE_STEPS * s->r)
                   ? TARRY_OK
                   : TARRY_TARGET_NOT_MET;
    const double gap = tarry__core_worst(&s->core) / r - 1;
    if (round > 1 && gap < FIRST_ROUND) {
        const tarry_status status = tarry__core_newton(&s->core, tolerance);
        if (status != TARRY_TARGET_NOT_MET)
            return status;
    }
    if (round < TIDY_ROUNDS) { /* else points may come and go for ever */
        tarry__core_fade(&s->core, 0.1);
        tarry__core_prune(&s->core, (1 - fmax(1.5 * gap, 0.01)) * r);
    }
    const tarry_status status = tarry__solver_whiten(s);
    return status == TARRY_OK
               ? tarry__core_interior(&s->core, tolerance, round < BOLD_ROUNDS)
               : status;
}

static tarry_status finish(tarry__solver *s, goals goal, double *g)
{
    const double target = (1 + goal.tolerance) * (double)s->r;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        size_t added;
        const tarry_status solved = polish(s, round, goal.tolerance);
        if (solved != TARRY_OK && solved != TARRY_TARGET_NOT_MET)
            return solved;
        tarry_status status = certify(s, target, g);
        if (status != TARRY_OK || *g <= target)
            return status;
        status = absorb_hits(s, goal.fine, *g, &added);
        if (status == TARRY_OK)
            status = report(s, 1, *g);
        if (status != TARRY_OK)
            return status;
        if (added == 0 && solved == TARRY_TARGET_NOT_MET &&
            round >= BOLD_ROUNDS)
            break;
    }
    const tarry_status status = certify(s, target, g);
    return status == TARRY_OK && *g > target ? TARRY_TARGET_NOT_MET : status;
}

static bool has_too_many(const tarry__solver *s)
{
    return s->options->max_support > 0 &&
           tarry__core_support(&s->core) > s->options->max_support;
}

/* Brings the support to the limit: first at no cost, then by giving up the
 * least important arms in steps and solving again for those that stay. */
static tarry_status limit_support(tarry__solver *s, double tolerance, double *g)
{
    tarry__core *core = &s->core;
    const size_t limit =
        s->options->max_support > s->r ? s->options->max_support : s->r;
    tarry_status status = tarry__core_thin(core);
    while (status == TARRY_OK && tarry__core_support(core) > limit) {
        const size_t excess = tarry__core_support(core) - limit;
        if (!tarry__core_shrink(core, excess / 4 + 1))
            return TARRY_TARGET_NOT_MET;
        tarry__core_prune(core, INFINITY);
        status = tarry__core_interior(core, fmin(tolerance, 1e-6), false);
        if (status == TARRY_TARGET_NOT_MET)
            status = TARRY_OK; /* the certificate will tell */
    }
    if (status == TARRY_OK)
        status = certify(s, INFINITY, g);
    const bool met = *g <= (1 + tolerance) * (double)s->r && !has_too_many(s);
    return status == TARRY_OK && !met ? TARRY_TARGET_NOT_MET : status;
}

/* The smallest singular value of all arms is at least 1/|M|, the largest at
 * most the root of sum |a|^2 <= sum d(a) |M_c^-1|^2. */
static bool rank_is_certain(const tarry__solver *s)
{
    double sum = 0;
    for (size_t b = 0; b < s->scan.n_blocks; b++)
        sum += s->scan.block_sum[b] *
               s->references[s->scan.reference[b]].inverse_norm2;
    const double tolerance = s->options->rank_tolerance;
    return 1 > 4 * tolerance * tolerance * sum * s->panel_norm2;
}

/* ---- the result -----------------------------------------------------------*/

typedef struct {
    size_t arm;
    double weight;
} supported;

static int by_arm(const void *a, const void *b)
{
    const supported *x = a, *y = b;
    return (x->arm > y->arm) - (x->arm < y->arm);
}

static tarry_status allocate_result(size_t n_support, tarry_design **out)
{
    tarry_design *d = tarry__base_zalloc(1, sizeof *d);
    if (d == NULL)
        return TARRY_NO_MEMORY;
    d->n_support = n_support;
    d->arm = tarry__base_zalloc(n_support, sizeof *d->arm);
    d->weight = tarry__base_zalloc(n_support, sizeof *d->weight);
    if (d->arm == NULL || d->weight == NULL) {
        tarry_design_free(d);
        return TARRY_NO_MEMORY;
    }
    *out = d;
    return TARRY_OK;
}

static tarry_status make_result(const tarry__solver *s, double g,
                                tarry_design **out)
{
    const tarry__core *core = &s->core;
    const size_t support = tarry__core_support(core);
    supported *list = tarry__base_alloc(support, sizeof *list);
    tarry_status status =
        list != NULL ? allocate_result(support, out) : TARRY_NO_MEMORY;
    if (status == TARRY_OK) {
        size_t count = 0;
        for (size_t i = 0; i < core->count; i++)
            if (core->weight[i] > 0)
                list[count++] = (supported){core->arm[i], core->weight[i]};
        qsort(list, count, sizeof *list, by_arm);
        tarry_design *d = *out;
        d->rank = s->r;
        d->g = g;
        d->passes = (double)s->scan.evaluations / (double)s->n_arms;
        d->min_weight = 1;
        for (size_t i = 0; i < count; i++) {
            d->arm[i] = list[i].arm;
            d->weight[i] = list[i].weight;
            d->min_weight = fmin(d->min_weight, list[i].weight);
        }
    }
    tarry__base_free(list);
    return status;
}

/* Arms that are all zero: any weights will do. */
static tarry_status make_zero_result(tarry_design **out)
{
    const tarry_status status = allocate_result(1, out);
    if (status == TARRY_OK)
        (*out)->weight[0] = (*out)->min_weight = 1;
    return status;
}

void tarry_design_free(tarry_design *design)
{
    if (design == NULL)
        return;
    tarry__base_free(design->arm);
    tarry__base_free(design->weight);
    tarry__base_free(design);
}

/* ---- the solve ------------------------------------------------------------*/

/* TARRY_TARGET_NOT_MET without a result asks for a thorough start. */
static tarry_status attempt(tarry__solver *s, tarry_design **out)
{
    const goals goal = s->options->rule == TARRY_DESIGN_PAPER
                           ? PAPER_GOALS
                           : (goals){0.05, 0.03, s->options->tolerance};
    double g;
    tarry_status status = tarry__solver_start(s);
    if (status == TARRY_OK && s->r == 0)
        return make_zero_result(out);
    if (status == TARRY_OK)
        status = see_all(s, goal.rough);
    if (status != TARRY_OK)
        return status;
    tarry_status solved = finish(s, goal, &g);
    if (!s->thorough && solved == TARRY_OK && !rank_is_certain(s))
        solved = TARRY_TARGET_NOT_MET;
    if (!s->thorough && solved == TARRY_TARGET_NOT_MET)
        return solved;
    if ((solved == TARRY_OK || solved == TARRY_TARGET_NOT_MET) &&
        has_too_many(s))
        solved = limit_support(s, goal.tolerance, &g);
    if (solved != TARRY_OK && solved != TARRY_TARGET_NOT_MET)
        return solved;
    status = make_result(s, g, out);
    return status == TARRY_OK ? solved : status;
}

/* At first the rank comes from a sample, then from all arms. */
static tarry_status solve(const double *arms, size_t n_arms, size_t dim,
                          const tarry_design_options *options,
                          tarry_design **out)
{
    tarry_status status = TARRY_TARGET_NOT_MET;
    for (int thorough = 0;
         status == TARRY_TARGET_NOT_MET && *out == NULL && thorough < 2;
         thorough++) {
        tarry__solver solver;
        status = open_solver(&solver, arms, n_arms, dim, options, thorough);
        if (status == TARRY_OK)
            status = attempt(&solver, out);
        close_solver(&solver);
    }
    return status;
}

/* Fewer arms than dimensions: in as many dimensions as there are arms. */
static tarry_status solve_squeezed(const double *arms, size_t n_arms,
                                   size_t dim,
                                   const tarry_design_options *options,
                                   tarry_design **out)
{
    double *squeezed;
    tarry_status status = tarry__span_squeeze(arms, n_arms, dim, &squeezed);
    if (status == TARRY_OK)
        status = solve(squeezed, n_arms, n_arms, options, out);
    tarry__base_free(squeezed);
    return status;
}

tarry_status tarry_design_solve(const double *arms, size_t n_arms, size_t dim,
                                const tarry_design_options *options,
                                tarry_design **out)
{
    const double start = tarry__base_seconds();
    tarry_design_options chosen =
        options != NULL ? *options : tarry_design_defaults();
    if (out == NULL)
        return TARRY_BAD_ARGUMENT;
    *out = NULL;
    if (arms == NULL ||
        tarry_design_options_check(&chosen, n_arms, dim) != NULL)
        return TARRY_BAD_ARGUMENT;
    chosen.threads = tarry__base_threads(chosen.threads);
    const tarry_status status =
        n_arms < dim ? solve_squeezed(arms, n_arms, dim, &chosen, out)
                     : solve(arms, n_arms, dim, &chosen, out);
    if (*out != NULL)
        (*out)->seconds = tarry__base_seconds() - start;
    return status;
}
