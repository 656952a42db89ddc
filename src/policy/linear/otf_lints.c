/* otf_lints.c - Thompson sampling for losses that may never come: OTFLinTS.
 *
 * Source: as otf_linucb.c, whose estimate, window and settings `width` and
 * `late` it shares.  From the stated idea and what the authors' program was
 * seen to do.
 *
 * Round t draws theta ~ N(theta_hat, v^2 (1 + B) V^-1), B being a sum over
 * plays of the window: the variance grows by what they may still bring.  Play s
 * adds |a_s|^2 / (1 + B), its norm in V^-1 right after it.
 *
 * The program draws from N(theta_hat / (1 + B), V^-1 / (1 + B)), which is the
 * same law but for a factor, and a factor changes no argmin.  With
 * `width=outstanding` and no delay B is 0 and the policy is lints. */
#include <math.h>
#include "policy/linear/linear.h"
#include "policy/linear/sampler.h"
#include "policy/linear/window.h"

typedef struct {
    tarry__sampler sampler; /* first, so that shared functions see it */
    tarry__window window;
} otf;

static const tarry_setting settings[] = {
    TARRY__RIDGE_SETTING,
    TARRY__SPEC_REAL("v", "1", 0, 1e6,
                     "standard deviation of the noise it assumes"),
    TARRY__WINDOW_SETTINGS,
    TARRY__SPEC_END,
};

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__policy_problem *problem,
                         const tarry__spec *spec, tarry_error *error)
{
    otf *s = state;
    const tarry_status status =
        tarry__sampler_init(&s->sampler, type, problem, spec, error);
    return status == TARRY_OK
               ? tarry__window_init(&s->window, problem, spec, error)
               : status;
}

static const double *arm_at(const otf *s, size_t arm)
{
    return s->sampler.problem->arms + arm * s->sampler.problem->dim;
}

static void played(void *state, uint64_t round, size_t arm)
{
    otf *s = state;
    const double q = tarry__ridge_variance(&s->sampler.ridge, arm_at(s, arm));
    tarry__ridge_count(&s->sampler.ridge, arm_at(s, arm));
    /* once a is in V, its squared norm is q / (1 + q) */
    tarry__window_add(&s->window, round, q / (1 + q) / (1 + s->window.sum));
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    otf *s = state;
    *arm = tarry__sampler_draw(&s->sampler, round,
                               s->sampler.v * sqrt(1 + s->window.sum));
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
    tarry__ridge_credit(&s->sampler.ridge, arm_at(s, arm), loss);
    return TARRY__POLICY_USED;
}

static double probability(void *state, uint64_t round, size_t arm)
{
    otf *s = state;
    return tarry__sampler_share(&s->sampler, round, arm, true);
}

static tarry_status cancel(void *state, uint64_t round, size_t arm)
{
    otf *s = state;
    tarry__window_close(&s->window, round);
    tarry__ridge_uncount(&s->sampler.ridge, arm_at(s, arm));
    return TARRY_OK;
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a)
{
    otf *s = state;
    tarry__sampler_archive(&s->sampler, type, problem, a);
    tarry__window_archive(&s->window, problem, a);
}

static void clear(void *state)
{
    otf *s = state;
    tarry__sampler_clear(&s->sampler);
    tarry__window_clear(&s->window);
}

const tarry__policy_type tarry__linear_otf_lints = {
    .name = "otf-lints",
    .source = "Vernade et al. 2020",
    .summary = "Thompson sampling for losses that may never come",
    .settings = settings,
    .state_size = sizeof(otf),
    .init = init,
    .choose = choose,
    .observe = observe,
    .probability = probability,
    .cancel = cancel,
    .status = tarry__sampler_status,
    .archive = archive,
    .clear = clear,
    .played = played,
    .narrowed = tarry__sampler_narrowed,
    .reserve = tarry__sampler_reserve,
    .rearranged = tarry__sampler_rearranged,
};
