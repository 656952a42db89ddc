/* paper.h - the paper's claims as experiments. */
#ifndef TARRY_PAPER_PAPER_H
#define TARRY_PAPER_PAPER_H

#include "paper/sheet.h"

/* A line of the paper's table, or a theorem. */
typedef struct {
    const char *id, *title;
    const char *claim;
    const char *bandits, *prior, *here; /* the table's cells: plain bandits,
                                           linear before, linear in the paper;
                                           NULL: empty; here NULL: not in it */
    void (*ask)(tarry__plan *plan);     /* says its trials */
    void (*judge)(tarry__sheet *sheet); /* makes checks and figures of them */
} tarry__paper_row;

/* Ends with NULL. */
extern const tarry__paper_row *const tarry__paper_rows[];

extern const tarry__paper_row tarry__paper_row_stochastic,
    tarry__paper_row_by_arm, tarry__paper_row_adversarial,
    tarry__paper_row_adversarial_by_arm, tarry__paper_row_loss_dependent,
    tarry__paper_row_payoff, tarry__paper_row_lower_loss,
    tarry__paper_row_growth, tarry__paper_row_bounds,
    tarry__paper_row_best_kept, tarry__paper_row_design,
    tarry__paper_row_estimates, tarry__paper_row_adversarial_losses,
    tarry__paper_row_trade_off, tarry__paper_row_algorithms;

/* For comparison: what delays of 2000 to 32000 rounds add to the regret of a
 * policy for plain bandits.  `delay` has a %.0f for them, `symbol` stands for
 * them.  The points are in series TARRY__PAPER_BANDITS. */
enum { TARRY__PAPER_BANDITS = 1000 };
void tarry__paper_row_ask_bandits(tarry__plan *plan, const char *policy,
                                  const char *delay);
void tarry__paper_row_judge_bandits(tarry__sheet *sheet, const char *symbol);

const tarry__paper_row *tarry__paper_find(const char *id);

/* Says the row's trials: fills the plan, whose laboratory the caller has set.
 * TARRY_NO_MEMORY; the caller clears the plan in either case. */
tarry_status tarry__paper_row_ask(const tarry__paper_row *row,
                                  tarry__plan *plan);

/* Judges them when they are done: the row as JSON, a new value; NULL when out
 * of memory, or if it looks at a case it has not asked for. */
json_t *tarry__paper_row_judge(const tarry__paper_row *row,
                               const tarry__plan *plan, const char *command);

#endif
