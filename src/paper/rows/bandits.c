/* bandits.c - the table's column of plain bandits, for comparison.
 *
 * Ten arms that differ by 1: without delay they are told apart in a thousand
 * rounds, so that the delays, not the losses, decide. */
#include "paper/paper.h"

void tarry__paper_row_add_bandits(tarry__sheet *s, const char *policy,
                                  const char *delay, const char *symbol)
{
    tarry__fit_sweep sweep = {.name = policy};
    const tarry__lab_case base = {
        .instance = "basis:arms=10,best=-0.5,gap=1,means=equal",
        .loss = "rademacher",
        .delay = "none",
        .policy = policy,
        .horizon = 300000,
        .runs = (uint64_t)tarry__lab_pick(s->lab, 20, 200),
    };
    for (double d = 2000; d <= 32000; d *= 2) {
        const tarry__lab_case c =
            tarry__sheet_with_delay(base, tarry__lab_text(s->lab, delay, d));
        tarry__sheet_measure(s, &sweep, d, &c, &base, tarry__sheet_penalty,
                             "regret beyond that without delay");
    }
    tarry__sheet_check_power(
        s,
        tarry__lab_text(s->lab,
                        "plain bandits, %s: penalty against %s (known: 1)",
                        policy, symbol),
        &sweep, 1, TARRY__FIT_REPORTED);
    tarry__sheet_show_power(s, "bandits", symbol, &sweep);
}
