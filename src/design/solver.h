/* solver.h - what the stages of a design solve share. */
#ifndef TARRY_DESIGN_SOLVER_H
#define TARRY_DESIGN_SOLVER_H

#include <stdbool.h>
#include <stdint.h>
#include "design/core.h"
#include "design/scan.h"
#include "tarry/design.h"

/* A matrix V that some arms were evaluated with. */
typedef struct {
    double *V;            /* r by r, in today's coordinates */
    double inverse_norm2; /* |M^-1|_F^2 of its panel, 0 if r < n */
} tarry__design_reference;

typedef struct {
    const double *arms;
    size_t n_arms, n, r;
    const tarry_design_options *options;
    int threads;
    bool thorough; /* the rank is known from all arms, not from a sample */
    double scale;  /* power of two that brings the sample to about 1 */
    double *T;     /* r by n: coordinates x = T a */
    tarry__core core;
    tarry__scan scan;
    tarry__design_panel panel;
    double panel_norm2; /* |M|_F^2 of the panel, for the rank's certificate */
    tarry__design_reference *references;
    size_t n_references, room_references;
    size_t *sample, n_sample, room_sample;
    double *M, *square[2], *values, *work; /* r by n; r by r; r; for linalg.h */
} tarry__solver;

/* Picks arms that span the arms' space, sets r, T, and the core: these arms
 * with equal weights, and a sample.  TARRY_TARGET_NOT_MET: not clear from a
 * sample; start again with `thorough`. */
tarry_status tarry__solver_start(tarry__solver *solver);

/* Chooses new coordinates in which the core is round. */
tarry_status tarry__solver_whiten(tarry__solver *solver);

/* Packs the panel for the core's weights: |M a|^2 = a' V^+ a.  Leaves the
 * factor L of V in square[0]. */
tarry_status tarry__solver_panel(tarry__solver *solver);

/* Makes the panel's V the next reference. */
tarry_status tarry__solver_refer(tarry__solver *solver, uint16_t *index);

/* After tarry__solver_panel: rho[c] = lambda_max(V^-1 V_c), rounded up, for
 * each reference c that a block has. */
tarry_status tarry__solver_ratios(tarry__solver *solver, double *rho);

/* Adds the scan's hits to the core unless they are there; *added counts. */
tarry_status tarry__solver_add_hits(tarry__solver *solver, size_t *added);

/* Adds arm `k` unless it, an equal or an opposite one is there. */
tarry_status tarry__solver_add_arm(tarry__solver *solver, size_t k);

#endif
