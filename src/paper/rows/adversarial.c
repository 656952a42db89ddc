/* adversarial.c - delays by an adversary, equal for all arms: Algorithm 1 pays
 * sigma_max, whatever the dimension.
 *
 * Three adversaries: one keeps the newest plays outstanding, as many as it may,
 * a constant delay; one holds everything and lets go in bursts; one lets
 * everything go until the phase is about to end.  None holds a play for more
 * than sigma rounds, so no phase may take more than sigma rounds longer. */
#include "paper/paper.h"

static const struct {
    const char *name, *delay;
    tarry__fit_relation relation; /* of overhead to sigma, as a power */
} adversaries[] = {
    {"newest held", "hold-newest:sigma=%g", TARRY__FIT_EQUALS},
    {"bursts", "hold-all:sigma=%g", TARRY__FIT_REPORTED},
    {"held when the phase is about to end", "hold-late:sigma=%g",
     TARRY__FIT_REPORTED},
};
enum { ADVERSARIES = sizeof adversaries / sizeof *adversaries };

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

/* Of adversary i: series LINES * i + line. */
enum { BY_SIGMA, BY_N, PENALTY, LINES };

static void add(tarry__plan *plan, int i, int line, double x, double n,
                double sigma)
{
    const tarry__lab_case base = base_of(plan->lab, n);
    const char *delay = tarry__lab_text(plan->lab, adversaries[i].delay, sigma);
    tarry__plan_add(plan,
                    &(tarry__plan_point){
                        .series = LINES * i + line,
                        .name = adversaries[i].name,
                        .x = x,
                        .c = tarry__plan_with_delay(base, delay),
                        .base = base,
                        .quantity = line == PENALTY ? tarry__plan_penalty
                                                    : tarry__plan_overhead,
                        .what = line == PENALTY
                                    ? "regret of phase 1 beyond that without "
                                      "delay"
                                    : "overhead of phase 1"});
}

static void ask(tarry__plan *plan)
{
    const double largest = tarry__lab_pick(plan->lab, 64, 128);
    for (int i = 0; i < ADVERSARIES; i++) {
        for (double sigma = 100; sigma <= 102400; sigma *= 4)
            add(plan, i, BY_SIGMA, sigma, 10, sigma);
        for (double n = 4; n <= largest; n *= 2)
            add(plan, i, BY_N, n, n, 3000);
    }
    for (double sigma = 400; sigma <= 102400; sigma *= 4)
        add(plan, 0, PENALTY, sigma, 10, sigma);
    tarry__paper_row_ask_bandits(plan, "sapo-delayed",
                                 "hold-newest:sigma=%.0f");
}

/* The largest share of sigma in a series; its budget, or 0 if that is x. */
static double largest_share(const tarry__fit_series *series, double sigma)
{
    double most = 0;
    for (size_t k = 0; k < series->n; k++) {
        const tarry__fit_point *p = &series->point[k];
        const double share = p->mean / (sigma > 0 ? sigma : p->x);
        most = share > most ? share : most;
    }
    return most;
}

/* No phase may take more than sigma rounds longer than without. */
static void check_most(tarry__sheet *s, int i)
{
    const tarry__fit_series by_sigma =
        tarry__sheet_series(s, LINES * i + BY_SIGMA);
    const tarry__fit_series by_n = tarry__sheet_series(s, LINES * i + BY_N);
    const double one = largest_share(&by_sigma, 0);
    const double other = largest_share(&by_n, 3000);
    const double most = one > other ? one : other;
    tarry__sheet_check_mean(
        s,
        tarry__lab_text(s->lab, "%s: mean overhead over sigma_max, the largest",
                        adversaries[i].name),
        (tarry__fit_point){.mean = most}, 1, TARRY__FIT_AT_MOST);
}

static void judge(tarry__sheet *s)
{
    json_t *by_sigma = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "adversarial-sigma", "Algorithm 1 against adversaries",
               "sigma_max, plays", "rounds added to phase 1",
               "Each point is a phase against an adversary less the same "
               "phase without delays.",
               false, false});
    json_t *by_n = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "adversarial-dimension", "The same budget in all dimensions",
               "dimension n", "rounds added to phase 1",
               "The adversary holds 3000 plays; flat means that "
               "the dimension does not matter.",
               false, false});
    for (int i = 0; i < ADVERSARIES; i++) {
        const tarry__fit_series sigma =
            tarry__sheet_series(s, LINES * i + BY_SIGMA);
        const tarry__fit_series n = tarry__sheet_series(s, LINES * i + BY_N);
        tarry__sheet_check_power(
            s,
            tarry__lab_text(s->lab, "%s: overhead of a phase against sigma_max",
                            adversaries[i].name),
            &sigma, 1, adversaries[i].relation);
        check_most(s, i);
        tarry__sheet_check_budget(s, adversaries[i].name, LINES * i + BY_SIGMA,
                                  0);
        tarry__sheet_check_power(
            s,
            tarry__lab_text(s->lab, "%s: overhead of a phase against n",
                            adversaries[i].name),
            &n, 0, i == 0 ? TARRY__FIT_EQUALS : TARRY__FIT_REPORTED);
        if (i == 0) {
            tarry__sheet_show_power(s, "here", "σ_max", &sigma);
            tarry__sheet_show_power(s, "here", "n", &n);
            tarry__sheet_draw_power(s, by_sigma, &sigma, 1);
            tarry__sheet_draw_power(s, by_n, &n, 0);
        } else {
            tarry__sheet_draw_points(s, by_sigma, &sigma);
            tarry__sheet_draw_points(s, by_n, &n);
        }
    }
    const tarry__fit_series penalty = tarry__sheet_series(s, PENALTY);
    tarry__sheet_check_power(s,
                             "newest held: regret of phase 1 against sigma_max",
                             &penalty, 1, TARRY__FIT_AT_MOST);
    tarry__paper_row_judge_bandits(s, "σ_max");
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
