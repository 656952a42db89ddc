/* adversarial_by_arm.c - delays by an adversary who picks arms: Algorithm 2
 * pays sigma (1 + log sigma) at most and nearly so at worst; Algorithm 1 pays
 * the more the larger n.
 *
 * hold-in-turn keeps each of the psi arms of the design short of one loss and
 * holds its replays; hold-staggered keeps more of the arms that it will give up
 * first.  The lemma on sweeps with equality makes Algorithm 2 pay sigma (1 +
 * log psi) and sigma (1 + (psi - 1)(1 - sigma^(-1/(psi - 1)))); more than
 * sigma (1 + log sigma) nobody can make it pay.  hold-rarest holds one arm:
 * Algorithm 1 must wait until chance has played it sigma times more. */
#include "base/elementary.h"
#include "paper/paper.h"

#include <math.h>

static tarry__lab_case base_of(tarry__lab *lab, double n, const char *policy)
{
    return (tarry__lab_case){
        .instance =
            tarry__lab_text(lab, "sphere:dim=%g,arms=%g,fixed=1", n, 10 * n),
        .loss = "rademacher",
        .delay = "none",
        .policy = policy,
        .horizon = 100000000,
        .runs = (uint64_t)tarry__lab_pick(lab, 4, 40),
        .phases = 1,
        .cost = 0.01,
    };
}

enum { TURN_SIGMA, TURN_N, STAGGER_SIGMA, STAGGER_N, ONE_N, PENALTY, RAREST };
#define IN_TURN "hold-in-turn:sigma=%g"
#define STAGGERED "hold-staggered:sigma=%g"

static void add(tarry__plan *plan, int series, double x, double n, double sigma,
                const char *policy, const char *delay)
{
    const tarry__lab_case base = base_of(plan->lab, n, policy);
    const bool regret = series == PENALTY;
    tarry__plan_add(
        plan,
        &(tarry__plan_point){
            .series = series,
            .name = series == ONE_N    ? "Algorithm 1, hold-rarest"
                    : series == RAREST ? "Algorithm 2, hold-rarest"
                    : series == STAGGER_SIGMA || series == STAGGER_N
                        ? "Algorithm 2, hold-staggered"
                        : "Algorithm 2, hold-in-turn",
            .x = x,
            .c = tarry__plan_with_delay(
                base, tarry__lab_text(plan->lab, delay, sigma)),
            .base = base,
            .quantity = regret ? tarry__plan_penalty : tarry__plan_overhead,
            .what = regret ? "regret of phase 1 beyond that without delay"
                           : "overhead of phase 1"});
}

static void ask(tarry__plan *plan)
{
    const double largest = tarry__lab_pick(plan->lab, 64, 128);
    const char *const two = "phased-adversarial";
    for (double sigma = 500; sigma <= 32000; sigma *= 4) {
        add(plan, TURN_SIGMA, sigma, 10, sigma, two, IN_TURN);
        add(plan, PENALTY, sigma, 10, sigma, two, IN_TURN);
        add(plan, STAGGER_SIGMA, sigma, 10, sigma, two, STAGGERED);
    }
    add(plan, RAREST, 2000, 10, 2000, two, "hold-rarest:sigma=%g");
    for (double n = 4; n <= largest; n *= 2) {
        add(plan, TURN_N, n, n, 2000, two, IN_TURN);
        add(plan, STAGGER_N, n, n, 2000, two, STAGGERED);
        add(plan, ONE_N, n, n, 2000, "phased-stochastic",
            "hold-rarest:sigma=%g");
    }
}

/* What theory says of a point: with all arms of its design. */
static double in_turn(double sigma, double psi)
{
    return sigma * (1 + tarry__ln(psi));
}

static double staggered(double sigma, double psi)
{
    return sigma * (1 + (psi - 1) * (1 - tarry__pow(sigma, -1 / (psi - 1))));
}

/* Each point of a series against the most there can be, and against what its
 * adversary should reach, as a share of it; `sigma` 0: it is the point's x. */
static void check_each(tarry__sheet *s, int series, double sigma,
                       double (*theory)(double sigma, double psi), double least)
{
    for (size_t i = 0; i < s->plan->n_points; i++) {
        const tarry__plan_point *p = &s->plan->point[i];
        if (p->series != series)
            continue;
        const double budget = sigma > 0 ? sigma : p->x;
        const double psi = tarry__sheet_bound_of(s, &p->c).support;
        const tarry__fit_point m = s->measured[i];
        tarry__sheet_check_mean(
            s,
            tarry__lab_text(s->lab,
                            "%s, %s %g: overhead over sigma (1 + log sigma)",
                            p->name, sigma > 0 ? "n =" : "sigma =", p->x),
            tarry__fit_point_over(m, budget * (1 + tarry__ln(budget))), 1,
            TARRY__FIT_AT_MOST);
        tarry__sheet_check_mean_within(
            s,
            tarry__lab_text(s->lab,
                            "%s, %s %g: overhead over what it can reach with "
                            "%g arms",
                            p->name, sigma > 0 ? "n =" : "sigma =", p->x, psi),
            tarry__fit_point_over(m, theory(budget, psi)), 1, TARRY__FIT_EQUALS,
            least);
    }
}

static void draw(tarry__sheet *s)
{
    const tarry__fit_series turn = tarry__sheet_series(s, TURN_SIGMA);
    const tarry__fit_series stagger = tarry__sheet_series(s, STAGGER_SIGMA);
    const tarry__fit_series turn_n = tarry__sheet_series(s, TURN_N);
    const tarry__fit_series stagger_n = tarry__sheet_series(s, STAGGER_N);
    const tarry__fit_series one = tarry__sheet_series(s, ONE_N);
    tarry__fit_series most = {.name = "sigma (1 + log sigma)"};
    for (size_t i = 0; i < turn.n; i++) {
        const double sigma = turn.point[i].x;
        most.point[most.n++] = (tarry__fit_point){
            .x = sigma, .mean = sigma * (1 + tarry__ln(sigma))};
    }
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "adversarial-by-arm-sigma", "Algorithm 2 at its worst, n = 10",
               "sigma_max, plays", "rounds added to phase 1",
               "No adversary can add more than the line; hold-staggered comes "
               "close to it.",
               false, false});
    tarry__sheet_draw_power(s, figure, &turn, 1);
    tarry__sheet_draw_points(s, figure, &stagger);
    tarry__sheet_draw_line(s, figure, &most);
    figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "adversarial-by-arm-dimension",
               "sigma_max = 2000 in all dimensions", "dimension n",
               "rounds added to phase 1",
               "Algorithm 1 waits for chance to play the rare arm again, n "
               "rounds or more for each play held; for Algorithm 2 more arms "
               "mean a longer logarithm, sigma (1 + log psi), up to log sigma.",
               false, false});
    tarry__sheet_draw_points(s, figure, &turn_n);
    tarry__sheet_draw_points(s, figure, &stagger_n);
    tarry__sheet_draw_power(s, figure, &one, 1);
}

static void judge(tarry__sheet *s)
{
    const tarry__fit_series turn = tarry__sheet_series(s, TURN_SIGMA);
    const tarry__fit_series turn_n = tarry__sheet_series(s, TURN_N);
    const tarry__fit_series one = tarry__sheet_series(s, ONE_N);
    const tarry__fit_series penalty = tarry__sheet_series(s, PENALTY);
    tarry__sheet_check_power(
        s, "Algorithm 2, hold-in-turn: overhead against sigma_max", &turn, 1,
        TARRY__FIT_EQUALS);
    tarry__sheet_show_power(s, "here", "σ_max", &turn);
    check_each(s, TURN_SIGMA, 0, in_turn, 0.15);
    check_each(s, TURN_N, 2000, in_turn, 0.15);
    check_each(s, STAGGER_SIGMA, 0, staggered, 0.2);
    check_each(s, STAGGER_N, 2000, staggered, 0.2);
    tarry__sheet_check_budget(s, "hold-in-turn", TURN_SIGMA, 0);
    tarry__sheet_check_budget(s, "hold-staggered", STAGGER_N, 2000);
    tarry__sheet_check_budget(s, "hold-rarest", ONE_N, 2000);
    tarry__sheet_check_mean(
        s, "Algorithm 2, one arm held: overhead over sigma, the first sweep",
        tarry__fit_point_over(tarry__sheet_point(s, RAREST), 2000), 1,
        TARRY__FIT_AT_MOST);
    tarry__sheet_check_power(s, "Algorithm 2, hold-in-turn: overhead against n",
                             &turn_n, 0, TARRY__FIT_REPORTED);
    tarry__sheet_show_power(s, "here", "n", &turn_n);
    tarry__sheet_check_power(
        s, "Algorithm 2, hold-in-turn: regret of phase 1 against sigma_max",
        &penalty, 1, TARRY__FIT_AT_MOST);
    tarry__sheet_check_power(s, "Algorithm 1, hold-rarest: overhead against n",
                             &one, 1, TARRY__FIT_AT_LEAST);
    draw(s);
}

const tarry__paper_row tarry__paper_row_adversarial_by_arm = {
    .id = "adversarial-by-arm",
    .title = "Adversarial delays, a delay per arm",
    .claim = "Algorithm 2 pays an additive O(σ_max log σ_max) at most, against "
             "any adversary; Algorithm 1 would pay n times σ_max.",
    .here = "σ_max",
    .ask = ask,
    .judge = judge,
};
