/* description.c - from name:key=value,... to a policy that is ready to choose.
 */
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "policy/policy_type.h"

/* Policies are arguments of functions, so a bad description is one too. */
static tarry_status as_argument(tarry_status status)
{
    return status == TARRY_BAD_INPUT ? TARRY_BAD_ARGUMENT : status;
}

static tarry_status find(const char *name, const tarry__policy_type **type,
                         tarry_error *error)
{
    char names[400] = ""; /* of the 512 that an error line has */
    size_t used = 0;
    *type = tarry__policy_type_find(name);
    if (*type != NULL)
        return TARRY_OK;
    for (size_t i = 0; tarry_policy_name(i) != NULL && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 i > 0 ? ", " : "", tarry_policy_name(i));
    return tarry__base_fail(error, TARRY_BAD_INPUT,
                            "no policy '%s' (there are: %s%s)", name, names,
                            used < sizeof names ? "" : ", ...");
}

/* Reads a description that may be a name for another. */
static tarry_status read_text(const char *text, tarry__policy_description *out,
                              tarry_error *error)
{
    if (*text == '\0')
        return find(text, &out->type, error);
    tarry_status status = tarry__spec_parse(text, &out->spec, error);
    if (status != TARRY_OK)
        return status;
    status = find(out->spec.name, &out->type, error);
    if (status == TARRY_OK)
        status = tarry__policy_edge_read(&out->spec, &out->edge, error);
    if (status == TARRY_OK)
        status = tarry__spec_check(&out->spec, out->type->settings, error);
    if (status != TARRY_OK)
        tarry__spec_clear(&out->spec);
    return status;
}

/* The text with further settings behind it; the caller frees it.  "name:" is
 * "name". */
static char *join(const char *text, const char *more)
{
    const size_t length = strlen(text), size = length + strlen(more) + 2;
    const bool open = length > 0 && text[length - 1] == ':';
    const char *separator = strchr(text, ':') != NULL ? "," : ":";
    char *joined = tarry__base_alloc(size, 1);
    if (joined != NULL)
        snprintf(joined, size, "%.*s%s%s",
                 (int)(open && *more == '\0' ? length - 1 : length), text,
                 open || *more == '\0' ? "" : separator, more);
    return joined;
}

tarry_status tarry__policy_read(const char *text, const char *more,
                                tarry__policy_delays delays,
                                tarry__policy_description *out,
                                tarry_error *error)
{
    char *joined = join(text, more != NULL ? more : "");
    tarry_status status =
        joined != NULL
            ? read_text(joined, out, error)
            : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    tarry__base_free(joined);
    if (status == TARRY_OK && out->type->stands_for != NULL) {
        const char *meant = out->type->stands_for(delays);
        const tarry__policy_edge edge = out->edge;
        tarry__spec_clear(&out->spec);
        status = read_text(meant, out, error);
        out->edge = edge;
    }
    return as_argument(status);
}

void tarry__policy_description_clear(tarry__policy_description *d)
{
    tarry__spec_clear(&d->spec);
}

tarry_status tarry__policy_open(const tarry__policy_description *d,
                                const tarry__policy_problem *problem,
                                void **state, tarry_error *error)
{
    *state = tarry__base_zalloc(1, d->type->state_size);
    if (*state == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    tarry_error own;
    if (error == NULL)
        error = &own;
    error->text[0] = '\0'; /* not every failure comes with a sentence */
    const tarry_status status =
        d->type->init(*state, d->type, problem, &d->spec, error);
    if (status != TARRY_OK) {
        tarry__policy_close(d->type, *state);
        *state = NULL;
        if (status == TARRY_NO_MEMORY || error->text[0] == '\0')
            tarry__base_fail(error, status, "%s", tarry_status_text(status));
    }
    return as_argument(status);
}

void tarry__policy_close(const tarry__policy_type *type, void *state)
{
    if (state == NULL)
        return;
    type->clear(state);
    tarry__base_free(state);
}
