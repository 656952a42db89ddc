/* by_arm.c - delays by chance, a law per arm: Algorithm 1 pays the largest mean
 * delay of an arm, not the mean over arms.
 *
 * As many arms as dimensions, so that all are played.  First each arm has a law
 * of another shape, of the same mean; then only three of them are slow, which
 * sets the pace as if all were; then more and more are, by an exponential law,
 * which raises the mean over arms and leaves the largest alone.  The lemma's
 * own bound on the length of the phase is held against every run. */
#include "paper/paper.h"

#include <math.h>

enum { ARMS = 10 };
enum { SHAPES, BY_MAX, BY_MEAN, PENALTY };

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

static void add(tarry__plan *plan, int series, const char *name, double x,
                const char *delay)
{
    const tarry__lab_case base = base_of(plan->lab);
    const bool regret = series == PENALTY;
    tarry__plan_add(
        plan,
        &(tarry__plan_point){
            .series = series,
            .name = name,
            .x = x,
            .c = tarry__plan_with_delay(base, delay),
            .base = base,
            .quantity = regret ? tarry__plan_penalty : tarry__plan_overhead,
            .what = regret ? "regret of phase 1 beyond that without delay"
                           : "overhead of phase 1"});
}

static void ask(tarry__plan *plan)
{
    static const int slow[] = {1, 2, 3, 5, 10};
    tarry__lab *lab = plan->lab;
    for (double mean = 200; mean <= 6400; mean *= 2)
        add(plan, SHAPES, "laws of five shapes", mean,
            tarry__lab_text(lab, "shapes:mean=%g", mean));
    for (double mean = 1600; mean <= 25600; mean *= 2) {
        const char *delay = tarry__lab_text(lab, "shapes:mean=%g,slow=3", mean);
        add(plan, BY_MAX, "three slow arms of ten", mean, delay);
        add(plan, PENALTY, "three slow arms of ten", mean, delay);
    }
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        add(plan, BY_MEAN, "1 to 10 slow arms, E[d(a)] = 8000 each",
            8000.0 * slow[i] / ARMS,
            tarry__lab_text(lab, "exponential:mean=8000,slow=%d", slow[i]));
    tarry__paper_row_ask_bandits(plan, "se-delayed",
                                 "exponential:mean=%.0f,slow=5");
}

/* The lemma's length of phase 1 in every run. */
static void check_lengths(tarry__sheet *s, int series)
{
    for (size_t i = 0; i < s->plan->n_points; i++) {
        const tarry__plan_point *p = &s->plan->point[i];
        if (p->series == series)
            tarry__sheet_check_largest(
                s, tarry__lab_text(s->lab, "rounds of phase 1, %s", p->c.delay),
                &p->c, tarry__plan_length,
                tarry__sheet_bound_of(s, &p->c).phase[0].longest);
    }
}

static void judge(tarry__sheet *s)
{
    const tarry__fit_series shapes = tarry__sheet_series(s, SHAPES);
    const tarry__fit_series by_max = tarry__sheet_series(s, BY_MAX);
    const tarry__fit_series by_mean = tarry__sheet_series(s, BY_MEAN);
    const tarry__fit_series penalty = tarry__sheet_series(s, PENALTY);
    tarry__sheet_check_power(s, "overhead of a phase against max E[d(a)]",
                             &by_max, 1, TARRY__FIT_EQUALS);
    tarry__sheet_show_power(s, "here", "max_a E[d(a)]", &by_max);
    tarry__sheet_check_power_within(
        s, "laws of five shapes: overhead of a phase against their mean",
        &shapes, 1, TARRY__FIT_EQUALS, 0.15);
    tarry__sheet_check_power(s,
                             "overhead against the mean over arms, max fixed",
                             &by_mean, 0, TARRY__FIT_AT_MOST);
    tarry__sheet_check_power_within(s, "regret of phase 1 against max E[d(a)]",
                                    &penalty, 1, TARRY__FIT_AT_MOST, 0.15);
    check_lengths(s, SHAPES);
    check_lengths(s, BY_MAX);
    tarry__paper_row_judge_bandits(s, "max_a E[d(a)]");
    json_t *figure = tarry__sheet_figure(
        s,
        &(tarry__sheet_drawing){"by-arm-max", "Slow arms set the pace",
                                "largest mean delay of an arm, rounds",
                                "rounds added to phase 1",
                                "Three arms of ten are slow, the others answer "
                                "at once; or each has a law of its own.",
                                false, false});
    tarry__sheet_draw_power(s, figure, &by_max, 1);
    tarry__sheet_draw_points(s, figure, &shapes);
    figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "by-arm-mean", "The mean over arms does not matter",
               "mean over arms of E[d(a)], rounds", "rounds added to phase 1",
               "The slow arms have the same law throughout, only "
               "their number grows: flat means that the largest "
               "mean counts.",
               false, false});
    tarry__sheet_draw_power(s, figure, &by_mean, 0);
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
