/* uniform.c - the mean plus noise uniform on [-width, width]. */
#include "env/loss.h"

#include <math.h>
#include <string.h>

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("width", "fit", 0, 1,
                     "half-width of the noise; fit: as wide as all arms allow"),
    TARRY__LOSS_LOW_SETTING,
    TARRY__SPEC_END,
};

/* 0 when a mean is out of range, which the common check will then refuse. */
static double widest(const tarry__loss *loss)
{
    double width = 1;
    for (size_t k = 0; k < loss->n_arms; k++)
        width = fmin(width, tarry__loss_reach(loss, k));
    return width;
}

static tarry_status init(tarry__loss *loss, const tarry__spec *spec,
                         tarry_error *error)
{
    loss->width = widest(loss);
    if (strcmp(tarry__spec_text(spec, "width"), "fit") == 0)
        return TARRY_OK;
    return tarry__spec_real(spec, "width", &loss->width, error);
}

static double draw(const tarry__loss *loss, size_t arm, double u)
{
    const double l = loss->mean[arm] + loss->width * (2 * u - 1);
    return fmax(loss->low, fmin(1, l));
}

static double cdf(const tarry__loss *loss, size_t arm, double x, bool inclusive)
{
    const double above = x - (loss->mean[arm] - loss->width);
    if (above <= 0)
        return above == 0 && inclusive && loss->width == 0;
    return fmin(1, above / (2 * loss->width));
}

static void range(const tarry__loss *loss, size_t arm, double *low,
                  double *high)
{
    *low = loss->mean[arm] - loss->width;
    *high = loss->mean[arm] + loss->width;
}

const tarry__loss_type tarry__loss_uniform = {
    .entry = {"uniform", "the mean plus uniform noise", settings},
    .init = init,
    .draw = draw,
    .cdf = cdf,
    .range = range};
