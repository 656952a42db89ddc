/* otf_linucb.c - optimism for losses that may never come: OTFLinUCB.
 *
 * Source: Vernade, Carpentier, Lattimore, Zappella, Ermis and Brueckner,
 * "Linear bandits with stochastic delayed feedback", 2020.  The text was not at
 * hand: what follows is its stated idea, and what its authors' program (a copy
 * published along with a later paper) was seen to do.
 *
 * Every play counts in V at once, a loss in b when it comes: what is missing
 * counts as 0 (the paper has rewards, of which a 0 is never shown; a loss in
 * [-1, 1] that is missing counts as 0 too).  Plays of the last m rounds may
 * still be missing; they bias theta by at most sum |a_s| in the norm of V, so
 * the width is beta + sum |a_s| over plays of the window, beta being as in
 * linucb.c and |a_s| its value at play s.
 *
 * The plays that are summed:
 * `width=printed`, the default, is paper and program: all of the window, for
 * there a 0 looks like a loss that has not come yet.
 * `width=outstanding` is ours: those whose loss has not come.  Here a loss
 * that has come is known to have come, so the rest bias nothing.
 *
 * The norms:
 * `form=program`, the default, is the authors' program: squared norms both in
 * the sum and in the index, <theta, a> - alpha (beta + sum |a_s|^2) |a|^2.  No
 * bound holds for it, and it explores far less than what is proved.
 * `form=paper` is Algorithm 1: <theta, a> - alpha (2 beta + sum |a_s|) |a|, the
 * 2 for the noise of the loss and that of its coming in time.  With
 * `width=outstanding` it is 1: a loss times its coming in time lies in [-1, 1].
 * Here |a_s| is its value right after play s, which is not below that of the
 * paper's, in today's V.
 *
 * A loss that comes after m rounds:
 * `late=count`, the default, is the program: it adds whatever it is handed to
 * b, however old (its simulator, not the policy, can withhold late losses).
 * `late=ignore` is the paper: it never counts.  So theta estimates the unknown
 * vector times the probability to come in time, which changes no argmin.  But
 * where low losses take longer than m, no low loss is ever heard of.
 * Algorithm 1 is thus `form=paper,late=ignore`. */
#include "base/base.h"
#include "policy/linear/linear.h"
#include "policy/linear/ucb.h"
#include "policy/linear/window.h"

#include <math.h>
#include <string.h>

typedef struct {
    tarry__ucb ucb; /* first, so that shared functions see it */
    tarry__window window;
    double radii; /* times beta */
} otf;

static const tarry_setting settings[] = {
    TARRY__RIDGE_SETTING,
    TARRY__LINEAR_ALPHA_SETTING,
    TARRY__WINDOW_SETTINGS,
    TARRY__SPEC_CHOICE("form", "program", "program|paper",
                       "squared norms, as in the authors' program, or norms, "
                       "as proved"),
    TARRY__SPEC_END,
};

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__policy_problem *problem,
                         const tarry__spec *spec, tarry_error *error)
{
    otf *s = state;
    enum { PROGRAM, PAPER };
    unsigned form;
    tarry_status status = tarry__spec_choice(spec, "form", &form, error);
    if (status == TARRY_OK)
        status = tarry__ucb_init(&s->ucb, type, problem, spec, error);
    if (status == TARRY_OK)
        status = tarry__window_init(&s->window, problem, spec, error);
    s->ucb.optimist.squared = form == PROGRAM;
    s->radii = form == PAPER && !s->window.outstanding ? 2 : 1;
    return status;
}

static void played(void *state, uint64_t round, size_t arm)
{
    otf *s = state;
    tarry__ucb *ucb = &s->ucb;
    const double q = tarry__ridge_variance(
        &ucb->ridge, ucb->problem->arms + arm * ucb->problem->dim);
    tarry__ucb_count(ucb, arm);
    /* once a is in V, its squared norm is q / (1 + q) */
    tarry__window_add(&s->window, round,
                      ucb->optimist.squared ? q : sqrt(q / (1 + q)));
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    otf *s = state;
    tarry__ucb *ucb = &s->ucb;
    const double width = s->radii * tarry__ucb_radius(ucb) + s->window.sum;
    *arm =
        tarry__optimist_choose(&ucb->optimist, &ucb->ridge, ucb->alpha * width);
    played(s, round, *arm);
    return TARRY_OK;
}

static tarry__policy_use observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    otf *s = state;
    if (!tarry__window_takes(&s->window, round))
        return TARRY__POLICY_IGNORED;
    tarry__window_arrive(&s->window, round);
    tarry__ucb_credit(&s->ucb, arm, loss);
    return TARRY__POLICY_USED;
}

static tarry_status cancel(void *state, uint64_t round, size_t arm)
{
    otf *s = state;
    tarry__window_close(&s->window, round);
    tarry__ucb_uncount(&s->ucb, arm);
    return TARRY_OK;
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a)
{
    otf *s = state;
    tarry__ucb_archive(&s->ucb, type, problem, a);
    tarry__window_archive(&s->window, problem, a);
    tarry__archive_field(a, s->radii);
}

static void clear(void *state)
{
    otf *s = state;
    tarry__ucb_clear(&s->ucb);
    tarry__window_clear(&s->window);
}

const tarry__policy_type tarry__linear_otf_linucb = {
    .name = "otf-linucb",
    .source = "Vernade et al. 2020",
    .summary = "optimism for losses that may never come",
    .settings = settings,
    .state_size = sizeof(otf),
    .init = init,
    .choose = choose,
    .observe = observe,
    .cancel = cancel,
    .status = tarry__ucb_status,
    .archive = archive,
    .clear = clear,
    .played = played,
    .narrowed = tarry__ucb_narrowed,
    .reserve = tarry__ucb_reserve,
    .rearranged = tarry__ucb_rearranged,
};
