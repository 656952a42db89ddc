/* log.h - decisions and what came of them, as a log tells it.
 *
 * A log is a file of one of these kinds, told apart by its first line:
 *   CSV     a header names the columns in any order; without one they are id,
 *           arm, decided, reported, loss and perhaps probability.  Separated
 *           by commas, semicolons or tabs.
 *   NDJSON  an object per line with the same names.
 *   dsjson  Vowpal Wabbit's: EventId, Timestamp, a, p, _label_cost, o; a line
 *           with RewardValue reports the outcome of an earlier one.
 * Names of Open Bandit Pipeline's tables will do as well: timestamp, item_id or
 * action, click or reward, propensity_score or pscore.
 *
 * Times are numbers or ISO 8601, the same kind throughout.  A decision without
 * `reported` and `loss` is outstanding.  A row that makes no sense is left out,
 * and named: the first in `rejected`, all of them counted. */
#ifndef TARRY_LOG_H
#define TARRY_LOG_H

#include <stdint.h>
#include "log/index.h"
#include "tarry/arms.h"

enum { TARRY__LOG_SHOWN = 20 }; /* rejected rows that are named */

typedef struct {
    size_t line;
    char why[160];
} tarry__log_reject;

/* What the caller knows of the log. */
typedef struct {
    double low, high;       /* range of the losses or rewards */
    bool maximize;          /* they are rewards */
    const char *now;        /* the time it was taken, as in the log; NULL: the
                               last time that occurs in it */
    const tarry_arms *arms; /* the arms it may speak of, or NULL: any */
    bool strict;            /* the first row that makes no sense is an error */
} tarry__log_options;

/* Decision i has arm[i], decided[i] and so on, in order of decided, equal times
 * as in the file. */
typedef struct {
    tarry__log_options options;
    const char *path, *format;
    size_t count, room;
    uint32_t *arm;
    double *decided, *reported; /* reported is NaN: outstanding */
    double *loss;               /* in [-1, 1], to be minimised; NaN likewise */
    double *probability;        /* of the arm; NaN: not logged */
    double now;
    bool is_calendar;     /* times are seconds since 1970 */
    bool has_delays;      /* the log says when outcomes were reported */
    bool has_probability; /* every decision has one */
    size_t n_arms;
    char **names; /* of the arms, n_arms of them */
    size_t n_rejected;
    tarry__log_reject rejected[TARRY__LOG_SHOWN];
    /* While it is read: */
    tarry__index ids, arm_index;
    size_t n_names, unordered;
    double last_time;
    bool has_time, any_reward;
} tarry__log;

/* Reads a log; "-" is standard input.  The caller ends it with
 * tarry__log_clear, also after a failure.  TARRY_IO_ERROR, TARRY_NO_MEMORY,
 * TARRY_BAD_INPUT: no columns to speak of, no decisions, or, with `strict`, a
 * row that makes no sense; `error` names file, line and value. */
tarry_status tarry__log_read(tarry__log *log, const char *path,
                             const tarry__log_options *options,
                             tarry_error *error);
void tarry__log_clear(tarry__log *log);

/* The log's own value of a loss, and how much one unit of loss is there. */
double tarry__log_value(const tarry__log *log, double loss);

static inline double tarry__log_age(const tarry__log *log, size_t i)
{
    return log->now - log->decided[i];
}

/* ---- for the readers ------------------------------------------------------*/

/* Before the first row and after the last. */
tarry_status tarry__log_begin(tarry__log *log, const char *path,
                              const tarry__log_options *options,
                              tarry_error *error);
tarry_status tarry__log_end(tarry__log *log, tarry_error *error);

/* One row; what is not given has begin NULL. */
typedef struct {
    tarry__text id, arm, decided, reported, loss, reward, probability;
    tarry__text state; /* "cancelled": the row does not count at all */
    bool at_once;      /* the log has no times of reports: seen when decided */
    bool only_outcome; /* of a decision that came before */
} tarry__log_row;

/* Adds a row, or counts it as rejected.  Fails if out of memory, or strict. */
tarry_status tarry__log_add(tarry__log *log, const tarry__log_row *row,
                            size_t line, tarry_error *error);

/* Counts a row as rejected because of a field and its value. */
tarry_status tarry__log_reject_row(tarry__log *log, size_t line,
                                   const char *why, tarry__text value,
                                   tarry_error *error);

#endif
