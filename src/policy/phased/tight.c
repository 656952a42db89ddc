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
#include "linalg/linalg.h"

double tarry__phased_tight_log(double n_arms, double horizon)
{
    return log(n_arms * ceil(log2(horizon)) * horizon);
}

/* What is known of <theta, a - b>. */
typedef struct {
    double middle, bracket, width;
} judgement;

static double plain_mean(const tarry__phased *ph, size_t arm)
{
    const size_t i = ph->entry_of[arm];
    return ph->tally[i].sum / (double)tarry__phased_count(ph, i);
}

static judgement compare_plain(const tarry__phased *ph, size_t a, size_t b)
{
    const size_t i = ph->entry_of[a], j = ph->entry_of[b];
    const double n = (double)tarry__phased_count(ph, i);
    const double m = (double)tarry__phased_count(ph, j);
    return (judgement){.middle = plain_mean(ph, a) - plain_mean(ph, b),
                       .bracket = (n - (double)ph->plan[i].observed) / n +
                                  (m - (double)ph->plan[j].observed) / m,
                       .width = sqrt(1 / n + 1 / m)};
}

/* `x` has room for n doubles. */
static judgement compare_linear(const tarry__phased *ph,
                                const tarry__phased_solution *s, size_t a,
                                size_t b, double *x)
{
    const size_t n = ph->problem->dim;
    judgement j = {0, 0, 0};
    for (size_t i = 0; i < n; i++)
        x[i] = s->scale *
               (ph->problem->arms[a * n + i] - ph->problem->arms[b * n + i]);
    j.middle = tarry__linalg_dot(x, s->theta, n);
    tarry__linalg_times(s->W, ph->rank, n, x, s->t);
    j.width = sqrt(tarry__linalg_dot(s->t, s->t, ph->rank));
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
    size_t best = ph->active[0];
    double least = INFINITY;
    for (size_t i = 0; i < ph->n_active; i++) {
        const size_t arm = ph->active[i];
        const double mean =
            ph->rule->linear
                ? tarry__linalg_dot(ph->problem->arms + arm * n, s->theta, n)
                : plain_mean(ph, arm);
        if (mean < least) {
            least = mean;
            best = arm;
        }
    }
    return best;
}

/* All active arms against the best; `x` has room for n doubles. */
static void judge(const tarry__phased *ph, const tarry__phased_solution *s,
                  tarry__phased_verdict *v, double *x)
{
    const double L = tarry__phased_tight_log((double)ph->problem->n_arms,
                                             (double)ph->problem->horizon);
    const double factor = ph->practice.width * sqrt(2 * L);
    const double enough =
        tarry__phased_is_guided(ph) ? ph->epsilon / 4 : ph->epsilon;
    v->exploit = empirically_best(ph, s);
    v->n_kept = 0;
    v->certificate = 0;
    v->settled = true;
    for (size_t i = 0; i < ph->n_active; i++) {
        const size_t arm = ph->active[i];
        if (arm == v->exploit) {
            v->kept[v->n_kept++] = (uint32_t)arm;
            continue;
        }
        const judgement j = ph->rule->linear
                                ? compare_linear(ph, s, arm, v->exploit, x)
                                : compare_plain(ph, arm, v->exploit);
        if (j.middle - j.bracket > factor * j.width)
            continue;
        v->kept[v->n_kept++] = (uint32_t)arm;
        v->certificate =
            fmax(v->certificate, factor * j.width + j.bracket - j.middle);
        v->settled = v->settled && j.bracket <= enough;
    }
}

/* The kept arms, a vector, the solution. */
size_t tarry__phased_tight_room(size_t dim, size_t n_plan, size_t n_active)
{
    return (n_active + 1) / 2 + dim + tarry__phased_solution_size(dim, n_plan);
}

static bool judge_linear(const tarry__phased *ph, tarry_estimate *estimates,
                         tarry__phased_verdict *v, double *memory)
{
    tarry__phased_solution s;
    if (!tarry__phased_solution_find(ph, memory + ph->problem->dim, &s))
        return false;
    tarry__linalg_blas_quiet_begin();
    judge(ph, &s, v, memory);
    if (estimates != NULL)
        tarry__phased_bracket_all(ph, &s, estimates);
    tarry__linalg_blas_quiet_end();
    return true;
}

tarry_status tarry__phased_tight_judge(const tarry__phased *ph,
                                       tarry_estimate *estimates,
                                       tarry__phased_verdict *v)
{
    v->kept = (uint32_t *)ph->room;
    if (ph->rule->linear)
        return judge_linear(ph, estimates, v, ph->room + (ph->n_active + 1) / 2)
                   ? TARRY_OK
                   : TARRY_TARGET_NOT_MET;
    judge(ph, NULL, v, NULL);
    if (estimates != NULL)
        tarry__phased_estimate_mab(ph, estimates);
    return TARRY_OK;
}

tarry_status tarry__phased_tight_is_settled(tarry__phased *ph, bool *settled)
{
    tarry__phased_verdict v;
    *settled = false;
    if (ph->missing > ph->look_at)
        return TARRY_OK;
    const tarry_status status = tarry__phased_tight_judge(ph, NULL, &v);
    if (status != TARRY_OK)
        return status;
    *settled = v.settled;
    if (!v.settled) /* else the phase ends, perhaps in a second try */
        ph->look_at = ph->missing - (ph->missing + 9) / 10;
    return TARRY_OK;
}
