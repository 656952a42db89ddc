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

/* Against the mean delay, at n = 10. */
static void sweep_mean(tarry__sheet *s)
{
    tarry__fit_sweep overhead = {.name = "rounds of phase 1"};
    tarry__fit_sweep penalty = {.name = "regret"};
    const tarry__lab_case one = {
        .instance = "sphere:dim=10,arms=100",
        .loss = "rademacher",
        .delay = "none",
        .policy = "phased-stochastic",
        .horizon = 10000000,
        .runs = (uint64_t)tarry__lab_pick(s->lab, 40, 400),
        .phases = 1,
        .cost = 0.003,
    };
    for (double mean = 100; mean <= 3200; mean *= 2) {
        const char *delay = delay_of(s->lab, mean);
        const tarry__lab_case c = tarry__sheet_with_delay(one, delay);
        tarry__sheet_measure(s, &overhead, mean, &c, &one,
                             tarry__sheet_overhead, "overhead of phase 1");
    }
    tarry__lab_case long_base = one;
    long_base.phases = 0;
    long_base.cost = 1;
    long_base.horizon = 100000;
    long_base.runs = (uint64_t)tarry__lab_pick(s->lab, 480, 2000);
    for (double mean = 1000; mean < 8100; mean *= sqrt(2)) {
        const tarry__lab_case c =
            tarry__sheet_with_delay(long_base, delay_of(s->lab, mean));
        tarry__sheet_measure(s, &penalty, mean, &c, &long_base,
                             tarry__sheet_penalty,
                             "regret beyond that without delay");
    }
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
    tarry__sheet_draw_power(figure, &overhead, 1);
    figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "stochastic-penalty", "Algorithm 1: regret due to delay",
               "mean delay E[d], rounds", "regret beyond that without delay",
               "Regret with delay less regret of the same run "
               "without.",
               false, false});
    tarry__sheet_draw_power(figure, &penalty, 1);
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
            tarry__sheet_with_delay(long_base, delay_of(s->lab, mean));
        tarry__sheet_draw_curve(
            s, figure, tarry__lab_text(s->lab, "E[d] = %.0f", mean), &c);
    }
}

/* Against the dimension, at a mean delay of 1000 rounds. */
static void sweep_dimension(tarry__sheet *s)
{
    tarry__fit_sweep ours = {.name = "Algorithm 1"};
    tarry__fit_sweep theirs = {.name = "LinUCB on arrivals"};
    const double largest = tarry__lab_pick(s->lab, 64, 128);
    for (double n = 4; n <= largest; n *= 2) {
        const tarry__lab_case base = {
            .instance =
                tarry__lab_text(s->lab, "sphere:dim=%g,arms=%g", n, 10 * n),
            .loss = "rademacher",
            .delay = "none",
            .policy = "phased-stochastic",
            .horizon = 10000000,
            .runs = (uint64_t)tarry__lab_pick(s->lab, 40, 200),
            .phases = 1,
            .cost = 0.003,
        };
        const tarry__lab_case c =
            tarry__sheet_with_delay(base, "exponential:mean=1000");
        tarry__sheet_measure(s, &ours, n, &c, &base, tarry__sheet_overhead,
                             "overhead of phase 1");
    }
    for (double n = 4; n <= 16; n += n < 8 ? 2 : 4) {
        const tarry__lab_case base = {
            .instance =
                tarry__lab_text(s->lab, "sphere:dim=%g,arms=%g", n, 10 * n),
            .loss = "rademacher",
            .delay = "none",
            .policy = "linucb",
            .horizon = 30000,
            .runs = (uint64_t)tarry__lab_pick(s->lab, 80, 800),
            .cost = 30,
        };
        const tarry__lab_case c =
            tarry__sheet_with_delay(base, "exponential:mean=1000");
        tarry__sheet_measure(s, &theirs, n, &c, &base, tarry__sheet_penalty,
                             "regret beyond that without delay");
    }
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
    tarry__sheet_draw_power(figure, &ours, 0);
    tarry__sheet_draw_points(figure, &theirs);
}

static void run(tarry__sheet *s)
{
    sweep_mean(s);
    sweep_dimension(s);
    tarry__paper_row_add_bandits(s, "se-delayed", "constant:rounds=%.0f",
                                 "E[d]");
}

const tarry__paper_row tarry__paper_row_stochastic = {
    .id = "stochastic",
    .title = "Stochastic delays, equal for all arms",
    .claim = "Algorithm 1 pays an additive O(E[d]), whatever the dimension.",
    .bandits = "E[d] (Lancewicki et al. 2021)",
    .prior = "n^{3/2} E[d] (Howson et al. 2023)",
    .here = "E[d]",
    .run = run,
};
