/* trials.h - many trials on all workers: the one scheduler of `tarry run`,
 * `tarry paper` and the public experiments.
 *
 * A trial is a number; whoever asks for trials says what each of them is, plays
 * it when told to, and finds its answer in its place.  Answers are functions of
 * the trial alone, so neither threads nor ranks nor an earlier, interrupted job
 * change them. */
#ifndef TARRY_LAB_TRIALS_H
#define TARRY_LAB_TRIALS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tarry/status.h"

typedef struct tarry__trials tarry__trials;

/* What is told meanwhile, one call at a time.  Both may be NULL. */
typedef struct {
    void *context;
    /* Several times a second: the share of the cost of all trials that is
     * behind us, from 0 to 1, and the rounds played by this process since the
     * last call.  True cancels. */
    bool (*progress)(void *context, double share, uint64_t rounds);
    /* After each trial, on rank 0. */
    tarry_status (*finished)(void *context, size_t trial, const void *answer,
                             tarry_error *error);
} tarry__trials_observer;

struct tarry__trials {
    size_t count;       /* trials 0 .. count-1 */
    size_t answer_size; /* bytes, plain */
    unsigned char *answer;
    bool *known;
    size_t n_known;
    bool *skip; /* trials that are not wanted */
    const void *context;
    /* Plays a trial, from any thread; calls tarry__trials_tick now and then and
     * stops with TARRY_CANCELLED when that says so. */
    tarry_status (*play)(tarry__trials *trials, size_t trial, void *answer,
                         tarry_error *error);
    /* What a trial costs against others; NULL: all the same. */
    double (*cost)(const tarry__trials *trials, size_t trial);
    /* Which trial is started as the i-th; NULL: trial i. */
    size_t (*order)(const tarry__trials *trials, size_t i);
    /* While they run: */
    const tarry__trials_observer *observer;
    double total, reported;
    _Atomic double spent;
    atomic_uint_fast64_t rounds;
    atomic_bool cancelled;
    atomic_flag reporting;
};

/* Places for `count` answers, none known; the caller then fills context, play,
 * cost and order.  Ended by tarry__trials_clear, also after a failure. */
tarry_status tarry__trials_create(tarry__trials *trials, size_t count,
                                  size_t answer_size);
void tarry__trials_clear(tarry__trials *trials);

/* The answer of a trial is known from an earlier job. */
void tarry__trials_put(tarry__trials *trials, size_t trial, const void *answer);

/* Some rounds have been played; true: stop. */
bool tarry__trials_tick(void *trials, uint64_t rounds);

/* Plays what is neither known nor skipped, on `threads` threads per rank (0: as
 * OpenMP says).  Rank 0 then has all answers; after a failure or
 * TARRY_CANCELLED it has those finished so far. */
tarry_status tarry__trials_run(tarry__trials *trials, int threads,
                               const tarry__trials_observer *observer,
                               tarry_error *error);

#endif
