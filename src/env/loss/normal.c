/* normal.c - the mean plus normal noise, cut so that losses stay in [low, 1].
 *
 * The noise of an arm of mean mu is a normal of standard deviation sd given
 * that it lies in [-c, c], c = min(mu - low, 1 - mu): symmetric, so the mean
 * stays mu, and of a variance below sd^2.  Drawn by inversion between the
 * probabilities edge = P(Z < -c / sd) and 1 - edge. */
#include "env/loss.h"

#include <math.h>
#include "base/base.h"
#include "random/special.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("sd", "0.5", 1e-3, 100,
                     "standard deviation before the cut, from 1e-3"),
    TARRY__LOSS_LOW_SETTING,
    TARRY__SPEC_END,
};

static tarry_status init(tarry__loss *loss, const tarry__spec *spec,
                         tarry_error *error)
{
    const tarry_status status =
        tarry__spec_real(spec, "sd", &loss->width, error);
    if (status != TARRY_OK)
        return status;
    loss->edge = tarry__base_alloc(loss->n_arms, sizeof *loss->edge);
    if (loss->edge == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    for (size_t k = 0; k < loss->n_arms; k++)
        loss->edge[k] =
            tarry__random_normal_tail(tarry__loss_reach(loss, k) / loss->width);
    return TARRY_OK;
}

static double draw(const tarry__loss *loss, size_t arm, double u)
{
    const double edge = loss->edge[arm], c = tarry__loss_reach(loss, arm);
    const double z = tarry__random_normal_quantile(edge + u * (1 - 2 * edge));
    const double noise = fmax(-c, fmin(c, loss->width * z));
    return fmax(loss->low, fmin(1, loss->mean[arm] + noise));
}

static double cdf(const tarry__loss *loss, size_t arm, double x, bool inclusive)
{
    const double noise = x - loss->mean[arm], c = tarry__loss_reach(loss, arm);
    const double edge = loss->edge[arm];
    if (c == 0)
        return inclusive ? noise >= 0 : noise > 0;
    if (fabs(noise) >= c)
        return noise > 0;
    return (tarry__random_normal_tail(-noise / loss->width) - edge) /
           (1 - 2 * edge);
}

static void range(const tarry__loss *loss, size_t arm, double *low,
                  double *high)
{
    *low = loss->mean[arm] - tarry__loss_reach(loss, arm);
    *high = loss->mean[arm] + tarry__loss_reach(loss, arm);
}

const tarry__loss_type tarry__loss_normal = {
    .entry = {"normal", "the mean plus normal noise, cut to stay in range",
              settings},
    .init = init,
    .draw = draw,
    .cdf = cdf,
    .range = range};
