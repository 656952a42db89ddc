/* mixture.c - a far value now and then, else noise about another mean: sure
 * arms beside rare successes, prices, time-outs, jackpots.
 *
 * The loss of arm k is far(k) with probability p(k), else uniform within
 * width(k) of the value that gives the arm its mean.  Lists shorter than the
 * arms begin again. */
#include <math.h>
#include "base/base.h"
#include "base/spec.h"
#include "env/loss.h"

enum { MOST = 256, PARTS = 3 };

static const tarry_setting settings[] = {
    TARRY__SPEC_TEXT("far", "1", "far values, separated by /"),
    TARRY__SPEC_TEXT("p", "0.03", "their probabilities"),
    TARRY__SPEC_TEXT("width", "0.05", "half-widths of the noise else"),
    TARRY__SPEC_END,
};

static tarry_status init(tarry__loss *loss, const tarry__spec *spec,
                         tarry_error *error)
{
    static const char *const keys[PARTS] = {"far", "p", "width"};
    double list[MOST];
    loss->part = tarry__base_alloc(PARTS * loss->n_arms, sizeof *loss->part);
    if (loss->part == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < PARTS; i++) {
        size_t count;
        const tarry_status status =
            tarry__env_numbers(spec, keys[i], list, MOST, &count, error);
        if (status != TARRY_OK)
            return status;
        for (size_t k = 0; count > 0 && k < loss->n_arms; k++)
            loss->part[k * PARTS + i] = list[k % count];
        for (size_t k = 0; i == 1 && k < count; k++)
            if (!(list[k] >= 0 && list[k] < 1))
                return tarry__base_fail(error, TARRY_BAD_INPUT,
                                        "mixture: p is not in [0, 1): %g",
                                        list[k]);
    }
    return TARRY_OK;
}

typedef struct {
    double far, p, width, near;
} parts;

static parts parts_of(const tarry__loss *loss, size_t arm)
{
    const double *x = loss->part + arm * PARTS;
    return (parts){x[0], x[1], x[2],
                   (loss->mean[arm] - x[1] * x[0]) / (1 - x[1])};
}

static double draw(const tarry__loss *loss, size_t arm, double u)
{
    const parts a = parts_of(loss, arm);
    if (u < a.p)
        return a.far;
    const double x = a.near + a.width * (2 * (u - a.p) / (1 - a.p) - 1);
    return fmax(-1, fmin(1, x));
}

static double cdf(const tarry__loss *loss, size_t arm, double x, bool inclusive)
{
    const parts a = parts_of(loss, arm);
    const double above = x - (a.near - a.width);
    double near = a.width > 0 ? above / (2 * a.width)
                  : inclusive ? above >= 0
                              : above > 0;
    near = fmax(0, fmin(1, near));
    return (1 - a.p) * near +
           (a.far < x || (inclusive && a.far == x) ? a.p : 0);
}

static void range(const tarry__loss *loss, size_t arm, double *low,
                  double *high)
{
    const parts a = parts_of(loss, arm);
    *low = a.near - a.width;
    *high = a.near + a.width;
    if (a.p > 0) {
        *low = fmin(*low, a.far);
        *high = fmax(*high, a.far);
    }
}

const tarry__loss_type tarry__loss_mixture = {
    .entry = {"mixture", "a far value now and then, else some noise", settings},
    .init = init,
    .draw = draw,
    .cdf = cdf,
    .range = range};
