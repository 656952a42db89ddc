/* payoff.c - the delay is the loss: on the hard instance every policy pays a
 * constant times D although the best arm answers at once; in a plain bandit a
 * policy that reads the delays does not.
 *
 * The proof's constant: with probability 1/2 the first D/20 rounds miss the
 * best arm and cost 1/20 each, D/800 in all. */
#include "paper/paper.h"

/* The hard instance. */
static tarry__lab_case hard(tarry__lab *lab, double D)
{
    return (tarry__lab_case){
        .instance = tarry__lab_full(lab) ? "lower-payoff:dim=500,arms=140"
                                         : "lower-payoff:dim=400,arms=50",
        .loss = "none",
        .delay = tarry__lab_text(lab, "payoff:D=%g", D),
        .policy = "uniform",
        .horizon = (uint64_t)(2 * D),
        .runs = (uint64_t)tarry__lab_pick(lab, 12, 20),
        .cost = 20000,
    };
}

/* A plain bandit whose best arm has loss 0, so delay 0. */
static tarry__lab_case plain(tarry__lab *lab, double D)
{
    return (tarry__lab_case){
        .instance = "basis:arms=10,best=0,gap=0.5,means=equal",
        .loss = "none",
        .delay = tarry__lab_text(lab, "payoff:D=%g", D),
        .policy = "payoff-mab",
        .horizon = 100000,
        .runs = (uint64_t)tarry__lab_pick(lab, 10, 50),
    };
}

enum { ALL, FIRST, SPANNER, MAB, ORACLE };

static void add_regret(tarry__plan *plan, int series, const char *name,
                       double D, tarry__lab_case c)
{
    tarry__plan_add(plan, &(tarry__plan_point){.series = series,
                                               .name = name,
                                               .x = D,
                                               .c = c,
                                               .quantity = tarry__plan_regret,
                                               .what = "regret"});
}

static void ask(tarry__plan *plan)
{
    tarry__lab *lab = plan->lab;
    const double largest = tarry__lab_pick(lab, 480, 1280);
    for (double D = largest / 32; D <= largest; D *= 2) {
        const tarry__lab_case c = hard(lab, D);
        tarry__plan_add_all(plan, ALL, D, c);
        tarry__plan_add(plan, &(tarry__plan_point){
                                  .series = FIRST,
                                  .name = "first loss seen (uniform play)",
                                  .x = D,
                                  .c = c,
                                  .quantity = tarry__plan_first_loss,
                                  .what = "rounds to the first loss seen"});
        add_regret(plan, SPANNER, "spanner on the hard instance", D,
                   tarry__plan_with_policy(c, "spanner"));
    }
    for (double D = 500; D <= 32000; D *= 4)
        add_regret(plan, MAB, "payoff-mab on a plain bandit", D, plain(lab, D));
    add_regret(plan, ORACLE, NULL, largest,
               tarry__plan_with_policy(hard(lab, largest), "oracle"));
}

/* What the proof says at the places of another sweep. */
static tarry__fit_sweep bound_at(tarry__sheet *s, const tarry__fit_sweep *other)
{
    tarry__fit_sweep bound = {.name = "what the proof says: D/800"};
    for (; bound.n < other->n; bound.n++) {
        const double D = other->point[bound.n].x;
        const tarry__lab_case c =
            tarry__plan_with_policy(hard(s->lab, D), "phased-loss-dependent");
        bound.point[bound.n] = (tarry__fit_point){
            .x = D, .mean = tarry__sheet_bound_of(s, &c).lower};
    }
    return bound;
}

static void judge(tarry__sheet *s)
{
    const char *const all = "smallest regret of all policies";
    const tarry__fit_sweep least =
        tarry__sheet_least(s, ALL, "best policy on the hard instance");
    const tarry__fit_sweep first = tarry__sheet_sweep(s, FIRST);
    const tarry__fit_sweep spanner = tarry__sheet_sweep(s, SPANNER);
    const tarry__fit_sweep mab = tarry__sheet_sweep(s, MAB);
    const tarry__fit_sweep bound = bound_at(s, &least);
    tarry__sheet_check_power(s, tarry__lab_text(s->lab, "%s against D", all),
                             &least, 1, TARRY__FIT_AT_LEAST);
    tarry__sheet_show_power(s, "here", "D", &least);
    for (size_t i = 0; i < least.n; i++)
        tarry__sheet_check_mean(
            s, tarry__lab_text(s->lab, "%s at D = %g", all, least.point[i].x),
            least.point[i], bound.point[i].mean, TARRY__FIT_AT_LEAST);
    tarry__sheet_check_power(s, "payoff-mab on a plain bandit against D", &mab,
                             0, TARRY__FIT_AT_MOST);
    tarry__sheet_show_power(s, "bandits", "D", &mab);
    tarry__sheet_check_power(
        s, "prior work, spanner on the hard instance against D", &spanner, 1,
        TARRY__FIT_AT_MOST);
    tarry__sheet_show_power(s, "prior", "D", &spanner);
    tarry__sheet_check_mean(
        s, "for comparison: the oracle, which knows the best arm",
        tarry__sheet_point(s, ORACLE), 0, TARRY__FIT_REPORTED);
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "payoff-D", "Delay as payoff: what the longest delay costs",
               "D, rounds", "regret; rounds to the first loss",
               "On the hard instance the best arm has delay 0 and yet every "
               "policy pays in proportion to D; a plain bandit need not.",
               false, false});
    tarry__sheet_draw_power(figure, &least, 1);
    tarry__sheet_draw_points(figure, &mab);
    tarry__sheet_draw_line(figure, &bound);
    tarry__sheet_draw_points(figure, &first);
}

const tarry__paper_row tarry__paper_row_payoff = {
    .id = "payoff",
    .title = "Delay as payoff",
    .claim = "Every policy pays Ω(D) on some linear instance with d* = 0; a "
             "plain bandit costs only d*.",
    .bandits = "d* (Schlisselberg et al. 2025)",
    .prior = "D, upper bound (Zhang et al. 2025)",
    .here = "D, lower bound",
    .ask = ask,
    .judge = judge,
};
