/* foresight.c - the policy that learns from what has not arrived.
 *
 * Four ideas, a file each: the noise an arm can have (fit.h), plays that are
 * outstanding count for what to ask next and information is sought about the
 * most doubtful difference (doubt.h), and what is missing is itself news
 * (waiting.h).  view.h makes them independent of the features' units.
 *
 * An estimate is made anew when there are 0.3 per cent more losses, or rounds,
 * than at the last. */
#include "doubt.h"

#include "policy/coins.h"
#include "policy/rivals.h"

typedef struct {
    const tarry__problem *problem;
    tarry__view view;
    tarry__fit fit;
    tarry__waiting waiting;
    tarry__doubt doubt;
    uint64_t renew_at; /* plays and losses */
    uint32_t stale;
    tarry__coins coins;
} foresight;

static double GROWTH = 0.003;

static const tarry__setting settings[] = {
    {"lambda", "1", "weight of the regulariser"},
    {"beta", "0.5", "factor of the width"},
    {"c", "1", "share of the remaining rounds that may repay a question"},
    {"floor", "0", "least width, per logarithm of the round"},
    {"kappa","1",""},{"ahead","1e9",""},{"eb","0",""},{"steps", "1", ""},{"growth", "0.01", ""},
    {"delays", "any", "any, or independent: nothing is read into what is missing"},
    {NULL, NULL, NULL},
};

static tarry_status open_parts(foresight *s, const tarry__problem *problem)
{
    s->problem = problem;
    tarry_status status = tarry__view_open(&s->view, problem);
    if (status == TARRY_OK)
        status = tarry__fit_open(&s->fit, &s->view);
    if (status == TARRY_OK)
        status = tarry__waiting_open(&s->waiting, problem);
    if (status == TARRY_OK)
        status = tarry__doubt_open(&s->doubt, &s->fit);
    s->stale = 1;
    return status;
}

#include <string.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__problem *problem, const tarry__spec *spec,
                         tarry_error *error)
{
    foresight *s = state;
    (void)type;
    const tarry_status status = open_parts(s, problem);
    if (status != TARRY_OK)
        return status;
    if (tarry__spec_real(spec, "lambda", 1e-6, 1e6, &s->fit.lambda, error) ||
        tarry__spec_real(spec, "beta", 0, 1e3, &s->doubt.beta, error) ||
        tarry__spec_real(spec, "c", 0, 1e9, &s->doubt.c, error) ||
        tarry__spec_real(spec, "floor", 0, 1e3, &s->doubt.floor, error))
        return TARRY_BAD_ARGUMENT;
    tarry__spec_real(spec, "kappa", 0, 1e3, &s->doubt.kappa, error);
    tarry__spec_real(spec, "ahead", 0, 1e12, &s->doubt.ahead, error);
    tarry__spec_real(spec, "eb", 0, 1e12, &s->fit.eb, error);
    tarry__spec_real(spec, "steps", 0, 1e3, &s->fit.steps, error);
    tarry__spec_real(spec, "growth", 0, 1e3, &GROWTH, error);
    s->fit.trusting =
        strcmp(tarry__spec_text(spec, "delays"), "independent") == 0;
    return TARRY_OK;
}

static uint64_t grown(uint64_t count)
{
    const uint64_t more = (uint64_t)(GROWTH * (double)count);
    return count + (more > 0 ? more : 1);
}

static void renew(foresight *s)
{
    s->stale = !tarry__fit_renew(&s->fit, &s->waiting);
    tarry__doubt_renew(&s->doubt);
    s->renew_at = grown(s->fit.arrived + s->fit.played);
}

static void played(void *state, uint64_t round, size_t arm)
{
    foresight *s = state;
    const size_t seat = tarry__fit_play(&s->fit, arm);
    tarry__waiting_play(&s->waiting, round, seat);
    tarry__doubt_play(&s->doubt, arm);
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    foresight *s = state;
    double u, v;
    if (s->stale || s->fit.arrived + s->fit.played >= s->renew_at)
        renew(s);
    tarry__coins_of(&s->coins, s->problem, round, &u, &v);
    *arm = tarry__choice(s->problem, tarry__doubt_choose(&s->doubt, round, u));
    played(s, round, *arm);
    return TARRY_OK;
}

static tarry__use observe(void *state, uint64_t round, size_t arm, double loss)
{
    foresight *s = state;
    const size_t seat = tarry__fit_loss(&s->fit, arm, loss);
    tarry__waiting_end(&s->waiting, round, seat,
                       tarry__fit_high_share(&s->fit, loss));
    return TARRY__USED;
}

static void narrowed(void *state)
{
    foresight *s = state;
    tarry__view_narrow(&s->view);
    s->stale = 1;
    s->doubt.best = 0;
}

static void status(const void *state, tarry_policy_status *status)
{
    const foresight *s = state;
    status->best = tarry__choice(s->problem, s->doubt.best);
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__problem *problem, tarry__archive *a)
{
    foresight *s = state;
    (void)type;
    s->problem = problem;
    if (a->loading && a->status == TARRY_OK)
        a->status = tarry__view_open(&s->view, problem);
    if (a->status != TARRY_OK)
        return;
    tarry__fit_archive(&s->fit, &s->view, a);
    tarry__waiting_archive(&s->waiting, problem, a);
    tarry__doubt_archive(&s->doubt, &s->fit, a);
    tarry__archive_field(a, s->renew_at);
    tarry__archive_field(a, s->stale);
}

static void clear(void *state)
{
    foresight *s = state;
/*DBG*/
    if (getenv("FS_DEBUG") && s->doubt.P) {
        size_t K = s->problem->n_arms; const double *mu = s->problem->means;
        size_t bt = 0; if (mu) for (size_t k = 0; k < K; k++) if (mu[k] < mu[bt]) bt = k;
        fprintf(stderr, "best true %zu mu %.4f; est best %zu mu %.4f spread %.3f range %.3f %.3f calm %d\n", bt, mu?mu[bt]:0, tarry__choice(s->problem,s->doubt.best), mu?mu[tarry__choice(s->problem,s->doubt.best)]:0, s->fit.spread, s->fit.low, s->fit.high, s->doubt.calm);
        for (size_t k = 0; k < K; k++) if (k == bt || s->fit.tally[k].plays > 100) fprintf(stderr, "  arm %zu plays %lu arr %lu mean %.4f est %.4f mu %.4f gap %.4f sd %.4f z %.2f\n", k, s->fit.tally[k].plays, s->fit.tally[k].arrivals, s->fit.tally[k].sum/(1e-9+s->fit.tally[k].arrivals), s->doubt.mean[k], mu?mu[k]:0, s->doubt.gap[k], sqrt(s->doubt.w[k]), s->doubt.gap[k]/sqrt(s->doubt.w[k]+1e-30));
    }
/*DBGEND*/
    tarry__view_clear(&s->view);
    tarry__fit_clear(&s->fit);
    tarry__waiting_clear(&s->waiting);
    tarry__doubt_clear(&s->doubt);
}

const tarry__policy_type tarry__foresight = {
    .name = "foresight",
    .source = "this project",
    .summary = "information-directed, learning from what has not arrived too",
    .settings = settings,
    .state_size = sizeof(foresight),
    .init = init,
    .choose = choose,
    .observe = observe,
    .status = status,
    .archive = archive,
    .clear = clear,
    .played = played,
    .narrowed = narrowed,
};
