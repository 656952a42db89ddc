/* basis.c - the standard basis: a multi-armed bandit without features.
 *
 * One arm, drawn uniformly, has mean `best`.  The others have mean best + gap
 * (means=equal), means uniform between the two (means=uniform), or one after
 * the other best + gap, best + gap/2, best + gap/4, ... (means=geometric). */
#include "env/instance.h"

#include <math.h>
#include <string.h>
#include "base/base.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_COUNT("arms", "10", 1, 20000,
                      "number of arms, and of dimensions"),
    TARRY__SPEC_REAL("best", "-0.25", -1, 1, "mean of the best arm"),
    TARRY__SPEC_REAL("gap", "0.5", 0, 2,
                     "how far the others lie above it (at most)"),
    TARRY__SPEC_CHOICE("means", "uniform", "uniform|equal|geometric",
                       "of the others: uniform from best to best + gap,\n"
                       "equal to best + gap, or geometric: best + gap / 2^j"),
    TARRY__INSTANCE_FIXED_SETTING,
    TARRY__SPEC_END,
};

typedef enum { UNIFORM, EQUAL, GEOMETRIC } kind;

/* How much of the gap an arm has that comes `place` arms after the best. */
static double share_of(unsigned means, const tarry_random *at, size_t place)
{
    switch (means) {
    case EQUAL:
        return 1;
    case GEOMETRIC:
        return ldexp(1, -(int)(place - 1));
    default:
        return tarry_random_uniform(at);
    }
}

static tarry_status make(const tarry__spec *spec, tarry__instance_place place,
                         tarry__instance *out, tarry_error *error)
{
    size_t n;
    double best, gap;
    unsigned means;
    tarry_status status;
    if ((status = tarry__instance_size(spec, "arms", &n, error)) ||
        (status = tarry__spec_real(spec, "best", &best, error)) ||
        (status = tarry__spec_real(spec, "gap", &gap, error)) ||
        (status = tarry__spec_choice(spec, "means", &means, error)) ||
        (status = tarry__instance_place_fix(spec, &place, error)) ||
        (status = tarry__instance_reserve(out, n, n, error)))
        return status;
    const size_t chosen = tarry__instance_drawn_arm(place, n);
    tarry_random at = {.seed = place.seed,
                       .run = place.run,
                       .stream = TARRY__ENV_STREAM_THETA};
    for (size_t k = 0; k < n; k++) {
        at.round = k;
        const double share = share_of(means, &at, (k + n - chosen) % n);
        out->arms[k * n + k] = 1;
        out->theta[k] = k == chosen ? best : best + gap * share;
    }
    return TARRY_OK;
}

const tarry__instance_type tarry__instance_basis = {
    {"basis", "the standard basis: a plain multi-armed bandit", settings},
    make};
