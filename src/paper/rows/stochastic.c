/* stochastic.c - delays by chance, one law for all arms: Algorithm 1 pays E[d],
 * whatever the dimension.
 *
 * The lemma behind it bounds the length of a phase, so that is what is
 * measured: the rounds phase 1 takes with exponential delays less those it
 * takes without, all else equal.  Means stay well below the length of the
 * phase; beyond, the law's lower quantiles decide and the overhead grows more
 * slowly. */
#include "paper/paper.h"

#include <math.h>

static const char *delay_of(tarry__lab *lab, double mean)
{
    return tarry__lab_text(lab, "exponential:mean=%.0f", mean);
}

enum { OVERHEAD, PENALTY, OURS, THEIRS };

static const char *sphere(tarry__lab *lab, double n)
{
    return tarry__lab_text(lab, "sphere:dim=%g,arms=%g", n, 10 * n);
}

/* Phase 1 of Algorithm 1 without delays. */
static tarry__lab_case phase(tarry__lab *lab, double n, uint64_t runs)
{
    return (tarry__lab_case){
        .instance = sphere(lab, n),
        .loss = "rademacher",
        .delay = "none",
        .policy = "phased-stochastic",
        .horizon = 10000000,
        .runs = runs,
        .phases = 1,
        .cost = 0.003,
    };
}

/* All of a game without delays. */
static tarry__lab_case game(tarry__lab *lab)
{
    tarry__lab_case c = phase(lab, 10, 0);
    c.phases = 0;
    c.cost = 1;
    c.horizon = 100000;
    c.runs = (uint64_t)tarry__lab_pick(lab, 480, 2000);
    return c;
}

/* What a delay adds to the length of phase 1, or to the regret. */
static void add(tarry__plan *plan, int series, const char *name, double x,
                tarry__lab_case base, const char *delay)
{
    const bool length = series == OVERHEAD || series == OURS;
    tarry__plan_add(
        plan,
        &(tarry__plan_point){
            .series = series,
            .name = name,
            .x = x,
            .c = tarry__plan_with_delay(base, delay),
            .base = base,
            .quantity = length ? tarry__plan_overhead : tarry__plan_penalty,
            .what = length ? "overhead of phase 1"
                           : "regret beyond that without delay"});
}

/* Against the mean delay, at n = 10. */
static void ask_mean(tarry__plan *plan)
{
    tarry__lab *lab = plan->lab;
    const uint64_t runs = (uint64_t)tarry__lab_pick(lab, 40, 400);
    for (double mean = 100; mean <= 3200; mean *= 2)
        add(plan, OVERHEAD, "rounds of phase 1", mean, phase(lab, 10, runs),
            delay_of(lab, mean));
    for (double mean = 1000; mean < 8100; mean *= sqrt(2))
        add(plan, PENALTY, "regret", mean, game(lab), delay_of(lab, mean));
}

static void judge_mean(tarry__sheet *s)
{
    const tarry__fit_series overhead = tarry__sheet_series(s, OVERHEAD);
    const tarry__fit_series penalty = tarry__sheet_series(s, PENALTY);
    const tarry__lab_case long_base = game(s->lab);
    tarry__sheet_check_power(s, "overhead of a phase against E[d]", &overhead,
                             1, TARRY__FIT_EQUALS);
    tarry__sheet_show_power(s, "here", "E[d]", &overhead);
    tarry__sheet_check_power(s, "regret penalty against E[d]", &penalty, 1,
                             TARRY__FIT_AT_MOST);
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "stochastic-mean", "Algorithm 1: the price of a mean delay",
               "mean delay E[d], rounds", "rounds added to phase 1",
               "Each point is a phase with exponential delays less the same "
               "phase without; a slope of 1 means in proportion to E[d].",
               false, false});
    tarry__sheet_draw_power(s, figure, &overhead, 1);
    figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "stochastic-penalty", "Algorithm 1: regret due to delay",
               "mean delay E[d], rounds", "regret beyond that without delay",
               "Regret with delay less regret of the same run "
               "without.",
               false, false});
    tarry__sheet_draw_power(s, figure, &penalty, 1);
    figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "stochastic-curves", "Algorithm 1: regret over time", "round",
               "regret",
               "Mean regret with its 95 % band; delays move the "
               "curve up by an amount that does not grow.",
               false, false});
    tarry__sheet_draw_curve(s, figure, "no delay", &long_base);
    for (double mean = 1000; mean < 8100; mean *= 2) {
        const tarry__lab_case c =
            tarry__plan_with_delay(long_base, delay_of(s->lab, mean));
        tarry__sheet_draw_curve(
            s, figure, tarry__lab_text(s->lab, "E[d] = %.0f", mean), &c);
    }
}

/* Against the dimension, at a mean delay of 1000 rounds. */
static void ask_dimension(tarry__plan *plan)
{
    tarry__lab *lab = plan->lab;
    const double largest = tarry__lab_pick(lab, 64, 128);
    const uint64_t runs = (uint64_t)tarry__lab_pick(lab, 40, 200);
    for (double n = 4; n <= largest; n *= 2)
        add(plan, OURS, "Algorithm 1", n, phase(lab, n, runs),
            "exponential:mean=1000");
    for (double n = 4; n <= 16; n += n < 8 ? 2 : 4) {
        const tarry__lab_case base = {
            .instance = sphere(lab, n),
            .loss = "rademacher",
            .delay = "none",
            .policy = "linucb",
            .horizon = 30000,
            .runs = (uint64_t)tarry__lab_pick(lab, 80, 800),
            .cost = 30,
        };
        add(plan, THEIRS, "LinUCB on arrivals", n, base,
            "exponential:mean=1000");
    }
}

static void judge_dimension(tarry__sheet *s)
{
    const tarry__fit_series ours = tarry__sheet_series(s, OURS);
    const tarry__fit_series theirs = tarry__sheet_series(s, THEIRS);
    tarry__sheet_check_power(s, "overhead of a phase against n", &ours, 0,
                             TARRY__FIT_EQUALS);
    tarry__sheet_show_power(s, "here", "n", &ours);
    tarry__sheet_check_power(
        s, "prior work, LinUCB: penalty against n (its bound: 1.5)", &theirs,
        1.5, TARRY__FIT_REPORTED);
    tarry__sheet_show_power(s, "prior", "n", &theirs);
    json_t *figure = tarry__sheet_figure(
        s,
        &(tarry__sheet_drawing){
            "stochastic-dimension", "The price of a mean delay of 1000 rounds",
            "dimension n", "rounds added, or regret added",
            "Algorithm 1 in rounds added to phase 1; LinUCB, "
            "whose known bound grows like n^{3/2}, in regret.",
            false, false});
    tarry__sheet_draw_power(s, figure, &ours, 0);
    tarry__sheet_draw_points(s, figure, &theirs);
}

static void ask(tarry__plan *plan)
{
    ask_mean(plan);
    ask_dimension(plan);
    tarry__paper_row_ask_bandits(plan, "se-delayed", "constant:rounds=%.0f");
}

static void judge(tarry__sheet *s)
{
    judge_mean(s);
    judge_dimension(s);
    tarry__paper_row_judge_bandits(s, "E[d]");
}

const tarry__paper_row tarry__paper_row_stochastic = {
    .id = "stochastic",
    .title = "Stochastic delays, equal for all arms",
    .claim = "Algorithm 1 pays an additive O(E[d]), whatever the dimension.",
    .bandits = "E[d] (Lancewicki et al. 2021)",
    .prior = "n^{3/2} E[d] (Howson et al. 2023)",
    .here = "E[d]",
    .ask = ask,
    .judge = judge,
};
