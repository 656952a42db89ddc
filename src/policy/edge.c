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
    TARRY__SPEC_REAL("floor", "0", 0, 1,
                     "least share of the decisions for each arm that may be "
                     "chosen"),
    TARRY__SPEC_TEXT("control", "",
                     "ARM:SHARE, an arm by its number that gets exactly this "
                     "share"),
    TARRY__SPEC_TEXT("cap", "",
                     "ARM:SHARE+ARM:SHARE..., the most that arms get"),
    TARRY__SPEC_TEXT(
        "default_outcome", "",
        "VALUE/AFTER or VALUE/AFTER/final: a choice for which nothing was "
        "reported within AFTER (500r for rounds, 7d, 12h, 90s, 0) has the "
        "outcome VALUE; a later report replaces it, or with final is late"),
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

/* ARM:SHARE, which ends at `end`. */
static bool read_share(const char *text, const char *end, uint32_t *arm,
                       double *share)
{
    char part[80];
    uint64_t number;
    const size_t length = (size_t)(end - text);
    if (length >= sizeof part)
        return false;
    memcpy(part, text, length);
    part[length] = '\0';
    char *colon = strchr(part, ':');
    if (colon == NULL)
        return false;
    *colon = '\0';
    if (!tarry__base_parse_count(part, &number) || number >= UINT32_MAX ||
        !tarry__base_parse_real(colon + 1, share) ||
        !(*share >= 0 && *share <= 1))
        return false;
    *arm = (uint32_t)number;
    return true;
}

static tarry_status no_share(const tarry__spec *spec, const char *key,
                             tarry_error *error)
{
    return tarry__base_fail(error, TARRY_BAD_INPUT,
                            "%s: %s must be an arm's number and a share from 0 "
                            "to 1, as 2:0.1: '%s'",
                            spec->name, key, tarry__spec_text(spec, key));
}

static tarry_status read_control(const tarry__spec *spec, tarry__policy_edge *e,
                                 tarry_error *error)
{
    const char *text = tarry__spec_text(spec, "control");
    if (*text == '\0' ||
        read_share(text, text + strlen(text), &e->control_arm, &e->control))
        return TARRY_OK;
    return no_share(spec, "control", error);
}

static tarry_status read_caps(const tarry__spec *spec, tarry__policy_edge *e,
                              tarry_error *error)
{
    const char *text = tarry__spec_text(spec, "cap");
    while (*text != '\0') {
        const char *end = text + strcspn(text, "+");
        if (e->n_caps == TARRY__POLICY_MOST_CAPS)
            return tarry__base_fail(error, TARRY_BAD_INPUT,
                                    "%s: cap: more than %d arms", spec->name,
                                    TARRY__POLICY_MOST_CAPS);
        if (!read_share(text, end, &e->cap_arm[e->n_caps], &e->cap[e->n_caps]))
            return no_share(spec, "cap", error);
        e->n_caps++;
        text = *end == '+' ? end + 1 : end;
    }
    return TARRY_OK;
}

tarry_status tarry__policy_edge_read(tarry__spec *spec,
                                     tarry__policy_edge *edge,
                                     tarry_error *error)
{
    tarry__spec own;
    take(spec, &own);
    memset(edge, 0, sizeof *edge);
    tarry_status status =
        tarry__spec_choice(&own, "intercept", &edge->no_intercept, error);
    if (status == TARRY_OK)
        status = tarry__spec_real(&own, "floor", &edge->floor, error);
    if (status == TARRY_OK)
        status = read_control(&own, edge, error);
    if (status == TARRY_OK)
        status = read_caps(&own, edge, error);
    return status == TARRY_OK
               ? tarry__default_read(tarry__spec_text(&own, "default_outcome"),
                                     &edge->rule, error)
               : status;
}

bool tarry__policy_edge_is_set(const tarry__policy_edge *edge)
{
    return edge->no_intercept || tarry__policy_has_shares(edge) ||
           edge->rule.declared;
}

/* ",key=..." or ":key=..." of what is not the default. */
static void print_edge(const tarry__policy_edge *e, char separator, char *out,
                       size_t room)
{
    char rule[TARRY__DEFAULT_ROOM];
    size_t used = 0;
    if (e->no_intercept)
        used += (size_t)snprintf(out, room, "%cintercept=no", separator);
    if (e->floor > 0)
        used += (size_t)snprintf(out + used, room - used, "%cfloor=%.17g",
                                 used > 0 ? ',' : separator, e->floor);
    if (e->control > 0)
        used += (size_t)snprintf(out + used, room - used, "%ccontrol=%u:%.17g",
                                 used > 0 ? ',' : separator,
                                 (unsigned)e->control_arm, e->control);
    for (size_t i = 0; i < e->n_caps; i++) {
        if (i == 0)
            used += (size_t)snprintf(out + used, room - used,
                                     "%ccap=", used > 0 ? ',' : separator);
        used += (size_t)snprintf(out + used, room - used, "%s%u:%.17g",
                                 i > 0 ? "+" : "", (unsigned)e->cap_arm[i],
                                 e->cap[i]);
    }
    tarry__default_print(&e->rule, rule);
    if (e->rule.declared)
        snprintf(out + used, room - used, "%cdefault_outcome=%s",
                 used > 0 ? ',' : separator, rule);
}

char *tarry__policy_description_print(const tarry__policy_description *d)
{
    char *text = tarry__spec_print(&d->spec);
    if (text == NULL || !tarry__policy_edge_is_set(&d->edge))
        return text;
    char own[700];
    print_edge(&d->edge, d->spec.count > 0 ? ',' : ':', own, sizeof own);
    const size_t size = strlen(text) + strlen(own) + 1;
    char *all = tarry__base_alloc(size, 1);
    if (all != NULL)
        snprintf(all, size, "%s%s", text, own);
    tarry__base_free(text);
    return all;
}
