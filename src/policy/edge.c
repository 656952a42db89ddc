/* edge.c - settings that every policy takes, see policy_type.h. */
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "policy/policy_type.h"

const tarry_setting tarry__policy_edge_settings[] = {
    TARRY__SPEC_CHOICE(
        "intercept", "auto", "auto|no",
        "auto: means are affine in the features: a constant is added unless "
        "the range is around 0 or the features give one; no: means are linear "
        "in the features, and losses are scaled but not moved"),
    TARRY__SPEC_END,
};

/* The settings of the edge as a spec of their own, taken out of the other. */
static void take(tarry__spec *spec, tarry__spec *own)
{
    *own = (tarry__spec){.name = spec->name,
                         .settings = tarry__policy_edge_settings};
    for (const tarry_setting *s = own->settings; s->key != NULL; s++) {
        const char *value = tarry__spec_take(spec, s->key);
        if (value == NULL)
            continue;
        own->key[own->count] = s->key;
        own->value[own->count++] = value;
    }
}

tarry_status tarry__policy_edge_read(tarry__spec *spec,
                                     tarry__policy_edge *edge,
                                     tarry_error *error)
{
    tarry__spec own;
    take(spec, &own);
    *edge = (tarry__policy_edge){0};
    return tarry__spec_choice(&own, "intercept", &edge->no_intercept, error);
}

bool tarry__policy_edge_is_set(const tarry__policy_edge *edge)
{
    return edge->no_intercept;
}

char *tarry__policy_description_print(const tarry__policy_description *d)
{
    char *text = tarry__spec_print(&d->spec);
    if (text == NULL || !tarry__policy_edge_is_set(&d->edge))
        return text;
    const size_t size = strlen(text) + strlen(":intercept=no") + 1;
    char *all = tarry__base_alloc(size, 1);
    if (all != NULL)
        snprintf(all, size, "%s%sintercept=no", text,
                 d->spec.count > 0 ? "," : ":");
    tarry__base_free(text);
    return all;
}
