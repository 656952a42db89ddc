/* batch.h - an experiment in one world or in each of a list of worlds. */
#ifndef TARRY_LAB_BATCH_H
#define TARRY_LAB_BATCH_H

#include "lab/experiment.h"
#include "lab/journal.h"

enum { TARRY__BATCH_MAX_WORLDS = 64 };

typedef struct {
    const char *name, *instance, *loss, *delay;
    const tarry__own_world *own; /* NULL: as described */
    tarry__sim_reports reports;
} tarry__batch_world;

/* What is to be done: the experiment in its own world or, if there is a list
 * of worlds, in each of them. */
typedef struct {
    tarry__experiment experiment;
    size_t n_worlds; /* 0: no list */
    tarry__batch_world world[TARRY__BATCH_MAX_WORLDS];
} tarry__batch_plan;

typedef struct {
    const tarry__batch_plan *plan;
    size_t count; /* of experiments: one per world of the plan, or just one */
    tarry__experiment *experiment;
    tarry__experiment_results *results;
    size_t current; /* the one at work, or the one that failed */
    tarry__journal journal;
    const tarry__trials_observer *observer;
} tarry__batch;

/* TARRY_NO_MEMORY; tarry__batch_clear is due in either case. */
tarry_status tarry__batch_create(tarry__batch *batch,
                                 const tarry__batch_plan *plan);
void tarry__batch_clear(tarry__batch *batch);

/* In a list of worlds a policy that cannot run in some of them is left out
 * there; one that can run in none is a mistake. */
tarry_status tarry__batch_check(tarry__batch *batch, tarry_error *error);

/* Trials to be done in all, without those of refused policies; finished. */
size_t tarry__batch_trials(const tarry__batch *batch);
size_t tarry__batch_finished(const tarry__batch *batch);

/* Keeps finished trials in a file, NULL: in none, and takes in those it has;
 * the file may have others too.  The caller closes b->journal as soon as the
 * batch has been run.  Fails as tarry__journal_open does; TARRY_BAD_ARGUMENT
 * also if a policy or law of the caller's has no version. */
tarry_status tarry__batch_open_journal(tarry__batch *batch, const char *path,
                                       tarry_error *error);

/* Runs what is not finished.  `observer` may be NULL; its `finished` is not
 * called. */
tarry_status tarry__batch_run(tarry__batch *batch,
                              const tarry__trials_observer *observer,
                              tarry_error *error);

#endif
