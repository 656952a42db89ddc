/* by_arm.c - delays by chance, a law per arm: Algorithm 1 pays the largest mean
 * delay of an arm, not the mean over arms.
 *
 * As many arms as dimensions, so that all are played; only the first few are
 * slow, by a constant.  More slow arms raise the mean over arms and leave the
 * largest alone. */
#include "paper/paper.h"

enum { ARMS = 10 };

static tarry__lab_case base_of(tarry__lab *lab)
{
    return (tarry__lab_case){
        .instance = "sphere:dim=10,arms=10",
        .loss = "rademacher",
        .delay = "none",
        .policy = "phased-stochastic",
        .horizon = 10000000,
        .runs = (uint64_t)tarry__lab_pick(lab, 40, 400),
        .phases = 1,
        .cost = 0.003,
    };
}

enum { BY_MAX, BY_MEAN };

static void add(tarry__plan *plan, int series, const char *name, double x,
                double mean, int slow)
{
    const tarry__lab_case base = base_of(plan->lab);
    const char *delay =
        tarry__lab_text(plan->lab, "constant:rounds=%g,slow=%d", mean, slow);
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
    static const int slow[] = {1, 2, 3, 5, 10};
    for (double mean = 5000; mean <= 80000; mean *= 2)
        add(plan, BY_MAX, "one slow arm of ten", mean, mean, 1);
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        add(plan, BY_MEAN, "1 to 10 slow arms, E[d(a)] = 20000 each",
            20000.0 * slow[i] / ARMS, 20000, slow[i]);
    tarry__paper_row_ask_bandits(plan, "se-delayed",
                                 "constant:rounds=%.0f,slow=5");
}

static void judge(tarry__sheet *s)
{
    const tarry__fit_sweep by_max = tarry__sheet_sweep(s, BY_MAX);
    const tarry__fit_sweep by_mean = tarry__sheet_sweep(s, BY_MEAN);
    tarry__sheet_check_power(s, "overhead of a phase against max E[d(a)]",
                             &by_max, 1, TARRY__FIT_EQUALS);
    tarry__sheet_show_power(s, "here", "max_a E[d(a)]", &by_max);
    tarry__sheet_check_power(s,
                             "overhead against the mean over arms, max fixed",
                             &by_mean, 0, TARRY__FIT_EQUALS);
    tarry__paper_row_judge_bandits(s, "max_a E[d(a)]");
    json_t *figure = tarry__sheet_figure(
        s,
        &(tarry__sheet_drawing){"by-arm-max", "One slow arm sets the pace",
                                "largest mean delay of an arm, rounds",
                                "rounds added to phase 1",
                                "One arm of ten is slow, the others answer at "
                                "once; the mean over arms is a tenth.",
                                false, false});
    tarry__sheet_draw_power(figure, &by_max, 1);
    figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "by-arm-mean", "The mean over arms does not matter",
               "mean over arms of E[d(a)], rounds", "rounds added to phase 1",
               "The slow arms have the same law throughout, only "
               "their number grows: flat means that the largest "
               "mean counts.",
               false, false});
    tarry__sheet_draw_power(figure, &by_mean, 0);
}

const tarry__paper_row tarry__paper_row_by_arm = {
    .id = "stochastic-by-arm",
    .title = "Stochastic delays, a law per arm",
    .claim = "Algorithm 1 pays an additive O(max_a E[d(a)]), not the mean over "
             "arms.",
    .bandits = "max_a E[d(a)] (Lancewicki et al. 2021)",
    .here = "max_a E[d(a)]",
    .ask = ask,
    .judge = judge,
};
