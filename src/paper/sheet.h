/* sheet.h - what a row of the paper writes down: data, checks and figures.
 *
 * All texts are for people; those given as const char * must live as long as
 * the laboratory (tarry__lab_text makes such). */
#ifndef TARRY_PAPER_SHEET_H
#define TARRY_PAPER_SHEET_H

#include <jansson.h>
#include "paper/fit.h"
#include "paper/lab.h"
#include "bound/bound.h"

typedef struct {
    tarry__lab *lab;
    const char *command; /* that makes this row again */
    json_t *checks, *figures, *data;
    json_t *seen;               /* exponents by column of the table */
    tarry__fit_verdict verdict; /* the worst of the checks */
    const char *because;        /* the check that decides */
    bool empty;                 /* no check yet */
    tarry_status failed;
} tarry__sheet;

/* ---- measuring ------------------------------------------------------------*/

/* A number of a run; `base` is the same run of another case, or NULL. */
typedef double tarry__sheet_quantity(const tarry__lab_answer *run,
                                     const tarry__lab_answer *base);

tarry__sheet_quantity tarry__sheet_regret, /* of the run */
    tarry__sheet_penalty,                  /* regret beyond that of the base */
    tarry__sheet_ratio,                    /* regret over that of the base */
    tarry__sheet_length,                   /* rounds of phase 1 */
    tarry__sheet_overhead, /* rounds of phase 1 beyond the base's, or without a
                        base beyond the planned plays */
    tarry__sheet_first_loss; /* rounds until the first loss is seen */

/* Asks for the case and its base (may be NULL), adds a point to the sweep (may
 * be NULL) and a record to the data; answers the mean over runs.  A run whose
 * phase 1 has not ended has no length: then the point is not a number. */
tarry__fit_point
tarry__sheet_measure(tarry__sheet *sheet, tarry__fit_sweep *sweep, double x,
                     const tarry__lab_case *c, const tarry__lab_case *base,
                     tarry__sheet_quantity *quantity, const char *what);

/* The regret of the policy that pays least, of all there are but the oracle;
 * each is measured, this one is added to the sweep. */
tarry__fit_point tarry__sheet_measure_least(tarry__sheet *sheet,
                                            tarry__fit_sweep *sweep, double x,
                                            tarry__lab_case c);

/* The case with another delay or policy. */
tarry__lab_case tarry__sheet_with_delay(tarry__lab_case c, const char *delay);
tarry__lab_case tarry__sheet_with_policy(tarry__lab_case c, const char *policy);

/* What `tarry bound` says of a case, for the instance of run 0; runs differ
 * little in it.  Bounds are 1 while answers are not true. */
tarry__bound tarry__sheet_bound_of(tarry__sheet *sheet,
                                   const tarry__lab_case *c);

/* ---- checking -------------------------------------------------------------*/

/* The exponent of a sweep against the theory's. */
void tarry__sheet_check_power(tarry__sheet *sheet, const char *name,
                              const tarry__fit_sweep *sweep, double theory,
                              tarry__fit_relation relation);

/* Writes the exponent of a sweep into a cell of the table: `symbol`, what it is
 * the exponent of, in column "bandits", "prior" or "here". */
void tarry__sheet_show_power(tarry__sheet *sheet, const char *column,
                             const char *symbol, const tarry__fit_sweep *sweep);

/* A mean against a limit. */
void tarry__sheet_check_mean(tarry__sheet *sheet, const char *name,
                             tarry__fit_point measured, double limit,
                             tarry__fit_relation relation);

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

void tarry__sheet_draw_points(json_t *figure, const tarry__fit_sweep *sweep);
void tarry__sheet_draw_line(json_t *figure, const tarry__fit_sweep *sweep);

/* Points, the power law through them, and one with the theory's exponent
 * through their middle. */
void tarry__sheet_draw_power(json_t *figure, const tarry__fit_sweep *sweep,
                             double theory);

/* The mean regret curve of a case with its 95 % band. */
void tarry__sheet_draw_curve(tarry__sheet *sheet, json_t *figure,
                             const char *name, const tarry__lab_case *c);

#endif
