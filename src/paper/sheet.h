/* sheet.h - what a row of the paper writes down: data, checks and figures.
 *
 * All texts are for people; those given as const char * must live as long as
 * the laboratory (tarry__lab_text makes such). */
#ifndef TARRY_PAPER_SHEET_H
#define TARRY_PAPER_SHEET_H

#include "base/json.h"
#include "paper/fit.h"
#include "paper/plan.h"
#include "bound/bound.h"

typedef struct {
    tarry__lab *lab;
    const tarry__plan *plan;
    tarry__fit_point *measured; /* per point of the plan */
    const char *command;        /* that makes this row again */
    json_t *checks, *figures, *data;
    json_t *seen;               /* exponents by column of the table */
    tarry__fit_verdict verdict; /* the worst of the checks */
    const char *because;        /* the check that decides */
    bool empty;                 /* no check yet */
    tarry_status failed;
} tarry__sheet;

/* ---- measuring ------------------------------------------------------------*/

/* Measures all points of the plan and makes a record of each; before the row
 * judges.  A run whose phase 1 has not ended has no length: then the point is
 * not a number. */
void tarry__sheet_measure(tarry__sheet *sheet);

/* The points of a series, in the order they were added. */
tarry__fit_series tarry__sheet_series(const tarry__sheet *sheet, int series);

/* The first of them, and what was planned there. */
tarry__fit_point tarry__sheet_point(const tarry__sheet *sheet, int series);
const tarry__plan_point *tarry__sheet_planned(const tarry__sheet *sheet,
                                              int series);

/* At each place of a series made by tarry__plan_add_all, the policy that pays
 * least. */
tarry__fit_series tarry__sheet_least(const tarry__sheet *sheet, int series,
                                     const char *name);

/* The runs of a case that was asked for; NULL, and the sheet has failed, if it
 * was not. */
const tarry__lab_answer *tarry__sheet_runs(tarry__sheet *sheet,
                                           const tarry__lab_case *c);

/* What `tarry bound` says of a case, for the instance of run 0; runs differ
 * little in it. */
tarry__bound tarry__sheet_bound_of(tarry__sheet *sheet,
                                   const tarry__lab_case *c);

/* ---- checking -------------------------------------------------------------*/

/* The exponent of a series against the theory's, give or take 0.1. */
void tarry__sheet_check_power(tarry__sheet *sheet, const char *name,
                              const tarry__fit_series *series, double theory,
                              tarry__fit_relation relation);

/* The same with another tolerance. */
void tarry__sheet_check_power_within(tarry__sheet *sheet, const char *name,
                                     const tarry__fit_series *series,
                                     double theory,
                                     tarry__fit_relation relation,
                                     double tolerance);

/* Writes the exponent of a series into a cell of the table: `symbol`, what it
 * is the exponent of, in column "bandits", "prior" or "here". */
void tarry__sheet_show_power(tarry__sheet *sheet, const char *column,
                             const char *symbol,
                             const tarry__fit_series *series);

/* A mean against a limit. */
void tarry__sheet_check_mean(tarry__sheet *sheet, const char *name,
                             tarry__fit_point measured, double limit,
                             tarry__fit_relation relation);

/* The same, give or take a tolerance. */
void tarry__sheet_check_mean_within(tarry__sheet *sheet, const char *name,
                                    tarry__fit_point measured, double limit,
                                    tarry__fit_relation relation,
                                    double tolerance);

/* The largest value of a quantity over all runs of a case against a limit: for
 * what holds in every run but one of T.  A value that is not a number is the
 * largest. */
void tarry__sheet_check_largest(tarry__sheet *sheet, const char *name,
                                const tarry__lab_case *c,
                                tarry__plan_quantity *quantity, double limit);

/* No run of a series may have more plays outstanding than its adversary's
 * budget; `sigma` 0: it is the point's x. */
void tarry__sheet_check_budget(tarry__sheet *sheet, const char *name,
                               int series, double sigma);

/* How often something happened against a probability; answers the upper end of
 * its interval. */
double tarry__sheet_check_frequency(tarry__sheet *sheet, const char *name,
                                    uint64_t hits, uint64_t runs, double limit,
                                    tarry__fit_relation relation);

/* ---- drawing --------------------------------------------------------------*/

typedef struct {
    const char *id, *title, *x, *y, *note;
    bool linear_x, linear_y; /* instead of logarithmic */
} tarry__sheet_drawing;

/* A new figure; series are added to what it answers. */
json_t *tarry__sheet_figure(tarry__sheet *sheet,
                            const tarry__sheet_drawing *drawing);

void tarry__sheet_draw_points(tarry__sheet *s, json_t *figure,
                              const tarry__fit_series *series);
void tarry__sheet_draw_line(tarry__sheet *s, json_t *figure,
                            const tarry__fit_series *series);

/* Points, the power law through them, and one with the theory's exponent
 * through their middle. */
void tarry__sheet_draw_power(tarry__sheet *s, json_t *figure,
                             const tarry__fit_series *series, double theory);

/* The mean regret curve of a case with its 95 % band. */
void tarry__sheet_draw_curve(tarry__sheet *sheet, json_t *figure,
                             const char *name, const tarry__lab_case *c);

#endif
