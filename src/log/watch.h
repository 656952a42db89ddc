/* watch.h - the test of dependence.h while feedback keeps coming in.
 *
 * It keeps an even sample of at most 4096 outcomes, whatever came, and tests it
 * when 64, 128, 256, ... outcomes have come, each time at level 0.05 / 25: so
 * in all its life it cries wolf with probability at most 5 %.  What it has
 * found stays found.  It is a deterministic machine: the same calls give the
 * same verdicts. */
#ifndef TARRY_LOG_WATCH_H
#define TARRY_LOG_WATCH_H

#include "log/dependence.h"
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
    double z;           /* the same in standard deviations */
    uint64_t outcomes;  /* all that came, and how many there were at the last */
    uint64_t tested;    /*   test */
    const char *why;    /* a sentence; lives as long as the program */
} tarry__watch_found;

/* TARRY_NO_MEMORY.  All memory is taken here, but for what a test takes while
 * it runs. */
tarry_status tarry__watch_create(uint64_t seed, tarry__watch **out);
void tarry__watch_free(tarry__watch *watch);

/* An outcome has come at time `now`, of a decision made at time `decided` (any
 * unit, never back in time); `loss` in any unit, the same throughout.
 * TARRY_NO_MEMORY: a test was due and is put off. */
tarry_status tarry__watch_observe(tarry__watch *watch, uint32_t arm,
                                  double decided, double now, double loss);

/* The delay within which 99 % of the outcomes that came have come; infinite if
 * none has. */
double tarry__watch_patience(const tarry__watch *watch);

/* What is known now.  Of `decisions` in all, `overdue` are older than
 * tarry__watch_patience and still out: more than 5 % of them could hide a
 * dependence. */
tarry__watch_found tarry__watch_look(const tarry__watch *watch,
                                     uint64_t decisions, uint64_t overdue);

/* "cannot tell", "independent", "dependent". */
const char *tarry__watch_text(tarry__watch_verdict verdict);

#endif
