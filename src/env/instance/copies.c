/* copies.c - a sphere in which each arm stands several times, side by side. */
#include "env/instance.h"

#include <string.h>
#include "base/spec.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_COUNT("dim", "10", 1, TARRY__INSTANCE_MOST_DIM, "dimension n"),
    TARRY__SPEC_COUNT("arms", "20", 1, 1000000, "number of different arms"),
    TARRY__SPEC_COUNT("copies", "5", 1, 1000, "how often each stands there"),
    TARRY__INSTANCE_FIXED_SETTING,
    TARRY__SPEC_END,
};

static tarry_status make(const tarry__spec *spec, tarry__instance_place place,
                         tarry__instance *out, tarry_error *error)
{
    size_t dim, n_arms, copies;
    tarry_status status;
    if ((status = tarry__instance_size(spec, "dim", &dim, error)) ||
        (status = tarry__instance_size(spec, "arms", &n_arms, error)) ||
        (status = tarry__instance_size(spec, "copies", &copies, error)) ||
        (status = tarry__instance_place_fix(spec, &place, error)) ||
        (status = tarry__instance_reserve(out, n_arms * copies, dim, error)))
        return status;
    const tarry_random at = {
        .seed = place.seed, .run = place.run, .stream = TARRY__ENV_STREAM_ARMS};
    for (size_t k = 0; k < out->n_arms; k++)
        tarry__instance_unit_vector(at, k / copies, dim, out->arms + k * dim);
    tarry__instance_sphere_theta(place, 1, out);
    return TARRY_OK;
}

const tarry__instance_type tarry__instance_copies = {
    {"copies", "as sphere, each arm several times", settings}, make};
