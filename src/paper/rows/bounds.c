/* bounds.c - every upper bound against the regret it bounds. */
#include "paper/paper.h"

#include <math.h>

typedef struct {
    const char *policy, *instance, *delay;
} world;

static const world worlds[] = {
    {"phased-stochastic", "sphere", "exponential:mean=1000"},
    {"phased-stochastic", "sphere", "pareto:shape=1.5,mean=1000"},
    {"phased-stochastic", "sphere", "geometric:mean=500,spread=10"},
    {"phased-stochastic", "sphere", "exponential:mean=100,never=0.2"},
    {"phased-stochastic", "sphere", "hold-newest:sigma=5000"},
    {"phased-adversarial", "sphere", "hold-rarest:sigma=5000"},
    {"phased-adversarial", "sphere", "hold-all:sigma=5000"},
    {"phased-adversarial", "sphere", "exponential:mean=1000"},
    {"phased-loss-dependent", "sphere", "low-late:late=1000"},
    {"phased-loss-dependent", "sphere", "high-late:late=1000"},
    {"phased-loss-dependent", "sphere", "exponential:mean=1000"},
    {"phased-mab", "basis", "low-late:late=1000"},
    {"phased-mab", "basis", "threshold:below=2000,above=100"},
};

static void ask(tarry__plan *plan)
{
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        tarry__plan_add(
            plan,
            &(tarry__plan_point){
                .name = "a policy in a world",
                .place = TARRY__PLAN_AT_BOUND,
                .c = {.instance = worlds[i].instance,
                      .loss = "rademacher",
                      .delay = worlds[i].delay,
                      .policy = worlds[i].policy,
                      .horizon = (uint64_t)tarry__lab_pick(plan->lab, 1e6, 1e8),
                      .runs = (uint64_t)tarry__lab_pick(plan->lab, 8, 30)},
                .quantity = tarry__plan_regret,
                .what = "regret"});
}

static void judge(tarry__sheet *s)
{
    const tarry__fit_sweep all = tarry__sheet_sweep(s, 0);
    double slack = INFINITY;
    for (size_t i = 0; i < all.n; i++) {
        const tarry__fit_point *p = &all.point[i];
        slack = fmin(slack, p->x / (p->mean + p->ci95));
    }
    tarry__sheet_check_mean(s, "smallest bound over regret of all worlds",
                            (tarry__fit_point){.mean = slack}, 1,
                            TARRY__FIT_AT_LEAST);
    for (size_t i = 0; i < all.n; i++)
        tarry__sheet_check_mean(
            s,
            tarry__lab_text(s->lab, "%s, %s: bound over regret %.3g",
                            worlds[i].policy, worlds[i].delay,
                            all.point[i].x / all.point[i].mean),
            all.point[i], all.point[i].x, TARRY__FIT_AT_MOST);
    tarry__fit_sweep line = {.name = "regret = bound"};
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < all.n; i++) {
        low = fmin(low, all.point[i].x);
        high = fmax(high, all.point[i].x);
    }
    line.point[line.n++] = (tarry__fit_point){.x = low, .mean = low};
    line.point[line.n++] = (tarry__fit_point){.x = high, .mean = high};
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "bounds-slack", "Regret against its upper bound", "upper bound",
               "regret",
               "Every point must lie below the line; how far "
               "below is the slack of the constants.",
               false, false});
    tarry__sheet_draw_points(figure, &all);
    tarry__sheet_draw_line(figure, &line);
}

const tarry__paper_row tarry__paper_row_bounds = {
    .id = "bounds",
    .title = "Upper bounds in numbers",
    .claim = "Every upper bound, with its constants, holds; the slack is "
             "reported.",
    .ask = ask,
    .judge = judge,
};
