/* payoff.c - the delay is the loss: on the hard instance every policy pays a
 * constant times D although the best arm answers at once; in a plain bandit a
 * policy that reads the delays pays d* only.
 *
 * The theorem needs K >= D/10 arms in n >= 100 log K dimensions, so K and n
 * grow with D: with fewer arms the policy that stays with the first arm that
 * answers at once (first-answer) pays the same at every D.  The proof's
 * constant: with probability 1/2 the first D/20 rounds miss the best arm and
 * cost 1/20 each, D/800 in all.  The upper bound of prior work, that of
 * `spanner`, is for long games, in which it has learned: at fixed n, what delay
 * adds to its regret. */
#include "base/elementary.h"
#include "paper/paper.h"

#include <math.h>

/* The hard instance with as few arms as the theorem allows. */
static tarry__lab_case hard(tarry__lab *lab, double D)
{
    const double K = ceil(D / 10);
    return (tarry__lab_case){
        .instance = tarry__lab_text(lab, "lower-payoff:dim=%g,arms=%g",
                                    2 * ceil(50 * tarry__ln(K) + 1), K),
        .loss = "none",
        .delay = tarry__lab_text(lab, "payoff:D=%g", D),
        .policy = "uniform",
        .horizon = (uint64_t)D,
        .runs = (uint64_t)tarry__lab_pick(lab, 10, 40),
        .cost = 20000,
    };
}

/* The same arms at every D, for a long time. */
static tarry__lab_case long_game(tarry__lab *lab, double D)
{
    tarry__lab_case c = hard(lab, D);
    c.instance = "lower-payoff:dim=320,arms=24";
    c.policy = "spanner";
    c.horizon = 600000;
    c.runs = (uint64_t)tarry__lab_pick(lab, 4, 20);
    c.cost = 1000;
    return c;
}

/* A plain bandit whose best arm has loss `best`, so delay D best. */
static tarry__lab_case plain(tarry__lab *lab, const char *policy, double D,
                             double best)
{
    return (tarry__lab_case){
        .instance = tarry__lab_text(
            lab, "basis:arms=10,best=%g,gap=0.5,means=equal", best),
        .loss = "none",
        .delay = tarry__lab_text(lab, "payoff:D=%g", D),
        .policy = policy,
        .horizon = 100000,
        .runs = (uint64_t)tarry__lab_pick(lab, 10, 50),
    };
}

/* Policies for plain bandits; of each two series. */
static const char *const rules[] = {"payoff-doubling", "payoff-mab"};
enum { RULES = sizeof rules / sizeof *rules };
enum {
    ALL,
    FIRST_ANSWER,
    FEW_ARMS,
    SPANNER,
    ORACLE,
    MAB_D,
    MAB_STAR = MAB_D + RULES
};

static void add(tarry__plan *plan, int series, const char *name, double x,
                tarry__lab_case c)
{
    tarry__plan_add(plan, &(tarry__plan_point){.series = series,
                                               .name = name,
                                               .x = x,
                                               .c = c,
                                               .quantity = tarry__plan_regret,
                                               .what = "regret"});
}

static void ask_plain(tarry__plan *plan, int i)
{
    tarry__lab *lab = plan->lab;
    const char *against_D =
        tarry__lab_text(lab, "%s on a plain bandit, d* = 0", rules[i]);
    const char *against_star =
        tarry__lab_text(lab, "%s on a plain bandit, D = 32000", rules[i]);
    for (double D = 2000; D <= 128000; D *= 4)
        add(plan, MAB_D + i, against_D, D, plain(lab, rules[i], D, 0));
    for (double best = 0.0125; best <= 0.4; best *= 2)
        add(plan, MAB_STAR + i, against_star, 32000 * best,
            plain(lab, rules[i], 32000, best));
}

static void ask(tarry__plan *plan)
{
    tarry__lab *lab = plan->lab;
    const double largest = tarry__lab_pick(lab, 960, 1920);
    for (double D = 120; D <= largest; D *= 2) {
        tarry__lab_case c = hard(lab, D);
        tarry__plan_add_all(plan, ALL, D, c);
        c.policy = "first-answer";
        c.runs *= 20;
        c.cost = 0;
        add(plan, FIRST_ANSWER, "first-answer, K = D/10", D, c);
        c.instance = "lower-payoff:dim=260,arms=12";
        c.delay = tarry__lab_text(lab, "payoff:D=%g", 120.0);
        c.horizon = (uint64_t)(2 * D);
        add(plan, FEW_ARMS, "first-answer, 12 arms, longer games", D, c);
        add(plan, SPANNER, "spanner, 600000 rounds", D, long_game(lab, D / 4));
    }
    for (int i = 0; i < RULES; i++)
        ask_plain(plan, i);
    add(plan, ORACLE, NULL, largest,
        tarry__plan_with_policy(hard(lab, largest), "oracle"));
}

/* What the proof says at the places of another series. */
static tarry__fit_series bound_at(tarry__sheet *s,
                                  const tarry__fit_series *other)
{
    tarry__fit_series bound = {.name = "what the proof says: D/800"};
    for (size_t i = 0; i < other->n; i++) {
        const double D = other->point[i].x;
        const tarry__lab_case c =
            tarry__plan_with_policy(hard(s->lab, D), "phased-loss-dependent");
        bound.point[bound.n++] = (tarry__fit_point){
            .x = D, .mean = tarry__sheet_bound_of(s, &c).lower};
    }
    return bound;
}

static void judge_hard(tarry__sheet *s, const tarry__fit_series *least,
                       const tarry__fit_series *bound)
{
    const tarry__fit_series first = tarry__sheet_series(s, FIRST_ANSWER);
    const char *const all = "smallest regret of all policies";
    for (size_t i = 0; i < least->n; i++)
        tarry__sheet_check_mean(
            s,
            tarry__lab_text(s->lab, "%s at D = %g, K = D/10", all,
                            least->point[i].x),
            least->point[i], bound->point[i].mean, TARRY__FIT_AT_LEAST);
    /* As few runs as all policies can have leave a wide interval. */
    tarry__sheet_check_power(
        s, tarry__lab_text(s->lab, "%s against D, K = D/10", all), least, 1,
        TARRY__FIT_REPORTED);
    tarry__sheet_check_power(s, "first-answer against D, K = D/10", &first, 1,
                             TARRY__FIT_AT_LEAST);
    tarry__sheet_show_power(s, "here", "D", &first);
}

static void judge_plain(tarry__sheet *s, int i)
{
    const tarry__fit_series mab = tarry__sheet_series(s, MAB_D + i);
    const tarry__fit_series star = tarry__sheet_series(s, MAB_STAR + i);
    tarry__sheet_check_power(
        s,
        tarry__lab_text(s->lab, "plain bandit, %s against D, d* = 0", rules[i]),
        &mab, 0, TARRY__FIT_AT_MOST);
    tarry__sheet_check_power(
        s,
        tarry__lab_text(s->lab, "plain bandit, %s against d*, D fixed",
                        rules[i]),
        &star, 1, TARRY__FIT_AT_MOST);
    if (i == 0) {
        tarry__sheet_show_power(s, "bandits", "D", &mab);
        tarry__sheet_show_power(s, "bandits", "d*", &star);
    }
}

static void judge_others(tarry__sheet *s)
{
    const tarry__fit_series spanner = tarry__sheet_series(s, SPANNER);
    for (int i = 0; i < RULES; i++)
        judge_plain(s, i);
    tarry__sheet_check_power(
        s, "prior work, spanner: penalty against D in 600000 rounds", &spanner,
        1, TARRY__FIT_AT_MOST);
    tarry__sheet_show_power(s, "prior", "D", &spanner);
    tarry__sheet_check_mean(
        s, "for comparison: the oracle, which knows the best arm",
        tarry__sheet_point(s, ORACLE), 0, TARRY__FIT_REPORTED);
    const tarry__fit_series few = tarry__sheet_series(s, FEW_ARMS);
    tarry__sheet_check_power(
        s, "for comparison: first-answer with 12 arms, against the horizon",
        &few, 0, TARRY__FIT_REPORTED);
}

static void judge(tarry__sheet *s)
{
    const tarry__fit_series least =
        tarry__sheet_least(s, ALL, "best policy on the hard instance");
    const tarry__fit_series bound = bound_at(s, &least);
    const tarry__fit_series first = tarry__sheet_series(s, FIRST_ANSWER);
    const tarry__fit_series mab = tarry__sheet_series(s, MAB_D);
    judge_hard(s, &least, &bound);
    judge_others(s);
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "payoff-D", "Delay as payoff: what the longest delay costs",
               "D, rounds", "regret",
               "On the hard instance, with K = D/10 arms, the best arm has "
               "delay 0 and yet every policy pays in proportion to D; a plain "
               "bandit need not.",
               false, false});
    tarry__sheet_draw_power(s, figure, &least, 1);
    tarry__sheet_draw_points(s, figure, &first);
    tarry__sheet_draw_points(s, figure, &mab);
    tarry__sheet_draw_line(s, figure, &bound);
}

const tarry__paper_row tarry__paper_row_payoff = {
    .id = "payoff",
    .title = "Delay as payoff",
    .claim = "Every policy pays Ω(D) on some linear instance with d* = 0 and "
             "K ≥ D/10 arms; a plain bandit costs only d*.",
    .bandits = "d* (Schlisselberg et al. 2025)",
    .prior = "D, upper bound (Zhang et al. 2025)",
    .here = "D, lower bound",
    .ask = ask,
    .judge = judge,
};
