/* adversarial.c - delays by an adversary, equal for all arms: Algorithm 1 pays
 * sigma_max, whatever the dimension.
 *
 * The adversary keeps the newest plays outstanding, as many as it may. */
#include "paper/paper.h"

static tarry__lab_case base_of(tarry__lab *lab, double n)
{
    return (tarry__lab_case){
        .instance = tarry__lab_text(lab, "sphere:dim=%g,arms=%g", n, 10 * n),
        .loss = "rademacher",
        .delay = "none",
        .policy = "phased-stochastic",
        .horizon = 10000000,
        .runs = (uint64_t)tarry__lab_pick(lab, 20, 200),
        .phases = 1,
        .cost = 0.003,
    };
}

enum { BY_SIGMA, BY_N };

static void add(tarry__plan *plan, int series, const char *name, double x,
                double n, double sigma)
{
    const tarry__lab_case base = base_of(plan->lab, n);
    const char *delay =
        tarry__lab_text(plan->lab, "hold-newest:sigma=%g", sigma);
    tarry__plan_add(
        plan, &(tarry__plan_point){.series = series,
                                   .name = name,
                                   .x = x,
                                   .c = tarry__plan_with_delay(base, delay),
                                   .base = base,
                                   .quantity = tarry__plan_overhead,
                                   .what = "overhead of phase 1"});
}

static void ask(tarry__plan *plan)
{
    const double largest = tarry__lab_pick(plan->lab, 64, 128);
    for (double sigma = 100; sigma <= 102400; sigma *= 4)
        add(plan, BY_SIGMA, "n = 10", sigma, 10, sigma);
    for (double n = 4; n <= largest; n *= 2)
        add(plan, BY_N, "sigma_max = 3000", n, n, 3000);
    tarry__paper_row_ask_bandits(plan, "se-delayed", "hold-newest:sigma=%.0f");
}

static void judge(tarry__sheet *s)
{
    const tarry__fit_sweep by_sigma = tarry__sheet_sweep(s, BY_SIGMA);
    const tarry__fit_sweep by_n = tarry__sheet_sweep(s, BY_N);
    tarry__sheet_check_power(s, "overhead of a phase against sigma_max",
                             &by_sigma, 1, TARRY__FIT_EQUALS);
    tarry__sheet_show_power(s, "here", "σ_max", &by_sigma);
    tarry__sheet_check_power(s, "overhead of a phase against n", &by_n, 0,
                             TARRY__FIT_EQUALS);
    tarry__sheet_show_power(s, "here", "n", &by_n);
    tarry__paper_row_judge_bandits(s, "σ_max");
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "adversarial-sigma",
               "Algorithm 1 against an adversary that keeps the newest",
               "sigma_max, plays", "rounds added to phase 1",
               "Each point is a phase against the adversary less the same "
               "phase without delays.",
               false, false});
    tarry__sheet_draw_power(figure, &by_sigma, 1);
    figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "adversarial-dimension", "The same budget in all dimensions",
               "dimension n", "rounds added to phase 1",
               "The adversary holds 3000 plays; flat means that "
               "the dimension does not matter.",
               false, false});
    tarry__sheet_draw_power(figure, &by_n, 0);
}

const tarry__paper_row tarry__paper_row_adversarial = {
    .id = "adversarial",
    .title = "Adversarial delays, equal for all arms",
    .claim = "Algorithm 1 pays an additive O(σ_max), whatever the dimension.",
    .bandits = "σ_max (Schlisselberg et al. 2025)",
    .here = "σ_max",
    .ask = ask,
    .judge = judge,
};
