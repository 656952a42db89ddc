/* policy_list.c - the list of policies: a new one is a file and a line. */
#include <string.h>
#include "policy/foresight/foresight.h"
#include "policy/linear/linear.h"
#include "policy/phased/phased.h"
#include "policy/plain/plain.h"

const tarry__policy_type *const tarry__policy_types[] = {
    &tarry__phased_stochastic,
    &tarry__phased_adversarial,
    &tarry__phased_loss_dependent,
    &tarry__phased_mab,
    &tarry__foresight,
    &tarry__linear_linucb,
    &tarry__linear_linucb_inflated,
    &tarry__linear_otf_linucb,
    &tarry__linear_lints,
    &tarry__linear_otf_lints,
    &tarry__linear_ids,
    &tarry__linear_ids_asymptotic,
    &tarry__linear_vids,
    &tarry__linear_linmed,
    &tarry__linear_explore_commit,
    &tarry__phased_nodelay,
    &tarry__phased_spanner,
    &tarry__phased_spanner_waiting,
    &tarry__linear_greedy,
    &tarry__plain_uniform,
    &tarry__plain_oracle,
    &tarry__plain_ucb_delayed,
    &tarry__plain_se_delayed,
    &tarry__plain_opse,
    &tarry__plain_payoff_mab,
    &tarry__linear_queued,
    &tarry__plain_first_answer,
    &tarry__plain_pse,
    &tarry__plain_sapo_delayed,
    &tarry__plain_payoff_doubling,
    &tarry__policy_recommended,
    NULL,
};

const tarry__policy_type *tarry__policy_type_find(const char *name)
{
    for (size_t i = 0; tarry__policy_types[i] != NULL; i++)
        if (strcmp(tarry__policy_types[i]->name, name) == 0)
            return tarry__policy_types[i];
    return NULL;
}

/* Those that need to know the world are not for the public door. */
const char *tarry_policy_name(size_t i)
{
    const tarry__policy_type *const *type = tarry__policy_types;
    for (; *type != NULL; type++)
        if (!(*type)->needs_means && i-- == 0)
            return (*type)->name;
    return NULL;
}

/* In a description without settings, "name:" is "name". */
static const tarry__policy_type *find_described(const char *name)
{
    char plain[64];
    const size_t length = strcspn(name, ":");
    if (length >= sizeof plain || strlen(name) > length + 1)
        return NULL;
    memcpy(plain, name, length);
    plain[length] = '\0';
    return tarry__policy_type_find(plain);
}

tarry_status tarry_policy_describe(const char *name, tarry_policy_info *info)
{
    const tarry__policy_type *t = name != NULL ? find_described(name) : NULL;
    if (t == NULL || info == NULL)
        return TARRY_BAD_ARGUMENT;
    *info = (tarry_policy_info){
        .name = t->name,
        .source = t->source,
        .summary = t->summary,
        .uses_features = !t->plain,
        .settings = t->settings,
        .stands_for = t->stands_for != NULL
                          ? t->stands_for(TARRY__POLICY_ANY_DELAYS)
                          : NULL,
    };
    return TARRY_OK;
}
