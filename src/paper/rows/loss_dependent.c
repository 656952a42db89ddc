/* loss_dependent.c - delays that depend on the loss: Algorithm 3 pays sqrt(n)
 * times the mean delay, Algorithm 4 (arms without features) the mean delay
 * alone.
 *
 * Phase 1 of Algorithm 3 waits for all but a share eps/sqrt(n) of its losses.
 * Delays with two values make Markov's inequality an equality there: a share
 * P = 1.5 eps/sqrt(n) comes after dbar/P rounds, the others at once.  For
 * Algorithm 4 the share is eps.
 *
 * Then what the delay model does to policies that do not know of it, and
 * whether the brackets of Algorithms 3 and 4 enclose what they must. */
#include "paper/paper.h"

#include <math.h>

static const double EPS = 0.5; /* of phase 1 */

/* Delays of mean dbar of which a share 1.5 `missing` is late. */
static const char *two_point(tarry__lab *lab, double dbar, double missing)
{
    const double p = 1.5 * missing;
    return tarry__lab_text(lab, "two-point:low=0,high=%.0f,p=%.17g", dbar / p,
                           p);
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

enum { BY_N, BY_K, BY_MEAN, BRACKETS, CUT = 100 };

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

static tarry__lab_case linear(tarry__lab *lab, double n, double dbar)
{
    return first_phase(lab, "phased-loss-dependent",
                       tarry__lab_text(lab, "sphere:dim=%g,arms=%g", n, 10 * n),
                       two_point(lab, dbar, EPS / sqrt(n)));
}

static tarry__lab_case plain(tarry__lab *lab, double K, double dbar)
{
    return first_phase(lab, "phased-mab",
                       tarry__lab_text(lab, "basis:arms=%g", K),
                       two_point(lab, dbar, EPS));
}

static void ask_sweeps(tarry__plan *plan)
{
    tarry__lab *lab = plan->lab;
    const double dbar = 50000, largest = tarry__lab_pick(lab, 64, 128);
    for (double n = 4; n <= largest; n *= 2) {
        add(plan, BY_N, "Algorithm 3", n, linear(lab, n, dbar));
        add(plan, BY_K, "Algorithm 4 (n is the number of arms)", n,
            plain(lab, n, dbar));
    }
    for (double mean = 10000; mean <= 160000; mean *= 2)
        add(plan, BY_MEAN, "Algorithm 3, n = 10", mean, linear(lab, 10, mean));
}

static void judge_sweeps(tarry__sheet *s)
{
    const tarry__fit_sweep by_n = tarry__sheet_sweep(s, BY_N);
    const tarry__fit_sweep by_k = tarry__sheet_sweep(s, BY_K);
    const tarry__fit_sweep by_mean = tarry__sheet_sweep(s, BY_MEAN);
    tarry__sheet_check_power(s, "Algorithm 3: overhead of a phase against n",
                             &by_n, 0.5, TARRY__FIT_EQUALS);
    tarry__sheet_show_power(s, "here", "n", &by_n);
    tarry__sheet_check_power(s, "Algorithm 3: overhead of a phase against E[d]",
                             &by_mean, 1, TARRY__FIT_EQUALS);
    tarry__sheet_show_power(s, "here", "E[d]", &by_mean);
    tarry__sheet_check_power(s, "Algorithm 4: overhead of a phase against K",
                             &by_k, 0, TARRY__FIT_EQUALS);
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "loss-dependent-dimension",
               "The price of losing sight of a loss-dependent tail",
               "dimension n", "rounds added to phase 1",
               "Mean delay 50000 throughout.  Algorithm 3 waits for a share "
               "1 - eps/sqrt(n) of its losses, Algorithm 4 for 1 - eps.",
               false, false});
    tarry__sheet_draw_power(figure, &by_n, 0.5);
    tarry__sheet_draw_power(figure, &by_k, 0);
    figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "loss-dependent-mean", "Algorithm 3 against the mean delay",
               "mean delay, rounds", "rounds added to phase 1",
               "Two-point delays matched to the phase.", false, false});
    tarry__sheet_draw_power(figure, &by_mean, 1);
}

/* ---- brackets -------------------------------------------------------------*/

static double uncovered(const tarry__lab_answer *run,
                        const tarry__lab_answer *base)
{
    (void)base;
    return run->arms > 0 ? (double)run->uncovered : NAN;
}

/* `limit` is what the proof allows between lower and upper estimate, in units
 * of eps. */
typedef struct {
    const char *policy, *words, *instance;
    double limit;
} bracketed;

static const bracketed brackets[] = {
    {"phased-loss-dependent", "Algorithm 3", "sphere:dim=10,arms=100",
     4 * 1.4142135623730951},
    {"phased-mab", "Algorithm 4", "basis:arms=10", 2},
};

enum { N_BRACKETS = sizeof brackets / sizeof *brackets };

static void ask_brackets(tarry__plan *plan)
{
    for (int i = 0; i < N_BRACKETS; i++) {
        tarry__lab_case c =
            first_phase(plan->lab, brackets[i].policy, brackets[i].instance,
                        "low-late:late=3000");
        c.kind = TARRY__LAB_BRACKETS;
        tarry__plan_add(plan,
                        &(tarry__plan_point){.series = BRACKETS + i,
                                             .c = c,
                                             .quantity = uncovered,
                                             .what = "arms not bracketed"});
    }
}

/* Of all runs. */
static double widest(tarry__sheet *s, const tarry__lab_case *c)
{
    const tarry__lab_answer *runs = tarry__sheet_runs(s, c);
    double width = 0;
    for (size_t i = 0; i < c->runs; i++)
        width = fmax(width, runs[i].widest);
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
    tarry__sheet_check_mean(
        s,
        tarry__lab_text(s->lab, "%s: widest bracket, in units of eps", words),
        (tarry__fit_point){.mean = widest(s, c)}, brackets[i].limit,
        TARRY__FIT_AT_MOST);
}

/* ---- policies that do not know --------------------------------------------*/

typedef struct {
    const char *policy, *words;
    tarry__fit_relation relation;
} cutter;

static const cutter cutters[] = {
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
    for (size_t k = 0; k < c->runs; k++)
        cut += runs[k].best_kept == 0;
    tarry__sheet_check_frequency(
        s,
        tarry__lab_text(s->lab, "best arm cut by %s, low losses late",
                        cutters[i].words),
        cut, c->runs, 0.05, cutters[i].relation);
}

static void ask(tarry__plan *plan)
{
    ask_sweeps(plan);
    ask_brackets(plan);
    ask_cutters(plan);
    tarry__paper_row_ask_bandits(plan, "opse", "low-late:late=%.0f");
}

static void judge(tarry__sheet *s)
{
    judge_sweeps(s);
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
