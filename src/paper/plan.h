/* plan.h - the trials of a row of the paper, as data.
 *
 * A row says its points: which case, against which other, what is measured, and
 * where it stands in which series.  When all trials are done the points are
 * measured in the order they were added, each gives a record of the row's data,
 * and the row judges the series (sheet.h). */
#ifndef TARRY_PAPER_PLAN_H
#define TARRY_PAPER_PLAN_H

#include "paper/lab.h"

/* A number of a run; `base` is the same run of another case, or NULL. */
typedef double tarry__plan_quantity(const tarry__lab_answer *run,
                                    const tarry__lab_answer *base);

tarry__plan_quantity tarry__plan_regret, /* of the run */
    tarry__plan_penalty,                 /* regret beyond that of the base */
    tarry__plan_ratio,                   /* regret over that of the base */
    tarry__plan_rounds,                  /* played */
    tarry__plan_length,                  /* rounds of phase 1 */
    tarry__plan_overhead,   /* rounds of phase 1 beyond the base's, or without a
                               base beyond the planned plays */
    tarry__plan_sigma,      /* most plays outstanding */
    tarry__plan_first_loss; /* rounds until the first loss is seen */

/* Where a point stands whose place depends on more than its description. */
typedef enum {
    TARRY__PLAN_AT_X,
    TARRY__PLAN_AT_ROUNDS, /* mean number of rounds its base, if it has one, or
                              it itself has played */
    TARRY__PLAN_AT_BOUND,  /* the proven upper bound on its regret */
} tarry__plan_place;

typedef struct {
    int series;       /* a number of the row's own */
    const char *name; /* of the series, for people; NULL: it has none */
    double x;
    tarry__plan_place place;
    tarry__lab_case c, base;        /* base.policy NULL: there is none */
    tarry__plan_quantity *quantity; /* NULL: the row looks at the runs itself
                                       and no record is made */
    const char *what;               /* the quantity, for people */
} tarry__plan_point;

typedef struct {
    tarry__lab *lab;
    size_t n_points, room;
    tarry__plan_point *point;
    tarry_status failed; /* to add a point */
} tarry__plan;

/* Adds a point; its cases are asked for. */
void tarry__plan_add(tarry__plan *plan, const tarry__plan_point *point);

/* Adds the regret of every policy there is but the oracle, in a case; at
 * quick scale also but the costly ones. */
void tarry__plan_add_all(tarry__plan *plan, int series, double x,
                         tarry__lab_case c);

void tarry__plan_clear(tarry__plan *plan);

/* The case with another delay or policy. */
tarry__lab_case tarry__plan_with_delay(tarry__lab_case c, const char *delay);
tarry__lab_case tarry__plan_with_policy(tarry__lab_case c, const char *policy);

#endif
