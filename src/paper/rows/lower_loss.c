/* lower_loss.c - the lower bound for loss-dependent delays, against every
 * policy.
 *
 * The instance hides its best arm among K = 2 dbar/q others for dbar/q rounds,
 * q = sqrt(8 log(dbar n)/n); with probability 1/2 they all miss it and each
 * costs at least 1 - q.  The game lasts just these rounds. */
#include "base/elementary.h"
#include "paper/paper.h"

#include <math.h>

static const double DBAR = 50;

static double q_of(double n)
{
    return sqrt(8 * tarry__ln(DBAR * n) / n);
}

static tarry__lab_case case_of(tarry__lab *lab, double n, const char *policy)
{
    return (tarry__lab_case){
        .instance = tarry__lab_text(lab, "lower-loss:dim=%g,dbar=%g", n, DBAR),
        .loss = "rademacher",
        .delay = "theorem",
        .policy = policy,
        .horizon = (uint64_t)ceil(DBAR / q_of(n)),
        .runs = (uint64_t)tarry__lab_pick(lab, 6, 40),
        .cost = 30000,
    };
}

enum { ALL, ORACLE };

static void ask(tarry__plan *plan)
{
    const double largest = tarry__lab_pick(plan->lab, 500, 1600);
    for (double n = 320; n <= largest; n *= 1.25)
        tarry__plan_add_all(plan, ALL, floor(n),
                            case_of(plan->lab, floor(n), ""));
    tarry__plan_add(plan,
                    &(tarry__plan_point){.series = ORACLE,
                                         .x = 320,
                                         .c = case_of(plan->lab, 320, "oracle"),
                                         .quantity = tarry__plan_regret,
                                         .what = "regret"});
}

static void judge(tarry__sheet *s)
{
    const tarry__fit_series least = tarry__sheet_least(s, ALL, "best policy");
    tarry__fit_series bound = {.name = "what the proof says"};
    for (size_t i = 0; i < least.n; i++) {
        const double n = least.point[i].x;
        const tarry__lab_case c = case_of(s->lab, n, "phased-loss-dependent");
        const double proven = tarry__sheet_bound_of(s, &c).lower;
        bound.point[bound.n++] = (tarry__fit_point){.x = n, .mean = proven};
        tarry__sheet_check_mean(
            s,
            tarry__lab_text(s->lab, "smallest regret of all policies at n = %g",
                            n),
            least.point[i], proven, TARRY__FIT_AT_LEAST);
    }
    tarry__sheet_check_power(s, "smallest regret of all policies against n",
                             &least, 0.5, TARRY__FIT_REPORTED);
    tarry__sheet_check_mean(
        s, "for comparison: the oracle, which knows the best arm",
        tarry__sheet_point(s, ORACLE), 0, TARRY__FIT_REPORTED);
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "lower-loss-dimension",
               "The hard instance for loss-dependent delays", "dimension n",
               "regret in the first dbar/q rounds",
               "The policy that pays least, and what the proof says it must; "
               "mean delay 50.",
               false, false});
    tarry__sheet_draw_points(s, figure, &least);
    tarry__sheet_draw_line(s, figure, &bound);
}

const tarry__paper_row tarry__paper_row_lower_loss = {
    .id = "lower-loss",
    .title = "Lower bound for loss-dependent delays",
    .claim = "Every policy pays at least the proof's constant times "
             "√n dbar / log(n dbar) on some instance.",
    .ask = ask,
    .judge = judge,
};
