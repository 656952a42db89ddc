/* examine_delays.c - how long outcomes take: in all, by arm, over time.
 *
 * Whether arms differ is a question of outcomes seen, O, and expected, E, by
 * the hazards of all decisions: logrank.h.  For drift hazards are those of the
 * decision's own arm, so that a change of arms is no change of delays; the sum
 * of (O - E)^2 / E is at most about a chi-square (log-rank test, the
 * conservative form). */
#include "log/examine_parts.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "log/logrank.h"
#include "random/special.h"

enum {
    MOST_PERIODS = 520,
    FEW = 5, /* outcomes expected of a group that stands for itself */
    STRETCHES = 10,
    CURVE_POINTS = 200,
    ARM_POINTS = 50,
    MOST_CURVES = 20, /* arms that get one of their own */
    OLDEST = 30,      /* decisions whose age is worth a word, or 1 % */
};
static const double day = 86400, week = 604800;
static const double first_monday = 4 * 86400; /* 1970-01-05 */

/* ---- one group ------------------------------------------------------------*/

static json_t *tell_interval(tarry__log_interval v)
{
    return json_pack("[o, o]", tarry__json_number(v.low),
                     tarry__json_number(v.high));
}

static json_t *tell_step(json_t *list, const tarry__survival *c, size_t i)
{
    const tarry__survival_step *s = &c->step[i];
    const tarry__log_interval band = tarry__survival_band(c, s);
    return tarry__json_add(
        list, json_pack("[f, f, f, f]", s->time, s->out, band.low, band.high));
}

/* About so many steps of the curve, evenly spread over its fall, and what
 * stands before each large one. */
static json_t *tell_curve(const tarry__survival *c, size_t points)
{
    const double large = 1.0 / (double)points;
    json_t *list = json_array();
    size_t next = 0; /* steps before it are told or left out for good */
    double last = 1 + large;
    for (size_t i = 0; i < c->n_steps; i++) {
        const double out = c->step[i].out;
        if (last - out < large && i + 1 < c->n_steps)
            continue;
        if (i > next && c->step[i - 1].out - out >= large)
            list = tell_step(list, c, i - 1);
        list = tell_step(list, c, i);
        next = i + 1;
        last = out;
    }
    return list;
}

/* null where the log does not say when outcomes were reported. */
static json_t *tell_group(const tarry__examine_state *x,
                          const tarry__survival *c, size_t points)
{
    static const struct {
        const char *name, *interval;
        double q;
    } quantiles[] = {{"median", "median_ci95", 0.5},
                     {"q90", "q90_ci95", 0.9},
                     {"q99", "q99_ci95", 0.99}};
    if (x->has_no_times)
        return json_null();
    json_t *out = json_object();
    const tarry__log_interval mean = tarry__survival_mean(c);
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        const tarry__log_interval t =
            tarry__survival_quantile(c, quantiles[i].q);
        out = tarry__json_set(out, quantiles[i].name,
                              tarry__json_number(t.value));
        out = tarry__json_set(out, quantiles[i].interval, tell_interval(t));
    }
    out = tarry__json_set(out, "mean", tarry__json_number(mean.value));
    out = tarry__json_set(out, "mean_ci95", tell_interval(mean));
    if (points > 0)
        out = tarry__json_set(out, "curve", tell_curve(c, points));
    return out;
}

/* ---- groups ---------------------------------------------------------------*/

/* Decisions by group, and room to lay one group out. */
typedef struct {
    size_t count, *begin; /* groups; count + 1 */
    uint32_t *order;
    double *time, *hazard;
    bool *seen;
} groups;

static void clear_groups(groups *g)
{
    tarry__base_free(g->begin);
    tarry__base_free(g->order);
    tarry__base_free(g->time);
    tarry__base_free(g->hazard);
    tarry__base_free(g->seen);
}

static bool make_groups(groups *g, const uint32_t *group, size_t n,
                        size_t count)
{
    *g = (groups){.count = count};
    g->begin = tarry__base_zalloc(count + 1, sizeof *g->begin);
    g->order = tarry__base_alloc(n, sizeof *g->order);
    g->time = tarry__base_alloc(n, sizeof *g->time);
    g->seen = tarry__base_alloc(n, sizeof *g->seen);
    g->hazard = tarry__base_alloc(n, sizeof *g->hazard);
    if (g->hazard == NULL || g->begin == NULL || g->order == NULL ||
        g->time == NULL || g->seen == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        g->begin[group[i] + 1]++;
    for (size_t k = 0; k < count; k++)
        g->begin[k + 1] += g->begin[k];
    for (size_t i = 0; i < n; i++)
        g->order[g->begin[group[i]]++] = (uint32_t)i;
    memmove(g->begin + 1, g->begin, count * sizeof *g->begin);
    g->begin[0] = 0;
    return true;
}

/* The curve of group k; g->hazard has its hazards in the order of g->order. */
static bool curve_of(const groups *g, const tarry__examine_state *x, size_t k,
                     tarry__survival *curve)
{
    const size_t begin = g->begin[k], n = g->begin[k + 1] - begin;
    for (size_t i = 0; i < n; i++) {
        g->time[i] = x->time[g->order[begin + i]];
        g->seen[i] = x->seen[g->order[begin + i]];
    }
    return tarry__survival_make(curve, g->time, g->seen, n, g->hazard);
}

/* Outcomes seen and expected, per group. */
typedef struct {
    double seen[MOST_PERIODS], expected[MOST_PERIODS];
} tally;

/* Small groups count as one, lest single outcomes decide. */
static double differ(const double *seen, const double *expected, size_t count)
{
    double sum = 0, groups = 0, rest = 0, rest_expected = 0;
    for (size_t k = 0; k <= count; k++) { /* the last one: all small ones */
        const double O = k < count ? seen[k] : rest;
        const double E = k < count ? expected[k] : rest_expected;
        if (E >= FEW) {
            sum += (O - E) * (O - E) / E;
            groups++;
        } else {
            rest += O;
            rest_expected += E;
        }
    }
    return groups > 1 ? tarry__random_gamma_upper((groups - 1) / 2, sum / 2)
                      : NAN;
}

/* ---- periods --------------------------------------------------------------*/

typedef struct {
    const char *by;
    double start, length;
    size_t count;
    uint32_t *of; /* per decision */
} periods;

static void choose_periods(const tarry__log *log, periods *p)
{
    const double first = log->decided[0], last = log->decided[log->count - 1];
    const double span = last - first;
    p->by = "stretch";
    p->start = first;
    p->length = span > 0 ? span / STRETCHES * (1 + 1e-12) : 1;
    if (log->is_calendar && span >= 2 * week) {
        p->by = "week";
        p->length = week;
        p->start = first_monday + floor((first - first_monday) / week) * week;
    } else if (log->is_calendar && span >= 2 * day) {
        p->by = "day";
        p->length = day;
        p->start = floor(first / day) * day;
    }
    while ((last - p->start) / p->length >= MOST_PERIODS)
        p->length *= 2; /* ten years and more */
    p->count = (size_t)((last - p->start) / p->length) + 1;
}

static bool make_periods(const tarry__log *log, periods *p)
{
    choose_periods(log, p);
    p->of = tarry__base_alloc(log->count, sizeof *p->of);
    for (size_t i = 0; p->of != NULL && i < log->count; i++)
        p->of[i] = (uint32_t)((log->decided[i] - p->start) / p->length);
    return p->of != NULL;
}

static json_t *tell_period(const tarry__examine_state *x, const periods *p,
                           size_t k, const tarry__survival *c)
{
    const tarry__log_interval median = tarry__survival_quantile(c, 0.5);
    return json_pack(
        "{s:o, s:I, s:I, s:o, s:o}", "start",
        tarry__examine_time(&x->log, p->start + (double)k * p->length),
        "decisions", (json_int_t)c->count, "reported", (json_int_t)c->events,
        "median", tarry__json_number(median.value), "median_ci95",
        tell_interval(median));
}

static bool tell_drift(tarry__examine_state *x, const periods *p,
                       const tally *t, json_t **delay)
{
    groups g;
    json_t *list = json_array();
    bool ok = make_groups(&g, p->of, x->log.count, p->count);
    for (size_t k = 0; ok && k < p->count; k++) {
        tarry__survival c;
        if (g.begin[k] == g.begin[k + 1])
            continue;
        ok = curve_of(&g, x, k, &c);
        if (ok)
            list = tarry__json_add(list, tell_period(x, p, k, &c));
        tarry__survival_clear(&c);
    }
    clear_groups(&g);
    const double p_value = differ(t->seen, t->expected, p->count);
    *delay = tarry__json_set(*delay, "drift",
                             json_pack("{s:o, s:s, s:o}", "p_value",
                                       tarry__json_number(p_value), "by", p->by,
                                       "periods", list));
    return ok;
}

/* ---- arms -----------------------------------------------------------------*/

/* What the arm's own hazards expect of each period. */
static void add_to_periods(const tarry__examine_state *x, const groups *g,
                           size_t k, const periods *p, tally *t)
{
    const size_t begin = g->begin[k];
    for (size_t i = begin; i < g->begin[k + 1]; i++) {
        const size_t at = g->order[i];
        t->seen[p->of[at]] += x->seen[at];
        t->expected[p->of[at]] += g->hazard[i - begin];
    }
}

static json_t *tell_arm(const tarry__examine_state *x, size_t k,
                        const tarry__survival *c)
{
    const size_t points = x->log.n_arms <= MOST_CURVES ? ARM_POINTS : 0;
    return json_pack("{s:o, s:I, s:I, s:o}", "arm",
                     tarry__examine_arm(&x->log, k), "decisions",
                     (json_int_t)c->count, "reported", (json_int_t)c->events,
                     "delay", tell_group(x, c, points));
}

static bool tell_arms(tarry__examine_state *x, const periods *p, tally *t)
{
    const size_t K = x->log.n_arms;
    groups g;
    json_t *list = json_array();
    bool ok = make_groups(&g, x->log.arm, x->log.count, K);
    for (size_t k = 0; ok && k < K; k++) {
        tarry__survival c;
        ok = curve_of(&g, x, k, &c);
        if (ok) {
            list = tarry__json_add(list, tell_arm(x, k, &c));
            add_to_periods(x, &g, k, p, t);
        }
        tarry__survival_clear(&c);
    }
    x->out = tarry__json_set(x->out, "arms", list);
    clear_groups(&g);
    return ok;
}

static bool tell_differences(const tarry__examine_state *x, json_t **delay)
{
    double p_value;
    const bool ok = tarry__logrank(&x->curve, x->time, x->seen, x->log.arm,
                                   x->log.count, x->log.n_arms, &p_value);
    if (ok)
        *delay = tarry__json_set(
            *delay, "arms_differ",
            json_pack("{s:o}", "p_value", tarry__json_number(p_value)));
    return ok;
}

/* ---- laws -----------------------------------------------------------------*/

static bool is_whole(const tarry__examine_state *x)
{
    for (size_t i = 0; i < x->log.count; i++)
        if (x->time[i] != floor(x->time[i]))
            return false;
    return true;
}

static json_t *tell_laws(const tarry__laws *laws)
{
    json_t *list = json_array();
    for (size_t i = 0; i < laws->count; i++)
        list = tarry__json_add(list, json_pack("{s:s, s:f, s:f, s:f}", "law",
                                               laws->fit[i].description, "aic",
                                               laws->fit[i].aic, "weight",
                                               laws->fit[i].weight, "never",
                                               laws->fit[i].never));
    return list;
}

/* The least share that laws which fit about as well let never come, less what
 * chance adds: by Greenwood's variance of the curve's end, which knows how few
 * are out that long. */
static double least_never(const tarry__examine_state *x, double far,
                          const tarry__survival_step *end)
{
    double low = 1;
    for (size_t i = 0; i < x->laws.count; i++)
        if (x->laws.fit[i].weight >= 0.05)
            low = fmin(low, tarry__laws_tail(&x->laws.fit[i], far));
    const double counted = low * (1 - low) / (double)x->log.count;
    const double greenwood = end->out > 0 ? low * low * end->variance : counted;
    return low - 1.96 * sqrt(fmax(counted, greenwood));
}

/* The estimate is the best law's, with what it lets come in ages only, but not
 * above the end of the curve: what never comes is out at every time.  If
 * nothing is out, no decision is known that never had an outcome. */
static json_t *tell_never(const tarry__examine_state *x)
{
    const tarry__survival *c = &x->curve;
    const double far = c->last > 0 ? TARRY__EXAMINE_FAR * c->last : 1;
    double estimate = 0, low = 0, high = x->left.high;
    if (c->n_steps == 0) /* no outcome, no law */
        return json_pack("{s:n, s:f, s:f}", "estimate", "low", 0.0, "high",
                         1.0);
    const tarry__survival_step *end = &c->step[c->n_steps - 1];
    if (end->out > 0)
        high = fmin(high, tarry__survival_at(c, end->time).high);
    if (c->events < c->count) {
        estimate = fmin(tarry__laws_tail(&x->laws.fit[0], far), end->out);
        low = fmax(0, fmin(estimate, least_never(x, far, end)));
    }
    return json_pack("{s:f, s:f, s:f}", "estimate", estimate, "low", low,
                     "high", fmax(high, estimate));
}

/* The curve of all, and its laws. */
static bool look_at_all(tarry__examine_state *x)
{
    const size_t n = x->log.count;
    const size_t some = n / 100 > OLDEST ? n / 100 : OLDEST;
    const size_t oldest = some < n ? some : n;
    const bool ok =
        tarry__survival_make(&x->curve, x->time, x->seen, n, NULL) &&
        tarry__laws_rank(&x->curve, is_whole(x), &x->laws);
    x->left_age = tarry__log_age(&x->log, oldest - 1);
    x->left = tarry__survival_at(&x->curve, x->left_age);
    if (x->left.value == 0) /* none of so many: 1 - 0.05^(1/m) */
        x->left.high = -tarry__expm1(tarry__ln(0.05) / (double)oldest);
    if (ok && x->curve.events == x->curve.count)
        x->left.value = x->left.low = 0; /* no outcome is hidden */
    return ok;
}

static json_t *tell_all(tarry__examine_state *x)
{
    json_t *delay = tell_group(x, &x->curve, CURVE_POINTS);
    x->out = tarry__json_set(x->out, "delay", json_incref(delay));
    return delay;
}

tarry_status tarry__examine_delays(tarry__examine_state *x, tarry_error *error)
{
    periods p = {0};
    tally *t = tarry__base_zalloc(1, sizeof *t);
    bool ok = t != NULL && make_periods(&x->log, &p) && look_at_all(x);
    if (ok) {
        json_t *delay = tell_all(x);
        ok = tell_arms(x, &p, t);
        if (ok && !x->has_no_times) {
            delay = tarry__json_set(delay, "never", tell_never(x));
            delay = tarry__json_set(delay, "laws", tell_laws(&x->laws));
            ok = tell_differences(x, &delay) && tell_drift(x, &p, t, &delay);
        }
        ok = ok && delay != NULL;
        json_decref(delay);
    }
    tarry__base_free(p.of);
    tarry__base_free(t);
    return ok ? TARRY_OK : tarry__examine_no_memory(error);
}
