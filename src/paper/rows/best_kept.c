/* best_kept.c - the best arm is lost with probability at most 1/T.
 *
 * Few arms, so that phases end early, a short horizon, and so many runs that
 * none lost means less than 1/T with 95 % confidence.  Only runs that ended a
 * phase count: the others had no chance to lose anything.  Last, to see that
 * the count can fail: Algorithm 1 where it must not be used. */
#include "paper/paper.h"

typedef struct {
    const char *policy, *instance, *delay;
    tarry__fit_relation relation;
} subject;

#define PLANE "sphere:dim=2,arms=3"

static const subject subjects[] = {
    {"phased-stochastic", PLANE, "exponential:mean=50", TARRY__FIT_AT_MOST},
    {"phased-stochastic", PLANE, "hold-newest:sigma=200", TARRY__FIT_AT_MOST},
    {"phased-adversarial", PLANE, "hold-rarest:sigma=200", TARRY__FIT_AT_MOST},
    {"phased-loss-dependent", PLANE, "low-late:late=200", TARRY__FIT_AT_MOST},
    {"phased-loss-dependent", PLANE, "high-late:late=200", TARRY__FIT_AT_MOST},
    {"phased-mab", "basis:arms=2", "low-late:late=200", TARRY__FIT_AT_MOST},
    {"phased-stochastic", PLANE, "low-late:late=1000000", TARRY__FIT_REPORTED},
};

enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static uint64_t horizon_of(const tarry__lab *lab)
{
    return (uint64_t)tarry__lab_pick(lab, 2048, 16384);
}

/* Series i is subject i. */
static void ask(tarry__plan *plan)
{
    const uint64_t horizon = horizon_of(plan->lab);
    for (int i = 0; i < SUBJECTS; i++)
        tarry__plan_add(
            plan, &(tarry__plan_point){.series = i,
                                       .x = (double)horizon,
                                       .c = {.instance = subjects[i].instance,
                                             .loss = "rademacher",
                                             .delay = subjects[i].delay,
                                             .policy = subjects[i].policy,
                                             .horizon = horizon,
                                             .runs = 5 * horizon},
                                       .quantity = tarry__plan_regret,
                                       .what = "regret"});
}

static void judge(tarry__sheet *s)
{
    const uint64_t horizon = horizon_of(s->lab);
    tarry__fit_series limits = {.name = "at most, with 97.5 % confidence"};
    tarry__fit_series promise = {.name = "the promise: 1/T"};
    for (int i = 0; i < SUBJECTS; i++) {
        const subject *a = &subjects[i];
        const tarry__lab_case *c = &tarry__sheet_planned(s, i)->c;
        const tarry__lab_answer *runs = tarry__sheet_runs(s, c);
        uint64_t lost = 0, ended = 0;
        for (size_t k = 0; k < c->runs; k++) {
            lost += runs[k].best_kept == 0;
            ended += runs[k].n_phases > 0;
        }
        const double high = tarry__sheet_check_frequency(
            s, tarry__lab_text(s->lab, "%s, %s", a->policy, a->delay), lost,
            ended, 1 / (double)horizon, a->relation);
        const double x = i + 1;
        limits.point[limits.n++] = (tarry__fit_point){.x = x, .mean = high};
        promise.point[promise.n++] =
            (tarry__fit_point){.x = x, .mean = 1 / (double)horizon};
    }
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "best-kept", "How often the best arm may have been lost",
               "check, in the order of the table", "probability",
               "All checks but the last must lie below the line; the last is "
               "Algorithm 1 with delays it is not made for.",
               true, false});
    tarry__sheet_draw_points(s, figure, &limits);
    tarry__sheet_draw_line(s, figure, &promise);
}

const tarry__paper_row tarry__paper_row_best_kept = {
    .id = "best-kept",
    .title = "The best arm is kept",
    .claim = "The best arm is lost with probability at most 1/T.",
    .ask = ask,
    .judge = judge,
};
