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

static void run(tarry__sheet *s)
{
    const uint64_t horizon = (uint64_t)tarry__lab_pick(s->lab, 2048, 16384);
    tarry__fit_sweep limits = {.name = "at most, with 97.5 % confidence"};
    tarry__fit_sweep promise = {.name = "the promise: 1/T"};
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        const subject *a = &subjects[i];
        const tarry__lab_case c = {
            .instance = a->instance,
            .loss = "rademacher",
            .delay = a->delay,
            .policy = a->policy,
            .horizon = horizon,
            .runs = 5 * horizon,
        };
        const tarry__lab_answer *runs = tarry__lab_ask(s->lab, &c);
        uint64_t lost = 0, ended = 0;
        for (size_t k = 0; runs != NULL && k < c.runs; k++) {
            lost += runs[k].best_kept == 0;
            ended += runs[k].n_phases > 0;
        }
        const double high = tarry__sheet_check_frequency(
            s, tarry__lab_text(s->lab, "%s, %s", a->policy, a->delay), lost,
            ended, 1 / (double)horizon, a->relation);
        tarry__sheet_measure(s, NULL, (double)horizon, &c, NULL,
                             tarry__sheet_regret, "regret");
        const double x = (double)i + 1;
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
    tarry__sheet_draw_points(figure, &limits);
    tarry__sheet_draw_line(figure, &promise);
}

const tarry__paper_row tarry__paper_row_best_kept = {
    .id = "best-kept",
    .title = "The best arm is kept",
    .claim = "The best arm is lost with probability at most 1/T.",
    .run = run,
};
