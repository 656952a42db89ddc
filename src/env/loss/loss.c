/* loss.c - the list of losses, and the check that none leaves [-1, 1]. */
#include "env/loss.h"

#include <math.h>
#include <string.h>
#include "base/base.h"

const tarry__entry *const tarry__loss_losses[] = {
    &tarry__loss_rademacher.entry,
    &tarry__loss_uniform.entry,
    &tarry__loss_normal.entry,
    &tarry__loss_bernoulli.entry,
    &tarry__loss_none.entry,
    &tarry__loss_mixture.entry,
    NULL,
};

static const double rounding = 1e-12;

static tarry_status check_range(const tarry__loss *loss, tarry_error *error)
{
    for (size_t k = 0; k < loss->n_arms; k++) {
        double low, high;
        loss->type->range(loss, k, &low, &high);
        const double worst = high > 1 + rounding ? high : low;
        if (!(worst >= loss->low - rounding && worst <= 1 + rounding))
            return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                    "%s: arm %zu of mean %g could lose %g, "
                                    "outside [%g, 1]",
                                    loss->type->entry.name, k, loss->mean[k],
                                    worst, loss->low);
    }
    return TARRY_OK;
}

tarry_status tarry__loss_init(tarry__loss *out, const char *text,
                              const tarry__instance *instance,
                              tarry_error *error)
{
    tarry__spec spec;
    const tarry__entry *entry;
    memset(out, 0, sizeof *out);
    tarry_status status = tarry__entry_open(text, "loss", tarry__loss_losses,
                                            NULL, &spec, &entry, error);
    if (status != TARRY_OK)
        return status;
    out->type = (const tarry__loss_type *)entry;
    out->mean = instance->mean;
    out->n_arms = instance->n_arms;
    out->low = -1;
    if (tarry__entry_has(entry, "low"))
        status = tarry__spec_real(&spec, "low", &out->low, error);
    if (status == TARRY_OK && out->type->init != NULL)
        status = out->type->init(out, &spec, error);
    tarry__spec_clear(&spec);
    if (status == TARRY_OK)
        status = check_range(out, error);
    if (status != TARRY_OK)
        tarry__loss_clear(out);
    return status;
}

void tarry__loss_clear(tarry__loss *loss)
{
    tarry__base_free(loss->edge);
    tarry__base_free(loss->part);
    memset(loss, 0, sizeof *loss);
}

double tarry__loss_reach(const tarry__loss *loss, size_t arm)
{
    const double mu = loss->mean[arm];
    return fmax(0, fmin(mu - loss->low, 1 - mu));
}
