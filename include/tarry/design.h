/* design.h - optimal designs: which arms to play how often, so that the losses
 * of all arms are known equally well.
 *
 * A design gives weights w >= 0 with sum 1 to arms a_1..a_K in R^n.  With
 * V = sum w_k a_k a_k', the variance of arm a is a' V^+ a, and g is the largest
 * variance of any arm.  No design has g below r, the dimension of the arms'
 * span, and the best one reaches it (Kiefer and Wolfowitz 1960).  The same
 * weights give the smallest ellipsoid around the points +/- a_k. */
#ifndef TARRY_DESIGN_H
#define TARRY_DESIGN_H

#include <stddef.h>
#include "tarry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    TARRY_DESIGN_NEAR, /* g <= (1 + tolerance) r */
    TARRY_DESIGN_PAPER /* g <= 2r on few arms, then every supported weight
                          raised to 1/(2 support) or more; g <= 4r after */
} tarry_design_rule;

/* How to solve; tarry_design_defaults() gives a filled one to change. */
typedef struct {
    tarry_design_rule rule;
    double tolerance;      /* NEAR: at least 1e-9; default 1e-3 */
    double rank_tolerance; /* singular values below this share of the largest
                              count as zero; default 1e-11 */
    size_t max_support;    /* NEAR: at most this many arms, 0 = no limit; at
                              least r.  With too few for the tolerance the best
                              design found is returned as TARGET_NOT_MET. */
    int threads;           /* to 1024; 0 = as OpenMP says; no effect on the
                              result */

    /* An earlier design whose arms are likely to matter again, e.g. that of a
     * larger set: warm_count arms, numbered as in this call.  Changes only
     * the way to the result.  NULL and 0 for none. */
    const size_t *warm_arms;
    size_t warm_count;

    /* Called from the solving thread now and then with the share of the arms
     * seen so far and the best bound on g / r; an answer other than 0 cancels.
     * NULL for none. */
    int (*progress)(void *context, double share, double g_over_rank);
    void *progress_context;
} tarry_design_options;

/* A solved design; ended by tarry_design_free. */
typedef struct {
    size_t rank; /* r */
    double g;    /* largest variance over all arms */
    size_t n_support;
    size_t *arm;       /* n_support supported arms, increasing */
    double *weight;    /* of the supported arms: positive, sum 1 */
    double min_weight; /* the smallest weight of a supported arm */
    double passes;     /* evaluations of a variance, divided by K */
    double seconds;    /* time of the solve */
} tarry_design;

TARRY_API tarry_design_options tarry_design_defaults(void);

/* NULL if the options and sizes can be used, else a sentence for people. */
TARRY_API const char *
tarry_design_options_check(const tarry_design_options *options, size_t n_arms,
                           size_t dim);

/* Solves for n_arms arms of dimension dim (see arms.h for the layout), which
 * are only read, during the call.  `options` may be NULL for the defaults.
 * The result is the same for any number of threads.
 *
 * g is certified: each arm's variance was either evaluated afresh with the
 * final weights, or bounded below the largest by an earlier full evaluation.
 * Arms that are all zero have rank 0, g = 0 and all weight on arm 0.
 *
 * TARRY_OK and TARRY_TARGET_NOT_MET hand over *out; after any other status it
 * is NULL.  TARRY_NOT_FINITE: an entry is NaN or infinite; TARRY_CANCELLED;
 * TARRY_BAD_ARGUMENT, also if no entry is 1e-290 or more and not all are 0;
 * TARRY_NO_MEMORY. */
TARRY_API tarry_status tarry_design_solve(const double *arms, size_t n_arms,
                                          size_t dim,
                                          const tarry_design_options *options,
                                          tarry_design **out);

TARRY_API void tarry_design_free(tarry_design *design);

#ifdef __cplusplus
}
#endif
#endif
