/* laws.c - see laws.h.  The simplex method of Nelder and Mead (1965) searches
 * the logarithms of the parameters and the log-odds of never. */
#include "log/laws.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "random/special.h"

enum { CLASSES = 256, STEPS = 400, MOST_FREE = 3 };
static const double tiny = 1e-300;  /* for the logarithm of 0 */
static const double nearly_all = 3; /* log-odds */

/* Class k holds `seen` delays from low[k] to below high[k], and `out` decisions
 * that have waited for about age[k].  A class of one delay is as narrow as that
 * delay is known; others end where the next begins. */
typedef struct {
    size_t count;
    double low[CLASSES + 1], high[CLASSES + 1];
    double seen[CLASSES + 1], out[CLASSES + 1], age[CLASSES + 1];
    double first, last, mean, log_mean, log_deviation, left, largest;
} grouped;

typedef struct {
    const char *name;
    const char *format; /* of the description: two parameters */
    int n_parameters;
    bool only_whole; /* makes sense only for whole numbers */
    int points;      /* not 0: only if there are just so many delays */
    /* P(delay >= x), for x > 0. */
    double (*tail)(const double *p, double x);
    void (*start)(const grouped *g, double *p);
    bool fixed; /* the start is the best there is */
} law;

/* ---- the laws -------------------------------------------------------------*/

static double constant_tail(const double *p, double x)
{
    return x <= p[0] * (1 + 1e-12) ? 1 : 0;
}

static double uniform_tail(const double *p, double x)
{
    return fmax(0, fmin(1, (p[1] - x) / (p[1] - p[0])));
}

static double two_point_tail(const double *p, double x)
{
    return x <= p[0] ? 1 : x <= p[1] * (1 + 1e-12) ? p[2] : 0;
}

static double geometric_tail(const double *p, double x)
{
    return tarry__pow(p[0] / (1 + p[0]), ceil(x - 1e-9));
}

static double exponential_tail(const double *p, double x)
{
    return tarry__exp(-x / p[0]);
}

static double poisson_tail(const double *p, double x)
{
    return tarry__random_gamma_lower(fmax(1, ceil(x - 1e-9)), p[0]);
}

static double pareto_tail(const double *p, double x)
{
    return x <= p[1] ? 1 : tarry__pow(p[1] / x, p[0]);
}

static double lomax_tail(const double *p, double x)
{
    return tarry__exp(-p[0] * tarry__log1p(x / p[1]));
}

static double lognormal_tail(const double *p, double x)
{
    return tarry__random_normal_tail((tarry__ln(x) - tarry__ln(p[0])) / p[1]);
}

static double weibull_tail(const double *p, double x)
{
    return tarry__exp(-tarry__pow(x / p[1], p[0]));
}

static void start_mean(const grouped *g, double *p)
{
    p[0] = fmax(g->mean, 1e-12);
}

static void start_first(const grouped *g, double *p)
{
    p[0] = g->first;
}

static void start_ends(const grouped *g, double *p)
{
    p[0] = g->first;
    p[1] = g->high[g->count - 1];
}

static void start_two_points(const grouped *g, double *p)
{
    p[0] = g->first;
    p[1] = g->last;
    p[2] = g->seen[1] / (g->seen[0] + g->seen[1]);
}

static void start_power(const grouped *g, double *p)
{
    p[0] = 1.5;
    p[1] = fmax(g->mean, 1e-12);
}

static void start_pareto(const grouped *g, double *p)
{
    p[0] = 1.5;
    p[1] = fmax(g->first, 1e-3 * g->mean + 1e-12);
}

static void start_lognormal(const grouped *g, double *p)
{
    p[0] = tarry__exp(g->log_mean);
    p[1] = fmax(g->log_deviation, 0.05);
}

static void start_weibull(const grouped *g, double *p)
{
    p[0] = 1;
    p[1] = fmax(g->mean, 1e-12);
}

static const law laws[] = {
    {"constant", "constant:rounds=%.6g", 1, false, 1, constant_tail,
     start_first, true},
    {"two-point", "two-point:low=%.6g,high=%.6g,p=%.6g", 3, false, 2,
     two_point_tail, start_two_points, true},
    {"uniform", "uniform:low=%.6g,high=%.6g", 2, false, 0, uniform_tail,
     start_ends, true},
    {"geometric", "geometric:mean=%.6g", 1, true, 0, geometric_tail, start_mean,
     false},
    {"exponential", "exponential:mean=%.6g", 1, false, 0, exponential_tail,
     start_mean, false},
    {"poisson", "poisson:mean=%.6g", 1, true, 0, poisson_tail, start_mean,
     false},
    {"pareto", "pareto:shape=%.6g,scale=%.6g", 2, false, 0, pareto_tail,
     start_pareto, false},
    {"lomax", "lomax:shape=%.6g,scale=%.6g", 2, false, 0, lomax_tail,
     start_power, false},
    {"lognormal", "lognormal:median=%.6g,sigma=%.6g", 2, false, 0,
     lognormal_tail, start_lognormal, false},
    {"weibull", "weibull:shape=%.6g,scale=%.6g", 2, false, 0, weibull_tail,
     start_weibull, false},
};
enum { N_LAWS = sizeof laws / sizeof *laws };

/* ---- classes --------------------------------------------------------------*/

/* Means of the delays, of the class's own shape. */
static void measure(grouped *g, const tarry__survival *c)
{
    double n = 0, sum = 0, logs = 0, squares = 0;
    for (size_t i = 0; i < c->n_steps; i++) {
        const double d = (double)c->step[i].events, t = c->step[i].time;
        const double l =
            tarry__ln(fmax(t, 1e-3 * (g->high[g->count - 1] - g->first)));
        n += d;
        sum += d * t;
        logs += d * l;
        squares += d * l * l;
    }
    g->mean = sum / n;
    g->log_mean = logs / n;
    g->log_deviation = sqrt(fmax(0, squares / n - g->log_mean * g->log_mean));
    g->left = c->step[c->n_steps - 1].out;
}

/* A delay t stands for t .. t + width(t). */
static double width(double t, bool whole)
{
    return whole ? 1 : 1e-6 * fmax(t, 1e-300);
}

static void group(grouped *g, const tarry__survival *c, bool whole)
{
    const double share = (double)c->events / CLASSES;
    size_t steps = 0; /* of the class */
    memset(g, 0, sizeof *g);
    for (size_t i = 0; i < c->n_steps; i++) {
        const tarry__survival_step *s = &c->step[i];
        const bool last = i + 1 == c->n_steps;
        if (steps++ == 0)
            g->low[g->count] = s->time;
        g->seen[g->count] += s->events;
        if (!last)
            g->out[g->count] += (double)(s->at_risk - s->events) -
                                (double)c->step[i + 1].at_risk;
        if (!last && (g->seen[g->count] < share || g->count + 1 == CLASSES))
            continue;
        g->high[g->count] = last || steps == 1 ? s->time + width(s->time, whole)
                                               : c->step[i + 1].time;
        g->age[g->count] = (g->low[g->count] + g->high[g->count]) / 2;
        g->count++;
        steps = 0;
    }
    const tarry__survival_step *last = &c->step[c->n_steps - 1];
    g->first = c->step[0].time;
    g->last = last->time;
    g->out[g->count] = last->at_risk - last->events;
    g->age[g->count] = (last->time + c->last) / 2;
    measure(g, c);
}

/* ---- likelihood -----------------------------------------------------------*/

static double tail_at(const law *l, const double *p, double x)
{
    return x > 0 ? l->tail(p, x) : 1;
}

static double log_likelihood(const law *l, const grouped *g, const double *p,
                             double never)
{
    double sum = 0;
    for (size_t k = 0; k <= g->count; k++) {
        if (k < g->count) {
            const double mass =
                tail_at(l, p, g->low[k]) - tail_at(l, p, g->high[k]);
            sum += g->seen[k] * tarry__ln(fmax((1 - never) * mass, tiny));
        }
        if (g->out[k] > 0)
            sum += g->out[k] *
                   tarry__ln(fmax(
                       never + (1 - never) * tail_at(l, p, g->age[k]), tiny));
    }
    return sum;
}

/* The point x of the search: log-odds of never as a share of what the curve
 * leaves, then logarithms. */
typedef struct {
    const law *law;
    const grouped *data;
    double start[3];
} search;

static double never_of(const grouped *g, const double *x)
{
    return g->left / (1 + tarry__exp(-x[0]));
}

static double cost(const search *s, const double *x)
{
    double p[3] = {s->start[0], s->start[1], s->start[2]};
    for (int i = 0; i < s->law->n_parameters && !s->law->fixed;
         i++) /* at most two */
        p[i] = tarry__exp(x[i + 1]);
    const double value =
        -log_likelihood(s->law, s->data, p, never_of(s->data, x));
    return isfinite(value) ? value : 1e300;
}

/* ---- Nelder and Mead ------------------------------------------------------*/

typedef struct {
    double x[MOST_FREE], value;
} corner;

static void sort_corners(corner *c, int count)
{
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0 && c[k].value < c[k - 1].value; k--) {
            const corner other = c[k];
            c[k] = c[k - 1];
            c[k - 1] = other;
        }
}

/* The point at centre + t (worst - centre). */
static corner along(const search *s, const corner *c, int n, double t)
{
    corner out = {.value = 0};
    for (int i = 0; i < n; i++) {
        double centre = 0;
        for (int k = 0; k < n; k++)
            centre += c[k].x[i] / n;
        out.x[i] = centre + t * (c[n].x[i] - centre);
    }
    out.value = cost(s, out.x);
    return out;
}

static void shrink(const search *s, corner *c, int n)
{
    for (int k = 1; k <= n; k++) {
        for (int i = 0; i < n; i++)
            c[k].x[i] = (c[0].x[i] + c[k].x[i]) / 2;
        c[k].value = cost(s, c[k].x);
    }
}

static void step(const search *s, corner *c, int n)
{
    const corner mirrored = along(s, c, n, -1);
    if (mirrored.value < c[0].value) {
        const corner further = along(s, c, n, -2);
        c[n] = further.value < mirrored.value ? further : mirrored;
    } else if (mirrored.value < c[n - 1].value) {
        c[n] = mirrored;
    } else {
        const corner closer =
            along(s, c, n, mirrored.value < c[n].value ? -0.5 : 0.5);
        if (closer.value < fmin(mirrored.value, c[n].value))
            c[n] = closer;
        else
            shrink(s, c, n);
    }
    sort_corners(c, n + 1);
}

static corner minimise(const search *s, const double *x, int n)
{
    corner c[MOST_FREE + 1];
    for (int k = 0; k <= n; k++) {
        memcpy(c[k].x, x, (size_t)n * sizeof *x);
        if (k > 0)
            c[k].x[k - 1] += k == 1 ? 1 : 0.4;
        c[k].value = cost(s, c[k].x);
    }
    sort_corners(c, n + 1);
    for (int i = 0; i < STEPS && c[n].value - c[0].value > 1e-9; i++)
        step(s, c, n);
    return c[0];
}

/* ---- fits -----------------------------------------------------------------*/

/* Whole delays that are uniform end one below where their law does. */
static void describe(const law *l, bool whole, tarry__laws_fit *f)
{
    const double above = whole && l->tail == uniform_tail ? 1 : 0;
    const int used =
        snprintf(f->description, sizeof f->description, l->format,
                 f->parameter[0], f->parameter[1] - above, f->parameter[2]);
    if (f->never > 0 && used > 0)
        snprintf(f->description + used, sizeof f->description - (size_t)used,
                 ",never=%.4g", f->never);
}

static void fit_law(const law *l, const grouped *g, bool whole,
                    tarry__laws_fit *f)
{
    search s = {l, g, {1, 1, 1}};
    l->start(g, s.start);
    const double x[MOST_FREE] = {nearly_all, tarry__ln(s.start[0]),
                                 tarry__ln(s.start[1])};
    const int n = l->fixed ? 1 : 1 + l->n_parameters;
    const corner best = minimise(&s, x, n);
    *f = (tarry__laws_fit){.name = l->name,
                           .aic = 2 * (1 + l->n_parameters) + 2 * best.value};
    for (int i = 0; i < 3; i++)
        f->parameter[i] = l->fixed || i >= l->n_parameters
                              ? s.start[i]
                              : tarry__exp(best.x[i + 1]);
    f->never = never_of(g, best.x);
    if (f->never < 1e-4)
        f->never = 0;
    describe(l, whole, f);
}

static void rank(tarry__laws *all)
{
    double sum = 0;
    for (size_t i = 1; i < all->count; i++)
        for (size_t k = i; k > 0 && all->fit[k].aic < all->fit[k - 1].aic;
             k--) {
            const tarry__laws_fit other = all->fit[k];
            all->fit[k] = all->fit[k - 1];
            all->fit[k - 1] = other;
        }
    for (size_t i = 0; i < all->count; i++)
        sum += tarry__exp((all->fit[0].aic - all->fit[i].aic) / 2);
    for (size_t i = 0; i < all->count; i++)
        all->fit[i].weight =
            tarry__exp((all->fit[0].aic - all->fit[i].aic) / 2) / sum;
}

bool tarry__laws_rank(const tarry__survival *curve, bool whole,
                      tarry__laws *all)
{
    memset(all, 0, sizeof *all);
    if (curve->n_steps == 0)
        return true;
    grouped *g = tarry__base_alloc(1, sizeof *g);
    if (g == NULL)
        return false;
    group(g, curve, whole);
    for (size_t i = 0; i < N_LAWS; i++) {
        const law *l = &laws[i];
        if ((l->only_whole && !whole) ||
            (l->points > 0 && (size_t)l->points != curve->n_steps))
            continue;
        fit_law(l, g, whole, &all->fit[all->count++]);
    }
    rank(all);
    tarry__base_free(g);
    return true;
}

static const law *law_of(const tarry__laws_fit *f)
{
    const law *l = laws;
    while (strcmp(l->name, f->name) != 0)
        l++;
    return l;
}

double tarry__laws_tail(const tarry__laws_fit *f, double t)
{
    return f->never + (1 - f->never) * tail_at(law_of(f), f->parameter, t);
}

double tarry__laws_until(const tarry__laws_fit *f, double share)
{
    double low = 0, high = 1;
    if (!(f->never < share))
        return INFINITY;
    while (tarry__laws_tail(f, high) > share && high < 1e18)
        high *= 2;
    for (int i = 0; i < 200; i++) {
        const double middle = (low + high) / 2;
        if (tarry__laws_tail(f, middle) > share)
            low = middle;
        else
            high = middle;
    }
    return high;
}
