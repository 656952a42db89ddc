/* linucb_inflated.c - optimism whose width pays for every outstanding loss.
 *
 * Source: after Zhou, Xu and Blanchet, "Learning in generalized linear
 * contextual bandits with stochastic delays", 2019, in the linear case, and its
 * longer form, Blanchet, Xu and Zhou, "Delay-adaptive learning in generalized
 * linear contextual bandits", 2024; from the stated idea, of the texts only the
 * abstracts were at hand.
 *
 * V holds all plays, b the losses that have arrived; a missing loss counts as
 * 0.  With G of them missing the estimate is off by V^-1 times the sum of their
 * a <a, theta>, whose norm in V is at most sqrt(G), since the missing a a' are
 * part of V and |<a, theta>| <= 1.  So the width is beta + sqrt(G), beta as in
 * linucb.c.
 *
 * Uncertain: constants; the paper's width has them from its own concentration
 * bound.  This one is valid for |<a, theta>| <= 1 and any delays that do not
 * depend on losses. */
#include <math.h>
#include "policy/linear/linear.h"
#include "policy/linear/ucb.h"

typedef struct {
    tarry__ucb ucb; /* first, so that shared functions see it */
    uint64_t outstanding;
} inflated;

static const tarry_setting settings[] = {
    TARRY__RIDGE_SETTING,
    TARRY__LINEAR_ALPHA_SETTING,
    TARRY__SPEC_END,
};

static void played(void *state, uint64_t round, size_t arm)
{
    inflated *s = state;
    (void)round;
    tarry__ucb_count(&s->ucb, arm);
    s->outstanding++;
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    inflated *s = state;
    const double width =
        tarry__ucb_radius(&s->ucb) + sqrt((double)s->outstanding);
    *arm = tarry__optimist_choose(&s->ucb.optimist, &s->ucb.ridge,
                                  s->ucb.alpha * width);
    played(s, round, *arm);
    return TARRY_OK;
}

static tarry__policy_use observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    inflated *s = state;
    (void)round;
    tarry__ucb_credit(&s->ucb, arm, loss);
    s->outstanding--;
    return TARRY__POLICY_USED;
}

static void revise(void *state, uint64_t round, size_t arm, double old,
                   double loss)
{
    (void)round;
    tarry__ucb_credit(&((inflated *)state)->ucb, arm, loss - old);
}

static tarry_status cancel(void *state, uint64_t round, size_t arm)
{
    inflated *s = state;
    (void)round;
    tarry__ucb_uncount(&s->ucb, arm);
    s->outstanding--;
    return TARRY_OK;
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a)
{
    inflated *s = state;
    tarry__ucb_archive(&s->ucb, type, problem, a);
    tarry__archive_field(a, s->outstanding);
    tarry__archive_require(a, s->outstanding <= problem->horizon);
}

const tarry__policy_type tarry__linear_linucb_inflated = {
    .name = "linucb-inflated",
    .source = "after Zhou et al. 2019, Blanchet et al. 2024",
    .summary = "optimism with a width that grows with what is outstanding",
    .settings = settings,
    .state_size = sizeof(inflated),
    .init = tarry__ucb_init,
    .choose = choose,
    .observe = observe,
    .revise = revise,
    .cancel = cancel,
    .status = tarry__ucb_status,
    .archive = archive,
    .clear = tarry__ucb_clear,
    .played = played,
    .narrowed = tarry__ucb_narrowed,
    .reserve = tarry__ucb_reserve,
    .rearranged = tarry__ucb_rearranged,
};
