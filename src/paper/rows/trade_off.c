/* trade_off.c - what share q of the losses comes in time, and how long one
 * waits for it.
 *
 * Lemma "stochastic delay phase": a phase of Algorithm 1 lasts O(N/q + max_a
 * Q(q; a)) for the best q, so regret grows like 1/sqrt(q) when a share 1 - q
 * never comes, and losses that are late without end cost no more than if they
 * never came.  Lemma "missing to delay mean": sigma_max <= 2 E[d] + 8 log T;
 * with it Algorithm 2 pays E[d] log E[d] under delays by chance. */
#include "base/elementary.h"
#include "paper/paper.h"

#include <math.h>

enum { LENGTH, REGRET, LATER, SIGMA, TWO };
static const double HORIZON = 1e6;

static void add(tarry__plan *plan, int series, const char *name, double x,
                tarry__lab_case c, tarry__plan_quantity *quantity,
                const char *what)
{
    tarry__plan_add(plan, &(tarry__plan_point){.series = series,
                                               .name = name,
                                               .x = x,
                                               .c = c,
                                               .quantity = quantity,
                                               .what = what});
}

static tarry__lab_case case_of(tarry__lab *lab, const char *policy,
                               const char *instance, const char *delay)
{
    return (tarry__lab_case){
        .instance = instance,
        .loss = "rademacher",
        .delay = delay,
        .policy = policy,
        .horizon = (uint64_t)HORIZON,
        .runs = (uint64_t)tarry__lab_pick(lab, 20, 200),
        .phases = 1,
        .cost = 0.05,
    };
}

static const char *lost_share(tarry__lab *lab, double q)
{
    return tarry__lab_text(lab, "constant:rounds=0,never=%.17g", 1 - q);
}

static void ask(tarry__plan *plan)
{
    tarry__lab *lab = plan->lab;
    for (double q = 1; q > 0.05; q /= 2) {
        tarry__lab_case c = case_of(lab, "phased-stochastic",
                                    "sphere:dim=4,arms=40", lost_share(lab, q));
        add(plan, LENGTH, "rounds of phase 1", q, c, tarry__plan_length,
            "rounds of phase 1");
        c.instance = "sphere:dim=2,arms=100";
        c.phases = 0;
        c.cost = 1;
        add(plan, REGRET, "regret", q, c, tarry__plan_regret, "regret");
    }
    for (double late = 2e4; late <= 1e9; late *= 10)
        add(plan, LATER, "half the losses late", late,
            case_of(
                lab, "phased-stochastic", "sphere:dim=4,arms=40",
                tarry__lab_text(lab, "two-point:low=10,high=%.0f,p=0.5", late)),
            tarry__plan_length, "rounds of phase 1");
    for (double mean = 10; mean <= 20000; mean *= 4) {
        tarry__lab_case c =
            case_of(lab, "phased-adversarial", "sphere:dim=4,arms=40",
                    tarry__lab_text(lab, "exponential:mean=%.0f", mean));
        add(plan, TWO, "Algorithm 2", mean, c, tarry__plan_overhead,
            "overhead of phase 1");
        c.policy = "uniform";
        c.phases = 0;
        c.cost = 1;
        c.horizon = 100000;
        add(plan, SIGMA, "uniform play", mean, c, tarry__plan_sigma,
            "most plays outstanding");
    }
}

/* The horizon a point was asked with. */
static double sigma_of(double mean, double horizon)
{
    return 2 * mean + 8 * tarry__ln(horizon);
}

/* Each point of a series against its own limit, in every run. */
static void check_each(tarry__sheet *s, int series, const char *words,
                       tarry__plan_quantity *quantity,
                       double (*limit)(const tarry__plan_point *point,
                                       tarry__sheet *sheet))
{
    for (size_t i = 0; i < s->plan->n_points; i++) {
        const tarry__plan_point *p = &s->plan->point[i];
        if (p->series == series)
            tarry__sheet_check_largest(
                s, tarry__lab_text(s->lab, "%s at %g", words, p->x), &p->c,
                quantity, limit(p, s));
    }
}

static double longest(const tarry__plan_point *p, tarry__sheet *s)
{
    return tarry__sheet_bound_of(s, &p->c).phase[0].longest;
}

static double largest_sigma(const tarry__plan_point *p, tarry__sheet *s)
{
    (void)s;
    return sigma_of(p->x, (double)p->c.horizon);
}

static double sweeps(const tarry__plan_point *p, tarry__sheet *s)
{
    const double sigma = largest_sigma(p, s);
    return sigma * (1 + tarry__ln(sigma));
}

static void judge(tarry__sheet *s)
{
    const tarry__fit_series length = tarry__sheet_series(s, LENGTH);
    const tarry__fit_series regret = tarry__sheet_series(s, REGRET);
    const tarry__fit_series later = tarry__sheet_series(s, LATER);
    const tarry__fit_series two = tarry__sheet_series(s, TWO);
    tarry__sheet_check_power(s, "Algorithm 1: rounds of a phase against q",
                             &length, -1, TARRY__FIT_EQUALS);
    tarry__sheet_check_power(s, "Algorithm 1: regret against q", &regret, -0.5,
                             TARRY__FIT_AT_LEAST);
    check_each(s, LENGTH, "Algorithm 1: rounds of phase 1, share",
               tarry__plan_length, longest);
    tarry__sheet_check_power(
        s, "half the losses late: rounds of a phase against how late", &later,
        0, TARRY__FIT_AT_MOST);
    check_each(s, LATER, "half the losses late: rounds of phase 1, delay",
               tarry__plan_length, longest);
    check_each(s, SIGMA, "sigma_max, E[d]", tarry__plan_sigma, largest_sigma);
    tarry__sheet_check_power(s, "Algorithm 2: overhead of a phase against E[d]",
                             &two, 1, TARRY__FIT_AT_MOST);
    check_each(s, TWO, "Algorithm 2: overhead of phase 1, E[d]",
               tarry__plan_overhead, sweeps);
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "trade-off-q", "When a share 1 - q of the losses never comes",
               "share q that comes", "rounds of phase 1; regret",
               "Phases of Algorithm 1 grow like 1/q, its regret like "
               "1/sqrt(q).",
               false, false});
    tarry__sheet_draw_power(s, figure, &length, -1);
    tarry__sheet_draw_power(s, figure, &regret, -0.5);
    figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "trade-off-late", "Half the losses are late",
               "their delay, rounds", "rounds of phase 1",
               "Beyond twice the length of a phase nobody waits for them.",
               false, false});
    tarry__sheet_draw_points(s, figure, &later);
}

const tarry__paper_row tarry__paper_row_trade_off = {
    .id = "trade-off",
    .title = "Quantiles, and plays outstanding",
    .claim = "Algorithm 1 pays min over q of √(nT log(KT)/q) + max_a Q(q; a); "
             "σ_max ≤ 2 E[d] + 8 log T, so Algorithm 2 pays E[d] log E[d].",
    .ask = ask,
    .judge = judge,
};
