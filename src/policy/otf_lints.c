/* otf_lints.c - Thompson sampling for losses that may be censored: OTFLinTS.
 *
 * Source: as otf_linucb.c, whose estimate it shares: V of all plays, b of the
 * losses that came within m rounds.  From the stated idea.
 *
 * Round t draws theta ~ N(theta_hat, v^2 (1 + B) V^-1), B being the sum of
 * |a_s|^2 (V^-1 at play s) over the plays of the window whose loss has not come: the
 * variance grows by what those may still bring.  (The authors' program sums
 * over the whole window, and divides by 1 + B, estimate included, where the
 * idea is to multiply; early on it draws too little.) */
#include <math.h>
#include "rivals.h"
#include "sampler.h"
#include "window.h"

typedef struct {
    tarry__sampler sampler; /* first, so that shared functions see it */
    tarry__window window;
} otf;

static const tarry__setting settings[] = {
    TARRY__RIDGE_SETTING,
    {"v", "1", "standard deviation of the noise it assumes"},
    TARRY__WINDOW_SETTING,
    {NULL, NULL, NULL},
};

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__problem *problem,
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
    const double q =
        tarry__ridge_variance(&s->sampler.ridge, arm_at(s, arm));
    tarry__ridge_count(&s->sampler.ridge, arm_at(s, arm));
    tarry__window_add(&s->window, round, q);
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    otf *s = state;
    *arm = tarry__sampler_draw(&s->sampler, round,
                               s->sampler.v * sqrt(1 + s->window.sum));
    played(s, round, *arm);
    return TARRY_OK;
}

static tarry__use observe(void *state, uint64_t round, size_t arm, double loss)
{
    otf *s = state;
    if (!tarry__window_open(&s->window, round))
        return TARRY__IGNORED;
    tarry__window_close(&s->window, round);
    tarry__ridge_credit(&s->sampler.ridge, arm_at(s, arm), loss);
    return TARRY__USED;
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__problem *problem, tarry__archive *a)
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

const tarry__policy_type tarry__otf_lints = {
    .name = "otf-lints",
    .source = "Vernade et al. 2020",
    .summary = "Thompson sampling for losses that may never come",
    .settings = settings,
    .state_size = sizeof(otf),
    .init = init,
    .choose = choose,
    .observe = observe,
    .status = tarry__sampler_status,
    .archive = archive,
    .clear = clear,
    .played = played,
    .narrowed = tarry__sampler_narrowed,
};
