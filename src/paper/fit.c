/* fit.c - least squares, intervals and verdicts. */
#include "paper/fit.h"

#include <math.h>
#include <stdbool.h>
#include "base/elementary.h"
#include "lab/experiment.h"

const char *const tarry__fit_verdict_names[] = {"supported", "unresolved",
                                                "contradicted"};

tarry__fit_point tarry__fit_point_of(double x, const double *values,
                                     size_t count)
{
    const tarry__experiment_summary s =
        tarry__experiment_summarise(values, count);
    tarry__fit_point p = {.x = x, .mean = s.mean, .ci95 = s.ci95};
    p.n_blocks = count < TARRY__FIT_BLOCKS ? count : TARRY__FIT_BLOCKS;
    for (size_t b = 0; b < p.n_blocks; b++) {
        const size_t from = b * count / p.n_blocks;
        const size_t to = (b + 1) * count / p.n_blocks;
        p.block[b] = tarry__experiment_summarise(values + from, to - from).mean;
    }
    return p;
}

tarry__fit_point tarry__fit_point_over(tarry__fit_point p, double divisor)
{
    p.mean /= divisor;
    p.ci95 /= divisor;
    for (size_t b = 0; b < p.n_blocks; b++)
        p.block[b] /= divisor;
    return p;
}

/* ---- power laws -----------------------------------------------------------*/

/* The slopes of the blocks; false if there are none. */
static bool block_slopes(const tarry__fit_series *s, double middle,
                         double spread, double *slopes)
{
    const size_t n_blocks = s->point[0].n_blocks;
    if (n_blocks < 3)
        return false;
    for (size_t b = 0; b < n_blocks; b++) {
        slopes[b] = 0;
        for (size_t i = 0; i < s->n; i++) {
            const tarry__fit_point *p = &s->point[i];
            if (p->n_blocks != n_blocks || !(p->block[b] > 0))
                return false;
            slopes[b] +=
                (tarry__ln(p->x) - middle) / spread * tarry__ln(p->block[b]);
        }
    }
    return true;
}

/* By the spread of the runs. */
static double error_of_runs(const tarry__fit_series *s, double middle,
                            double spread)
{
    double slopes[TARRY__FIT_BLOCKS], own = 0;
    if (block_slopes(s, middle, spread, slopes))
        return tarry__experiment_summarise(slopes, s->point[0].n_blocks).ci95;
    for (size_t i = 0; i < s->n; i++) {
        const tarry__fit_point *p = &s->point[i];
        const double w = (tarry__ln(p->x) - middle) / spread;
        if (p->mean > 0)
            own += w * w * (p->ci95 / p->mean) * (p->ci95 / p->mean);
    }
    return sqrt(own);
}

/* By what the law leaves unexplained. */
static double error_of_residuals(const tarry__fit_series *s,
                                 const tarry__fit_law *p, double spread)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!(s->point[i].mean > 0))
            continue;
        const double r = tarry__ln(s->point[i].mean) - tarry__ln(p->scale) -
                         p->exponent * tarry__ln(s->point[i].x);
        sum += r * r;
    }
    const size_t freedom = p->used - 2;
    return tarry__experiment_student(freedom) *
           sqrt(sum / (double)freedom / spread);
}

tarry__fit_law tarry__fit_power(const tarry__fit_series *s)
{
    tarry__fit_law p = {0};
    double sum_x = 0, sum_y = 0, spread = 0, product = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->point[i].mean > 0) {
            p.used++;
            sum_x += tarry__ln(s->point[i].x);
            sum_y += tarry__ln(s->point[i].mean);
        }
    if (p.used < 3)
        return p;
    const double middle = sum_x / (double)p.used;
    for (size_t i = 0; i < s->n; i++)
        if (s->point[i].mean > 0) {
            const double dx = tarry__ln(s->point[i].x) - middle;
            spread += dx * dx;
            product += dx * tarry__ln(s->point[i].mean);
        }
    p.exponent = product / spread;
    if (fabs(p.exponent) < 1e-12) /* rounding */
        p.exponent = 0;
    p.scale = tarry__exp(sum_y / (double)p.used - p.exponent * middle);
    p.ci95 = fmax(error_of_runs(s, middle, spread),
                  error_of_residuals(s, &p, spread));
    return p;
}

static tarry__fit_verdict one_sided(double worst, double best, double limit)
{
    return worst <= limit  ? TARRY__FIT_SUPPORTED
           : best <= limit ? TARRY__FIT_UNRESOLVED
                           : TARRY__FIT_CONTRADICTED;
}

tarry__fit_verdict tarry__fit_judge(double measured, double ci95, double theory,
                                    tarry__fit_relation relation, double margin)
{
    const double low = measured - ci95, high = measured + ci95;
    if (!isfinite(measured) || !isfinite(ci95))
        return TARRY__FIT_UNRESOLVED;
    const tarry__fit_verdict below = one_sided(high, low, theory + margin);
    const tarry__fit_verdict above = one_sided(-low, -high, margin - theory);
    switch (relation) {
    case TARRY__FIT_AT_MOST:
        return below;
    case TARRY__FIT_AT_LEAST:
        return above;
    case TARRY__FIT_EQUALS:
        return below > above ? below : above;
    default:
        return TARRY__FIT_SUPPORTED;
    }
}

/* ---- probabilities --------------------------------------------------------*/

/* P(at most `hits` of `runs`) if each has probability p. */
static double at_most(uint64_t hits, uint64_t runs, double p)
{
    const double n = (double)runs;
    double sum = 0;
    for (uint64_t k = 0; k <= hits; k++) {
        const double j = (double)k;
        sum += tarry__exp(tarry__lgamma(n + 1) - tarry__lgamma(j + 1) -
                          tarry__lgamma(n - j + 1) + j * tarry__ln(p) +
                          (n - j) * tarry__log1p(-p));
    }
    return fmin(sum, 1);
}

/* The p at which P(at most `hits`), which falls with p, is `level`. */
static double probability_at(uint64_t hits, uint64_t runs, double level)
{
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        const double p = (low + high) / 2;
        if (at_most(hits, runs, p) > level)
            low = p;
        else
            high = p;
    }
    return high;
}

void tarry__fit_probability_interval(uint64_t hits, uint64_t runs, double *low,
                                     double *high)
{
    *low = hits == 0 ? 0 : probability_at(hits - 1, runs, 0.975);
    *high = hits == runs ? 1 : probability_at(hits, runs, 0.025);
}
