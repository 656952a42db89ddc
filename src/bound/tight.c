/* tight.c - what constants=tight promises, phase by phase.
 *
 * In phase m every active arm has a gap of at most gap(m) and the phase lasts
 * at most longest(m) rounds; gaps fall from phase to phase, so the regret is at
 * most that of phases which all last as long as they may, plus 2 for the case
 * that has probability 1/(2T).  docs/algorithms.md has the proofs of
 *   gap(1) = 2, gap(m) = (8 + 6 k) eps, k eps being the largest bracket that is
 *     not waited for: 0 where none are needed, 1, or 1/4 with a guide; with
 *     design=regret, (32 + 6 k) eps;
 *   longest(m): Algorithm 1 by itself as in the paper, alpha N + beta;
 *     Algorithm 2, N + sigma (1 + log sigma);
 *     Algorithms 3 and 4, N + Q(1 - eps / (68 sqrt g)), or Q(1 - eps / 48);
 *     with a guide, 2 (1 + c) N, the 2 for a phase that is left to the guide
 *     because it would end too late (3 with cuts=always, for one that is
 *     planned anew), and Q(1 - 1/(T N)), which costs 2 for the
 *     case that a delay is longer, or, with an adversary, (1 + c) sigma (1 +
 * log sigma). N counts the rounding up of each N(b).  design=regret may need
 * twice the N of the near design, and phase 1 may wait for (1 + c) N rounds. */
#include "base/elementary.h"
#include "bound/tight.h"

#include <math.h>

double tarry__tight_quota(const tarry__bound_question *q, double eps)
{
    const bool first = eps == 0.5; /* its design is known */
    const double rank = q->algorithm == 4 ? q->K : 1.001 * q->rank;
    const double drawn = q->algorithm == 1 && !q->guided ? 1.25 : 1;
    const double g = first ? q->first_g : drawn * rank;
    const tarry__policy_problem problem = {.n_arms = q->world->instance.n_arms,
                                           .horizon = (uint64_t)q->T};
    const uint64_t m = (uint64_t)lround(-tarry__log2(eps));
    const double L = tarry__phased_tight_log(
        &problem, q->choices.confidence,
        m + (q->choices.cuts ? TARRY__PHASED_MORE_SHARES : 0), q->choices.cuts);
    return tarry__phased_tight_quota(g, L, eps) *
           (first ? q->first_stretch : 1);
}

/* Plays that a phase plans: one more per arm of the design at most. */
static double planned(const tarry__bound_question *q, double N)
{
    const double support =
        q->algorithm == 4 ? q->K : q->rank * (q->rank + 1) / 2;
    return (q->regret ? 2 * N : N) + fmin(support, q->K);
}

static bool is_by_chance(tarry__env_delay_model model)
{
    return model == TARRY__ENV_STOCHASTIC ||
           model == TARRY__ENV_STOCHASTIC_BY_ARM;
}

/* The probability at which a delay is not waited for: 1/(T N), if 1 less that
 * is a number below 1. */
static double tail(const tarry__bound_question *q, double plays)
{
    return fmax(1 / (q->T * plays), 0x1p-50);
}

/* How often the length of a guided plan may pass in one phase. */
static double repeats(const tarry__bound_question *q)
{
    return q->choices.cuts ? 3 : 2;
}

static double longest_guided(const tarry__bound_question *q,
                             tarry__env_delay_model model, double eps, double N)
{
    const double plays = planned(q, N);
    const double warm = q->regret && eps == 0.5 ? (1 + q->share) * plays : 0;
    const bool waits = q->algorithm >= 3;
    double wait = INFINITY;
    if (q->world->adversary == NULL)
        wait = is_by_chance(model) || waits
                   ? tarry__bound_largest_quantile(q->world, 1 - tail(q, plays))
                   : INFINITY;
    else if (!waits)
        wait = (1 + q->share) * tarry__bound_sweeps(tarry__bound_sigma(q));
    return warm + repeats(q) * (1 + q->share) * plays + wait;
}

static double longest_alone(const tarry__bound_question *q,
                            tarry__env_delay_model model, const tarry__bound *b,
                            double eps, double N)
{
    const double plays = planned(q, N);
    if (q->algorithm == 1)
        return b->alpha * plays + b->beta;
    if (q->algorithm == 2)
        return model == TARRY__ENV_LOSS_DEPENDENT
                   ? INFINITY
                   : plays + tarry__bound_sweeps(tarry__bound_sigma(q));
    if (q->world->adversary != NULL)
        return INFINITY;
    const double rare = q->algorithm == 3 ? 68 * sqrt(1.001 * q->rank) : 48;
    return plays + tarry__bound_wait_by_phase(q, eps, rare);
}

/* The largest gap of an arm that is active in a phase. */
static double gap_of(const tarry__bound_question *q, double eps)
{
    const double bracket = q->guided ? 0.25 : q->algorithm >= 3 ? 1 : 0;
    const double gap = ((q->regret ? 32 : 8) + 6 * bracket) * eps;
    return eps == 0.5 ? 2 : fmin(gap, 2);
}

/* The promise is broken with a probability, at 2 a round. */
static double price_of_failure(const tarry__bound_question *q)
{
    return q->choices.confidence > 0 ? 2 * q->T * (1 - q->choices.confidence)
                                     : 2;
}

/* The rounds of a phase that lasts as long as it may, or the rest. */
static double rounds_of(double longest, double *rest)
{
    const double rounds = fmin(longest, *rest);
    *rest -= rounds;
    return rounds;
}

double tarry__bound_tight_alone(const tarry__bound_question *q,
                                const tarry__bound *b, double alpha,
                                double beta)
{
    double rest = q->T, upper = price_of_failure(q);
    for (size_t m = 0; m < b->n_phases; m++) {
        const double longest = alpha * planned(q, b->phase[m].quota) + beta;
        upper += gap_of(q, b->phase[m].epsilon) * rounds_of(longest, &rest);
    }
    return upper;
}

/* With a guide a delay may be longer than is waited for after all; a phase that
 * is not reached at this T may be at a smaller one. */
static void allow_for_delays(const tarry__bound_question *q, double N,
                             bool reached, tarry__bound *b)
{
    const double plays = planned(q, N);
    const double price = 2 * q->T * plays * tail(q, plays);
    if (reached)
        b->upper += price;
    else
        b->spare += price;
}

void tarry__bound_tight(const tarry__bound_question *q,
                        tarry__env_delay_model model, tarry__bound *b)
{
    double rest = q->T;
    b->upper = price_of_failure(q);
    for (size_t m = 0; m < b->n_phases; m++) {
        tarry__bound_phase *p = &b->phase[m];
        p->longest = q->guided
                         ? longest_guided(q, model, p->epsilon, p->quota)
                         : longest_alone(q, model, b, p->epsilon, p->quota);
        const double rounds = rounds_of(p->longest, &rest);
        b->upper += gap_of(q, p->epsilon) * rounds;
        if (q->guided)
            allow_for_delays(q, p->quota, rounds > 0, b);
    }
    if (q->guided || q->algorithm == 2) {
        b->alpha = (q->guided ? 1 + q->share : 1) * (q->regret ? 2 : 1);
        b->beta = b->phase[0].longest -
                  (q->guided ? repeats(q) : 1) * b->alpha * b->phase[0].quota;
    }
}
