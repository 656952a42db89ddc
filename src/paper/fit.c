/* fit.c - least squares, intervals and verdicts. */
#include "paper/fit.h"

#include <math.h>
#include <stdbool.h>
#include "sim/experiment.h"

const char *const tarry__verdict_names[] = {"supported", "unresolved",
                                            "contradicted"};

/* Both errors of the slope: by the residuals, and by the points' intervals. */
static double slope_ci(const tarry__sweep *s, const tarry__power *p,
                       double middle, double spread)
{
    double residuals = 0, own = 0;
    for (size_t i = 0; i < s->n; i++) {
        const tarry__point *at = &s->point[i];
        if (!(at->mean > 0))
            continue;
        const double x = log(at->x), w = (x - middle) / spread;
        const double r =
            log(at->mean) - log(p->scale) - p->exponent * x;
        residuals += r * r;
        own += w * w * (at->ci95 / at->mean) * (at->ci95 / at->mean);
    }
    const size_t freedom = p->used - 2;
    return fmax(tarry__student(freedom) *
                    sqrt(residuals / (double)freedom / spread),
                sqrt(own));
}

tarry__power tarry__fit_power(const tarry__sweep *s)
{
    tarry__power p = {0};
    double sum_x = 0, sum_y = 0, spread = 0, product = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->point[i].mean > 0) {
            p.used++;
            sum_x += log(s->point[i].x);
            sum_y += log(s->point[i].mean);
        }
    if (p.used < 3)
        return p;
    const double middle = sum_x / (double)p.used;
    for (size_t i = 0; i < s->n; i++)
        if (s->point[i].mean > 0) {
            const double dx = log(s->point[i].x) - middle;
            spread += dx * dx;
            product += dx * log(s->point[i].mean);
        }
    p.exponent = product / spread;
    p.scale = exp(sum_y / (double)p.used - p.exponent * middle);
    p.ci95 = slope_ci(s, &p, middle, spread);
    return p;
}

static tarry__verdict one_sided(double worst, double best, double limit)
{
    return worst <= limit  ? TARRY__SUPPORTED
           : best <= limit ? TARRY__UNRESOLVED
                           : TARRY__CONTRADICTED;
}

tarry__verdict tarry__judge(double measured, double ci95, double theory,
                            tarry__relation relation, double margin)
{
    const double low = measured - ci95, high = measured + ci95;
    if (!isfinite(measured) || !isfinite(ci95))
        return TARRY__UNRESOLVED;
    const tarry__verdict below = one_sided(high, low, theory + margin);
    const tarry__verdict above = one_sided(-low, -high, margin - theory);
    switch (relation) {
    case TARRY__AT_MOST:
        return below;
    case TARRY__AT_LEAST:
        return above;
    case TARRY__EQUALS:
        return below > above ? below : above;
    default:
        return TARRY__SUPPORTED;
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
        sum += exp(lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1) +
                   j * log(p) + (n - j) * log1p(-p));
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

void tarry__probability_interval(uint64_t hits, uint64_t runs, double *low,
                                 double *high)
{
    *low = hits == 0 ? 0 : probability_at(hits - 1, runs, 0.975);
    *high = hits == runs ? 1 : probability_at(hits, runs, 0.025);
}
