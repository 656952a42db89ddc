/* workers.h - many independent tasks, shared by threads or by MPI ranks; the
 * build picks workers_threads.c or workers_mpi.c.
 *
 * Which worker does a task is nobody's business: results go to their places
 * and are handed over in no particular order. */
#ifndef TARRY_LAB_WORKERS_H
#define TARRY_LAB_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include "tarry/status.h"

typedef struct {
    size_t count;       /* tasks 0 .. count-1 */
    size_t result_size; /* bytes, plain */
    void *context;
    /* Does task i.  Called from many threads at once. */
    tarry_status (*work)(void *context, size_t i, void *result,
                         tarry_error *error);
    /* Takes a finished task's result, one at a time, on rank 0. */
    tarry_status (*done)(void *context, size_t i, const void *result,
                         tarry_error *error);
    /* Tasks that need not be done; the same on all ranks.  May be NULL. */
    const bool *skip;
} tarry__workers_job;

/* Does all tasks on `threads` threads (0: as OpenMP says) per rank; stops
 * early after a failure, and answers on every rank that of the first task that
 * fails, whichever was quicker. */
tarry_status tarry__workers_run(const tarry__workers_job *job, int threads,
                                tarry_error *error);

/* Before and after everything else in a program. */
void tarry__workers_open(int *argc, char ***argv);
void tarry__workers_close(void);

/* 0 for the one who reads, prints and writes. */
int tarry__workers_rank(void);

/* What these workers are: "threads" or "MPI ranks", and how many ranks. */
int tarry__workers_ranks(void);

/* Makes rank 0's bytes everybody's. */
void tarry__workers_share(void *bytes, size_t size);

#endif
