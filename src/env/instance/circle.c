/* circle.c - arms evenly spaced on the unit circle, theta against the first.
 *
 * Gaps have all sizes down to 20 / K^2 and are the same in every run: what
 * grows with the horizon shows without the luck of an instance. */
#include "env/instance.h"

#include "base/elementary.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_COUNT("arms", "100", 1, TARRY__INSTANCE_MOST_ARMS,
                      "number of arms K"),
    TARRY__SPEC_REAL("scale", "1", 0, 1, "length of theta"),
    TARRY__SPEC_END,
};

static tarry_status make(const tarry__spec *spec, tarry__instance_place place,
                         tarry__instance *out, tarry_error *error)
{
    (void)place;
    uint64_t K;
    double scale;
    tarry_status status;
    if ((status = tarry__spec_count(spec, "arms", &K, error)) ||
        (status = tarry__spec_real(spec, "scale", &scale, error)) ||
        (status = tarry__instance_reserve(out, K, 2, error)))
        return status;
    for (uint64_t k = 0; k < K; k++) {
        const double turns = (double)k / (double)K;
        out->arms[2 * k] = tarry__cos_turns(turns);
        out->arms[2 * k + 1] = tarry__sin_turns(turns);
    }
    out->theta[0] = -scale;
    return TARRY_OK;
}

const tarry__instance_type tarry__instance_circle = {
    {"circle", "arms evenly spaced on the unit circle", settings}, make};
