/* optimism.c - "the end of optimism" (Lattimore and Szepesvari 2017).
 *
 * Arms (1, 0), (0, 1) and (1 - eps, 8 alpha eps), theta = (-scale, 0) as losses
 * are minimised.  The second arm loses much and tells much; optimism and
 * Thompson sampling give it up too soon and then take long to tell the first
 * from the third.  With scale 1 a loss in [-1, 1] of mean -1 has no noise;
 * scale 0.5, say, leaves some. */
#include "env/instance.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("eps", "0.01", 0, 1,
                     "how close the third arm is to the first"),
    TARRY__SPEC_REAL("alpha", "1", 0, 1e6,
                     "how much the third arm leans to the second"),
    TARRY__SPEC_REAL("scale", "1", 0, 1, "length of theta"),
    TARRY__SPEC_END,
};

static tarry_status make(const tarry__spec *spec, tarry__instance_place place,
                         tarry__instance *out, tarry_error *error)
{
    (void)place;
    double eps, alpha, scale;
    tarry_status status;
    if ((status = tarry__spec_real(spec, "eps", &eps, error)) ||
        (status = tarry__spec_real(spec, "alpha", &alpha, error)) ||
        (status = tarry__spec_real(spec, "scale", &scale, error)) ||
        (status = tarry__instance_reserve(out, 3, 2, error)))
        return status;
    out->arms[0] = 1;
    out->arms[3] = 1;
    out->arms[4] = 1 - eps;
    out->arms[5] = 8 * alpha * eps;
    out->theta[0] = -scale;
    return TARRY_OK;
}

const tarry__instance_type tarry__instance_optimism = {
    {"optimism", "three arms on which optimism explores too little", settings},
    make};
