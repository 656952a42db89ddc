/* adversarial_by_arm.c - delays by an adversary who picks arms: Algorithm 2
 * pays sigma log sigma in all dimensions, Algorithm 1 pays the more the larger
 * n.
 *
 * The adversary holds the arm that the design plays least.  Algorithm 1 must
 * wait until chance has played it sigma times more, n sigma rounds or more;
 * Algorithm 2 replays just what is missing. */
#include "paper/paper.h"

static void add(tarry__sheet *s, tarry__fit_sweep *sweep, double x, double n,
                double sigma, const char *policy)
{
    const tarry__lab_case base = {
        .instance = tarry__lab_text(s->lab, "sphere:dim=%g,arms=%g", n, 10 * n),
        .loss = "rademacher",
        .delay = "none",
        .policy = policy,
        .horizon = 100000000,
        .runs = (uint64_t)tarry__lab_pick(s->lab, 10, 100),
        .phases = 1,
        .cost = 0.01,
    };
    const tarry__lab_case c = tarry__sheet_with_delay(
        base, tarry__lab_text(s->lab, "hold-rarest:sigma=%g", sigma));
    tarry__sheet_measure(s, sweep, x, &c, &base, tarry__sheet_overhead,
                         "overhead of phase 1");
}

static void run(tarry__sheet *s)
{
    tarry__fit_sweep sigma1 = {.name = "Algorithm 1"};
    tarry__fit_sweep sigma2 = {.name = "Algorithm 2"};
    tarry__fit_sweep n1 = {.name = "Algorithm 1"};
    tarry__fit_sweep n2 = {.name = "Algorithm 2"};
    const double largest = tarry__lab_pick(s->lab, 64, 128);
    for (double sigma = 500; sigma <= 32000; sigma *= 4) {
        add(s, &sigma1, sigma, 10, sigma, "phased-stochastic");
        add(s, &sigma2, sigma, 10, sigma, "phased-adversarial");
    }
    for (double n = 4; n <= largest; n *= 2) {
        add(s, &n1, n, n, 2000, "phased-stochastic");
        add(s, &n2, n, n, 2000, "phased-adversarial");
    }
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
    .run = run,
};
