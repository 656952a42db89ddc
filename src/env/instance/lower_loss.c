/* lower_loss.c - the hard instance of the loss-dependent lower bound.
 *
 * Theorem lowerBoundGeneral: q = sqrt(8 log(dbar n) / n), which must be at
 * most 1/2, so n >= 32 log(dbar n); K = ceil(2 dbar / q) nearly orthogonal
 * arms; theta = -a_i* with i* uniform.  Then arm i* loses -1 and every other
 * mean lies in [-q, q].  The arms are those of run 0 in every run, as the
 * theorem fixes them and draws i* alone.  The delays are `theorem`'s. */
#include "env/instance.h"

#include <math.h>
#include "base/base.h"
#include "base/elementary.h"

enum { MOST_HARD_ARMS = 100000 };

static const tarry_setting settings[] = {
    TARRY__SPEC_COUNT("dim", "320", 1, TARRY__INSTANCE_MOST_DIM,
                      "dimension n, at least 32 log(dbar n)"),
    TARRY__SPEC_REAL("dbar", "50", 1, 1e9,
                     "mean delay of every arm but the best"),
    TARRY__INSTANCE_FIXED_SETTING,
    TARRY__SPEC_END,
};

static tarry_status make(const tarry__spec *spec, tarry__instance_place place,
                         tarry__instance *out, tarry_error *error)
{
    const tarry__instance_place arms_place = {.seed = place.seed, .run = 0};
    size_t dim;
    double dbar;
    tarry_status status;
    if ((status = tarry__instance_size(spec, "dim", &dim, error)) ||
        (status = tarry__spec_real(spec, "dbar", &dbar, error)) ||
        (status = tarry__instance_place_fix(spec, &place, error)))
        return status;
    const double n = (double)dim, needed = 32 * tarry__ln(dbar * n);
    if (n < needed)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "lower-loss: dim >= 32 log(dbar dim) = %.1f is "
                                "needed for dbar=%g: '%zu'",
                                needed, dbar, dim);
    const double q = sqrt(8 * tarry__ln(dbar * n) / n), K = ceil(2 * dbar / q);
    if (K > MOST_HARD_ARMS)
        return tarry__base_fail(
            error, TARRY_BAD_INPUT,
            "lower-loss: dbar=%g asks for %g arms, more than %d", dbar, K,
            MOST_HARD_ARMS);
    if ((status = tarry__instance_reserve(out, (size_t)K, dim, error)) ||
        (status = tarry__instance_nearly_orthogonal(
             out, arms_place,
             tarry__instance_orthogonal_promise((size_t)K, dim), error)))
        return status;
    const double *chosen =
        out->arms + tarry__instance_drawn_arm(place, (size_t)K) * dim;
    for (size_t i = 0; i < dim; i++)
        out->theta[i] = -chosen[i];
    out->q = q;
    out->dbar = dbar;
    return TARRY_OK;
}

const tarry__instance_type tarry__instance_lower_loss = {
    {"lower-loss",
     "hard for loss-dependent delays (lower bound); use the\n"
     "delay `theorem`",
     settings},
    make};
