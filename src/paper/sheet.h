/* sheet.h - what a row of the paper writes down: data, checks and figures.
 *
 * All texts are for people; those given as const char * must live as long as
 * the laboratory (tarry__lab_text makes such). */
#ifndef TARRY_PAPER_SHEET_H
#define TARRY_PAPER_SHEET_H

#include <jansson.h>
#include "paper/fit.h"
#include "paper/lab.h"
#include "sim/bound.h"

typedef struct {
    tarry__lab *lab;
    const char *command; /* that makes this row again */
    json_t *checks, *figures, *data;
    json_t *seen;           /* exponents by column of the table */
    tarry__verdict verdict; /* the worst of the checks */
    const char *because;    /* the check that decides */
    bool empty;             /* no check yet */
    tarry_status failed;
} tarry__sheet;

/* ---- measuring ------------------------------------------------------------*/

/* A number of a run; `base` is the same run of another case, or NULL. */
typedef double tarry__quantity(const tarry__answer *run,
                               const tarry__answer *base);

tarry__quantity tarry__regret, /* of the run */
    tarry__penalty,            /* regret beyond that of the base */
    tarry__ratio,              /* regret over that of the base */
    tarry__length,             /* rounds of phase 1 */
    tarry__overhead,   /* rounds of phase 1 beyond the base's, or without a
                          base beyond the planned plays */
    tarry__first_loss; /* rounds until the first loss is seen */

/* Asks for the case and its base (may be NULL), adds a point to the sweep (may
 * be NULL) and a record to the data; answers the mean over runs.  A run whose
 * phase 1 has not ended has no length: then the point is not a number. */
tarry__point tarry__measure(tarry__sheet *sheet, tarry__sweep *sweep, double x,
                            const tarry__case *c, const tarry__case *base,
                            tarry__quantity *quantity, const char *what);

/* The regret of the policy that pays least, of all there are but the oracle;
 * each is measured, this one is added to the sweep. */
tarry__point tarry__measure_least(tarry__sheet *sheet, tarry__sweep *sweep,
                                  double x, tarry__case c);

/* The case with another delay or policy. */
tarry__case tarry__with_delay(tarry__case c, const char *delay);
tarry__case tarry__with_policy(tarry__case c, const char *policy);

/* What `tarry bound` says of a case, for the instance of run 0; runs differ
 * little in it.  Bounds are 1 while answers are not true. */
tarry__bound tarry__bound_of(tarry__sheet *sheet, const tarry__case *c);

/* ---- checking -------------------------------------------------------------*/

/* The exponent of a sweep against the theory's. */
void tarry__check_power(tarry__sheet *sheet, const char *name,
                        const tarry__sweep *sweep, double theory,
                        tarry__relation relation);

/* Writes the exponent of a sweep into a cell of the table: `symbol`, what it is
 * the exponent of, in column "bandits", "prior" or "here". */
void tarry__show_power(tarry__sheet *sheet, const char *column,
                       const char *symbol, const tarry__sweep *sweep);

/* A mean against a limit. */
void tarry__check_mean(tarry__sheet *sheet, const char *name,
                       tarry__point measured, double limit,
                       tarry__relation relation);

/* How often something happened against a probability; answers the upper end of
 * its interval. */
double tarry__check_frequency(tarry__sheet *sheet, const char *name,
                              uint64_t hits, uint64_t runs, double limit,
                              tarry__relation relation);

/* ---- drawing --------------------------------------------------------------*/

typedef struct {
    const char *id, *title, *x, *y, *note;
    bool linear_x, linear_y; /* instead of logarithmic */
} tarry__drawing;

/* A new figure; series are added to what it answers. */
json_t *tarry__sheet_figure(tarry__sheet *sheet, const tarry__drawing *drawing);

void tarry__draw_points(json_t *figure, const tarry__sweep *sweep);
void tarry__draw_line(json_t *figure, const tarry__sweep *sweep);

/* Points, the power law through them, and one with the theory's exponent
 * through their middle. */
void tarry__draw_power(json_t *figure, const tarry__sweep *sweep,
                       double theory);

/* The mean regret curve of a case with its 95 % band. */
void tarry__draw_curve(tarry__sheet *sheet, json_t *figure, const char *name,
                       const tarry__case *c);

#endif
