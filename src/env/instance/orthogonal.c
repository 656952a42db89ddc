/* orthogonal.c - unit vectors that are nearly orthogonal to each other.
 *
 * Lemma hard_action_set of the paper (Lattimore, Szepesvari and Weisz 2020,
 * Lemma 3.1): K unit vectors with |<a_i, a_j>| <= sqrt(8 log K / n).  Vectors
 * uniform on the sphere have it with probability about 1 - 1/K^2; here it is
 * checked for every pair. */
#include "base/elementary.h"
#include "env/instance.h"

#include <math.h>

static const tarry_setting settings[] = {
    TARRY__SPEC_COUNT("dim", "100", 1, TARRY__INSTANCE_MOST_DIM, "dimension n"),
    TARRY__SPEC_COUNT("arms", "200", 1, 100000, "number of arms K"),
    TARRY__SPEC_REAL("within", "", 0, 1,
                     "largest |<a_i, a_j>| (default sqrt(8 log K / n))"),
    TARRY__SPEC_REAL("scale", "1", 0, 1e6,
                     "length of theta, uniform on the sphere"),
    TARRY__INSTANCE_FIXED_SETTING,
    TARRY__SPEC_END,
};

double tarry__instance_orthogonal_promise(size_t n_arms, size_t dim)
{
    return sqrt(8 * tarry__ln((double)n_arms) / (double)dim);
}

tarry_status tarry__instance_nearly_orthogonal(tarry__instance *instance,
                                               tarry__instance_place place,
                                               double within,
                                               tarry_error *error)
{
    const tarry_random at = {
        .seed = place.seed, .run = place.run, .stream = TARRY__ENV_STREAM_ARMS};
    return tarry__instance_separate(instance, at, tarry__instance_unit_vector,
                                    -within, within, error);
}

static tarry_status make(const tarry__spec *spec, tarry__instance_place place,
                         tarry__instance *out, tarry_error *error)
{
    size_t dim, n_arms;
    double scale;
    tarry_status status;
    if ((status = tarry__instance_size(spec, "dim", &dim, error)) ||
        (status = tarry__instance_size(spec, "arms", &n_arms, error)) ||
        (status = tarry__spec_real(spec, "scale", &scale, error)) ||
        (status = tarry__instance_place_fix(spec, &place, error)))
        return status;
    double within = tarry__instance_orthogonal_promise(n_arms, dim);
    if (*tarry__spec_text(spec, "within") != '\0' &&
        (status = tarry__spec_real(spec, "within", &within, error)))
        return status;
    if ((status = tarry__instance_reserve(out, n_arms, dim, error)) ||
        (status = tarry__instance_nearly_orthogonal(out, place, within, error)))
        return status;
    tarry__instance_sphere_theta(place, scale, out);
    return TARRY_OK;
}

const tarry__instance_type tarry__instance_orthogonal = {
    {"orthogonal", "nearly orthogonal unit vectors, every pair checked",
     settings},
    make};
