/* plan.c - see plan.h. */
#include "paper/plan.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "policy/policy_type.h"

/* ---- quantities -----------------------------------------------------------*/

double tarry__plan_regret(const tarry__lab_answer *run,
                          const tarry__lab_answer *base)
{
    (void)base;
    return run->regret;
}

double tarry__plan_penalty(const tarry__lab_answer *run,
                           const tarry__lab_answer *base)
{
    return run->regret - base->regret;
}

double tarry__plan_ratio(const tarry__lab_answer *run,
                         const tarry__lab_answer *base)
{
    return run->regret / base->regret;
}

double tarry__plan_rounds(const tarry__lab_answer *run,
                          const tarry__lab_answer *base)
{
    (void)base;
    return (double)run->rounds;
}

double tarry__plan_length(const tarry__lab_answer *run,
                          const tarry__lab_answer *base)
{
    (void)base;
    return run->n_phases > 0 ? (double)run->length : NAN;
}

double tarry__plan_overhead(const tarry__lab_answer *run,
                            const tarry__lab_answer *base)
{
    const double planned =
        base != NULL ? tarry__plan_length(base, NULL) : (double)run->designated;
    return tarry__plan_length(run, NULL) - planned;
}

double tarry__plan_sigma(const tarry__lab_answer *run,
                         const tarry__lab_answer *base)
{
    (void)base;
    return (double)run->sigma_max;
}

double tarry__plan_first_loss(const tarry__lab_answer *run,
                              const tarry__lab_answer *base)
{
    (void)base;
    return (double)run->first_seen;
}

/* ---- points ---------------------------------------------------------------*/

static bool make_room(tarry__plan *plan)
{
    if (plan->n_points < plan->room)
        return true;
    const size_t room = 2 * plan->room + 16;
    tarry__plan_point *more =
        tarry__base_grow(plan->point, plan->n_points, room, sizeof *more);
    if (more == NULL)
        return false;
    plan->point = more;
    plan->room = room;
    return true;
}

void tarry__plan_add(tarry__plan *plan, const tarry__plan_point *point)
{
    if (!make_room(plan)) {
        plan->failed = TARRY_NO_MEMORY;
        return;
    }
    plan->point[plan->n_points++] = *point;
    if (point->base.policy != NULL)
        tarry__lab_ask(plan->lab, &point->base);
    tarry__lab_ask(plan->lab, &point->c);
}

/* Names that stand for the description of another would only repeat it. */
static bool is_one_of_all(const char *policy)
{
    tarry_policy_info info;
    return strcmp(policy, "oracle") != 0 &&
           tarry_policy_describe(policy, &info) == TARRY_OK &&
           info.stands_for == NULL;
}

void tarry__plan_add_all(tarry__plan *plan, int series, double x,
                         tarry__lab_case c)
{
    const bool full = tarry__lab_pick(plan->lab, 0, 1) > 0;
    for (size_t i = 0; (c.policy = tarry_policy_name(i)) != NULL; i++)
        if (is_one_of_all(c.policy) &&
            (full || !tarry__policy_type_find(c.policy)->costly))
            tarry__plan_add(plan,
                            &(tarry__plan_point){.series = series,
                                                 .x = x,
                                                 .c = c,
                                                 .quantity = tarry__plan_regret,
                                                 .what = "regret"});
}

void tarry__plan_clear(tarry__plan *plan)
{
    tarry__base_free(plan->point);
    plan->point = NULL;
    plan->n_points = plan->room = 0;
}

tarry__lab_case tarry__plan_with_delay(tarry__lab_case c, const char *delay)
{
    c.delay = delay;
    return c;
}

tarry__lab_case tarry__plan_with_policy(tarry__lab_case c, const char *policy)
{
    c.policy = policy;
    return c;
}
