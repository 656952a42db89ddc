/* paper.c - phases by the paper's constants.
 *
 * N(b) = ceil(N w(b)), or N of each arm where each is learned for itself, with
 * N and the share of it that must arrive from the algorithm.  At the end lower
 * and upper estimates (estimate.c) say which arms stay: a is kept iff lower(a)
 * - min_b upper(b) <= cut eps. */
#include "base/elementary.h"
#include "policy/phased/phased.h"

#include <math.h>

/* For ever, phase m has 1/(m(m+1)) of the probability of failure. */
double tarry__phased_log_t(const tarry__phased_task *task)
{
    const double m = (double)task->ordinal;
    return task->confidence > 0
               ? tarry__ln(m * (m + 1) / (1 - task->confidence))
               : tarry__ln((double)task->problem->horizon);
}

double tarry__phased_log_kt(const tarry__phased_task *task)
{
    const double K = (double)task->problem->n_arms;
    return task->confidence > 0 ? tarry__ln(K) + tarry__phased_log_t(task)
                                : tarry__ln(K * (double)task->problem->horizon);
}

double tarry__phased_quota(const tarry__phased_task *task, double min_weight)
{
    (void)min_weight;
    return 16 * (double)task->problem->dim * tarry__phased_log_kt(task) /
           (task->epsilon * task->epsilon);
}

double tarry__phased_share_all(const tarry__phased_task *task)
{
    (void)task;
    return 1;
}

static double smallest_weight(const tarry__phased_plan *p)
{
    double smallest = 1;
    for (size_t i = 0; i < p->n_entries; i++)
        smallest = fmin(smallest, p->entry[i].weight);
    return smallest;
}

void tarry__phased_paper_measure(const tarry__phased_task *task,
                                 tarry__phased_plan *p)
{
    const double N = task->algorithm->quota(task, smallest_weight(p));
    const double share = task->algorithm->share(task);
    p->quota = N;
    for (size_t i = 0; i < p->n_entries; i++)
        tarry__phased_plan_target(
            p, i, task->algorithm->per_arm ? N : N * p->entry[i].weight, share);
}

tarry_status tarry__phased_paper_plan(const tarry__phased_task *task,
                                      tarry__phased_plan *p)
{
    const tarry_status status = task->algorithm->lay(task, p);
    if (status != TARRY_OK)
        return status;
    tarry__phased_paper_measure(task, p);
    if (task->drawn || task->algorithm->in_turn)
        tarry__phased_plan_draw(p);
    return TARRY_OK;
}

static void cut_arms(const tarry__phased_plan *p,
                     const tarry_estimate *estimates, double width,
                     tarry__phased_verdict *v)
{
    double least = INFINITY;
    for (size_t i = 0; i < p->n_active; i++)
        least = fmin(least, estimates[p->active[i]].upper);
    v->n_kept = 0;
    for (size_t i = 0; i < p->n_active; i++)
        if (estimates[p->active[i]].lower - least <= width)
            v->kept[v->n_kept++] = p->active[i];
}

tarry_status tarry__phased_paper_judge(const tarry__phased *ph,
                                       tarry_estimate *estimates,
                                       tarry__phased_verdict *v)
{
    tarry_status status = TARRY_OK;
    if (ph->algorithm->linear)
        status =
            tarry__phased_estimate_linear(ph->problem, &ph->plan, estimates);
    else
        tarry__phased_estimate_mab(&ph->plan, estimates);
    if (status == TARRY_OK)
        cut_arms(&ph->plan, estimates, ph->algorithm->cut * ph->epsilon, v);
    return status;
}

tarry_status tarry__phased_is_full(tarry__phased *ph, bool *enough)
{
    *enough = ph->plan.n_short == 0;
    return TARRY_OK;
}

const tarry__phased_rule tarry__phased_paper = {
    .counting = TARRY__PHASED_COUNT_FIRST,
    .plan = tarry__phased_paper_plan,
    .measure = tarry__phased_paper_measure,
    .judge = tarry__phased_paper_judge,
    .has_enough = tarry__phased_is_full,
};
