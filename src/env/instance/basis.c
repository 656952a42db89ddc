/* basis.c - the standard basis: a multi-armed bandit without features.
 *
 * One arm, drawn uniformly, has mean `best`.  The others have mean best + gap
 * (means=equal), means uniform between the two (means=uniform), or one after
 * the other best + gap, best + gap/2, best + gap/4, ... (means=geometric). */
#include "env/instance.h"

#include <math.h>
#include <string.h>
#include "base/base.h"

static const tarry__spec_setting settings[] = {
    {"arms", "10", "number of arms, and of dimensions"},
    {"best", "-0.25", "mean of the best arm"},
    {"gap", "0.5", "how far the others lie above it (at most)"},
    {"means", "uniform",
     "of the others: uniform from best to best + gap,\n"
     "equal to best + gap, or geometric: best + gap / 2^j"},
    TARRY__INSTANCE_FIXED_SETTING,
    {NULL, NULL, NULL},
};

typedef enum { UNIFORM, EQUAL, GEOMETRIC } kind;

static tarry_status read_means(const tarry__spec *spec, kind *means,
                               tarry_error *error)
{
    static const char *const names[] = {"uniform", "equal", "geometric"};
    const char *name = tarry__spec_text(spec, "means");
    for (int i = UNIFORM; i <= GEOMETRIC; i++)
        if (strcmp(name, names[i]) == 0) {
            *means = (kind)i;
            return TARRY_OK;
        }
    return tarry__base_fail(
        error, TARRY_BAD_INPUT,
        "basis: means must be uniform, equal or geometric: '%s'", name);
}

/* How much of the gap an arm has that comes `place` arms after the best. */
static double share_of(kind means, const tarry_random *at, size_t place)
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
    kind means = UNIFORM;
    tarry_status status;
    if ((status = tarry__instance_size(spec, "arms", 1, 20000, &n, error)) ||
        (status = tarry__spec_real(spec, "best", -1, 1, &best, error)) ||
        (status = tarry__spec_real(spec, "gap", 0, 2, &gap, error)) ||
        (status = read_means(spec, &means, error)) ||
        (status = tarry__instance_place_fix(spec, &place, error)) ||
        (status = tarry__instance_room(out, n, n, error)))
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
