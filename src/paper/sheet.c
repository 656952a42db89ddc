/* sheet.c - data, checks and figures of a row, as JSON. */
#include "paper/sheet.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "lab/experiment.h"

/* JSON has no infinities: what is not finite becomes null. */
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static void append(tarry__sheet *s, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        s->failed = TARRY_NO_MEMORY;
}

/* ---- measuring ------------------------------------------------------------*/

double tarry__sheet_regret(const tarry__lab_answer *run,
                           const tarry__lab_answer *base)
{
    (void)base;
    return run->regret;
}

double tarry__sheet_penalty(const tarry__lab_answer *run,
                            const tarry__lab_answer *base)
{
    return run->regret - base->regret;
}

double tarry__sheet_ratio(const tarry__lab_answer *run,
                          const tarry__lab_answer *base)
{
    return run->regret / base->regret;
}

double tarry__sheet_length(const tarry__lab_answer *run,
                           const tarry__lab_answer *base)
{
    (void)base;
    return run->n_phases > 0 ? (double)run->length : NAN;
}

double tarry__sheet_overhead(const tarry__lab_answer *run,
                             const tarry__lab_answer *base)
{
    const double planned = base != NULL ? tarry__sheet_length(base, NULL)
                                        : (double)run->designated;
    return tarry__sheet_length(run, NULL) - planned;
}

double tarry__sheet_first_loss(const tarry__lab_answer *run,
                               const tarry__lab_answer *base)
{
    (void)base;
    return (double)run->first_seen;
}

tarry__lab_case tarry__sheet_with_delay(tarry__lab_case c, const char *delay)
{
    c.delay = delay;
    return c;
}

tarry__lab_case tarry__sheet_with_policy(tarry__lab_case c, const char *policy)
{
    c.policy = policy;
    return c;
}

/* The values of all runs. */
static double *values_of(tarry__sheet *s, const tarry__lab_case *c,
                         const tarry__lab_case *base,
                         tarry__sheet_quantity *quantity)
{
    double *values = tarry__base_alloc(c->runs, sizeof *values);
    tarry__lab_answer *bases = NULL;
    const tarry__lab_answer *runs = NULL;
    if (base != NULL) {
        bases = tarry__base_alloc(c->runs, sizeof *bases);
        runs = tarry__lab_ask(s->lab, base);
        if (bases != NULL &&
            runs != NULL) /* answers last to the next question */
            memcpy(bases, runs, c->runs * sizeof *bases);
    }
    runs = tarry__lab_ask(s->lab, c);
    if (values == NULL || runs == NULL || (base != NULL && bases == NULL)) {
        s->failed = TARRY_NO_MEMORY;
        tarry__base_free(values);
        values = NULL;
    }
    for (size_t i = 0; values != NULL && i < c->runs; i++)
        values[i] = quantity(&runs[i], bases != NULL ? &bases[i] : NULL);
    tarry__base_free(bases);
    return values;
}

tarry__fit_point tarry__sheet_measure(tarry__sheet *s, tarry__fit_sweep *sweep,
                                      double x, const tarry__lab_case *c,
                                      const tarry__lab_case *base,
                                      tarry__sheet_quantity *quantity,
                                      const char *what)
{
    double *values = values_of(s, c, base, quantity);
    tarry__fit_point point = {.x = x};
    if (values == NULL)
        return point;
    point = tarry__fit_point_of(x, values, c->runs);
    tarry__base_free(values);
    if (sweep != NULL && sweep->n < TARRY__FIT_SWEEP_POINTS)
        sweep->point[sweep->n++] = point;
    append(s, s->data,
           json_pack("{s:s, s:s?, s:f, s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:o}",
                     "quantity", what, "series",
                     sweep != NULL ? sweep->name : NULL, "x", x, "instance",
                     c->instance, "loss", c->loss, "delay", c->delay, "policy",
                     c->policy, "horizon", (json_int_t)c->horizon, "runs",
                     (json_int_t)c->runs, "mean", number(point.mean), "ci95",
                     number(point.ci95)));
    return point;
}

tarry__fit_point tarry__sheet_measure_least(tarry__sheet *s,
                                            tarry__fit_sweep *sweep, double x,
                                            tarry__lab_case c)
{
    tarry__fit_point least = {.x = x};
    bool some = false;
    for (size_t i = 0; (c.policy = tarry_policy_name(i)) != NULL; i++) {
        if (strcmp(c.policy, "oracle") == 0)
            continue;
        const tarry__fit_point p = tarry__sheet_measure(
            s, NULL, x, &c, NULL, tarry__sheet_regret, "regret");
        if (!some || p.mean - p.ci95 < least.mean - least.ci95)
            least = p;
        some = true;
    }
    sweep->point[sweep->n++] = least;
    return least;
}

tarry__bound tarry__sheet_bound_of(tarry__sheet *s, const tarry__lab_case *c)
{
    tarry__bound bound = {.upper = 1, .lower = 1};
    if (!tarry__lab_answers(s->lab))
        return bound;
    tarry__world *w;
    bound.upper = bound.lower = NAN;
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
                       tarry__fit_relation relation, tarry__fit_verdict verdict,
                       const char *text)
{
    const bool judged = relation != TARRY__FIT_REPORTED;
    ci95 = without_rounding(ci95, measured);
    static const char *const signs[] = {"=", "<=", ">=", ""};
    append(s, s->checks,
           json_pack("{s:s, s:o, s:s, s:o, s:o, s:s?, s:s}", "name", name,
                     "theory", judged ? number(theory) : json_null(),
                     "relation", signs[relation], "measured", number(measured),
                     "ci95", number(ci95), "verdict",
                     judged ? tarry__fit_verdict_names[verdict] : NULL, "text",
                     text));
    if (judged)
        decide(s, verdict, tarry__lab_text(s->lab, "%s: %s", name, text));
}

static const char *promise(tarry__lab *lab, double theory,
                           tarry__fit_relation relation)
{
    static const char *const words[] = {"the theory says", "at most",
                                        "at least", ""};
    return relation == TARRY__FIT_REPORTED
               ? "nothing is claimed"
               : tarry__lab_text(lab, "%s %.3g", words[relation], theory);
}

void tarry__sheet_check_power(tarry__sheet *s, const char *name,
                              const tarry__fit_sweep *sweep, double theory,
                              tarry__fit_relation relation)
{
    const tarry__fit_law p = tarry__fit_power(sweep);
    if (p.used < 3 || p.used < sweep->n) {
        note_check(s, name, theory, NAN, NAN, relation, TARRY__FIT_UNRESOLVED,
                   tarry__lab_text(s->lab,
                                   "%zu of %zu points are positive numbers, "
                                   "so no exponent is fitted",
                                   p.used, sweep->n));
        return;
    }
    note_check(s, name, theory, p.exponent, p.ci95, relation,
               tarry__fit_judge(p.exponent, p.ci95, theory, relation,
                                TARRY__FIT_EXPONENT_MARGIN),
               tarry__lab_text(s->lab, "exponent %.3f ± %.3f, %s", p.exponent,
                               p.ci95, promise(s->lab, theory, relation)));
}

void tarry__sheet_show_power(tarry__sheet *s, const char *column,
                             const char *symbol, const tarry__fit_sweep *sweep)
{
    const tarry__fit_law p = tarry__fit_power(sweep);
    json_t *cell = json_object_get(s->seen, column);
    if (cell == NULL)
        json_object_set_new(s->seen, column, cell = json_array());
    append(s, cell,
           json_pack("{s:s, s:o, s:o}", "symbol", symbol, "exponent",
                     number(p.used < 3 ? NAN : p.exponent), "ci95",
                     number(without_rounding(p.ci95, p.exponent))));
}

void tarry__sheet_check_mean(tarry__sheet *s, const char *name,
                             tarry__fit_point p, double limit,
                             tarry__fit_relation relation)
{
    note_check(s, name, limit, p.mean, p.ci95, relation,
               tarry__fit_judge(p.mean, p.ci95, limit, relation, 0),
               tarry__lab_text(s->lab, "%.4g ± %.2g, %s", p.mean, p.ci95,
                               promise(s->lab, limit, relation)));
}

double tarry__sheet_check_frequency(tarry__sheet *s, const char *name,
                                    uint64_t hits, uint64_t runs, double limit,
                                    tarry__fit_relation relation)
{
    double low = 0, high = 1;
    if (runs > 0)
        tarry__fit_probability_interval(hits, runs, &low, &high);
    note_check(s, name, limit, runs > 0 ? (double)hits / (double)runs : NAN,
               (high - low) / 2, relation,
               tarry__fit_judge((low + high) / 2, (high - low) / 2, limit,
                                relation, 0),
               tarry__lab_text(s->lab,
                               "%ju of %ju runs, 95 %% interval %.2g to %.2g, "
                               "%s",
                               (uintmax_t)hits, (uintmax_t)runs, low, high,
                               promise(s->lab, limit, relation)));
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

static json_t *add_series(json_t *figure, const char *name, const char *kind)
{
    json_t *points = json_array();
    json_array_append_new(json_object_get(figure, "series"),
                          json_pack("{s:s, s:s, s:o}", "name", name, "kind",
                                    kind, "points", points));
    return points;
}

static void add_sweep(json_t *figure, const tarry__fit_sweep *sweep,
                      const char *kind)
{
    json_t *points = add_series(figure, sweep->name, kind);
    for (size_t i = 0; i < sweep->n; i++) {
        const tarry__fit_point *p = &sweep->point[i];
        if (isfinite(p->mean))
            json_array_append_new(points, json_pack("[f, f, f, f]", p->x,
                                                    p->mean, p->mean - p->ci95,
                                                    p->mean + p->ci95));
    }
}

void tarry__sheet_draw_points(json_t *figure, const tarry__fit_sweep *sweep)
{
    add_sweep(figure, sweep, "points");
}

void tarry__sheet_draw_line(json_t *figure, const tarry__fit_sweep *sweep)
{
    add_sweep(figure, sweep, "line");
}

/* A power law over the range of a sweep. */
static void add_law(json_t *figure, const tarry__fit_sweep *sweep,
                    const char *name, const char *kind, double scale,
                    double exponent)
{
    json_t *points = add_series(figure, name, kind);
    const double first = sweep->point[0].x, last = sweep->point[sweep->n - 1].x;
    for (int i = 0; i <= 16; i++) {
        const double x = first * pow(last / first, i / 16.0);
        json_array_append_new(points,
                              json_pack("[f, f]", x, scale * pow(x, exponent)));
    }
}

void tarry__sheet_draw_power(json_t *figure, const tarry__fit_sweep *sweep,
                             double theory)
{
    const tarry__fit_law p = tarry__fit_power(sweep);
    char name[64];
    tarry__sheet_draw_points(figure, sweep);
    if (p.used < 3)
        return;
    snprintf(name, sizeof name, "fit: exponent %.2f ± %.2f", p.exponent,
             p.ci95);
    add_law(figure, sweep, name, "fit", p.scale, p.exponent);
    const double middle =
        sqrt(sweep->point[0].x * sweep->point[sweep->n - 1].x);
    snprintf(name, sizeof name, "theory: exponent %.3g", theory);
    add_law(figure, sweep, name, "theory",
            p.scale * pow(middle, p.exponent - theory), theory);
}

void tarry__sheet_draw_curve(tarry__sheet *s, json_t *figure, const char *name,
                             const tarry__lab_case *c)
{
    uint64_t grid[TARRY__PAPER_CURVE];
    const size_t n_grid = tarry__lab_grid(c, grid);
    const tarry__lab_answer *runs = tarry__lab_ask(s->lab, c);
    double *values = tarry__base_alloc(c->runs, sizeof *values);
    if (values == NULL || runs == NULL) {
        s->failed = TARRY_NO_MEMORY;
        tarry__base_free(values);
        return;
    }
    json_t *points = add_series(figure, name, "band");
    for (size_t i = 0; i < n_grid; i++) {
        for (size_t run = 0; run < c->runs; run++)
            values[run] = runs[run].curve[i];
        const tarry__experiment_summary m =
            tarry__experiment_summarise(values, c->runs);
        json_array_append_new(points,
                              json_pack("[f, f, f, f]", (double)grid[i], m.mean,
                                        m.mean - m.ci95, m.mean + m.ci95));
    }
    tarry__base_free(values);
}
