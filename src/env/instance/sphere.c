/* sphere.c - arms uniform on the unit sphere, and theta too, times `scale`; or
 * on the part of it without negative coordinates, where means are not negative
 * either, as losses in [0, 1] need. */
#include "env/instance.h"

#include <math.h>

static const tarry_setting settings[] = {
    TARRY__SPEC_COUNT("dim", "10", 1, TARRY__INSTANCE_MOST_DIM, "dimension n"),
    TARRY__SPEC_COUNT("arms", "100", 1, TARRY__INSTANCE_MOST_ARMS,
                      "number of arms K"),
    TARRY__SPEC_REAL("scale", "1", 0, 1e6, "length of theta"),
    TARRY__INSTANCE_FIXED_SETTING,
    TARRY__SPEC_END,
};

static tarry_status make_sphere(const tarry__spec *spec,
                                tarry__instance_place place,
                                tarry__instance *out, tarry_error *error)
{
    size_t dim, n_arms;
    double scale;
    tarry_status status;
    if ((status = tarry__instance_size(spec, "dim", &dim, error)) ||
        (status = tarry__instance_size(spec, "arms", &n_arms, error)) ||
        (status = tarry__spec_real(spec, "scale", &scale, error)) ||
        (status = tarry__instance_place_fix(spec, &place, error)) ||
        (status = tarry__instance_reserve(out, n_arms, dim, error)))
        return status;
    const tarry_random at = {
        .seed = place.seed, .run = place.run, .stream = TARRY__ENV_STREAM_ARMS};
    for (size_t k = 0; k < n_arms; k++)
        tarry__instance_unit_vector(at, k, dim, out->arms + k * dim);
    tarry__instance_sphere_theta(place, scale, out);
    return TARRY_OK;
}

static tarry_status make_orthant(const tarry__spec *spec,
                                 tarry__instance_place place,
                                 tarry__instance *out, tarry_error *error)
{
    const tarry_status status = make_sphere(spec, place, out, error);
    if (status != TARRY_OK)
        return status;
    for (size_t i = 0; i < out->n_arms * out->dim; i++)
        out->arms[i] = fabs(out->arms[i]);
    for (size_t i = 0; i < out->dim; i++)
        out->theta[i] = fabs(out->theta[i]);
    return TARRY_OK;
}

const tarry__instance_type tarry__instance_sphere = {
    {"sphere", "arms and theta uniform on the unit sphere", settings},
    make_sphere};

const tarry__instance_type tarry__instance_orthant = {
    {"orthant", "as sphere, without signs: means in [0, scale]", settings},
    make_orthant};
