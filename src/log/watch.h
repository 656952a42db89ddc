/* watch.h - the test of dependence.h while feedback keeps coming in.
 *
 * It keeps an even sample of at most 4096 outcomes, whatever came, and puts it
 * aside when 64, 128, 256, ... outcomes have come.  Who looks is told of the
 * sample put aside last, tested at level 0.05 / 25: so in all its life it cries
 * wolf with probability at most 5 %, however often one looks.  A test takes
 * milliseconds and is made when somebody looks, so that taking outcomes in
 * costs next to nothing.
 *
 * Time is counted in rounds, as delays are: what comes between two choices
 * comes at the same time, in whatever order it is reported.  It is a
 * deterministic machine: the same outcomes give the same verdicts. */
#ifndef TARRY_LOG_WATCH_H
#define TARRY_LOG_WATCH_H

#include "log/dependence.h"
#include "policy/archive.h"
#include "tarry/status.h"

typedef struct tarry__watch tarry__watch;

typedef enum {
    TARRY__WATCH_CANNOT_TELL,
    TARRY__WATCH_INDEPENDENT,
    TARRY__WATCH_DEPENDENT,
} tarry__watch_verdict;

typedef struct {
    tarry__watch_verdict verdict;
    double p_value;     /* of the last test; 1 before the first */
    double correlation; /* above 0: high losses are late */
    double z;           /* the correlation in standard deviations */
    uint64_t outcomes;  /* that have come so far */
    uint64_t tested;    /* `outcomes` when the sample was put aside */
    const char *why;    /* a sentence; lives as long as the program */
} tarry__watch_found;

/* TARRY_NO_MEMORY.  All memory is taken here, but for what a test takes while
 * it runs. */
tarry_status tarry__watch_create(uint64_t seed, tarry__watch **out);
void tarry__watch_free(tarry__watch *watch);

/* The loss of round `round` has come after round `now` was chosen, and before
 * the next; `loss` in any unit, the same throughout. */
void tarry__watch_observe(tarry__watch *watch, size_t arm, uint64_t round,
                          uint64_t now, double loss);

/* The delay in rounds within which 99 % of the outcomes that came have come; 0
 * if none has. */
uint64_t tarry__watch_patience(const tarry__watch *watch);

/* What is known now.  Of `decisions` in all, `overdue` are older than
 * tarry__watch_patience and still out: more than 5 % of them could hide a
 * dependence. */
tarry__watch_found tarry__watch_look(tarry__watch *watch, uint64_t decisions,
                                     uint64_t overdue);

/* "cannot tell", "independent", "dependent". */
const char *tarry__watch_text(tarry__watch_verdict verdict);

/* Saves it, or fills one that was just created. */
void tarry__watch_archive(tarry__watch *watch, tarry__archive *a);

#endif
