/* misspecified.c - a sphere whose means are not linear: to the mean of each arm
 * an error is added, uniform in [-error, error]; theta has length 1 - error. */
#include "env/instance.h"

#include "base/base.h"
#include "base/spec.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_COUNT("dim", "10", 1, TARRY__INSTANCE_MOST_DIM, "dimension n"),
    TARRY__SPEC_COUNT("arms", "100", 1, TARRY__INSTANCE_MOST_ARMS,
                      "number of arms K"),
    TARRY__SPEC_REAL("error", "0.3", 0, 1, "largest error of a mean"),
    TARRY__INSTANCE_FIXED_SETTING,
    TARRY__SPEC_END,
};

static tarry_status make(const tarry__spec *spec, tarry__instance_place place,
                         tarry__instance *out, tarry_error *error)
{
    size_t dim, n_arms;
    double most;
    tarry_status status;
    if ((status = tarry__instance_size(spec, "dim", &dim, error)) ||
        (status = tarry__instance_size(spec, "arms", &n_arms, error)) ||
        (status = tarry__spec_real(spec, "error", &most, error)) ||
        (status = tarry__instance_place_fix(spec, &place, error)) ||
        (status = tarry__instance_reserve(out, n_arms, dim, error)))
        return status;
    tarry_random at = {
        .seed = place.seed, .run = place.run, .stream = TARRY__ENV_STREAM_ARMS};
    out->error = tarry__base_alloc(n_arms, sizeof *out->error);
    if (out->error == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    for (size_t k = 0; k < n_arms; k++)
        tarry__instance_unit_vector(at, k, dim, out->arms + k * dim);
    tarry__instance_sphere_theta(place, 1 - most, out);
    at.stream = TARRY__ENV_STREAM_ERROR;
    for (size_t k = 0; k < n_arms; k++) {
        at.round = k;
        out->error[k] = most * (2 * tarry_random_uniform(&at) - 1);
    }
    return TARRY_OK;
}

const tarry__instance_type tarry__instance_misspecified = {
    {"misspecified", "as sphere, with means that are not linear", settings},
    make};
