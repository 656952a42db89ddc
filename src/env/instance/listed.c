/* listed.c - arms without features whose mean losses are listed, and may
 * change.
 *
 * From round `from` to round `until` the means move in a straight line to those
 * listed as `later`; with until = from they switch. */
#include "env/instance.h"

#include <string.h>
#include "base/base.h"
#include "base/spec.h"

enum { MOST = 256 };

static const tarry_setting settings[] = {
    TARRY__SPEC_TEXT("means", "0/0.5", "mean losses, separated by /"),
    TARRY__SPEC_TEXT("later", "", "mean losses after a change"),
    TARRY__SPEC_COUNT("from", "0", 0, 1ull << 40, "round where it begins"),
    TARRY__SPEC_COUNT("until", "0", 0, 1ull << 40,
                      "round where it ends; from or less: at once"),
    TARRY__SPEC_END,
};

static tarry_status make(const tarry__spec *spec, tarry__instance_place place,
                         tarry__instance *out, tarry_error *error)
{
    double means[MOST], later[MOST];
    size_t K, n_later;
    tarry_status status;
    (void)place;
    if ((status = tarry__env_numbers(spec, "means", means, MOST, &K, error)) ||
        (status =
             tarry__env_numbers(spec, "later", later, MOST, &n_later, error)) ||
        (status = tarry__spec_count(spec, "from", &out->from, error)) ||
        (status = tarry__spec_count(spec, "until", &out->until, error)))
        return status;
    if (K == 0 || (n_later > 0 && n_later != K))
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "listed: %zu means and %zu later ones", K,
                                n_later);
    if ((status = tarry__instance_reserve(out, K, K, error)))
        return status;
    for (size_t k = 0; k < K; k++) {
        out->arms[k * K + k] = 1;
        out->theta[k] = means[k];
    }
    if (n_later == 0)
        return TARRY_OK;
    out->later = tarry__base_alloc(2 * K, sizeof *out->later);
    if (out->later == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    memcpy(out->later, later, K * sizeof *later);
    return TARRY_OK;
}

const tarry__instance_type tarry__instance_listed = {
    {"listed", "arms without features, of listed mean losses", settings}, make};
