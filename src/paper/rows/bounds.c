/* bounds.c - every upper bound against what it bounds.
 *
 * The lengths of phases against their lemmas, always; the regret against its
 * bound where that says something: below what uniform play pays, for a policy
 * that never learns would pass elsewhere.  Two arms of gap 1.8 make the bounds
 * say something at a million rounds or some; in ten dimensions they do not. */
#include "paper/paper.h"

#include <math.h>

typedef struct {
    const char *policy, *instance, *delay;
    double horizon; /* of the quick job */
} world;

#define TWO "basis:arms=2,best=-0.9,gap=1.8,means=equal"

static const world worlds[] = {
    {"phased-stochastic", TWO, "exponential:mean=1000", 2e6},
    {"phased-stochastic", TWO, "pareto:shape=1.5,mean=1000", 2e6},
    {"phased-stochastic", TWO, "geometric:mean=500,spread=10", 2e6},
    {"phased-stochastic", TWO, "exponential:mean=100,never=0.2", 2e6},
    {"phased-stochastic", TWO, "shapes:mean=1000", 2e6},
    {"phased-stochastic", TWO, "hold-newest:sigma=5000", 2e6},
    {"phased-stochastic", TWO, "hold-late:sigma=5000", 2e6},
    {"phased-adversarial", TWO, "hold-staggered:sigma=3000", 2e6},
    {"phased-adversarial", TWO, "hold-all:sigma=3000", 2e6},
    {"phased-adversarial", TWO, "exponential:mean=1000", 2e6},
    {"phased-loss-dependent", TWO, "lowest-late:p=0.3,late=1000", 1e8},
    {"phased-loss-dependent", TWO, "high-late:late=1000", 2e6},
    {"phased-mab", TWO, "lowest-late:p=0.3,late=1000", 4e6},
    {"phased-mab", TWO, "threshold:below=200,above=100", 4e6},
    {"phased-stochastic", "sphere", "exponential:mean=1000", 1e6},
    {"phased-adversarial", "sphere", "hold-staggered:sigma=2000", 1e6},
    {"phased-loss-dependent", "sphere:dim=4,arms=40", "low-late:late=1000",
     1e6},
    {"phased-mab", "basis", "low-late:late=1000", 1e6},
};
enum { WORLDS = sizeof worlds / sizeof *worlds, UNIFORM = WORLDS };

static tarry__lab_case case_of(tarry__lab *lab, int i)
{
    return (tarry__lab_case){
        .instance = worlds[i].instance,
        .loss = "rademacher",
        .delay = worlds[i].delay,
        .policy = worlds[i].policy,
        .horizon = (uint64_t)(worlds[i].horizon * tarry__lab_pick(lab, 1, 10)),
        .runs =
            worlds[i].horizon > 1e7 ? 2 : (uint64_t)tarry__lab_pick(lab, 4, 20),
        .kind = TARRY__LAB_AUDIT,
    };
}

static void ask(tarry__plan *plan)
{
    for (int i = 0; i < WORLDS; i++) {
        tarry__plan_point p = {.series = i,
                               .name = "a policy in a world",
                               .place = TARRY__PLAN_AT_BOUND,
                               .c = case_of(plan->lab, i),
                               .quantity = tarry__plan_regret,
                               .what = "regret"};
        tarry__plan_add(plan, &p);
        p.series = UNIFORM + i;
        p.name = "uniform play";
        p.place = TARRY__PLAN_AT_X;
        p.x = i + 1;
        p.c.policy = "uniform";
        p.c.horizon = 10000; /* a gap a round, on average */
        p.what = "regret in 10000 rounds";
        tarry__plan_add(plan, &p);
    }
}

/* The regret, or that the bound says nothing. */
static void judge_regret(tarry__sheet *s, int i, tarry__fit_series *drawn)
{
    const world *w = &worlds[i];
    const tarry__lab_case c = case_of(s->lab, i);
    const double T = (double)c.horizon;
    const tarry__fit_point p = tarry__sheet_point(s, i);
    const double uniform = tarry__sheet_point(s, UNIFORM + i).mean / 10000 * T;
    const bool speaks = p.x < uniform;
    tarry__sheet_check_mean(
        s,
        tarry__lab_text(s->lab,
                        speaks ? "%s, %s: regret over its bound, which is %.2g "
                                 "of uniform play"
                               : "%s, %s: regret over its bound, which says "
                                 "nothing here: %.2g of uniform play",
                        w->policy, w->delay, p.x / uniform),
        tarry__fit_point_over(p, p.x), 1,
        speaks ? TARRY__FIT_AT_MOST : TARRY__FIT_REPORTED);
    if (speaks)
        drawn->point[drawn->n++] = p;
}

/* The longest of the phases of all runs, over what its lemma allows. */
static void judge_lengths(tarry__sheet *s, int i)
{
    const tarry__lab_case c = case_of(s->lab, i);
    const tarry__lab_answer *runs = tarry__sheet_runs(s, &c);
    const tarry__bound b = tarry__sheet_bound_of(s, &c);
    double most = 0;
    size_t count = 0;
    for (size_t r = 0; runs != NULL && r < c.runs; r++)
        for (size_t m = 0; m < TARRY__AUDIT_PHASES && m < b.n_phases; m++)
            if (runs[r].phase[m].ended > 0) {
                most = fmax(most, runs[r].phase[m].length / b.phase[m].longest);
                count++;
            }
    tarry__sheet_check_mean(
        s,
        tarry__lab_text(s->lab,
                        "%s, %s, %s: rounds of %zu phases over their lemma's, "
                        "the largest",
                        worlds[i].policy, worlds[i].instance, worlds[i].delay,
                        count),
        (tarry__fit_point){.mean = count > 0 ? most : NAN}, 1,
        TARRY__FIT_AT_MOST);
}

/* All but one of Algorithm 3 and those in more dimensions speak. */
static void judge_scope(tarry__sheet *s, const tarry__fit_series *drawn)
{
    tarry__sheet_check_mean(s, "worlds in which a bound says something",
                            (tarry__fit_point){.mean = (double)drawn->n}, 13,
                            TARRY__FIT_AT_LEAST);
}

static void judge(tarry__sheet *s)
{
    tarry__fit_series drawn = {.name = "a policy in a world"};
    tarry__fit_series line = {.name = "regret = bound"};
    for (int i = 0; i < WORLDS; i++)
        judge_regret(s, i, &drawn);
    judge_scope(s, &drawn);
    for (int i = 0; i < WORLDS; i++)
        judge_lengths(s, i);
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < drawn.n; i++) {
        low = fmin(low, drawn.point[i].x);
        high = fmax(high, drawn.point[i].x);
    }
    if (drawn.n > 0) {
        line.point[line.n++] = (tarry__fit_point){.x = low, .mean = low};
        line.point[line.n++] = (tarry__fit_point){.x = high, .mean = high};
    }
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "bounds-slack", "Regret against its upper bound", "upper bound",
               "regret",
               "Where bounds are below what uniform play pays.  Every point "
               "must lie below the line; how far below is the slack of the "
               "constants.",
               false, false});
    tarry__sheet_draw_points(s, figure, &drawn);
    tarry__sheet_draw_line(s, figure, &line);
}

const tarry__paper_row tarry__paper_row_bounds = {
    .id = "bounds",
    .title = "Upper bounds in numbers",
    .claim = "Every upper bound, with its constants, holds, for the regret "
             "where it says something and for the length of every phase.",
    .ask = ask,
    .judge = judge,
};
