/* groups.c - policies of an experiment, and the names that stand for many. */
#include <string.h>
#include "base/base.h"
#include "lab/experiment.h"
#include "policy/policy_type.h"

static bool is_group(const char *text)
{
    return strcmp(text, "all") == 0 || strcmp(text, "linear") == 0 ||
           strcmp(text, "mab") == 0;
}

/* The oracle, which knows the means, is in no group, nor is a name that stands
 * for another description. */
static bool is_in_group(const tarry__policy_type *type, const char *group)
{
    const bool all = strcmp(group, "all") == 0;
    return !type->needs_means && type->stands_for == NULL &&
           (all || type->plain == (strcmp(group, "mab") == 0));
}

static bool is_named(const tarry__experiment *e, const char *policy)
{
    for (size_t p = 0; p < e->n_policies; p++)
        if (strcmp(e->policy[p], policy) == 0)
            return true;
    return false;
}

static tarry_status add(tarry__experiment *e, const char *policy,
                        tarry_error *error)
{
    if (is_named(e, policy)) /* once is enough */
        return TARRY_OK;
    if (e->n_policies == TARRY__EXPERIMENT_MAX_POLICIES)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "more than %d policies",
                                TARRY__EXPERIMENT_MAX_POLICIES);
    e->own_policy[e->n_policies] = NULL;
    e->policy[e->n_policies++] = policy;
    return TARRY_OK;
}

tarry_status tarry__experiment_add(tarry__experiment *e, const char *policy,
                                   tarry_error *error)
{
    if (!is_group(policy))
        return add(e, policy, error);
    tarry_status status = TARRY_OK;
    for (size_t i = 0; tarry__policy_types[i] != NULL; i++) {
        const tarry__policy_type *type = tarry__policy_types[i];
        if (status == TARRY_OK && is_in_group(type, policy))
            status = add(e, type->name, error);
    }
    return status;
}
