/* growth.c - regret grows like sqrt(T).
 *
 * On a circle of 200 arms gaps have all sizes, so each phase finds arms to cut
 * and the regret is that of the worst case; for arms without features gaps are
 * 1.8 / 2^j for the same reason, off the thresholds of phases.  Twice: with a
 * fixed delay, divided by sqrt(log(KT)) to leave T alone; and with delays that
 * grow like sqrt(nT), which the theorems allow at no more than a constant
 * factor.  Algorithms 3 and 4, whose first phases are longer and cut less, come
 * into their stride later.  Algorithm 4 plays arms one after the other, so
 * where a horizon cuts a phase matters much: its regret is read off when a
 * phase ends. */
#include "paper/paper.h"

#include <math.h>

typedef struct {
    const char *policy, *words, *instance;
    const char *delay;   /* fixed */
    const char *growing; /* with a number to be filled in */
    double n, K;
    double first, last, step; /* horizons of the quick job */
    uint64_t phase; /* not 0: regret is read off at the end of this phase and,
                       at the following horizons, the following ones */
} subject;

static const subject subjects[] = {
    {"phased-stochastic", "Algorithm 1", "sphere:dim=2,arms=200",
     "exponential:mean=100", "exponential:mean=%.0f", 2, 200, 2.5e5, 1.6e7, 2,
     0},
    {"phased-adversarial", "Algorithm 2", "sphere:dim=2,arms=200",
     "hold-rarest:sigma=100", "hold-rarest:sigma=%.0f", 2, 200, 2.5e5, 1.6e7, 2,
     0},
    {"phased-loss-dependent", "Algorithm 3", "sphere:dim=2,arms=200",
     "low-late:late=100", "low-late:late=%.0f", 2, 200, 4e6, 6.4e7, 2, 0},
    {"phased-mab", "Algorithm 4",
     "basis:arms=16,best=-0.9,gap=1.8,means=geometric", "low-late:late=100",
     "low-late:late=%.0f", 16, 16, 1e6, 6.4e7, 4, 3},
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
        .runs = (uint64_t)tarry__lab_pick(lab, 5, 20),
        .phases = a->phase > 0 ? a->phase + step : 0,
    };
}

static double rounds(const tarry__lab_answer *run,
                     const tarry__lab_answer *base)
{
    (void)base;
    return (double)run->rounds;
}

/* Regret over sqrt(log(KT)) against T, and what longer delays add to it. */
static void sweep(tarry__sheet *s, const subject *a, tarry__fit_sweep *growth,
                  tarry__fit_sweep *ratio)
{
    const double last = tarry__lab_pick(s->lab, 1, 16) * a->last;
    uint64_t step = 0;
    for (double T = a->first; T <= last; T *= a->step, step++) {
        const tarry__lab_case c = case_of(s->lab, a, T, step);
        const tarry__lab_case slow = tarry__sheet_with_delay(
            c, tarry__lab_text(s->lab, a->growing, sqrt(a->n * T)));
        const double t =
            tarry__sheet_measure(s, NULL, T, &c, NULL, rounds, "rounds").mean;
        const tarry__fit_point p = tarry__sheet_measure(
            s, NULL, t, &c, NULL, tarry__sheet_regret, "regret");
        growth->point[growth->n++] =
            tarry__fit_point_over(p, sqrt(log(a->K * T)));
        tarry__sheet_measure(s, ratio, t, &slow, &c, tarry__sheet_ratio,
                             "regret over that with the fixed delay");
    }
}

static void run(tarry__sheet *s)
{
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "growth-T", "Regret against the horizon", "rounds T",
               "regret / sqrt(log(KT))",
               "Parallel to the dashed line means like sqrt(T).  Steps come "
               "from phases: a horizon may end early or late in one.",
               false, false});
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        const subject *a = &subjects[i];
        tarry__fit_sweep growth = {.name = a->words};
        tarry__fit_sweep ratio = {.name = a->words};
        sweep(s, a, &growth, &ratio);
        tarry__sheet_check_power(
            s, tarry__lab_text(s->lab, "%s: regret against T", a->words),
            &growth, 0.5, TARRY__FIT_AT_MOST);
        tarry__sheet_check_power(
            s,
            tarry__lab_text(s->lab,
                            "%s: with delays sqrt(nT), regret over that with "
                            "delay 100",
                            a->words),
            &ratio, 0, TARRY__FIT_AT_MOST);
        if (i == 0)
            tarry__sheet_draw_power(figure, &growth, 0.5);
        else
            tarry__sheet_draw_points(figure, &growth);
    }
}

const tarry__paper_row tarry__paper_row_growth = {
    .id = "growth",
    .title = "Growth with the horizon",
    .claim = "The regret of all four algorithms grows like √(nT log(KT)), and "
             "delays up to √(nT) do not change that.",
    .run = run,
};
