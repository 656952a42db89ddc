/* foresight.c - the policy that learns from what has not arrived.
 *
 * Four ideas, a file each: the noise an arm can have (fit.h), plays that are
 * outstanding count for what to ask next and information is sought about the
 * most doubtful difference (doubt.h), and what is missing is itself news
 * (waiting.h, law.h).  view.h makes them independent of the features' units.
 *
 * An estimate is made anew when there is one per cent more of plays and losses
 * together than at the last. */
#include "policy/foresight/doubt.h"

#include "policy/coins.h"
#include "policy/foresight/foresight.h"

typedef struct {
    const tarry__policy_problem *problem;
    tarry__view view;
    tarry__fit fit;
    tarry__waiting waiting;
    tarry__doubt doubt;
    uint64_t renew_at; /* plays and losses */
    uint32_t stale;
    size_t n_arms; /* for which the parts have memory */
    double chance; /* probability of the last choice */
    tarry__coins coins;
} foresight;

static const double GROWTH = 0.01;

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("beta", "0.6", 0, 1e6,
                     "factor of the squared width of doubts"),
    TARRY__SPEC_REAL("c", "1.2", 0, 1e6,
                     "share of the rounds ahead that may repay a question"),
    TARRY__SPEC_CHOICE(
        "delays", "any", "any|independent|payoff",
        "independent of losses: nothing is read into what is missing; "
        "payoff: the later the higher"),
    TARRY__SPEC_END,
};

static tarry_status open_parts(foresight *s,
                               const tarry__policy_problem *problem)
{
    s->problem = problem;
    s->n_arms = problem->n_arms;
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

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__policy_problem *problem,
                         const tarry__spec *spec, tarry_error *error)
{
    foresight *s = state;
    (void)type;
    tarry_status status = tarry__spec_real(spec, "beta", &s->doubt.beta, error);
    if (status == TARRY_OK)
        status = tarry__spec_real(spec, "c", &s->doubt.c, error);
    if (status == TARRY_OK)
        status = tarry__spec_choice(spec, "delays", &s->fit.delays, error);
    return status == TARRY_OK ? open_parts(s, problem) : TARRY_BAD_ARGUMENT;
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
    const size_t place = tarry__doubt_choose(&s->doubt, round, u);
    const tarry__doubt *d = &s->doubt;
    s->chance = d->calm || d->best == d->other ? 1
                : place == d->other            ? d->share
                                               : 1 - d->share;
    *arm = tarry__policy_choice(s->problem, place);
    played(s, round, *arm);
    return TARRY_OK;
}

/* A default that a later report may replace at any age says nothing but that
 * none has come: the play stays outstanding. */
static bool stays_open(const foresight *s, double loss)
{
    const tarry__policy_default *rule = &s->problem->default_outcome;
    return rule->declared && !rule->final && rule->after == 0 &&
           loss == rule->loss;
}

static tarry__policy_use observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    foresight *s = state;
    if (stays_open(s, loss))
        return TARRY__POLICY_USED;
    const size_t seat = tarry__fit_loss(&s->fit, arm, loss);
    tarry__waiting_end(&s->waiting, round, seat,
                       tarry__fit_high_share(&s->fit, loss));
    return TARRY__POLICY_USED;
}

static void revise(void *state, uint64_t round, size_t arm, double old,
                   double loss)
{
    foresight *s = state;
    const tarry__policy_default *rule = &s->problem->default_outcome;
    if (stays_open(s, old)) {
        observe(s, round, arm, loss);
        return;
    }
    const size_t seat = tarry__fit_revise(&s->fit, arm, old, loss);
    tarry__waiting_revise(&s->waiting, round, seat,
                          tarry__fit_high_share(&s->fit, old),
                          tarry__fit_high_share(&s->fit, loss),
                          rule->declared && old == rule->loss);
}

static tarry_status cancel(void *state, uint64_t round, size_t arm)
{
    foresight *s = state;
    tarry__waiting_cancel(&s->waiting, round, tarry__fit_cancel(&s->fit, arm));
    return TARRY_OK;
}

static double probability(void *state, uint64_t round, size_t arm)
{
    const foresight *s = state;
    const tarry__doubt *d = &s->doubt;
    (void)round;
    if (s->chance == 1)
        return 1;
    return arm == tarry__policy_choice(s->problem, d->other)  ? d->share
           : arm == tarry__policy_choice(s->problem, d->best) ? 1 - d->share
                                                              : 0;
}

static void narrowed(void *state)
{
    foresight *s = state;
    tarry__view_narrow(&s->view);
    s->stale = 1;
    s->doubt.best = s->doubt.other = 0;
}

static void close_parts(foresight *s)
{
    tarry__view_clear(&s->view);
    tarry__fit_clear(&s->fit);
    tarry__waiting_clear(&s->waiting);
    tarry__doubt_clear(&s->doubt);
}

static tarry_status reserve(void *state, size_t n_arms)
{
    (void)state, (void)n_arms; /* parts are made anew */
    return TARRY_OK;
}

/* A new arm: the parts are opened for all arms, and what was seen is carried
 * over; the estimate follows from that. */
static tarry_status rearranged(void *state)
{
    foresight *s = state, old = *s;
    if (s->n_arms == s->problem->n_arms) {
        narrowed(s);
        return TARRY_OK;
    }
    s->view = (tarry__view){0};
    s->fit = (tarry__fit){.delays = old.fit.delays};
    s->waiting = (tarry__waiting){0};
    s->doubt = (tarry__doubt){.beta = old.doubt.beta, .c = old.doubt.c};
    const tarry_status status = open_parts(s, old.problem);
    if (status == TARRY_OK) {
        tarry__fit_copy(&s->fit, &old.fit, old.n_arms);
        tarry__waiting_copy(&s->waiting, &old.waiting);
        narrowed(s);
        close_parts(&old);
    } else {
        close_parts(s);
        *s = old;
    }
    return status;
}

static void status(const void *state, tarry_policy_status *status)
{
    const foresight *s = state;
    status->best = tarry__policy_choice(s->problem, s->doubt.best);
    status->silence = s->fit.silence;
    status->silent_since = s->waiting.silent ? s->waiting.heard : 0;
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a)
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
    tarry__archive_field(a, s->chance);
    s->n_arms = problem->n_arms;
}

static void clear(void *state)
{
    close_parts(state);
}

const tarry__policy_type tarry__foresight = {
    .name = "foresight",
    .source = "this project",
    .any_delays = true,
    .summary = "information-directed, learning from what has not arrived too",
    .settings = settings,
    .state_size = sizeof(foresight),
    .init = init,
    .choose = choose,
    .observe = observe,
    .revise = revise,
    .cancel = cancel,
    .probability = probability,
    .reserve = reserve,
    .rearranged = rearranged,
    .status = status,
    .archive = archive,
    .clear = clear,
    .played = played,
    .narrowed = narrowed,
};
