/* two_valued.c - losses with two values, or one: +/-1, {0, 1}, the mean.
 *
 * The higher value has the probability that gives the mean. */
#include "env/loss.h"

#include <math.h>
#include "base/base.h"

static const tarry_setting none[] = {TARRY__SPEC_END};

/* P(l <= x) or P(l < x) when l is `low` or, with probability p, `high`. */
static double two_point_cdf(double low, double high, double p, double x,
                            bool inclusive)
{
    if (inclusive ? x >= high : x > high)
        return 1;
    return (inclusive ? x >= low : x > low) ? 1 - p : 0;
}

/* ---- rademacher ----------------------------------------------------------*/

static double draw_sign(const tarry__loss *loss, size_t arm, double u)
{
    return u < (1 + loss->mean[arm]) / 2 ? 1 : -1;
}

static double sign_cdf(const tarry__loss *loss, size_t arm, double x,
                       bool inclusive)
{
    return two_point_cdf(-1, 1, (1 + loss->mean[arm]) / 2, x, inclusive);
}

/* The values are the ends of the range, or past them when the mean is. */
static void sign_range(const tarry__loss *loss, size_t arm, double *low,
                       double *high)
{
    *low = fmin(-1, loss->mean[arm]);
    *high = fmax(1, loss->mean[arm]);
}

const tarry__loss_type tarry__loss_rademacher = {
    .entry = {"rademacher", "+1 or -1: as much noise as [-1, 1] allows", none},
    .two_valued = true,
    .lower = -1,
    .draw = draw_sign,
    .cdf = sign_cdf,
    .range = sign_range};

/* ---- bernoulli -----------------------------------------------------------*/

static tarry_status check_means(tarry__loss *loss, const tarry__spec *spec,
                                tarry_error *error)
{
    (void)spec;
    for (size_t k = 0; k < loss->n_arms; k++)
        if (!(loss->mean[k] >= 0 && loss->mean[k] <= 1))
            return tarry__base_fail(
                error, TARRY_BAD_ARGUMENT,
                "bernoulli: arm %zu has mean %g, outside [0, 1]", k,
                loss->mean[k]);
    return TARRY_OK;
}

static double draw_coin(const tarry__loss *loss, size_t arm, double u)
{
    return u < loss->mean[arm] ? 1 : 0;
}

static double coin_cdf(const tarry__loss *loss, size_t arm, double x,
                       bool inclusive)
{
    return two_point_cdf(0, 1, loss->mean[arm], x, inclusive);
}

static void coin_range(const tarry__loss *loss, size_t arm, double *low,
                       double *high)
{
    (void)loss;
    (void)arm;
    *low = 0;
    *high = 1;
}

const tarry__loss_type tarry__loss_bernoulli = {
    .entry = {"bernoulli", "1 or 0; means must lie in [0, 1]", none},
    .two_valued = true,
    .lower = 0,
    .init = check_means,
    .draw = draw_coin,
    .cdf = coin_cdf,
    .range = coin_range};

/* ---- none ----------------------------------------------------------------*/

static double draw_mean(const tarry__loss *loss, size_t arm, double u)
{
    (void)u;
    return fmax(-1, fmin(1, loss->mean[arm]));
}

static double mean_cdf(const tarry__loss *loss, size_t arm, double x,
                       bool inclusive)
{
    return two_point_cdf(loss->mean[arm], loss->mean[arm], 0, x, inclusive);
}

static void mean_range(const tarry__loss *loss, size_t arm, double *low,
                       double *high)
{
    *low = *high = loss->mean[arm];
}

const tarry__loss_type tarry__loss_none = {
    .entry = {"none", "no noise: the mean itself", none},
    .draw = draw_mean,
    .cdf = mean_cdf,
    .range = mean_range};
