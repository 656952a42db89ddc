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

static void add_linear(tarry__sheet *s, tarry__fit_sweep *sweep, double x,
                       double n, double dbar)
{
    const tarry__lab_case c =
        first_phase(s->lab, "phased-loss-dependent",
                    tarry__lab_text(s->lab, "sphere:dim=%g,arms=%g", n, 10 * n),
                    two_point(s->lab, dbar, EPS / sqrt(n)));
    tarry__sheet_measure(s, sweep, x, &c, NULL, tarry__sheet_overhead,
                         "overhead of phase 1");
}

static void add_plain(tarry__sheet *s, tarry__fit_sweep *sweep, double K,
                      double dbar)
{
    const tarry__lab_case c = first_phase(
        s->lab, "phased-mab", tarry__lab_text(s->lab, "basis:arms=%g", K),
        two_point(s->lab, dbar, EPS));
    tarry__sheet_measure(s, sweep, K, &c, NULL, tarry__sheet_overhead,
                         "overhead of phase 1");
}

static void sweeps(tarry__sheet *s)
{
    tarry__fit_sweep by_n = {.name = "Algorithm 3"};
    tarry__fit_sweep by_k = {.name = "Algorithm 4 (n is the number of arms)"};
    tarry__fit_sweep by_mean = {.name = "Algorithm 3, n = 10"};
    const double dbar = 50000, largest = tarry__lab_pick(s->lab, 64, 128);
    for (double n = 4; n <= largest; n *= 2) {
        add_linear(s, &by_n, n, n, dbar);
        add_plain(s, &by_k, n, dbar);
    }
    for (double mean = 10000; mean <= 160000; mean *= 2)
        add_linear(s, &by_mean, mean, 10, mean);
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

/* Of all runs. */
static double widest(tarry__sheet *s, const tarry__lab_case *c)
{
    const tarry__lab_answer *runs = tarry__lab_ask(s->lab, c);
    double width = 0;
    for (size_t i = 0; runs != NULL && i < c->runs; i++)
        width = fmax(width, runs[i].widest);
    return width;
}

/* `limit` is what the proof allows between lower and upper estimate. */
static void check_brackets(tarry__sheet *s, const char *policy,
                           const char *words, const char *instance,
                           double limit)
{
    tarry__lab_case c =
        first_phase(s->lab, policy, instance, "low-late:late=3000");
    c.brackets = true;
    tarry__sheet_check_mean(
        s,
        tarry__lab_text(s->lab,
                        "%s: arms per run whose bracket does not hold the "
                        "full-sample estimate",
                        words),
        tarry__sheet_measure(s, NULL, 0, &c, NULL, uncovered,
                             "arms not bracketed"),
        0, TARRY__FIT_AT_MOST);
    tarry__sheet_check_mean(
        s,
        tarry__lab_text(s->lab, "%s: widest bracket, in units of eps", words),
        (tarry__fit_point){.mean = widest(s, &c)}, limit, TARRY__FIT_AT_MOST);
}

/* ---- policies that do not know --------------------------------------------*/

static void cut_by(tarry__sheet *s, const char *policy, const char *words,
                   tarry__fit_relation relation)
{
    const tarry__lab_case c = {
        .instance = "sphere:dim=4,arms=20",
        .loss = "rademacher",
        .delay = "low-late:late=20000",
        .policy = policy,
        .horizon = 100000,
        .runs = (uint64_t)tarry__lab_pick(s->lab, 200, 2000),
    };
    const tarry__lab_answer *runs = tarry__lab_ask(s->lab, &c);
    uint64_t cut = 0;
    for (size_t i = 0; runs != NULL && i < c.runs; i++)
        cut += runs[i].best_kept == 0;
    tarry__sheet_check_frequency(
        s,
        tarry__lab_text(s->lab, "best arm cut by %s, low losses late", words),
        cut, c.runs, 0.05, relation);
    tarry__sheet_measure(s, NULL, 0, &c, NULL, tarry__sheet_regret, "regret");
}

static void run(tarry__sheet *s)
{
    sweeps(s);
    check_brackets(s, "phased-loss-dependent", "Algorithm 3",
                   "sphere:dim=10,arms=100", 4 * sqrt(2));
    check_brackets(s, "phased-mab", "Algorithm 4", "basis:arms=10", 2);
    cut_by(s, "phased-loss-dependent", "Algorithm 3", TARRY__FIT_AT_MOST);
    cut_by(s, "phased-mab", "Algorithm 4", TARRY__FIT_AT_MOST);
    cut_by(s, "phased-stochastic", "Algorithm 1", TARRY__FIT_REPORTED);
    cut_by(s, "phased-adversarial", "Algorithm 2", TARRY__FIT_REPORTED);
    cut_by(s, "phased-nodelay", "phased elimination without waiting",
           TARRY__FIT_REPORTED);
    tarry__paper_row_add_bandits(s, "opse", "low-late:late=%.0f",
                                 "max_a E[d(a)]");
}

const tarry__paper_row tarry__paper_row_loss_dependent = {
    .id = "loss-dependent",
    .title = "Loss-dependent delays",
    .claim =
        "Algorithm 3 pays an additive O(√n max_a E[d(a)]); without features "
        "Algorithm 4 pays O(max_a E[d(a)]).",
    .bandits = "max_a E[d(a)] (Lancewicki et al. 2021)",
    .here = "√n max_a E[d(a)]",
    .run = run,
};
