/* adversarial_by_arm.c - delays by an adversary who picks arms: Algorithm 2
 * pays sigma log sigma in all dimensions, Algorithm 1 pays the more the larger
 * n.
 *
 * The adversary holds the arm that the design plays least.  Algorithm 1 must
 * wait until chance has played it sigma times more, n sigma rounds or more;
 * Algorithm 2 replays just what is missing. */
#include "paper/paper.h"

enum { SIGMA_1, SIGMA_2, N_1, N_2 };

static void add(tarry__plan *plan, int series, double x, double n, double sigma)
{
    const bool first = series == SIGMA_1 || series == N_1;
    const tarry__lab_case base = {
        .instance =
            tarry__lab_text(plan->lab, "sphere:dim=%g,arms=%g", n, 10 * n),
        .loss = "rademacher",
        .delay = "none",
        .policy = first ? "phased-stochastic" : "phased-adversarial",
        .horizon = 100000000,
        .runs = (uint64_t)tarry__lab_pick(plan->lab, 10, 100),
        .phases = 1,
        .cost = 0.01,
    };
    const char *delay =
        tarry__lab_text(plan->lab, "hold-rarest:sigma=%g", sigma);
    tarry__plan_add(plan, &(tarry__plan_point){
                              .series = series,
                              .name = first ? "Algorithm 1" : "Algorithm 2",
                              .x = x,
                              .c = tarry__plan_with_delay(base, delay),
                              .base = base,
                              .quantity = tarry__plan_overhead,
                              .what = "overhead of phase 1"});
}

static void ask(tarry__plan *plan)
{
    const double largest = tarry__lab_pick(plan->lab, 64, 128);
    for (double sigma = 500; sigma <= 32000; sigma *= 4) {
        add(plan, SIGMA_1, sigma, 10, sigma);
        add(plan, SIGMA_2, sigma, 10, sigma);
    }
    for (double n = 4; n <= largest; n *= 2) {
        add(plan, N_1, n, n, 2000);
        add(plan, N_2, n, n, 2000);
    }
}

static void judge(tarry__sheet *s)
{
    const tarry__fit_sweep sigma1 = tarry__sheet_sweep(s, SIGMA_1);
    const tarry__fit_sweep sigma2 = tarry__sheet_sweep(s, SIGMA_2);
    const tarry__fit_sweep n1 = tarry__sheet_sweep(s, N_1);
    const tarry__fit_sweep n2 = tarry__sheet_sweep(s, N_2);
    tarry__sheet_check_power(
        s, "Algorithm 2: overhead of a phase against sigma_max", &sigma2, 1,
        TARRY__FIT_EQUALS);
    tarry__sheet_show_power(s, "here", "σ_max", &sigma2);
    tarry__sheet_check_power(s, "Algorithm 2: overhead of a phase against n",
                             &n2, 0, TARRY__FIT_EQUALS);
    tarry__sheet_show_power(s, "here", "n", &n2);
    tarry__sheet_check_power(s, "Algorithm 1: overhead of a phase against n",
                             &n1, 1, TARRY__FIT_AT_LEAST);
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "adversarial-by-arm-sigma",
               "Against the adversary that holds the rarest arm, n = 10",
               "sigma_max, plays", "rounds added to phase 1",
               "A logarithm beside sigma would show as a slope a little above "
               "1; it needs many arms that run dry one after the other.",
               false, false});
    tarry__sheet_draw_power(figure, &sigma2, 1);
    tarry__sheet_draw_points(figure, &sigma1);
    figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "adversarial-by-arm-dimension",
               "The same adversary, sigma_max = 2000, in all dimensions",
               "dimension n", "rounds added to phase 1",
               "Algorithm 1 waits for chance to play the rare arm again, "
               "n rounds or more for each play held; Algorithm 2 replays it.",
               false, false});
    tarry__sheet_draw_power(figure, &n2, 0);
    tarry__sheet_draw_power(figure, &n1, 1);
}

const tarry__paper_row tarry__paper_row_adversarial_by_arm = {
    .id = "adversarial-by-arm",
    .title = "Adversarial delays, a delay per arm",
    .claim = "Algorithm 2 pays an additive O(σ_max log σ_max), whatever the "
             "dimension; Algorithm 1 would pay n times as much.",
    .here = "σ_max",
    .ask = ask,
    .judge = judge,
};
