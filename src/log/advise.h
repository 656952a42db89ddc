/* advise.h - which policy to use: all that come into question, in a world made
 * of the log. */
#ifndef TARRY_LOG_ADVISE_H
#define TARRY_LOG_ADVISE_H

#include "lab/experiment.h"
#include "log/rebuild.h"

enum { TARRY__ADVISE_MOST = 8 };

typedef struct {
    uint64_t horizon, runs, seed; /* the next decisions; runs of each policy */
    int threads;
    const char *folder; /* where the world goes, and stays; NULL: nowhere */
    const tarry__trials_observer *observer; /* NULL: nobody */
} tarry__advise_options;

typedef struct {
    const char *policy;     /* its description */
    double regret, ci95;    /* mean over the runs, in losses of [-1, 1]; ci95 is
                               NaN for one run */
    double certificate;     /* mean bound at the end; NaN: it states none */
    double best_kept;       /* share of runs whose active arms have the best */
    bool certified;         /* the bound holds with such delays */
    double gain, gain_ci95; /* regret of uniform less this, run by run; NaN
                               where there is nothing to compare */
} tarry__advise_row;

typedef struct {
    size_t count;
    tarry__advise_row row[TARRY__ADVISE_MOST]; /* the smallest regret first */
    size_t pick; /* the row to use: of the certified ones that pay at most 5 %
                    more than the best, the one with the least bound; without
                    such, the best */
    bool certified;                             /* the picked row is */
    char instance[4200], loss[32], delay[4200]; /* descriptions of the world */
} tarry__advise_result;

/* Runs the policies in a rebuilt world; `safe`: delays may depend on losses.
 * TARRY_CANCELLED, TARRY_IO_ERROR, TARRY_NO_MEMORY. */
tarry_status tarry__advise(const tarry__rebuild_world *world, bool has_features,
                           bool safe, const tarry__advise_options *options,
                           tarry__advise_result *advice, tarry_error *error);

#endif
