/* core.h - the design on a small set of candidate arms, the core.
 *
 * The optimal design of millions of arms lives on a few hundred.  The core
 * holds such candidates x_1..x_m in r coordinates in which the arms are nearly
 * round, their weights w (>= 0, sum 1), and with V = sum w_i x_i x_i' their
 * variances d_i = x_i' V^-1 x_i.  Two solvers change the weights: `exchange`
 * is quick and rough, `interior` exact. */
#ifndef TARRY_DESIGN_CORE_H
#define TARRY_DESIGN_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include "tarry/status.h"
#include "design/variance_kernel.h"

typedef struct {
    size_t rank;               /* r */
    size_t count, room;        /* m, and how many there is memory for */
    double *x;                 /* r by m */
    double *weight;            /* w */
    double *variance;          /* d, kept up to date by every function here */
    size_t *arm;               /* the arms' numbers */
    double *scratch;           /* two numbers per point */
    double *rows;              /* x by rows, for exchange */
    double *V, *inverse;       /* r by r: V and V^-1 */
    tarry__design_panel panel; /* of L^-1, V = L L', if r is small */
    double *direction;         /* 2 r */
    double *batch;             /* scratch for some points */
} tarry__core;

tarry_status tarry__core_create(tarry__core *core, size_t rank, size_t room);
void tarry__core_clear(tarry__core *core);

/* Makes room for `room` points. */
tarry_status tarry__core_reserve(tarry__core *core, size_t room);

/* Scales the weights to sum 1 and computes V, V^-1 and all variances from
 * scratch; false if V is singular. */
bool tarry__core_refresh(tarry__core *core);

/* The variances of the points from `first` on, after a refresh. */
void tarry__core_evaluate(tarry__core *core, size_t first);

/* The largest variance. */
double tarry__core_worst(const tarry__core *core);

/* Arms with weight. */
size_t tarry__core_support(const tarry__core *core);

/* Drops the points without weight whose variance is below `keep_above`. */
void tarry__core_prune(tarry__core *core, double keep_above);

/* Takes away the weights that are on their way out, those that ten
 * multiplicative steps w <- w d/r would bring below `share` of the average,
 * and refreshes; changes nothing if V would become singular. */
void tarry__core_fade(tarry__core *core, double share);

/* Vertex steps until no variance exceeds (1 + tolerance) r, at most
 * `max_steps`; false if V became singular. */
bool tarry__core_exchange(tarry__core *core, double tolerance,
                          size_t max_steps);

/* Interior-point steps until the design is within `tolerance` of optimal on
 * the core, then drops weights of no account.  `may_leave_out`: points may be
 * disregarded that seem not to matter.  TARRY_TARGET_NOT_MET: the tolerance was
 * not reached, weights are the best found. */
tarry_status tarry__core_interior(tarry__core *core, double tolerance,
                                  bool may_leave_out);

/* Newton's steps, for weights that are nearly right.  TARRY_TARGET_NOT_MET,
 * with the weights as they were: these do not lead within `tolerance` soon. */
tarry_status tarry__core_newton(tarry__core *core, double tolerance);

/* Moves weight so that at most r (r+1)/2 points keep some, V unchanged. */
tarry_status tarry__core_thin(tarry__core *core);

/* Takes the weights of the `excess` least important points away, sparing those
 * that carry a direction, and refreshes. */
bool tarry__core_shrink(tarry__core *core, size_t excess);

/* Raises weights to the least common floor that leaves every supported weight
 * at 1/(2 support) or more after scaling (Lemma "design with min"). */
bool tarry__core_balance(tarry__core *core);

#endif
