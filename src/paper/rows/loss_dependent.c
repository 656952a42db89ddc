/* loss_dependent.c - delays that depend on the loss: Algorithm 3 pays sqrt(n)
 * times the mean delay, Algorithm 4 (arms without features) the mean delay
 * alone.
 *
 * Phase 1 of Algorithm 3 waits for all but a share m = eps/sqrt(n) of its
 * losses, for Algorithm 4 m = eps.  The lowest losses are late: a share 1.5 m
 * by dbar / 2.3 m rounds, and the lowest 0.2 m of all four times as long, so
 * that dbar is the mean.  Who waits too little ends before the late ones come,
 * who waits too long waits for the last.
 *
 * Then whether brackets hold what they must, while a share 0.8 m is never seen,
 * and are no wider than is proved for the design at hand; what the quantile
 * form of the theorem says; Algorithm 3 where the delay is the loss; and what
 * the delay model does to policies that do not know of it. */
#include "paper/paper.h"

#include <math.h>
#include "tarry/design.h"

static const double EPS = 0.5; /* of phase 1 */

static double late_of(double dbar, double missing)
{
    return floor(dbar / (2.3 * missing));
}

static const char *late(tarry__lab *lab, double dbar, double missing)
{
    const double rounds = late_of(dbar, missing);
    return tarry__lab_text(lab,
                           "lowest-late:p=%.17g,late=%.0f,far_p=%.17g,far=%.0f",
                           1.5 * missing, rounds, 0.2 * missing, 4 * rounds);
}

static tarry__lab_case first_phase(tarry__lab *lab, const char *policy,
                                   const char *instance, const char *delay)
{
    return (tarry__lab_case){
        .instance = instance,
        .loss = "rademacher",
        .delay = delay,
        .policy = policy,
        .horizon = 10000000,
        .runs = (uint64_t)tarry__lab_pick(lab, 8, 60),
        .phases = 1,
        .cost = 0.1,
    };
}

enum {
    BY_N,
    BY_K,
    BY_MEAN,
    BY_MEAN_PLAIN,
    REGRET_MEAN,
    REGRET_N,
    FAR,
    PAYOFF,
    BRACKETS,
    CUT = 100
};

/* ---- series ---------------------------------------------------------------*/

static void add(tarry__plan *plan, int series, const char *name, double x,
                tarry__lab_case c)
{
    tarry__plan_add(plan, &(tarry__plan_point){.series = series,
                                               .name = name,
                                               .x = x,
                                               .c = c,
                                               .quantity = tarry__plan_overhead,
                                               .what = "overhead of phase 1"});
}

static void add_penalty(tarry__plan *plan, int series, const char *name,
                        double x, tarry__lab_case c)
{
    tarry__plan_add(plan,
                    &(tarry__plan_point){
                        .series = series,
                        .name = name,
                        .x = x,
                        .c = c,
                        .base = tarry__plan_with_delay(c, "none"),
                        .quantity = tarry__plan_penalty,
                        .what = "regret of phase 1 beyond that without delay"});
}

static tarry__lab_case linear(tarry__lab *lab, double n, double dbar)
{
    return first_phase(lab, "phased-loss-dependent",
                       tarry__lab_text(lab, "sphere:dim=%g,arms=%g", n, 10 * n),
                       late(lab, dbar, EPS / sqrt(n)));
}

static tarry__lab_case plain(tarry__lab *lab, double K, double dbar)
{
    return first_phase(lab, "phased-mab",
                       tarry__lab_text(lab, "basis:arms=%g", K),
                       late(lab, dbar, EPS));
}

static void ask_series(tarry__plan *plan)
{
    tarry__lab *lab = plan->lab;
    const double dbar = 50000, largest = tarry__lab_pick(lab, 64, 128);
    for (double n = 4; n <= largest; n *= 2) {
        add(plan, BY_N, "Algorithm 3", n, linear(lab, n, dbar));
        add(plan, BY_K, "Algorithm 4 (n is the number of arms)", n,
            plain(lab, n, dbar));
        add_penalty(plan, REGRET_N, "Algorithm 3", n, linear(lab, n, dbar));
    }
    for (double mean = 10000; mean <= 160000; mean *= 2) {
        const tarry__lab_case c = linear(lab, 10, mean);
        add(plan, BY_MEAN, "Algorithm 3, n = 10", mean, c);
        add_penalty(plan, REGRET_MEAN, "Algorithm 3, n = 10", mean, c);
        add(plan, BY_MEAN_PLAIN, "Algorithm 4, K = 10", mean,
            plain(lab, 10, mean));
    }
}

/* Every phase against the quantile it waits for: no longer, and not much
 * shorter; `missing` is 0 where it depends on x. */
static void check_waits(tarry__sheet *s, int series, double dbar,
                        double missing)
{
    for (size_t i = 0; i < s->plan->n_points; i++) {
        const tarry__plan_point *p = &s->plan->point[i];
        if (p->series != series)
            continue;
        const double rounds = late_of(dbar > 0 ? dbar : p->x,
                                      missing > 0 ? missing : EPS / sqrt(p->x));
        const char *place = tarry__lab_text(s->lab, "%s, %s %g", p->name,
                                            dbar > 0 ? "n =" : "E[d] =", p->x);
        tarry__sheet_check_largest(
            s, tarry__lab_text(s->lab, "%s: rounds waited", place), &p->c,
            tarry__plan_overhead, rounds);
        tarry__sheet_check_mean_within(
            s, tarry__lab_text(s->lab, "%s: wait over the quantile's", place),
            tarry__fit_point_over(s->measured[i], rounds), 1,
            TARRY__FIT_AT_LEAST, 0.3);
    }
}

static void draw_series(tarry__sheet *s)
{
    const tarry__fit_series by_n = tarry__sheet_series(s, BY_N);
    const tarry__fit_series by_k = tarry__sheet_series(s, BY_K);
    const tarry__fit_series by_mean = tarry__sheet_series(s, BY_MEAN);
    const tarry__fit_series by_plain = tarry__sheet_series(s, BY_MEAN_PLAIN);
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "loss-dependent-dimension",
               "The price of losing sight of a loss-dependent tail",
               "dimension n", "rounds added to phase 1",
               "Mean delay 50000 throughout.  Algorithm 3 waits for a share "
               "1 - eps/sqrt(n) of its losses, Algorithm 4 for 1 - eps.",
               false, false});
    tarry__sheet_draw_power(s, figure, &by_n, 0.5);
    tarry__sheet_draw_power(s, figure, &by_k, 0);
    figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "loss-dependent-mean", "Against the mean delay",
               "mean delay, rounds", "rounds added to phase 1",
               "The lowest losses late, in shares matched to the phase.", false,
               false});
    tarry__sheet_draw_power(s, figure, &by_mean, 1);
    tarry__sheet_draw_points(s, figure, &by_plain);
}

static void judge_series(tarry__sheet *s)
{
    const tarry__fit_series by_n = tarry__sheet_series(s, BY_N);
    const tarry__fit_series by_k = tarry__sheet_series(s, BY_K);
    const tarry__fit_series by_mean = tarry__sheet_series(s, BY_MEAN);
    const tarry__fit_series by_plain = tarry__sheet_series(s, BY_MEAN_PLAIN);
    const tarry__fit_series regret_n = tarry__sheet_series(s, REGRET_N);
    const tarry__fit_series regret_mean = tarry__sheet_series(s, REGRET_MEAN);
    tarry__sheet_check_power(s, "Algorithm 3: overhead of a phase against n",
                             &by_n, 0.5, TARRY__FIT_EQUALS);
    tarry__sheet_show_power(s, "here", "n", &by_n);
    tarry__sheet_check_power(s, "Algorithm 3: overhead of a phase against E[d]",
                             &by_mean, 1, TARRY__FIT_EQUALS);
    tarry__sheet_show_power(s, "here", "E[d]", &by_mean);
    tarry__sheet_check_power(s, "Algorithm 4: overhead of a phase against K",
                             &by_k, 0, TARRY__FIT_EQUALS);
    tarry__sheet_check_power(s, "Algorithm 4: overhead of a phase against E[d]",
                             &by_plain, 1, TARRY__FIT_EQUALS);
    tarry__sheet_check_power(s, "Algorithm 3: regret of phase 1 against n",
                             &regret_n, 0.5, TARRY__FIT_AT_MOST);
    tarry__sheet_check_power(s, "Algorithm 3: regret of phase 1 against E[d]",
                             &regret_mean, 1, TARRY__FIT_AT_MOST);
    check_waits(s, BY_N, 50000, 0);
    check_waits(s, BY_K, 50000, EPS);
    check_waits(s, BY_MEAN, 0, EPS / sqrt(10));
    check_waits(s, BY_MEAN_PLAIN, 0, EPS);
    draw_series(s);
}

/* ---- quantiles by gaps, and delay as payoff -------------------------------*/

static void ask_others(tarry__plan *plan)
{
    tarry__lab *lab = plan->lab;
    for (double far = 1e4; far <= 1e8; far *= 10) {
        tarry__lab_case c = first_phase(
            lab, "phased-loss-dependent",
            "basis:arms=2,best=-0.9,gap=1.8,means=equal",
            tarry__lab_text(lab, "lowest-late:p=0,far_p=0.008,far=%.0f", far));
        c.horizon = 1000000;
        c.phases = 0;
        tarry__plan_add(plan,
                        &(tarry__plan_point){.series = FAR,
                                             .name = "a share of 0.008 late",
                                             .x = far,
                                             .c = c,
                                             .quantity = tarry__plan_regret,
                                             .what = "regret"});
    }
    for (double D = 2000; D <= 128000; D *= 4) {
        tarry__lab_case c =
            first_phase(lab, "phased-loss-dependent", "orthant:dim=4,arms=40",
                        tarry__lab_text(lab, "payoff:D=%.0f", D));
        c.loss = "bernoulli";
        add(plan, PAYOFF, "Algorithm 3, delay as payoff", D, c);
    }
}

static void judge_others(tarry__sheet *s)
{
    const tarry__fit_series far = tarry__sheet_series(s, FAR);
    tarry__sheet_check_power(
        s,
        "Algorithm 3: regret against delays beyond the quantile 1 - "
        "gap/(72 sqrt n)",
        &far, 0, TARRY__FIT_AT_MOST);
    for (size_t i = 0; i < s->plan->n_points; i++) {
        const tarry__plan_point *p = &s->plan->point[i];
        if (p->series == PAYOFF)
            tarry__sheet_check_largest(
                s,
                tarry__lab_text(s->lab,
                                "Algorithm 3, delay as payoff: rounds waited, "
                                "D = %g",
                                p->x),
                &p->c, tarry__plan_overhead, p->x);
    }
}

/* ---- brackets -------------------------------------------------------------*/

static double uncovered(const tarry__lab_answer *run,
                        const tarry__lab_answer *base)
{
    (void)base;
    return run->arms > 0 ? (double)run->uncovered : NAN;
}

static double widest(const tarry__lab_answer *run,
                     const tarry__lab_answer *base)
{
    (void)base;
    return run->arms > 0 ? run->widest : NAN;
}

static const struct {
    const char *policy, *words, *instance, *delay;
} brackets[] = {
    {"phased-loss-dependent", "Algorithm 3", "sphere:dim=10,arms=100,fixed=1",
     "lowest-late:p=0,far_p=0.1265"}, /* 0.8 eps / sqrt(n) */
    {"phased-mab", "Algorithm 4", "basis:arms=10", "lowest-late:p=0,far_p=0.4"},
};
enum { N_BRACKETS = sizeof brackets / sizeof *brackets };

static void ask_brackets(tarry__plan *plan)
{
    for (int i = 0; i < N_BRACKETS; i++) {
        tarry__lab_case c =
            first_phase(plan->lab, brackets[i].policy, brackets[i].instance,
                        brackets[i].delay);
        c.kind = TARRY__LAB_BRACKETS;
        tarry__plan_add(plan,
                        &(tarry__plan_point){.series = BRACKETS + i,
                                             .c = c,
                                             .quantity = uncovered,
                                             .what = "arms not bracketed"});
    }
}

/* 2 sqrt(g sum N(b) / n N) for the design at hand, where 4 sqrt(2) is what
 * g <= 4n and sum N(b) <= 2N give; sum N(b) is nearly N. */
static double width_of_design(tarry__sheet *s, const tarry__lab_case *c)
{
    tarry__world *w = NULL;
    tarry_design *d = NULL;
    tarry_design_options options = tarry_design_defaults();
    double width = NAN;
    options.rule = TARRY_DESIGN_PAPER;
    if (tarry__world_create(c->instance, c->loss, "none",
                            tarry__lab_seed(s->lab), 0, &w, NULL) == TARRY_OK &&
        tarry_design_solve(w->instance.arms, w->instance.n_arms,
                           w->instance.dim, &options, &d) == TARRY_OK)
        width = 2 * sqrt(1.01 * d->g / (double)w->instance.dim);
    tarry_design_free(d);
    tarry__world_free(w);
    return width;
}

static void judge_brackets(tarry__sheet *s, int i)
{
    const char *words = brackets[i].words;
    const tarry__lab_case *c = &tarry__sheet_planned(s, BRACKETS + i)->c;
    tarry__sheet_check_mean(
        s,
        tarry__lab_text(s->lab,
                        "%s: arms per run whose bracket does not hold the "
                        "full-sample estimate",
                        words),
        tarry__sheet_point(s, BRACKETS + i), 0, TARRY__FIT_AT_MOST);
    tarry__sheet_check_largest(
        s,
        tarry__lab_text(s->lab, "%s: widest bracket, in units of eps", words),
        c, widest, i == 0 ? width_of_design(s, c) : 2);
}

/* ---- policies that do not know --------------------------------------------*/

static const struct {
    const char *policy, *words;
    tarry__fit_relation relation;
} cutters[] = {
    {"phased-loss-dependent", "Algorithm 3", TARRY__FIT_AT_MOST},
    {"phased-mab", "Algorithm 4", TARRY__FIT_AT_MOST},
    {"phased-stochastic", "Algorithm 1", TARRY__FIT_REPORTED},
    {"phased-adversarial", "Algorithm 2", TARRY__FIT_REPORTED},
    {"phased-nodelay", "phased elimination without waiting",
     TARRY__FIT_REPORTED},
};
enum { CUTTERS = sizeof cutters / sizeof *cutters };

static void ask_cutters(tarry__plan *plan)
{
    for (int i = 0; i < CUTTERS; i++)
        tarry__plan_add(
            plan, &(tarry__plan_point){.series = CUT + i,
                                       .c = {.instance = "sphere:dim=4,arms=20",
                                             .loss = "rademacher",
                                             .delay = "low-late:late=20000",
                                             .policy = cutters[i].policy,
                                             .horizon = 100000,
                                             .runs = (uint64_t)tarry__lab_pick(
                                                 plan->lab, 200, 2000)},
                                       .quantity = tarry__plan_regret,
                                       .what = "regret"});
}

static void judge_cutter(tarry__sheet *s, int i)
{
    const tarry__lab_case *c = &tarry__sheet_planned(s, CUT + i)->c;
    const tarry__lab_answer *runs = tarry__sheet_runs(s, c);
    uint64_t cut = 0;
    for (size_t k = 0; runs != NULL && k < c->runs; k++)
        cut += runs[k].best_kept == 0;
    tarry__sheet_check_frequency(
        s,
        tarry__lab_text(s->lab, "best arm cut by %s, low losses late",
                        cutters[i].words),
        cut, c->runs, 0.05, cutters[i].relation);
}

static void ask(tarry__plan *plan)
{
    ask_series(plan);
    ask_others(plan);
    ask_brackets(plan);
    ask_cutters(plan);
    tarry__paper_row_ask_bandits(plan, "opse", "low-late:late=%.0f");
}

static void judge(tarry__sheet *s)
{
    judge_series(s);
    judge_others(s);
    for (int i = 0; i < N_BRACKETS; i++)
        judge_brackets(s, i);
    for (int i = 0; i < CUTTERS; i++)
        judge_cutter(s, i);
    tarry__paper_row_judge_bandits(s, "max_a E[d(a)]");
}

const tarry__paper_row tarry__paper_row_loss_dependent = {
    .id = "loss-dependent",
    .title = "Loss-dependent delays",
    .claim =
        "Algorithm 3 pays an additive O(√n max_a E[d(a)]); without features "
        "Algorithm 4 pays O(max_a E[d(a)]).",
    .bandits = "max_a E[d(a)] (Lancewicki et al. 2021)",
    .here = "√n max_a E[d(a)]",
    .ask = ask,
    .judge = judge,
};
