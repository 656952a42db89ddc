/* bound.c - the theorems' right-hand sides; docs/bounds.md derives each.
 *
 * If every phase lasts at most alpha N_m + beta rounds and gaps in it are at
 * most 8 eps, the phase that the horizon cuts short among them,
 *     R_T <= 8 beta + 32 sqrt(3 alpha n T log(KT)) + 4.
 * With L = log(psi M T), the union over the psi arms of a design and the M
 * phases that can begin:
 * Algorithm 1, stochastic:          alpha = 4/q,
 *     beta = (2/q)(L + 1)/w_min + max_a Q(q; a), for the best q;
 * Algorithm 1, adversarial and equal for all arms:
 *     alpha = 2, beta = 2 (L + 1)/w_min + sigma;
 * Algorithm 2:  alpha = 2, beta = sigma (1 + log sigma); with stochastic delays
 *     sigma <= 2 sum_k max_a P(d(a) >= k) + 8 log T, which for one law of all
 *     arms is 2 E[d] + 8 log T (Lemma "missing to delay mean");
 * Algorithm 3:  sum over phases of (16 + 16 sqrt 2) eps (2 N_m + max_a Q(1 -
 *     eps/(3 sqrt n); a)), + 4;
 * Algorithm 4:  sum over phases of 20 eps (K N_m + max_a Q(1 - eps/3; a)), + 4.
 * w_min of later phases is not known beforehand; the design's promise is used:
 * 1/(2 psi) with psi = 16 + 4 n log log n.
 *
 * Lower bounds, from the proofs: with probability 1/2 the first dbar/q rounds
 * miss the best arm and cost at least 1 - q each; with probability 1/2 the
 * first D/20 rounds do, at 1/20 each.  A shorter game has fewer of them. */
#include "bound/horizon.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "bound/tight.h"
#include "sim/sim.h"

static double largest_tail(const tarry__world *w, double d)
{
    double largest = 0;
    for (size_t a = 0; a < w->instance.n_arms; a++)
        largest = fmax(largest, tarry__delay_tail(&w->delay, a, (uint64_t)d));
    return largest;
}

/* The sum over k >= 1 of max_a P(d(a) >= k): what plays of any arms, however
 * chosen, can leave outstanding on average.  Where one arm is later than all
 * others at any k that is its mean.  Taken in steps of 0.1 %, each as if the
 * tail did not fall within it, down to the precision of numbers. */
static double largest_mean(const tarry__world *w)
{
    double largest = 0, sum = 0, step, tail = 1;
    for (size_t a = 0; a < w->instance.n_arms; a++)
        largest = fmax(largest, tarry__delay_mean(&w->delay, a));
    if (!isfinite(largest) || !w->delay.type->crossing)
        return largest;
    for (double k = 1; tail > 0x1p-52 && k < TARRY__DELAY_LONGEST; k += step) {
        step = fmax(1, floor(k / 1000));
        tail = largest_tail(w, k);
        sum += step * tail;
    }
    return sum;
}

double tarry__bound_largest_quantile(const tarry__world *w, double q)
{
    const size_t n_laws =
        tarry__delay_dependence(&w->delay) == TARRY__DELAY_BY_NOTHING
            ? 1
            : w->instance.n_arms;
    uint64_t largest = 0;
    for (size_t a = n_laws; a-- > 0 && largest != TARRY__DELAY_NEVER;)
        largest = tarry__delay_quantile_above(&w->delay, a, q, largest);
    return largest == TARRY__DELAY_NEVER ? INFINITY : (double)largest;
}

double tarry__bound_wait(const tarry__bound_question *s, size_t slot, double q)
{
    if (isnan(s->waits[slot]))
        s->waits[slot] = tarry__bound_largest_quantile(s->world, q);
    return s->waits[slot];
}

double tarry__bound_wait_by_phase(const tarry__bound_question *s, double eps,
                                  double share)
{
    return tarry__bound_wait(s, (size_t)-ilogb(eps), 1 - eps / share);
}

static tarry__policy_problem problem_of(const tarry__bound_question *s)
{
    const tarry__instance *in = &s->world->instance;
    return (tarry__policy_problem){.n_arms = in->n_arms,
                                   .dim = in->dim,
                                   .arms = in->arms,
                                   .horizon = (uint64_t)s->T,
                                   .means = in->mean};
}

/* N of a phase whose design has this smallest weight. */
static double quota(const tarry__bound_question *s, double eps,
                    double min_weight)
{
    if (s->tight)
        return tarry__tight_quota(s, eps);
    const tarry__policy_problem problem = problem_of(s);
    tarry__phased_task task =
        tarry__phased_first_task(&problem, s->phased, &s->choices);
    task.epsilon = eps;
    return s->phased->quota(&task, min_weight);
}

/* ---- upper bounds ---------------------------------------------------------*/

static double regret_of_phases(const tarry__bound_question *s, double alpha,
                               double beta)
{
    return 8 * beta + 32 * sqrt(3 * alpha * s->n * s->T * s->log_kt) + 4;
}

/* log(psi M T): all arms of all designs at once. */
static double log_of_all(const tarry__bound_question *s, const tarry__bound *b)
{
    const double psi = fmin(0.5 / s->promised_weight, s->K);
    return tarry__ln(psi * (double)b->n_phases * s->T);
}

/* The best q: by the bound, which for constants=tight may be the same for many,
 * and then by the paper's. */
static void stochastic(const tarry__bound_question *s, tarry__bound *b)
{
    const double log_all = log_of_all(s, b);
    double least = INFINITY;
    b->upper_by = "Theorem (loss-independent stochastic delay), Algorithm 1";
    b->upper = b->beta = INFINITY;
    for (size_t i = 1; i <= TARRY__BOUND_SHARES; i++) {
        const double q = (double)i / TARRY__BOUND_SHARES, alpha = 4 / q;
        const double beta = 2 / q * (log_all + 1) / s->promised_weight +
                            tarry__bound_wait(s, i, q);
        const double paper = regret_of_phases(s, alpha, beta);
        const double regret = s->tight && !s->guided && isfinite(beta)
                                  ? tarry__bound_tight_alone(s, b, alpha, beta)
                                  : paper;
        if (regret < b->upper || (regret == b->upper && paper < least)) {
            b->upper = regret;
            least = paper;
            b->alpha = alpha;
            b->beta = beta;
            b->q = q;
        }
    }
}

static void by_alpha_beta(const tarry__bound_question *s, tarry__bound *b,
                          double beta)
{
    b->alpha = 2;
    b->beta = beta;
    b->upper = regret_of_phases(s, 2, beta);
}

double tarry__bound_sweeps(double sigma)
{
    return sigma < 1 ? sigma : sigma * (1 + tarry__ln(sigma));
}

double tarry__bound_sigma(const tarry__bound_question *s)
{
    return s->world->adversary == NULL
               ? 2 * s->late_mean + 8 * tarry__ln(s->T)
               : (double)tarry__adversary_budget(s->world->adversary);
}

static void adversarial(const tarry__bound_question *s,
                        tarry__env_delay_model model, tarry__bound *b)
{
    const double sigma = tarry__bound_sigma(s);
    if (s->algorithm == 2) {
        b->upper_by = "Theorem (loss-independent adversarial delay), "
                      "Algorithm 2";
        by_alpha_beta(s, b, tarry__bound_sweeps(sigma));
    } else if (model == TARRY__ENV_ADVERSARIAL) {
        b->upper_by = "Theorem (adversarial delay equal for all arms), "
                      "Algorithm 1";
        by_alpha_beta(s, b,
                      2 * (log_of_all(s, b) + 1) / s->promised_weight + sigma);
    }
}

/* Algorithms 3 and 4: phase by phase. */
static void loss_dependent(const tarry__bound_question *s, tarry__bound *b)
{
    const double gap = s->algorithm == 3 ? 16 + 16 * sqrt(2) : 20;
    b->upper_by = s->algorithm == 3
                      ? "Theorem (loss-dependent delay), Algorithm 3"
                      : "Theorem (MAB, loss-dependent delay), Algorithm 4";
    b->upper = 4;
    for (size_t m = 0; m < b->n_phases; m++)
        b->upper += gap * b->phase[m].epsilon * b->phase[m].longest;
}

static double longest(const tarry__bound_question *s, const tarry__bound *b,
                      double eps, double N)
{
    if (s->algorithm <= 2)
        return isfinite(b->upper) ? b->alpha * N + b->beta : INFINITY;
    const double plays = s->algorithm == 3 ? 2 * N : s->K * N;
    const double late = s->algorithm == 3 ? 3 * sqrt(s->n) : 3;
    if (s->world->adversary == NULL)
        return plays + tarry__bound_wait_by_phase(s, eps, late);
    const uint64_t rounds = tarry__adversary_longest(s->world->adversary);
    return rounds < UINT64_MAX ? plays + (double)rounds : INFINITY;
}

/* Phases that can begin before the horizon: each lasts its N at least.  The
 * second term of Algorithm 3's N is an upper bound from phase 2 on, so only the
 * first counts for that; and N of Algorithm 4 before rounding up, so that their
 * number does not fall where T rises. */
static void list_phases(const tarry__bound_question *s, tarry__bound *b)
{
    double eps = 0.5, start = 0;
    for (b->n_phases = 0; b->n_phases < TARRY__BOUND_PHASES && start < s->T;
         eps /= 2) {
        const double N = quota(
            s, eps, b->n_phases == 0 ? b->min_weight : s->promised_weight);
        const bool rounded = s->phased->per_arm && !s->tight;
        b->phase[b->n_phases++] =
            (tarry__bound_phase){eps, rounded ? ceil(N) : N, INFINITY};
        if (s->tight)
            start += N;
        else
            start +=
                s->algorithm == 4 ? 2 * N : 16 * s->n * s->log_kt / (eps * eps);
    }
}

static void measure_phases(const tarry__bound_question *s, tarry__bound *b)
{
    for (size_t m = 0; m < b->n_phases; m++) {
        tarry__bound_phase *p = &b->phase[m];
        p->longest = longest(s, b, p->epsilon, p->quota);
    }
}

void tarry__bound_find_upper(const tarry__bound_question *s, tarry__bound *b)
{
    static const char *const names[] = {
        [TARRY__ENV_STOCHASTIC] = "stochastic, equal for all arms",
        [TARRY__ENV_STOCHASTIC_BY_ARM] = "stochastic, per arm",
        [TARRY__ENV_ADVERSARIAL] = "adversarial, equal for all arms",
        [TARRY__ENV_ADVERSARIAL_BY_ARM] = "adversarial, per arm",
        [TARRY__ENV_LOSS_DEPENDENT] = "loss-dependent",
    };
    const tarry__env_delay_model model = tarry__world_model(s->world);
    const bool by_chance =
        model == TARRY__ENV_STOCHASTIC || model == TARRY__ENV_STOCHASTIC_BY_ARM;
    b->model = names[model];
    b->upper = INFINITY;
    b->spare = 0;
    list_phases(s, b);
    if (s->algorithm == 1 && by_chance)
        stochastic(s, b);
    else if (s->algorithm <= 2 && model != TARRY__ENV_LOSS_DEPENDENT)
        adversarial(s, model, b);
    if (s->tight && (b->upper_by != NULL || s->algorithm >= 3)) {
        b->upper_by = "the paper's phases with exact widths "
                      "(docs/algorithms.md)";
        tarry__bound_tight(s, model, b);
        return;
    }
    measure_phases(s, b);
    if (s->algorithm >= 3 && (by_chance || model == TARRY__ENV_LOSS_DEPENDENT))
        loss_dependent(s, b);
}

/* ---- the first phase ------------------------------------------------------*/

/* The smallest T whose first phase, which grows with log T, fits into it.  The
 * plan's arms and weights do not depend on T. */
static double horizon_needed(const tarry__phased_rule *rule,
                             const tarry__phased_task *first,
                             tarry__phased_plan *plan)
{
    tarry__policy_problem problem = *first->problem;
    tarry__phased_task task = *first;
    double low = 2, high = 1e15;
    task.problem = &problem;
    while (high - low > 1) {
        const double T = floor((low + high) / 2);
        problem.horizon = (uint64_t)T;
        rule->measure(&task, plan);
        if ((double)tarry__phased_plan_plays(plan) <= T)
            high = T;
        else
            low = T;
    }
    return high;
}

static void note_plan(const tarry__phased_plan *plan, tarry__bound_question *s,
                      tarry__bound *b)
{
    s->rank = fmax((double)plan->rank, 1);
    s->first_g = plan->g;
    s->first_stretch = plan->stretch;
    b->min_weight = 1;
    b->support = (double)plan->n_entries;
    b->first_phase = (double)tarry__phased_plan_plays(plan);
    for (size_t i = 0; i < plan->n_entries; i++)
        b->min_weight = fmin(b->min_weight, plan->entry[i].weight);
}

/* The plan with which the policy itself begins. */
static tarry_status plan_first(tarry__bound_question *s, tarry__bound *b,
                               tarry_error *error)
{
    const tarry__policy_problem problem = problem_of(s);
    const tarry__phased_rule *rule =
        tarry__phased_rule_of(s->phased, &s->choices);
    const tarry__phased_task task =
        tarry__phased_first_task(&problem, s->phased, &s->choices);
    tarry__phased_plan plan;
    tarry_status status = tarry__phased_plan_begin(&plan, problem.n_arms);
    if (status == TARRY_OK)
        status = tarry__phased_plan_make(rule, &task, &plan);
    if (status == TARRY_OK) {
        note_plan(&plan, s, b);
        b->horizon_needed = horizon_needed(rule, &task, &plan);
    } else {
        tarry__base_fail(error, status, "the design failed: %s",
                         tarry_status_text(status));
    }
    tarry__phased_plan_clear(&plan);
    return status;
}

/* ---- lower bounds ---------------------------------------------------------*/

static void find_lower(const tarry__bound_question *s, tarry__bound *b)
{
    const tarry__delay *delay = &s->world->delay;
    if (delay->type != NULL && delay->type->lower_bound != NULL)
        b->lower = delay->type->lower_bound(delay->state, s->T, &b->lower_by);
}

/* Whether the guide of a description could play. */
static tarry_status check_guide(const tarry__bound_question *q,
                                const tarry__spec *spec, tarry_error *error)
{
    tarry__guide guide = {0};
    const tarry__policy_problem problem = problem_of(q);
    const tarry_status status = tarry__guide_open(
        &guide, &problem, tarry__spec_text(spec, "guide"), error);
    tarry__guide_clear(&guide);
    return status;
}

static tarry_status read_practice(const tarry__spec *spec,
                                  tarry__bound_question *q, tarry_error *error)
{
    const tarry__phased_choices *c = &q->choices;
    const tarry_status status =
        q->phased->read(q->phased, spec, &q->choices, error);
    if (status != TARRY_OK)
        return status == TARRY_BAD_ARGUMENT ? TARRY_BAD_INPUT : status;
    q->tight = c->tight;
    q->regret = c->regret;
    q->guided = c->guided;
    q->share = c->share;
    if (!q->guided)
        return TARRY_OK;
    return q->tight ? check_guide(q, spec, error)
                    : tarry__base_fail(error, TARRY_BAD_INPUT,
                                       "bounds with a guide are for "
                                       "constants=tight");
}

static const char *meaning_of(const char *policy, tarry__policy_delays delays)
{
    const tarry__policy_type *type = tarry__policy_type_find(policy);
    return type != NULL && type->stands_for != NULL ? type->stands_for(delays)
                                                    : NULL;
}

/* Which of the paper's four a description names, and how; its settings must be
 * right. */
static tarry_status read_policy(const char *policy, tarry__bound_question *q,
                                tarry_error *error)
{
    static const tarry__policy_type *const types[] = {
        &tarry__phased_stochastic, &tarry__phased_adversarial,
        &tarry__phased_loss_dependent, &tarry__phased_mab};
    tarry__policy_description d;
    tarry_status status = tarry__policy_read(
        policy, NULL, tarry__sim_delays(q->world, NULL), &d, error);
    if (status != TARRY_OK)
        return status;
    for (int i = 0; i < 4; i++)
        if (d.type == types[i])
            q->algorithm = i + 1;
    if (q->algorithm > 0) {
        q->phased = d.type->rule;
        status = read_practice(&d.spec, q, error);
    } else {
        status =
            tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                             "no bound is known for policy '%s'", d.type->name);
    }
    tarry__policy_description_clear(&d);
    return status;
}

tarry_status tarry__bound_evaluate(const tarry__world *world,
                                   const char *policy, uint64_t horizon,
                                   tarry__bound *bound, tarry_error *error)
{
    const tarry__instance *in = &world->instance;
    const double n = (double)in->dim, K = (double)in->n_arms;
    const double loglog = n > 2 ? fmax(tarry__ln(tarry__ln(n)), 0) : 0;
    tarry__bound_question s = {.world = world,
                               .n = n,
                               .K = K,
                               .T = (double)horizon,
                               .log_kt = tarry__ln(K * (double)horizon),
                               .promised_weight =
                                   1 / (2 * floor(16 + 4 * n * loglog))};
    double waits[TARRY__BOUND_SHARES + 1];
    tarry_status status;
    for (size_t i = 0; i <= TARRY__BOUND_SHARES; i++)
        waits[i] = NAN;
    s.waits = waits;
    memset(bound, 0, sizeof *bound);
    bound->meaning = meaning_of(policy, tarry__sim_delays(world, NULL));
    if ((status = read_policy(policy, &s, error)) ||
        (status = plan_first(&s, bound, error)))
        return status;
    if (s.algorithm == 2 && world->adversary == NULL &&
        tarry__world_model(world) != TARRY__ENV_LOSS_DEPENDENT)
        s.late_mean = largest_mean(world);
    if (s.tight) /* weights are raised to 1/(5 psi), psi <= r (r + 1)/2 */
        s.promised_weight = 0.4 / (s.rank * (s.rank + 1));
    tarry__bound_find_upper(&s, bound);
    bound->useful_from = 0;
    if (bound->upper_by != NULL && !(bound->upper <= 2 * s.T))
        bound->useful_from = tarry__bound_useful_from(&s, bound);
    find_lower(&s, bound);
    return TARRY_OK;
}
