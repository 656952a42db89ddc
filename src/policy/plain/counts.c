/* counts.c - see counts.h.  Memory is taken when a policy is made; a turn of
 * elimination costs O(active arms) for as many plays. */
#include "policy/plain/counts.h"

#include <math.h>
#include "base/base.h"
#include "base/elementary.h"

static double log_of(const tarry__policy_problem *problem)
{
    return problem->confidence > 0 ? tarry__ln(2 * (double)problem->n_arms /
                                               (1 - problem->confidence))
                                   : tarry__ln((double)problem->horizon);
}

tarry_status tarry__counts_open(tarry__counts *c,
                                const tarry__policy_type *type,
                                const tarry__policy_problem *problem,
                                const tarry__spec *spec, tarry_error *error)
{
    const size_t K = problem->n_arms;
    c->problem = problem;
    c->rule = type->rule;
    c->log_horizon = log_of(problem);
    if (tarry__spec_real(spec, "scale", &c->scale, error) != TARRY_OK)
        return TARRY_BAD_ARGUMENT;
    c->count = tarry__base_zalloc(K, sizeof *c->count);
    c->active = tarry__base_alloc(K, sizeof *c->active);
    if (c->count == NULL || c->active == NULL)
        return TARRY_NO_MEMORY;
    c->n_active = c->n_known = K;
    for (size_t k = 0; k < K; k++)
        c->active[k] = (uint32_t)k;
    return TARRY_OK;
}

tarry_status tarry__counts_reserve(tarry__counts *c, size_t n_arms)
{
    tarry__plain_count *count =
        tarry__base_grow(c->count, c->n_known, n_arms, sizeof *count);
    if (count == NULL)
        return TARRY_NO_MEMORY;
    c->count = count;
    uint32_t *active =
        tarry__base_grow(c->active, c->n_active, n_arms, sizeof *active);
    if (active == NULL)
        return TARRY_NO_MEMORY;
    c->active = active;
    return TARRY_OK;
}

void tarry__counts_rearrange(tarry__counts *c)
{
    const tarry__policy_problem *p = c->problem;
    bool gone = false;
    for (size_t i = 0; i < c->n_active; i++)
        gone = gone || !tarry__policy_may_choose(p, c->active[i]);
    for (size_t k = c->n_known; k < p->n_arms; k++)
        c->count[k] = (tarry__plain_count){0};
    for (size_t k = 0; gone && k < c->n_known; k++)
        c->count[k].cut = 1;
    c->n_active = 0;
    for (size_t i = 0; i < tarry__policy_n_choices(p); i++) {
        const size_t k = tarry__policy_choice(p, i);
        if (gone)
            c->count[k].cut = 0;
        if (!c->count[k].cut)
            c->active[c->n_active++] = (uint32_t)k;
    }
    c->n_known = p->n_arms;
    c->cursor = 0;
    c->log_horizon = log_of(p);
}

void tarry__counts_clear(tarry__counts *c)
{
    tarry__base_free(c->count);
    tarry__base_free(c->active);
}

void tarry__counts_played(void *state, uint64_t round, size_t arm)
{
    tarry__counts *c = state;
    (void)round;
    c->count[arm].played++;
}

tarry__policy_use tarry__counts_add(tarry__counts *c, size_t arm, double loss)
{
    tarry__plain_count *count = &c->count[arm];
    count->arrived++;
    count->sum += loss;
    return count->cut ? TARRY__POLICY_IGNORED : TARRY__POLICY_USED;
}

size_t tarry__counts_best(const tarry__counts *c)
{
    size_t best = c->active[0];
    double least = INFINITY;
    for (size_t i = 0; i < c->n_active; i++) {
        const tarry__plain_count *arm = &c->count[c->active[i]];
        if (arm->arrived > 0 && arm->sum / (double)arm->arrived < least) {
            least = arm->sum / (double)arm->arrived;
            best = c->active[i];
        }
    }
    return best;
}

void tarry__counts_status(const tarry__counts *c, tarry_policy_status *status)
{
    status->n_active = c->n_active;
    status->active = c->active;
    status->best = tarry__counts_best(c);
}

/* ---- saving ---------------------------------------------------------------*/

/* Active is what was not cut, and is there; of a guide's arms some may be gone,
 * and new ones not active yet. */
static bool is_sound(const tarry__counts *c, bool guides)
{
    size_t at = 0;
    bool sound = c->n_active > 0 && c->cursor <= c->n_active && c->scale >= 0 &&
                 isfinite(c->scale);
    for (size_t k = 0; sound && k < c->problem->n_arms; k++) {
        const tarry__plain_count *arm = &c->count[k];
        const bool active = at < c->n_active && c->active[at] == k;
        sound = guides
                    ? !active || !arm->cut
                    : active == !arm->cut &&
                          (!active || tarry__policy_may_choose(c->problem, k));
        sound = sound && isfinite(arm->sum) && arm->arrived <= arm->played;
        at += active;
    }
    return sound && at == c->n_active;
}

void tarry__counts_archive(tarry__counts *c, const tarry__policy_type *type,
                           const tarry__policy_problem *problem,
                           tarry__archive *a)
{
    size_t K = problem->n_arms;
    c->problem = problem;
    c->rule = type->rule;
    c->log_horizon = log_of(problem);
    tarry__archive_field(a, c->scale);
    tarry__archive_field(a, c->cursor);
    tarry__archive_array(a, &c->count, &K, sizeof *c->count, K);
    c->n_known = K;
    tarry__archive_array(a, &c->active, &c->n_active, sizeof *c->active, K);
    tarry__archive_room(a, &c->active, c->n_active, K, sizeof *c->active);
    tarry__archive_require(a, a->status == TARRY_OK && K == problem->n_arms &&
                                  is_sound(c, a->depth > 0));
}

/* ---- elimination ----------------------------------------------------------*/

void tarry__counts_cut(tarry__counts *c, tarry__plain_bracket *bracket,
                       const void *state)
{
    double least = INFINITY;
    size_t kept = 0;
    for (size_t i = 0; i < c->n_active; i++)
        least = fmin(least, bracket(state, &c->count[c->active[i]]).upper);
    for (size_t i = 0; i < c->n_active; i++) {
        tarry__plain_count *arm = &c->count[c->active[i]];
        if (bracket(state, arm).lower > least)
            arm->cut = 1;
        else
            c->active[kept++] = c->active[i];
    }
    c->n_active = kept; /* the arm of the least upper end is one of them */
}

const tarry_setting tarry__plain_elimination_settings[] = {
    TARRY__SPEC_REAL(
        "scale", "1", 0, 1e6,
        "factor of the width sqrt(2 log T / n); 2 would fit losses in\n"
        "[-1, 1] to the proof for [0, 1]"),
    TARRY__SPEC_END,
};

tarry_status tarry__plain_elimination_init(void *state,
                                           const tarry__policy_type *type,
                                           const tarry__policy_problem *problem,
                                           const tarry__spec *spec,
                                           tarry_error *error)
{
    return tarry__counts_open(state, type, problem, spec, error);
}

tarry_status tarry__plain_elimination_choose(void *state, uint64_t round,
                                             size_t *arm)
{
    tarry__counts *c = state;
    const tarry__plain_elimination_rule *rule = c->rule;
    (void)round;
    if (c->cursor >= c->n_active) {
        if (c->n_active > 1)
            tarry__counts_cut(c, rule->bracket, c);
        c->cursor = 0;
    }
    *arm = c->active[c->cursor++];
    c->count[*arm].played++;
    return TARRY_OK;
}

tarry__policy_use tarry__plain_elimination_observe(void *state, uint64_t round,
                                                   size_t arm, double loss)
{
    (void)round;
    return tarry__counts_add(state, arm, loss);
}

void tarry__plain_elimination_revise(void *state, uint64_t round, size_t arm,
                                     double old, double loss)
{
    (void)round;
    ((tarry__counts *)state)->count[arm].sum += loss - old;
}

tarry_status tarry__plain_elimination_cancel(void *state, uint64_t round,
                                             size_t arm)
{
    tarry__counts *c = state;
    (void)round;
    c->count[arm].played--;
    return TARRY_OK;
}

tarry_status tarry__plain_elimination_reserve(void *state, size_t n_arms)
{
    return tarry__counts_reserve(state, n_arms);
}

tarry_status tarry__plain_elimination_rearranged(void *state)
{
    tarry__counts_rearrange(state);
    return TARRY_OK;
}

void tarry__plain_elimination_status(const void *state,
                                     tarry_policy_status *status)
{
    tarry__counts_status(state, status);
}

void tarry__plain_elimination_archive(void *state,
                                      const tarry__policy_type *type,
                                      const tarry__policy_problem *problem,
                                      tarry__archive *a)
{
    tarry__counts_archive(state, type, problem, a);
}

void tarry__plain_elimination_clear(void *state)
{
    tarry__counts_clear(state);
}
