/* growth.c - regret grows like sqrt(T).
 *
 * On a circle of 200 arms gaps have all sizes, so each phase finds arms to cut
 * and the regret is that of the worst case; for arms without features gaps are
 * 1.8 / 2^j for the same reason, off the thresholds of phases.  Twice: with a
 * fixed delay, divided by sqrt(log(KT)) to leave T alone; and with delays that
 * grow like sqrt(nT), which the theorems allow at no more than a constant
 * factor.  Algorithms 3 and 4, whose first phases are longer and cut less, come
 * into their stride later.  Each phase is four times as long as the one before,
 * and regret comes in steps; so horizons are four times one another, chosen
 * such that the last phase ends shortly before, and regret is read off
 * there. */
#include "base/elementary.h"
#include "paper/paper.h"

#include <math.h>

/* T^(2/3) fits as 0.64 where sqrt(T) fits as 0.55. */
static const double TOLERANCE = 0.08;

typedef struct {
    const char *policy, *words, *instance;
    const char *delay;   /* fixed */
    const char *growing; /* with a number to be filled in */
    double n, K;
    double first, last; /* horizons of the quick job */
    uint64_t phase;     /* at the end of which regret is read off, of the first
                           horizon; of the next one, the next phase */
} subject;

static const subject subjects[] = {
    {"phased-stochastic", "Algorithm 1", "circle:arms=200",
     "exponential:mean=100", "exponential:mean=%.0f", 2, 200, 1.2e6, 8e7, 5},
    {"phased-adversarial", "Algorithm 2", "circle:arms=200",
     "hold-in-turn:sigma=100", "hold-in-turn:sigma=%.0f", 2, 200, 1.2e6, 8e7,
     5},
    {"phased-loss-dependent", "Algorithm 3", "circle:arms=200",
     "low-late:late=100", "low-late:late=%.0f", 2, 200, 4.8e6, 3.2e8, 6},
    {"phased-mab", "Algorithm 4",
     "basis:arms=16,best=-0.9,gap=1.8,means=geometric", "low-late:late=100",
     "low-late:late=%.0f", 16, 16, 4e6, 2.56e8, 4},
};

static tarry__lab_case case_of(tarry__lab *lab, const subject *a, double T,
                               uint64_t step)
{
    return (tarry__lab_case){
        .instance = a->instance,
        .loss = "rademacher",
        .delay = a->delay,
        .policy = a->policy,
        .horizon = (uint64_t)T,
        .runs = (uint64_t)tarry__lab_pick(lab, 2, 8),
        .phases = a->phase + step,
    };
}

/* Of subject i: series LINES * i + line. */
enum { ROUNDS, REGRET, RATIO, LINES };
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* Regret against T, and what longer delays add to it. */
static void ask_subject(tarry__plan *plan, int i)
{
    const subject *a = &subjects[i];
    const double last = tarry__lab_pick(plan->lab, 1, 4) * a->last;
    uint64_t step = 0;
    for (double T = a->first; T <= last; T *= 4, step++) {
        const tarry__lab_case c = case_of(plan->lab, a, T, step);
        const char *slow =
            tarry__lab_text(plan->lab, a->growing, sqrt(a->n * T));
        tarry__plan_add(plan,
                        &(tarry__plan_point){.series = LINES * i + ROUNDS,
                                             .x = T,
                                             .c = c,
                                             .quantity = tarry__plan_rounds,
                                             .what = "rounds"});
        tarry__plan_add(plan,
                        &(tarry__plan_point){.series = LINES * i + REGRET,
                                             .place = TARRY__PLAN_AT_ROUNDS,
                                             .c = c,
                                             .quantity = tarry__plan_regret,
                                             .what = "regret"});
        tarry__plan_add(plan,
                        &(tarry__plan_point){
                            .series = LINES * i + RATIO,
                            .name = a->words,
                            .place = TARRY__PLAN_AT_ROUNDS,
                            .c = tarry__plan_with_delay(c, slow),
                            .base = c,
                            .quantity = tarry__plan_ratio,
                            .what = "regret over that with the fixed delay"});
    }
}

static void ask(tarry__plan *plan)
{
    for (int i = 0; i < SUBJECTS; i++)
        ask_subject(plan, i);
}

/* Regret over sqrt(log(KT)). */
static tarry__fit_series growth_of(const tarry__sheet *s, int i)
{
    const tarry__fit_series horizons =
        tarry__sheet_series(s, LINES * i + ROUNDS);
    tarry__fit_series growth = tarry__sheet_series(s, LINES * i + REGRET);
    growth.name = subjects[i].words;
    for (size_t k = 0; k < growth.n; k++)
        growth.point[k] = tarry__fit_point_over(
            growth.point[k],
            sqrt(tarry__ln(subjects[i].K * horizons.point[k].x)));
    return growth;
}

static void judge(tarry__sheet *s)
{
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "growth-T", "Regret against the horizon", "rounds T",
               "regret / sqrt(log(KT))",
               "Parallel to the dashed line means like sqrt(T).  Steps come "
               "from phases: a horizon may end early or late in one.",
               false, false});
    for (int i = 0; i < SUBJECTS; i++) {
        const subject *a = &subjects[i];
        const tarry__fit_series growth = growth_of(s, i);
        const tarry__fit_series ratio =
            tarry__sheet_series(s, LINES * i + RATIO);
        tarry__sheet_check_power_within(
            s, tarry__lab_text(s->lab, "%s: regret against T", a->words),
            &growth, 0.5, TARRY__FIT_AT_MOST, TOLERANCE);
        tarry__sheet_check_power(
            s,
            tarry__lab_text(s->lab,
                            "%s: with delays sqrt(nT), regret over that with "
                            "delay 100",
                            a->words),
            &ratio, 0, TARRY__FIT_AT_MOST);
        if (i == 0)
            tarry__sheet_draw_power(s, figure, &growth, 0.5);
        else
            tarry__sheet_draw_points(s, figure, &growth);
    }
}

const tarry__paper_row tarry__paper_row_growth = {
    .id = "growth",
    .title = "Growth with the horizon",
    .claim = "The regret of all four algorithms grows like √(nT log(KT)), and "
             "delays up to √(nT) do not change that.",
    .ask = ask,
    .judge = judge,
};
