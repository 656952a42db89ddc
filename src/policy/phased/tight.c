/* tight.c - constants=tight: the phases of phased.h with exact widths.
 *
 * M = ceil(log2 T), L = log(K M T), losses in [-1, 1] have proxy R = 1.  Phase
 * m plans N = 2 R^2 g L / eps^2 losses by a near design with measured g; b is
 * the empirically best arm, and a is cut iff <theta, a - b> - sum_c sigma(c)
 * |(a - b)' V^+ c| > R sqrt(2 L) |a - b|, with sigma(c) missing losses of arm c
 * and the norm of V^+.  Without features the same holds with unit vectors for
 * arms: N = 2 L / eps^2 of each.
 *
 * The same numbers bound the gap of b: it is at most the largest
 *     <theta, b - a> + sum_c sigma(c) |(a - b)' V^+ c| + R sqrt(2 L) |a - b|
 * over the arms a that were kept.  docs/algorithms.md has the proof that the
 * best arm is never cut and that all these bounds hold, with probability
 * 1 - 1/(2T). */
#include "policy/phased/phased.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "linalg/linalg.h"

/* ---- the plan -------------------------------------------------------------*/

double tarry__phased_tight_log(const tarry__policy_problem *problem,
                               double confidence, uint64_t ordinal,
                               bool replans)
{
    const double K = (double)problem->n_arms, T = (double)problem->horizon;
    const double m = (double)ordinal;
    const double M =
        ceil(tarry__log2(T)) + (replans ? 2 * TARRY__PHASED_MORE_SHARES : 0);
    return confidence > 0 ? tarry__ln(2 * K * m * (m + 1) / (1 - confidence))
                          : tarry__ln(K * M * T);
}

double tarry__phased_tight_quota(double g, double L, double epsilon)
{
    return 2 * g * L / (epsilon * epsilon);
}

static double log_of(const tarry__phased_task *task)
{
    return tarry__phased_tight_log(task->problem, task->confidence,
                                   task->ordinal, task->replans);
}

/* With a horizon the promise counts on M / 2 phases, M = ceil(log2 T): more do
 * not fit into it, unless design=regret plans very few plays. */
static bool is_beyond(const tarry__phased_task *task)
{
    return task->confidence == 0 &&
           (double)task->phase >
               ceil(tarry__log2((double)task->problem->horizon)) / 2;
}

/* N(b) = ceil(N w(b)); beyond the phases that the promise counts on, longer
 * than any game. */
static void set_targets(const tarry__phased_task *task, tarry__phased_plan *p)
{
    const bool beyond = is_beyond(task);
    for (size_t i = 0; i < p->n_entries; i++)
        tarry__phased_plan_target(
            p, i, beyond ? 0x1p40 : p->quota * p->entry[i].weight, 1);
}

static void measure(const tarry__phased_task *task, tarry__phased_plan *p)
{
    p->quota = tarry__phased_tight_quota(p->g, log_of(task), task->epsilon) *
               p->stretch;
    set_targets(task, p);
}

/* The arms with N > 0 become the plan. */
static tarry_status take_plays(tarry__phased_plan *p, const double *N)
{
    size_t count = 0;
    double sum = 0;
    for (size_t i = 0; i < p->n_active; i++) {
        count += N[i] > 0;
        sum += N[i];
    }
    const tarry_status status = tarry__phased_plan_open(p, count);
    if (status != TARRY_OK)
        return status;
    p->quota = sum;
    count = 0;
    for (size_t i = 0; i < p->n_active; i++)
        if (N[i] > 0)
            p->entry[count++] =
                (tarry_plan_entry){.arm = p->active[i], .weight = N[i] / sum};
    return TARRY_OK;
}

/* design=regret; the near design stays if the other needs more than twice as
 * much. */
static tarry_status plan_by_gaps(const tarry__phased_task *task,
                                 tarry__phased_plan *p)
{
    bool better;
    double *N = tarry__base_alloc(p->n_active, sizeof *N);
    if (N == NULL)
        return TARRY_NO_MEMORY;
    tarry_status status =
        tarry__phased_regret_plan(task, p, 2 * p->quota, N, &better);
    if (status == TARRY_OK && better)
        status = take_plays(p, N);
    tarry__base_free(N);
    return status;
}

/* Raises weights to 1/(4 psi), so that all arms are drawn soon.  What is added,
 * at most 1/4, takes as large a share from the others; N grows as much. */
static void balance(tarry__phased_plan *p)
{
    const double floor = 0.25 / (double)p->n_entries;
    double sum = 0;
    for (size_t i = 0; i < p->n_entries; i++)
        sum += fmax(p->entry[i].weight, floor);
    for (size_t i = 0; i < p->n_entries; i++)
        p->entry[i].weight = fmax(p->entry[i].weight, floor) / sum;
    p->stretch = sum;
    p->quota *= sum;
}

/* Plays of the arms whose weights were raised, before any are drawn: they are
 * few, and one would draw for long. */
static void play_rare(tarry__phased_plan *p)
{
    const double floor = 0.25 / (double)p->n_entries / p->stretch;
    for (size_t i = 0; i < p->n_entries; i++)
        if (p->entry[i].weight <= (1 + 1e-9) * floor)
            p->tally[i].left = p->entry[i].target;
}

static tarry_status plan(const tarry__phased_task *task, tarry__phased_plan *p)
{
    tarry_status status = task->algorithm->linear
                              ? tarry__phased_lay_near(task, p)
                              : tarry__phased_lay_all(task, p);
    p->stretch = 1;
    p->quota = tarry__phased_tight_quota(p->g, log_of(task), task->epsilon);
    if (status == TARRY_OK && task->by_regret)
        status = plan_by_gaps(task, p);
    if (status != TARRY_OK)
        return status;
    if (task->drawn)
        balance(p);
    set_targets(task, p);
    if (task->drawn)
        tarry__phased_plan_draw(p);
    if (task->drawn && task->by_regret)
        play_rare(p);
    return TARRY_OK;
}

/* ---- the judgement --------------------------------------------------------*/

/* What is known of <theta, a - b>. */
typedef struct {
    double middle, bracket, width; /* width is infinite: nothing */
} judgement;

static double plain_mean(const tarry__phased_plan *p, size_t arm)
{
    const size_t i = p->entry_of[arm];
    return p->tally[i].sum / (double)tarry__phased_count(p, i);
}

static judgement compare_plain(const tarry__phased_plan *p, size_t a, size_t b)
{
    const size_t i = p->entry_of[a], j = p->entry_of[b];
    const double n = (double)tarry__phased_count(p, i);
    const double m = (double)tarry__phased_count(p, j);
    return (judgement){.middle = plain_mean(p, a) - plain_mean(p, b),
                       .bracket = (n - (double)p->entry[i].observed) / n +
                                  (m - (double)p->entry[j].observed) / m,
                       .width = sqrt(1 / n + 1 / m)};
}

/* `x` has room for 2 n doubles. */
static judgement compare_linear(const tarry__phased *ph,
                                const tarry__phased_solution *s, size_t a,
                                size_t b, double *x)
{
    const size_t n = ph->problem->dim, rank = ph->plan.rank;
    judgement j = {0, 0, 0};
    for (size_t i = 0; i < n; i++)
        x[i] = s->scale *
               (ph->problem->arms[a * n + i] - ph->problem->arms[b * n + i]);
    if (!s->sees_plan ||
        !tarry__phased_spans(s->W, rank, n, s->column, x, x + n))
        return (judgement){0, 0, INFINITY};
    j.middle = tarry__linalg_dot(x, s->theta, n);
    tarry__linalg_times(s->W, rank, n, x, s->t);
    j.width = sqrt(tarry__linalg_dot(s->t, s->t, rank));
    if (s->n_missing > 0)
        tarry__linalg_transposed_times(s->missing, n, s->n_missing, x, s->t);
    for (size_t i = 0; i < s->n_missing; i++)
        j.bracket += fabs(s->t[i]);
    return j;
}

static size_t empirically_best(const tarry__phased *ph,
                               const tarry__phased_solution *s)
{
    const size_t n = ph->problem->dim;
    size_t best = ph->plan.active[0];
    double least = INFINITY;
    for (size_t i = 0; i < ph->plan.n_active; i++) {
        const size_t arm = ph->plan.active[i];
        const double mean =
            ph->algorithm->linear
                ? tarry__linalg_dot(ph->problem->arms + arm * n, s->theta, n)
                : plain_mean(&ph->plan, arm);
        if (mean < least) {
            least = mean;
            best = arm;
        }
    }
    return best;
}

/* All active arms against the best; `x` has room for 2 n doubles.  Widths that
 * are scaled by 0 are 0, but for what is not known at all. */
static void judge_all(const tarry__phased *ph, const tarry__phased_solution *s,
                      tarry__phased_verdict *v, double *x)
{
    const double factor =
        ph->choices.width *
        sqrt(2 * tarry__phased_tight_log(ph->problem, ph->confidence,
                                         ph->ordinal, ph->choices.cuts));
    const double enough = ph->rule->patience * ph->epsilon;
    v->exploit = empirically_best(ph, s);
    v->n_kept = 0;
    v->certificate = 0;
    v->settled = true;
    for (size_t i = 0; i < ph->plan.n_active; i++) {
        const size_t arm = ph->plan.active[i];
        if (arm == v->exploit) {
            v->kept[v->n_kept++] = (uint32_t)arm;
            continue;
        }
        const judgement j = ph->algorithm->linear
                                ? compare_linear(ph, s, arm, v->exploit, x)
                                : compare_plain(&ph->plan, arm, v->exploit);
        const double width = isinf(j.width) ? INFINITY : factor * j.width;
        if (j.middle - j.bracket > width)
            continue;
        v->kept[v->n_kept++] = (uint32_t)arm;
        v->certificate = fmax(v->certificate, width + j.bracket - j.middle);
        v->settled = v->settled && j.bracket <= enough;
    }
}

/* Arms to keep, two vectors, the solution. */
size_t tarry__phased_scratch_size(size_t dim, size_t n_entries, size_t n_active)
{
    return (n_active + 1) / 2 + 2 * dim +
           tarry__phased_solution_size(dim, n_entries);
}

static tarry_status judge_linear(const tarry__phased *ph,
                                 tarry_estimate *estimates,
                                 tarry__phased_verdict *v, double *memory)
{
    tarry__phased_solution s;
    if (!tarry__phased_solution_find(ph->problem, &ph->plan,
                                     memory + 2 * ph->problem->dim, &s))
        return TARRY_TARGET_NOT_MET;
    s.column = ph->books.column;
    s.sees_plan =
        tarry__phased_spans_plan(ph->problem, &ph->plan, s.W, s.column, memory);
    judge_all(ph, &s, v, memory);
    if (estimates != NULL)
        tarry__phased_bracket_all(ph->problem, &ph->plan, &s, estimates);
    return TARRY_OK;
}

static tarry_status judge(const tarry__phased *ph, tarry_estimate *estimates,
                          tarry__phased_verdict *v)
{
    const size_t kept = (ph->plan.n_active + 1) / 2;
    if (ph->algorithm->linear)
        return judge_linear(ph, estimates, v, ph->plan.scratch + kept);
    judge_all(ph, NULL, v, NULL);
    if (estimates != NULL)
        tarry__phased_estimate_mab(&ph->plan, estimates);
    return TARRY_OK;
}

/* Whether what is missing no longer matters.  Looks only now and then: when a
 * tenth of it has come. */
static tarry_status is_settled(tarry__phased *ph, bool *settled)
{
    tarry__phased_plan *p = &ph->plan;
    tarry__phased_verdict v = {.kept = (uint32_t *)p->scratch};
    *settled = p->missing <= p->n_given_up; /* nothing more will come */
    if (*settled || p->missing > p->look_at)
        return TARRY_OK;
    const tarry_status status = judge(ph, NULL, &v);
    if (status != TARRY_OK)
        return status;
    *settled = v.settled;
    if (!v.settled) /* else the phase ends, perhaps in a second try */
        p->look_at = p->missing - (p->missing + 9) / 10;
    return TARRY_OK;
}

/* ---- the rules ------------------------------------------------------------*/

/* Where delays do not look at losses and nobody else plays, all losses count:
 * how many there are does not depend on what they are. */
const tarry__phased_rule tarry__phased_tight_full = {
    .certifies = true,
    .counting = TARRY__PHASED_COUNT_ALL,
    .patience = 0,
    .plan = plan,
    .measure = measure,
    .judge = judge,
    .has_enough = tarry__phased_is_full,
};

/* Elsewhere missing losses are bracketed; */
const tarry__phased_rule tarry__phased_tight_bracketed = {
    .certifies = true,
    .counting = TARRY__PHASED_COUNT_FIRST,
    .patience = 1,
    .plan = plan,
    .measure = measure,
    .judge = judge,
    .has_enough = is_settled,
};

/* a guide's plays make it cheap to wait for them. */
const tarry__phased_rule tarry__phased_tight_guided = {
    .certifies = true,
    .counting = TARRY__PHASED_COUNT_FIRST,
    .patience = 0.25,
    .plan = plan,
    .measure = measure,
    .judge = judge,
    .has_enough = is_settled,
};
