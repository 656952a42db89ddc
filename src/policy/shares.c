/* shares.c - see shares.h. */
#include "policy/shares.h"

#include <math.h>
#include "base/base.h"
#include "tarry/random.h"

/* The shares as they are now: arms come and go. */
typedef struct {
    const tarry__policy_edge *edge;
    const tarry__policy_type *type;
    void *state;
    const tarry__policy_problem *problem;
    uint64_t round;
    size_t proposed, n; /* arms that may be chosen */
    bool has_control, has_caps;
    double control, floor, rest; /* s, e, R */
} shares;

static bool is_control(const shares *s, size_t arm)
{
    return s->has_control && arm == s->edge->control_arm;
}

/* Without an arm that may take what others do not get, caps are let be. */
static bool has_free_arm(const shares *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const size_t arm = tarry__policy_choice(s->problem, i);
        bool is_free = !is_control(s, arm);
        for (size_t k = 0; k < s->edge->n_caps; k++)
            is_free = is_free && s->edge->cap_arm[k] != arm;
        if (is_free)
            return true;
    }
    return false;
}

static shares look(const tarry__policy_edge *edge,
                   const tarry__policy_type *type, void *state,
                   const tarry__policy_problem *problem, uint64_t round,
                   size_t proposed)
{
    shares s = {.edge = edge,
                .type = type,
                .state = state,
                .problem = problem,
                .round = round,
                .proposed = proposed,
                .n = tarry__policy_n_choices(problem)};
    s.has_control = edge->control > 0 &&
                    tarry__policy_may_choose(problem, edge->control_arm);
    s.control = s.has_control ? edge->control : 0;
    const double others = (double)(s.n - s.has_control);
    s.floor = others > 0 ? fmin(edge->floor, (1 - s.control) / others) : 0;
    s.rest = fmax(1 - s.control - s.floor * others, 0);
    s.has_caps = edge->n_caps > 0 && has_free_arm(&s);
    return s;
}

/* The most that an arm may have of the policy's own choices, as a share of all
 * decisions; infinity: it has no limit. */
static double limit_of(const shares *s, size_t arm)
{
    if (is_control(s, arm))
        return 0;
    for (size_t i = 0; s->has_caps && i < s->edge->n_caps; i++)
        if (s->edge->cap_arm[i] == arm)
            return fmax(s->edge->cap[i] - s->floor, 0);
    return INFINITY;
}

/* Arms without a limit; 0: only the control arm is there. */
static size_t n_unlimited(const shares *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->n; i++)
        count += isinf(limit_of(s, tarry__policy_choice(s->problem, i)));
    return count;
}

/* The probability with which the policy proposed this arm. */
static double proposal(const shares *s, size_t arm)
{
    const double p = s->type->probability != NULL
                         ? s->type->probability(s->state, s->round, s->proposed)
                         : 1;
    if (arm == s->proposed)
        return p;
    return p < 1 ? s->type->probability(s->state, s->round, arm) : 0;
}

/* The part of the policy's own choices of an arm that stays its own. */
static double kept(const shares *s, double p, double limit)
{
    return s->rest * p > limit ? limit / (s->rest * p) : 1;
}

/* What limited arms do not get of the policy's own choices. */
static double given_away(const shares *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->edge->n_caps + s->has_control; i++) {
        const size_t arm =
            i < s->edge->n_caps ? s->edge->cap_arm[i] : s->edge->control_arm;
        if (!tarry__policy_may_choose(s->problem, arm) ||
            (i < s->edge->n_caps && is_control(s, arm)))
            continue;
        const double p = proposal(s, arm);
        sum += s->rest * p * (1 - kept(s, p, limit_of(s, arm)));
    }
    return sum;
}

/* The probability of an arm in all. */
static double chance_of(const shares *s, size_t arm)
{
    const size_t others = n_unlimited(s);
    if (s->n == 1)
        return 1;
    if (is_control(s, arm))
        return s->control;
    const double p = proposal(s, arm), limit = limit_of(s, arm);
    if (isinf(limit))
        return s->floor + s->rest * p + given_away(s) / (double)others;
    return s->floor + fmin(s->rest * p, limit);
}

/* The place u, from 0 to below 1, among the arms that are no control arm, or
 * have no limit. */
static size_t pick(const shares *s, double u, bool unlimited)
{
    const size_t count =
        unlimited ? n_unlimited(s) : s->n - (size_t)s->has_control;
    size_t left = (size_t)fmin(u * (double)count, (double)count - 1);
    for (size_t i = 0;; i++) {
        const size_t arm = tarry__policy_choice(s->problem, i);
        if (unlimited ? !isinf(limit_of(s, arm)) : is_control(s, arm))
            continue;
        if (left-- == 0)
            return arm;
    }
}

/* What is played in place of the proposal, or the proposal. */
static size_t decide(const shares *s)
{
    double u[2];
    const tarry_random at = {.seed = s->problem->seed,
                             .run = s->problem->run,
                             .round = s->round,
                             .stream = TARRY__POLICY_STREAM_SHARES};
    tarry_random_uniform_pair(&at, u);
    if (s->n == 1)
        return s->proposed;
    if (u[0] < s->control)
        return s->edge->control_arm;
    const double others = (double)(s->n - s->has_control);
    if (u[0] - s->control < s->floor * others)
        return pick(s, (u[0] - s->control) / (s->floor * others), false);
    const double limit = limit_of(s, s->proposed);
    if (isinf(limit))
        return s->proposed;
    const double keep = kept(s, proposal(s, s->proposed), limit);
    return u[1] < keep ? s->proposed
                       : pick(s, (u[1] - keep) / (1 - keep), true);
}

/* The proposal is called off; false: there is no memory for it. */
static bool replace(const shares *s, size_t arm)
{
    if (s->type->cancel != NULL &&
        s->type->cancel(s->state, s->round, s->proposed) != TARRY_OK)
        return false;
    if (s->type->played != NULL)
        s->type->played(s->state, s->round, arm);
    return true;
}

tarry_status tarry__shares_choose(const tarry__policy_edge *edge,
                                  const tarry__policy_type *type, void *state,
                                  const tarry__policy_problem *problem,
                                  uint64_t round, tarry__shares_choice *last,
                                  size_t *arm)
{
    const tarry_status status = type->choose(state, round, arm);
    *last = (tarry__shares_choice){.chance = -1};
    if (status != TARRY_OK)
        return status;
    last->proposed = last->played = (uint32_t)*arm;
    if (!tarry__policy_has_shares(edge))
        return TARRY_OK;
    const shares s = look(edge, type, state, problem, round, *arm);
    const size_t played = decide(&s);
    if (played == *arm)
        return TARRY_OK;
    const double chance = chance_of(&s, played);
    if (!replace(&s, played))
        return TARRY_OK;
    last->played = (uint32_t)played;
    last->chance = chance;
    *arm = played;
    return TARRY_OK;
}

double tarry__shares_probability(const tarry__policy_edge *edge,
                                 const tarry__policy_type *type, void *state,
                                 const tarry__policy_problem *problem,
                                 uint64_t round,
                                 const tarry__shares_choice *last)
{
    const shares s = look(edge, type, state, problem, round, last->proposed);
    return last->chance >= 0                ? last->chance
           : tarry__policy_has_shares(edge) ? chance_of(&s, last->played)
                                            : proposal(&s, last->played);
}

/* ---- what is possible -----------------------------------------------------*/

static tarry_status no_arm(const char *what, uint32_t arm, size_t n_arms,
                           tarry_error *error)
{
    return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                            "%s: there is no arm %u: arms are numbered from 0 "
                            "to %zu",
                            what, (unsigned)arm, n_arms - 1);
}

tarry_status tarry__shares_check(const tarry__policy_edge *e, size_t n_arms,
                                 tarry_error *error)
{
    const bool has_control = e->control > 0;
    if (has_control && e->control_arm >= n_arms)
        return no_arm("control", e->control_arm, n_arms, error);
    const double sum =
        e->control + e->floor * (double)(n_arms - (size_t)has_control);
    if (sum > 1 + 1e-12)
        return tarry__base_fail(
            error, TARRY_BAD_ARGUMENT,
            "floor: %g for each of %zu arms and control's share are %g "
            "together, more than 1",
            e->floor, n_arms, sum);
    if (has_control && e->control < e->floor)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "control: its share, %g, is below the floor, "
                                "%g",
                                e->control, e->floor);
    if (n_arms <= e->n_caps + has_control && e->n_caps > 0)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "cap: one arm must be without a cap and no "
                                "control arm, to take what they do not get");
    for (size_t i = 0; i < e->n_caps; i++) {
        if (e->cap_arm[i] >= n_arms)
            return no_arm("cap", e->cap_arm[i], n_arms, error);
        if (e->cap[i] < e->floor)
            return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                    "cap: %g of arm %u is below the floor, %g",
                                    e->cap[i], (unsigned)e->cap_arm[i],
                                    e->floor);
        if (has_control && e->cap_arm[i] == e->control_arm)
            return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                    "cap: arm %u is the control arm, whose "
                                    "share is exact",
                                    (unsigned)e->cap_arm[i]);
    }
    return TARRY_OK;
}
