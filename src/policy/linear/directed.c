/* directed.c - see directed.h. */
#include "policy/linear/directed.h"

#include <math.h>
#include <string.h>
#include "base/base.h"

/* Memory for the problem's arms, and what the rule prepares. */
static tarry_status open_memory(tarry__directed_state *s,
                                const tarry__policy_problem *problem)
{
    tarry__directed *d = &s->directed;
    const size_t K = problem->n_arms;
    d->problem = problem;
    d->room = s->rule->room != NULL ? s->rule->room(problem->dim, K) : 0;
    d->weights = tarry__base_zalloc(5 * K + d->room, sizeof *d->weights);
    if (d->weights == NULL)
        return TARRY_NO_MEMORY;
    d->sum = d->weights + K;
    d->mean = d->sum + K;
    d->cost = d->mean + K;
    d->info = d->cost + K;
    d->work = d->info + K;
    return s->rule->prepare != NULL ? s->rule->prepare(d) : TARRY_OK;
}

tarry_status tarry__directed_init(void *state, const tarry__policy_type *type,
                                  const tarry__policy_problem *problem,
                                  const tarry__spec *spec, tarry_error *error)
{
    tarry__directed_state *s = state;
    tarry__directed *d = &s->directed;
    s->rule = type->rule;
    tarry_status status =
        tarry__ridge_init_by(&d->seen, problem->dim, spec, error);
    if (status == TARRY_OK)
        status = tarry__ridge_init_by(&d->asked, problem->dim, spec, error);
    if (status == TARRY_OK &&
        tarry__spec_real(spec, "alpha", &d->alpha, error) != TARRY_OK)
        status = TARRY_BAD_ARGUMENT;
    if (status == TARRY_OK && s->rule->read != NULL)
        status = s->rule->read(d, spec, error);
    return status == TARRY_OK ? open_memory(s, problem) : status;
}

void tarry__directed_clear(void *state)
{
    tarry__directed_state *s = state;
    tarry__ridge_clear(&s->directed.seen);
    tarry__ridge_clear(&s->directed.asked);
    tarry__base_free(s->directed.weights);
}

/* ---- weights --------------------------------------------------------------*/

void tarry__directed_mix(tarry__directed *d)
{
    const size_t count = tarry__policy_n_choices(d->problem);
    size_t cheap = 0, other = 0;
    double least = INFINITY, best_share = 0;
    for (size_t i = 1; i < count; i++)
        if (d->cost[i] < d->cost[cheap])
            cheap = i;
    for (size_t i = 0; i < count; i++) {
        const double gap = d->cost[i] - d->cost[cheap];
        const double more = d->info[i] - d->info[cheap];
        double share = more > 0 ? 1 : 0;
        if (more > 0 && gap > 0)
            share = fmin(
                fmax(d->cost[cheap] / gap - 2 * d->info[cheap] / more, 0), 1);
        const double cost = d->cost[cheap] + share * gap;
        const double ratio = cost * cost / (d->info[cheap] + share * more);
        if (ratio < least) { /* not if there is no information */
            least = ratio;
            other = i;
            best_share = share;
        }
    }
    if (!(least < INFINITY)) { /* nothing tells of anything */
        for (size_t i = 0; i < count; i++)
            d->weights[i] = 1;
        return;
    }
    d->weights[cheap] = 1 - best_share;
    d->weights[other] += best_share;
}

static void weigh(tarry__directed_state *s, uint64_t round)
{
    tarry__directed *d = &s->directed;
    const size_t count = tarry__policy_n_choices(d->problem);
    memset(d->weights, 0, count * sizeof *d->weights);
    for (size_t i = 0; i < count; i++)
        d->mean[i] = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < d->seen.n; j++)
            d->mean[i] += tarry__directed_arm(d, i)[j] * d->seen.theta[j];
    s->rule->weigh(d, round);
}

static uint64_t next_renewal(uint64_t events)
{
    return events + 1 + events / 100;
}

static void renew(tarry__directed_state *s, uint64_t round)
{
    tarry__directed *d = &s->directed;
    double sum = 0;
    weigh(s, round);
    for (size_t i = 0; i < tarry__policy_n_choices(d->problem); i++)
        d->sum[i] = sum += d->weights[i];
    d->renew_at = next_renewal(d->events);
}

/* The first arm whose running sum exceeds u of the whole. */
static size_t draw(const tarry__directed *d, double u)
{
    size_t low = 0, high = tarry__policy_n_choices(d->problem) - 1;
    const double at = u * d->sum[high];
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (d->sum[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- rounds ---------------------------------------------------------------*/

void tarry__directed_played(void *state, uint64_t round, size_t arm)
{
    tarry__directed *d = &((tarry__directed_state *)state)->directed;
    (void)round;
    tarry__ridge_count(&d->asked, d->problem->arms + arm * d->problem->dim);
    d->events++;
}

tarry_status tarry__directed_choose(void *state, uint64_t round, size_t *arm)
{
    tarry__directed_state *s = state;
    tarry__directed *d = &s->directed;
    double u, v;
    if (d->events >= d->renew_at)
        renew(s, round);
    tarry__coins_of(&d->coins, d->problem, round, &u, &v);
    *arm = tarry__policy_choice(d->problem, draw(d, u));
    tarry__directed_played(s, round, *arm);
    return TARRY_OK;
}

tarry__policy_use tarry__directed_observe(void *state, uint64_t round,
                                          size_t arm, double loss)
{
    tarry__directed *d = &((tarry__directed_state *)state)->directed;
    (void)round;
    tarry__ridge_learn(&d->seen, d->problem->arms + arm * d->problem->dim,
                       loss);
    d->events++;
    return TARRY__POLICY_USED;
}

tarry_status tarry__directed_cancel(void *state, uint64_t round, size_t arm)
{
    tarry__directed *d = &((tarry__directed_state *)state)->directed;
    (void)round;
    tarry__ridge_uncount(&d->asked, d->problem->arms + arm * d->problem->dim);
    d->events++;
    return TARRY_OK;
}

/* What its running sum adds to the one before, of the whole. */
static double share_of(const tarry__directed *d, size_t i)
{
    const double before = i > 0 ? d->sum[i - 1] : 0;
    return (d->sum[i] - before) /
           d->sum[tarry__policy_n_choices(d->problem) - 1];
}

/* With weights from other draws. */
static double share_of_other(tarry__directed_state *s, uint64_t round, size_t i)
{
    tarry__directed *d = &s->directed;
    double sum = 0;
    weigh(s, round);
    for (size_t k = 0; k < tarry__policy_n_choices(d->problem); k++)
        sum += d->weights[k];
    return d->weights[i] / sum;
}

/* The weights of an earlier round were known in this one; those made in it are
 * one of many that its draws could have given. */
double tarry__directed_probability(void *state, uint64_t round, size_t arm)
{
    tarry__directed_state *s = state;
    tarry__directed *d = &s->directed;
    size_t i = 0;
    while (i + 1 < tarry__policy_n_choices(d->problem) &&
           tarry__policy_choice(d->problem, i) != arm)
        i++;
    double share = share_of(d, i);
    if (!s->rule->draws || d->renew_at != next_renewal(d->events - 1))
        return share;
    for (d->other = 1; d->other <= TARRY_PROBABILITY_DRAWS; d->other++)
        share += share_of_other(s, round, i);
    d->other = 0;
    return share / (TARRY_PROBABILITY_DRAWS + 1);
}

tarry_status tarry__directed_reserve(void *state, size_t n_arms)
{
    (void)state, (void)n_arms; /* all of it is made anew */
    return TARRY_OK;
}

tarry_status tarry__directed_rearranged(void *state)
{
    tarry__directed_state *s = state;
    tarry__directed_state old = *s;
    tarry__directed *d = &s->directed;
    const size_t n = d->problem->dim;
    const bool wider = d->seen.n != n;
    tarry_status status = TARRY_OK;
    if (wider) {
        status = tarry__ridge_widen(&old.directed.seen, n, &d->seen);
        d->asked = (tarry__ridge){0};
    }
    if (wider && status == TARRY_OK)
        status = tarry__ridge_widen(&old.directed.asked, n, &d->asked);
    d->weights = NULL;
    if (status == TARRY_OK)
        status = open_memory(s, d->problem);
    d->renew_at = 0;
    tarry__directed *loser = status == TARRY_OK ? &old.directed : d;
    tarry__base_free(loser->weights);
    if (wider) {
        tarry__ridge_clear(&loser->seen);
        tarry__ridge_clear(&loser->asked);
    }
    if (status != TARRY_OK)
        *s = old;
    return status;
}

void tarry__directed_narrowed(void *state)
{
    tarry__directed *d = &((tarry__directed_state *)state)->directed;
    d->renew_at = 0;
}

void tarry__directed_status(const void *state, tarry_policy_status *status)
{
    const tarry__directed *d =
        &((const tarry__directed_state *)state)->directed;
    status->best = tarry__ridge_best(&d->seen, d->problem);
}

void tarry__directed_archive(void *state, const tarry__policy_type *type,
                             const tarry__policy_problem *problem,
                             tarry__archive *a)
{
    tarry__directed_state *s = state;
    tarry__directed *d = &s->directed;
    s->rule = type->rule;
    tarry__ridge_archive(&d->seen, problem->dim, a);
    tarry__ridge_archive(&d->asked, problem->dim, a);
    if (a->loading && a->status == TARRY_OK)
        a->status = open_memory(s, problem);
    if (a->status != TARRY_OK)
        return;
    tarry__archive_bytes(a, d->sum, problem->n_arms * sizeof *d->sum);
    tarry__archive_field(a, d->alpha);
    if (s->rule->read != NULL)
        tarry__archive_field(a, d->share);
    tarry__archive_field(a, d->events);
    tarry__archive_field(a, d->renew_at);
}
