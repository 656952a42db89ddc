/* file.c - arms and theta from files. */
#include "env/instance.h"

#include <string.h>
#include "base/base.h"
#include "env/column.h"
#include "tarry/arms.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_TEXT("arms", NULL, "file of arms, CSV or .npy"),
    TARRY__SPEC_TEXT("theta", NULL,
                     "file with the dim numbers of theta, a row or a column"),
    TARRY__SPEC_END,
};

static tarry_status copy(const tarry_arms *arms, const double *theta,
                         tarry__instance *out, tarry_error *error)
{
    const tarry_status status =
        tarry__instance_reserve(out, arms->n_arms, arms->dim, error);
    if (status != TARRY_OK)
        return status;
    memcpy(out->arms, arms->data, arms->n_arms * arms->dim * sizeof *out->arms);
    memcpy(out->theta, theta, arms->dim * sizeof *theta);
    return TARRY_OK;
}

static tarry_status make(const tarry__spec *spec, tarry__instance_place place,
                         tarry__instance *out, tarry_error *error)
{
    (void)place;
    const char *arms_path = tarry__spec_text(spec, "arms");
    const char *theta_path = tarry__spec_text(spec, "theta");
    tarry_arms *arms;
    double *theta = NULL;
    size_t count;
    tarry_status status = tarry_arms_read(arms_path, &arms, error);
    if (status == TARRY_OK)
        status = tarry__column_read(theta_path, &theta, &count, error);
    if (status == TARRY_OK && count != arms->dim)
        status = tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "%s: %zu numbers, but %s has %zu columns",
                                  theta_path, count, arms_path, arms->dim);
    if (status == TARRY_OK)
        status = copy(arms, theta, out, error);
    tarry__base_free(theta);
    tarry_arms_free(arms);
    return status;
}

const tarry__instance_type tarry__instance_file = {
    {"file", "arms and theta from files", settings}, make};
