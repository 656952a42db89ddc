/* poisson.c - inversion for small means, transformed rejection for large.
 *
 * Below mean 10 the cdf is summed until it passes one uniform, about mean + 1
 * steps.  From 10 on, algorithm PTRS of W. Hormann, "The transformed rejection
 * method for generating Poisson random variables", Insurance: Mathematics and
 * Economics 12 (1993) 39-45: one block (U, V) per attempt, 1.33 attempts per
 * draw at mean 10, falling to 1.12.  The letters and constants are that
 * paper's, with mu the mean.  At mu = 1e9 the log of the pmf is good to 1e-5,
 * far below what any sample shows; this sets the largest mean. */
#include "base/elementary.h"
#include "random/philox.h"

#include <math.h>

static const double rejection_from = 10, largest_mean = 1e9;

/* Ends also when terms no longer move the sum: rounding can leave it below
 * the largest uniforms for ever. */
static uint64_t by_inversion(double u, double mu)
{
    double pmf = tarry__exp(-mu), cdf = pmf, before = 0;
    uint64_t k = 0;
    while (u > cdf && cdf > before) {
        k++;
        pmf *= mu / (double)k;
        before = cdf;
        cdf += pmf;
    }
    return k;
}

static double log_pmf(double k, double mu)
{
    return k * tarry__ln(mu) - mu - tarry__lgamma(k + 1);
}

static uint64_t by_rejection(tarry_random at, double mu)
{
    const double b = 0.931 + 2.53 * sqrt(mu);
    const double a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    const double v_r = 0.9277 - 3.6224 / (b - 2);
    for (;; at.attempt++) {
        const philox4x32_ctr_t block = tarry__random_block(&at);
        const double U = tarry__random_unit(block, 0) - 0.5;
        const double V = tarry__random_unit(block, 1);
        const double us = 0.5 - fabs(U);
        const double k = floor((2 * a / us + b) * U + mu + 0.43);
        if (us >= 0.07 && V <= v_r)
            return (uint64_t)k; /* inside the squeeze, where k >= 0 */
        if (k < 0 || (us < 0.013 && V > us))
            continue;
        if (tarry__ln(V * inverse_alpha / (a / (us * us) + b)) <=
            log_pmf(k, mu))
            return (uint64_t)k;
    }
}

uint64_t tarry_random_poisson(const tarry_random *at, double mean)
{
    if (at == NULL || !(mean >= 0 && mean <= largest_mean))
        return UINT64_MAX;
    if (mean < rejection_from)
        return by_inversion(tarry__random_uniform(at), mean);
    return by_rejection(*at, mean);
}
