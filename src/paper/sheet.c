/* sheet.c - data, checks and figures of a row, as JSON. */
#include "paper/sheet.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "lab/experiment.h"

/* Of an exponent, where a row does not say another. */
static const double TOLERANCE = 0.1;

/* JSON has no infinities: what is not finite becomes null. */
static void append(tarry__sheet *s, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        s->failed = TARRY_NO_MEMORY;
}

/* ---- measuring ------------------------------------------------------------*/

const tarry__lab_answer *tarry__sheet_runs(tarry__sheet *s,
                                           const tarry__lab_case *c)
{
    const tarry__lab_answer *runs = tarry__lab_answers(s->lab, c);
    if (runs == NULL)
        s->failed = TARRY_BAD_ARGUMENT;
    return runs;
}

/* The mean over the runs of a point. */
static tarry__fit_point mean_of(tarry__sheet *s, double x,
                                const tarry__lab_case *c,
                                const tarry__lab_case *base,
                                tarry__plan_quantity *quantity)
{
    double *values = tarry__base_alloc(c->runs, sizeof *values);
    const tarry__lab_answer *runs = tarry__sheet_runs(s, c), *bases = NULL;
    tarry__fit_point point = {.x = x};
    if (base != NULL)
        bases = tarry__sheet_runs(s, base);
    if (values == NULL)
        s->failed = TARRY_NO_MEMORY;
    if (s->failed == TARRY_OK) {
        for (size_t i = 0; i < c->runs; i++)
            values[i] = quantity(&runs[i], bases != NULL ? &bases[i] : NULL);
        point = tarry__fit_point_of(x, values, c->runs);
    }
    tarry__base_free(values);
    return point;
}

static const tarry__lab_case *base_of(const tarry__plan_point *p)
{
    return p->base.policy != NULL ? &p->base : NULL;
}

static double place_of(tarry__sheet *s, const tarry__plan_point *p)
{
    const tarry__lab_case *c = base_of(p) != NULL ? base_of(p) : &p->c;
    switch (p->place) {
    case TARRY__PLAN_AT_ROUNDS:
        return mean_of(s, 0, c, NULL, tarry__plan_rounds).mean;
    case TARRY__PLAN_AT_BOUND:
        return tarry__sheet_bound_of(s, &p->c).upper;
    default:
        return p->x;
    }
}

static void note_point(tarry__sheet *s, const tarry__plan_point *p,
                       tarry__fit_point m)
{
    const tarry__lab_case *c = &p->c;
    append(s, s->data,
           json_pack("{s:s, s:s?, s:f, s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:o}",
                     "quantity", p->what, "series", p->name, "x", m.x,
                     "instance", c->instance, "loss", c->loss, "delay",
                     c->delay, "policy", c->policy, "horizon",
                     (json_int_t)c->horizon, "runs", (json_int_t)c->runs,
                     "mean", tarry__json_number(m.mean), "ci95",
                     tarry__json_number(m.ci95)));
}

void tarry__sheet_measure(tarry__sheet *s)
{
    for (size_t i = 0; s->failed == TARRY_OK && i < s->plan->n_points; i++) {
        const tarry__plan_point *p = &s->plan->point[i];
        if (p->quantity == NULL)
            continue;
        s->measured[i] =
            mean_of(s, place_of(s, p), &p->c, base_of(p), p->quantity);
        note_point(s, p, s->measured[i]);
    }
}

tarry__fit_series tarry__sheet_series(const tarry__sheet *s, int series)
{
    tarry__fit_series found = {.name = NULL};
    for (size_t i = 0; i < s->plan->n_points; i++) {
        const tarry__plan_point *p = &s->plan->point[i];
        if (p->series != series || found.n == TARRY__FIT_SERIES_POINTS)
            continue;
        found.name = p->name;
        found.point[found.n++] = s->measured[i];
    }
    return found;
}

const tarry__plan_point *tarry__sheet_planned(const tarry__sheet *s, int series)
{
    for (size_t i = 0; i < s->plan->n_points; i++)
        if (s->plan->point[i].series == series)
            return &s->plan->point[i];
    return NULL;
}

tarry__fit_point tarry__sheet_point(const tarry__sheet *s, int series)
{
    const tarry__plan_point *p = tarry__sheet_planned(s, series);
    return p != NULL ? s->measured[p - s->plan->point]
                     : (tarry__fit_point){.mean = NAN};
}

tarry__fit_series tarry__sheet_least(const tarry__sheet *s, int series,
                                     const char *name)
{
    tarry__fit_series least = {.name = name};
    for (size_t i = 0; i < s->plan->n_points; i++) {
        const tarry__fit_point *m = &s->measured[i];
        if (s->plan->point[i].series != series)
            continue;
        tarry__fit_point *last = &least.point[least.n > 0 ? least.n - 1 : 0];
        if (least.n == 0 || last->x != m->x)
            least.point[least.n++] = *m;
        else if (m->mean - m->ci95 < last->mean - last->ci95)
            *last = *m;
    }
    return least;
}

tarry__bound tarry__sheet_bound_of(tarry__sheet *s, const tarry__lab_case *c)
{
    tarry__bound bound = {.upper = NAN, .lower = NAN};
    tarry__world *w;
    tarry_status status = tarry__world_create(
        c->instance, c->loss, c->delay, tarry__lab_seed(s->lab), 0, &w, NULL);
    if (status == TARRY_OK)
        status = tarry__bound_evaluate(w, c->policy, c->horizon, &bound, NULL);
    tarry__world_free(w);
    if (status == TARRY_NO_MEMORY)
        s->failed = status;
    return bound;
}

/* ---- checking -------------------------------------------------------------*/

/* The first of the worst checks decides. */
static void decide(tarry__sheet *s, tarry__fit_verdict verdict, const char *why)
{
    if (s->empty || verdict > s->verdict) {
        s->verdict = verdict;
        s->because = why;
    }
    s->empty = false;
}

/* What is left of an interval by rounding alone is none. */
static double without_rounding(double ci95, double measured)
{
    return ci95 < 1e-12 * fmax(fabs(measured), 1) ? 0 : ci95;
}

static void note_check(tarry__sheet *s, const char *name, double theory,
                       double measured, double ci95,
                       tarry__fit_relation relation, double tolerance,
                       tarry__fit_verdict verdict, const char *text)
{
    const bool judged = relation != TARRY__FIT_REPORTED;
    ci95 = without_rounding(ci95, measured);
    static const char *const signs[] = {"=", "<=", ">=", ""};
    append(s, s->checks,
           json_pack(
               "{s:s, s:o, s:s, s:f, s:o, s:o, s:s?, s:s}", "name", name,
               "theory", judged ? tarry__json_number(theory) : json_null(),
               "relation", signs[relation], "tolerance", judged ? tolerance : 0,
               "measured", tarry__json_number(measured), "ci95",
               tarry__json_number(ci95), "verdict",
               judged ? tarry__fit_verdict_names[verdict] : NULL, "text",
               text));
    if (judged)
        decide(s, verdict, tarry__lab_text(s->lab, "%s: %s", name, text));
}

/* "at most 0.5 (tolerance 0.08)" */
static const char *promise(tarry__lab *lab, double theory,
                           tarry__fit_relation relation, double tolerance)
{
    static const char *const words[] = {"must be", "must be at most",
                                        "must be at least", ""};
    if (relation == TARRY__FIT_REPORTED)
        return "nothing is claimed";
    return tolerance > 0
               ? tarry__lab_text(lab, "%s %.4g (tolerance %.3g)",
                                 words[relation], theory, tolerance)
               : tarry__lab_text(lab, "%s %.4g", words[relation], theory);
}

void tarry__sheet_check_power(tarry__sheet *s, const char *name,
                              const tarry__fit_series *series, double theory,
                              tarry__fit_relation relation)
{
    tarry__sheet_check_power_within(s, name, series, theory, relation,
                                    TOLERANCE);
}

void tarry__sheet_check_power_within(tarry__sheet *s, const char *name,
                                     const tarry__fit_series *series,
                                     double theory,
                                     tarry__fit_relation relation,
                                     double tolerance)
{
    const tarry__fit_law p = tarry__fit_power(series);
    if (p.used < 3 || p.used < series->n) {
        note_check(s, name, theory, NAN, NAN, relation, tolerance,
                   TARRY__FIT_UNRESOLVED,
                   tarry__lab_text(s->lab,
                                   "%zu of %zu points are positive numbers, "
                                   "so no exponent is fitted",
                                   p.used, series->n));
        return;
    }
    note_check(
        s, name, theory, p.exponent, p.ci95, relation, tolerance,
        tarry__fit_judge(p.exponent, p.ci95, theory, relation, tolerance),
        tarry__lab_text(s->lab, "exponent %.3f ± %.3f, %s", p.exponent, p.ci95,
                        promise(s->lab, theory, relation, tolerance)));
}

void tarry__sheet_show_power(tarry__sheet *s, const char *column,
                             const char *symbol,
                             const tarry__fit_series *series)
{
    const tarry__fit_law p = tarry__fit_power(series);
    json_t *cell = json_object_get(s->seen, column);
    if (cell == NULL &&
        json_object_set_new(s->seen, column, cell = json_array()) != 0)
        cell = NULL; /* then the append below says so */
    append(s, cell,
           json_pack("{s:s, s:o, s:o}", "symbol", symbol, "exponent",
                     tarry__json_number(p.used < 3 ? NAN : p.exponent), "ci95",
                     tarry__json_number(without_rounding(p.ci95, p.exponent))));
}

void tarry__sheet_check_mean(tarry__sheet *s, const char *name,
                             tarry__fit_point p, double limit,
                             tarry__fit_relation relation)
{
    tarry__sheet_check_mean_within(s, name, p, limit, relation, 0);
}

void tarry__sheet_check_mean_within(tarry__sheet *s, const char *name,
                                    tarry__fit_point p, double limit,
                                    tarry__fit_relation relation,
                                    double tolerance)
{
    const char *claim = promise(s->lab, limit, relation, tolerance);
    const bool exact = without_rounding(p.ci95, p.mean) == 0;
    note_check(s, name, limit, p.mean, p.ci95, relation, tolerance,
               tarry__fit_judge(p.mean, p.ci95, limit, relation, tolerance),
               exact ? tarry__lab_text(s->lab, "%.4g, %s", p.mean, claim)
                     : tarry__lab_text(s->lab, "%.4g ± %.2g, %s", p.mean,
                                       p.ci95, claim));
}

void tarry__sheet_check_largest(tarry__sheet *s, const char *name,
                                const tarry__lab_case *c,
                                tarry__plan_quantity *quantity, double limit)
{
    const tarry__lab_answer *runs = tarry__sheet_runs(s, c);
    double largest = -INFINITY;
    size_t n_known = 0;
    for (size_t i = 0; runs != NULL && i < c->runs; i++) {
        const double value = quantity(&runs[i], NULL);
        n_known += !isnan(value);
        largest = fmax(largest, value);
    }
    const bool good = n_known == c->runs && largest <= limit;
    note_check(
        s, name, limit, n_known > 0 ? largest : NAN, 0, TARRY__FIT_AT_MOST, 0,
        good ? TARRY__FIT_SUPPORTED : TARRY__FIT_CONTRADICTED,
        tarry__lab_text(
            s->lab, "%.4g is the largest of %zu runs, %s%s", largest,
            (size_t)c->runs, promise(s->lab, limit, TARRY__FIT_AT_MOST, 0),
            n_known < c->runs ? "; some did not come that far" : ""));
}

void tarry__sheet_check_budget(tarry__sheet *s, const char *name, int series,
                               double sigma)
{
    double most = 0;
    for (size_t i = 0; i < s->plan->n_points; i++) {
        const tarry__plan_point *p = &s->plan->point[i];
        if (p->series != series)
            continue;
        const tarry__lab_answer *runs = tarry__sheet_runs(s, &p->c);
        for (size_t k = 0; runs != NULL && k < p->c.runs; k++)
            most = fmax(most,
                        (double)runs[k].sigma_max / (sigma > 0 ? sigma : p->x));
    }
    tarry__sheet_check_mean(
        s, tarry__lab_text(s->lab, "%s: most plays held over the budget", name),
        (tarry__fit_point){.mean = most}, 1, TARRY__FIT_AT_MOST);
}

double tarry__sheet_check_frequency(tarry__sheet *s, const char *name,
                                    uint64_t hits, uint64_t runs, double limit,
                                    tarry__fit_relation relation)
{
    double low = 0, high = 1;
    if (runs > 0)
        tarry__fit_probability_interval(hits, runs, &low, &high);
    note_check(s, name, limit, runs > 0 ? (double)hits / (double)runs : NAN,
               (high - low) / 2, relation, 0,
               tarry__fit_judge((low + high) / 2, (high - low) / 2, limit,
                                relation, 0),
               tarry__lab_text(s->lab,
                               "%ju of %ju runs, 95 %% interval %.2g to %.2g, "
                               "%s",
                               (uintmax_t)hits, (uintmax_t)runs, low, high,
                               promise(s->lab, limit, relation, 0)));
    return high;
}

/* ---- drawing --------------------------------------------------------------*/

json_t *tarry__sheet_figure(tarry__sheet *s, const tarry__sheet_drawing *d)
{
    json_t *figure =
        json_pack("{s:s, s:s, s:{s:s, s:b}, s:{s:s, s:b}, s:[], s:s, s:s}",
                  "id", d->id, "title", d->title, "x", "label", d->x, "log",
                  !d->linear_x, "y", "label", d->y, "log", !d->linear_y,
                  "series", "note", d->note, "command", s->command);
    append(s, s->figures, figure);
    return figure;
}

/* The list of its points; NULL, and the sheet has failed. */
static json_t *add_series(tarry__sheet *s, json_t *figure, const char *name,
                          const char *kind)
{
    json_t *series =
        json_pack("{s:s, s:s, s:[]}", "name", name, "kind", kind, "points");
    if (json_array_append_new(json_object_get(figure, "series"), series) == 0)
        return json_object_get(series, "points");
    s->failed = TARRY_NO_MEMORY;
    return NULL;
}

static void put_points(tarry__sheet *s, json_t *figure,
                       const tarry__fit_series *series, const char *kind)
{
    json_t *points = add_series(s, figure, series->name, kind);
    for (size_t i = 0; i < series->n; i++) {
        const tarry__fit_point *p = &series->point[i];
        if (isfinite(p->mean))
            append(s, points,
                   json_pack("[f, f, f, f]", p->x, p->mean, p->mean - p->ci95,
                             p->mean + p->ci95));
    }
}

void tarry__sheet_draw_points(tarry__sheet *s, json_t *figure,
                              const tarry__fit_series *series)
{
    put_points(s, figure, series, "points");
}

void tarry__sheet_draw_line(tarry__sheet *s, json_t *figure,
                            const tarry__fit_series *series)
{
    put_points(s, figure, series, "line");
}

/* A power law over the range of a series. */
static void add_law(tarry__sheet *s, json_t *figure,
                    const tarry__fit_series *series, const char *name,
                    const char *kind, double scale, double exponent)
{
    json_t *points = add_series(s, figure, name, kind);
    const double first = series->point[0].x,
                 last = series->point[series->n - 1].x;
    for (int i = 0; i <= 16; i++) {
        const double x = first * tarry__pow(last / first, i / 16.0);
        append(s, points,
               json_pack("[f, f]", x, scale * tarry__pow(x, exponent)));
    }
}

void tarry__sheet_draw_power(tarry__sheet *s, json_t *figure,
                             const tarry__fit_series *series, double theory)
{
    const tarry__fit_law p = tarry__fit_power(series);
    char name[64];
    tarry__sheet_draw_points(s, figure, series);
    if (p.used < 3)
        return;
    snprintf(name, sizeof name, "fit: exponent %.2f ± %.2f", p.exponent,
             p.ci95);
    add_law(s, figure, series, name, "fit", p.scale, p.exponent);
    const double middle =
        sqrt(series->point[0].x * series->point[series->n - 1].x);
    snprintf(name, sizeof name, "theory: exponent %.3g", theory);
    add_law(s, figure, series, name, "theory",
            p.scale * tarry__pow(middle, p.exponent - theory), theory);
}

void tarry__sheet_draw_curve(tarry__sheet *s, json_t *figure, const char *name,
                             const tarry__lab_case *c)
{
    uint64_t grid[TARRY__PAPER_CURVE];
    const size_t n_grid = tarry__lab_grid(c, grid);
    const tarry__lab_answer *runs = tarry__sheet_runs(s, c);
    double *values = tarry__base_alloc(c->runs, sizeof *values);
    if (values == NULL || runs == NULL) {
        s->failed = values == NULL ? TARRY_NO_MEMORY : s->failed;
        tarry__base_free(values);
        return;
    }
    json_t *points = add_series(s, figure, name, "band");
    for (size_t i = 0; i < n_grid; i++) {
        for (size_t run = 0; run < c->runs; run++)
            values[run] = runs[run].curve[i];
        const tarry__experiment_summary m =
            tarry__experiment_summarise(values, c->runs);
        append(s, points,
               json_pack("[f, f, f, f]", (double)grid[i], m.mean,
                         m.mean - m.ci95, m.mean + m.ci95));
    }
    tarry__base_free(values);
}
