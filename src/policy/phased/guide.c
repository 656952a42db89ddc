/* guide.c - see guide.h. */
#include "policy/phased/guide.h"

#include <stdio.h>
#include <string.h>
#include "base/base.h"

/* The first / starts the settings, the others separate them. */
static void as_spec(const char *text, char *spec, size_t size)
{
    snprintf(spec, size, "%s", text);
    char separator = ':';
    for (char *at = spec; *at != '\0'; at++)
        if (*at == '/') {
            *at = separator;
            separator = ',';
        }
}

static tarry_status open_by(tarry__guide *g,
                            const tarry__policy_problem *problem,
                            const tarry__policy_description *d,
                            tarry_error *error)
{
    g->problem = tarry__base_alloc(1, sizeof *g->problem);
    if (g->problem == NULL)
        return TARRY_NO_MEMORY;
    *g->problem = *problem;
    const tarry_status status =
        tarry__policy_open(d, g->problem, &g->state, error);
    if (status == TARRY_OK)
        g->type = d->type;
    else
        tarry__base_free(g->problem);
    return status;
}

bool tarry__guide_is_named(const char *text)
{
    return *text != '\0' && strcmp(text, "none") != 0;
}

bool tarry__guide_is_open(const tarry__guide *g)
{
    return g->type != NULL;
}

tarry_status tarry__guide_open(tarry__guide *g,
                               const tarry__policy_problem *problem,
                               const char *text, tarry_error *error)
{
    char spec[512];
    tarry__policy_description d;
    if (strlen(text) >= sizeof spec)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "guide: more than %zu characters",
                                sizeof spec - 1);
    as_spec(text, spec, sizeof spec);
    tarry_status status =
        tarry__policy_read(spec, NULL, TARRY__POLICY_ANY_DELAYS, &d, error);
    if (status != TARRY_OK)
        return status;
    if (tarry__policy_edge_is_set(&d.edge))
        status = tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "%s: settings that all policies take belong "
                                  "to the policy, not to its guide",
                                  text);
    else if (problem->default_outcome.declared &&
             !problem->default_outcome.final && d.type->revise == NULL)
        status = tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "guide '%s' cannot take corrections of a "
                                  "default outcome: declare it "
                                  "VALUE/AFTER/final, or use guide=foresight "
                                  "or guide=lints",
                                  text);
    else
        status = open_by(g, problem, &d, error);
    tarry__policy_description_clear(&d);
    return status;
}

void tarry__guide_clear(tarry__guide *g)
{
    if (g->type == NULL)
        return;
    tarry__policy_close(g->type, g->state);
    tarry__base_free(g->problem);
    g->type = NULL;
}

void tarry__guide_narrow(tarry__guide *g, const uint32_t *active,
                         size_t n_active)
{
    if (g->type == NULL)
        return;
    const bool fewer =
        n_active < (g->problem->active != NULL ? g->problem->n_active
                                               : g->problem->n_arms);
    g->problem->active = active;
    g->problem->n_active = n_active;
    if (fewer && g->type->narrowed != NULL)
        g->type->narrowed(g->state);
}

static bool is_active(const tarry__policy_problem *p, size_t arm)
{
    size_t low = 0, high = p->n_active;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (p->active[middle] < arm)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->n_active && p->active[low] == arm;
}

void tarry__guide_played(tarry__guide *g, uint64_t round, size_t arm)
{
    if (g->type->played != NULL)
        g->type->played(g->state, round, arm);
}

tarry_status tarry__guide_choose(tarry__guide *g, uint64_t round,
                                 size_t otherwise, size_t *arm)
{
    const tarry_status status = g->type->choose(g->state, round, arm);
    if (status == TARRY_OK && g->type->narrowed == NULL &&
        g->problem->n_active < g->problem->n_arms &&
        !is_active(g->problem, *arm)) {
        *arm = otherwise;
        tarry__guide_played(g, round, *arm);
    }
    return status;
}

size_t tarry__guide_best(const tarry__guide *g, size_t otherwise)
{
    tarry_policy_status status = {0};
    g->type->status(g->state, &status);
    return is_active(g->problem, status.best) ? status.best : otherwise;
}

void tarry__guide_report(const tarry__guide *g, tarry_policy_status *status)
{
    tarry_policy_status own = {0};
    g->type->status(g->state, &own);
    status->silence = own.silence;
    status->silent_since = own.silent_since;
}

void tarry__guide_observe(tarry__guide *g, uint64_t round, size_t arm,
                          double loss)
{
    g->type->observe(g->state, round, arm, loss);
}

void tarry__guide_revise(tarry__guide *g, uint64_t round, size_t arm,
                         double old, double loss)
{
    if (g->type->revise != NULL)
        g->type->revise(g->state, round, arm, old, loss);
}

double tarry__guide_probability(tarry__guide *g, uint64_t round, size_t arm)
{
    return g->type->probability != NULL
               ? g->type->probability(g->state, round, arm)
               : 1;
}

tarry_status tarry__guide_reserve(tarry__guide *g, size_t n_arms)
{
    return g->type->reserve != NULL ? g->type->reserve(g->state, n_arms)
                                    : TARRY_BAD_ARGUMENT;
}

tarry_status tarry__guide_rearrange(tarry__guide *g,
                                    const tarry__policy_problem *problem)
{
    const tarry__policy_problem old = *g->problem;
    tarry_status status = TARRY_OK;
    g->problem->arms = problem->arms;
    g->problem->n_arms = problem->n_arms;
    g->problem->dim = problem->dim;
    if (g->type->rearranged != NULL)
        status = g->type->rearranged(g->state);
    if (status != TARRY_OK)
        *g->problem = old;
    return status;
}

void tarry__guide_cancel(tarry__guide *g, uint64_t round, size_t arm)
{
    if (g->type->cancel != NULL)
        g->type->cancel(g->state, round, arm);
}

void tarry__guide_expire(tarry__guide *g, uint64_t round, size_t arm, bool gone)
{
    if (g->type->expire != NULL)
        g->type->expire(g->state, round, arm, gone);
}

/* Places for a guide whose state is about to be loaded. */
static tarry_status make_places(tarry__guide *g,
                                const tarry__policy_problem *problem)
{
    g->problem = tarry__base_alloc(1, sizeof *g->problem);
    g->state = tarry__base_zalloc(1, g->type->state_size);
    if (g->problem == NULL || g->state == NULL) {
        tarry__base_free(g->problem);
        tarry__base_free(g->state);
        g->type = NULL;
        return TARRY_NO_MEMORY;
    }
    *g->problem = *problem;
    return TARRY_OK;
}

void tarry__guide_archive(tarry__guide *g, const tarry__policy_problem *problem,
                          const uint32_t *active, size_t n_active,
                          tarry__archive *a)
{
    char name[64] = "";
    if (g->type != NULL)
        snprintf(name, sizeof name, "%s", g->type->name);
    tarry__archive_bytes(a, name, sizeof name);
    tarry__archive_require(a, memchr(name, '\0', sizeof name) != NULL);
    if (a->status != TARRY_OK || *name == '\0')
        return;
    if (a->loading) {
        g->type = tarry__policy_type_find(name);
        tarry__archive_require(a, g->type != NULL && !g->type->needs_means &&
                                      g->type->stands_for == NULL &&
                                      a->depth < TARRY__ARCHIVE_MOST_GUIDES);
        if (a->status == TARRY_OK)
            a->status = make_places(g, problem);
        else
            g->type = NULL;
        if (a->status != TARRY_OK)
            return;
        g->problem->active = active;
        g->problem->n_active = n_active;
    }
    a->depth++;
    g->type->archive(g->state, g->type, g->problem, a);
    a->depth--;
}
