/* bandits.c - the table's column of plain bandits, for comparison.
 *
 * Ten arms that differ by 1: without delay they are told apart in a thousand
 * rounds, so that the delays, not the losses, decide. */
#include "paper/paper.h"

void tarry__paper_row_ask_bandits(tarry__plan *plan, const char *policy,
                                  const char *delay)
{
    const tarry__lab_case base = {
        .instance = "basis:arms=10,best=-0.5,gap=1,means=equal",
        .loss = "rademacher",
        .delay = "none",
        .policy = policy,
        .horizon = 300000,
        .runs = (uint64_t)tarry__lab_pick(plan->lab, 20, 200),
    };
    for (double d = 2000; d <= 32000; d *= 2)
        tarry__plan_add(plan,
                        &(tarry__plan_point){
                            .series = TARRY__PAPER_BANDITS,
                            .name = policy,
                            .x = d,
                            .c = tarry__plan_with_delay(
                                base, tarry__lab_text(plan->lab, delay, d)),
                            .base = base,
                            .quantity = tarry__plan_penalty,
                            .what = "regret beyond that without delay"});
}

void tarry__paper_row_judge_bandits(tarry__sheet *s, const char *symbol)
{
    const tarry__fit_series series =
        tarry__sheet_series(s, TARRY__PAPER_BANDITS);
    tarry__sheet_check_power(
        s,
        tarry__lab_text(s->lab, "plain bandits, %s: penalty against %s",
                        series.name, symbol),
        &series, 1, TARRY__FIT_AT_MOST);
    tarry__sheet_show_power(s, "bandits", symbol, &series);
}
