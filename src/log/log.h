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
 * `reported` and `loss` is outstanding.  Rows with the same id are one
 * decision: a later row completes or repeats an earlier one, so append-only
 * logs are read as they are.  A row that makes no sense, or contradicts an
 * earlier one, is refused: the first such rows are named in `rejected`, all are
 * counted, in all and by reason. */
#ifndef TARRY_LOG_H
#define TARRY_LOG_H

#include <stdint.h>
#include "log/index.h"
#include "tarry/arms.h"

enum {
    TARRY__LOG_SHOWN = 20,   /* rejected rows that are named */
    TARRY__LOG_REASONS = 32, /* that are counted one by one */
};

typedef struct {
    size_t line;
    char why[160];
} tarry__log_reject;

/* How many rows were rejected for one reason, and the first of them. */
typedef struct {
    const char *why; /* without the value */
    size_t count, line;
} tarry__log_reason;

/* A cost of dsjson that may be the outcome of a decision, in [-1, 1]. */
typedef struct tarry__log_cost {
    uint32_t decision;
    bool is_zero; /* as it is written */
    size_t line;
    double loss;
} tarry__log_cost;

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
    bool is_calendar;       /* times are seconds since 1970 */
    bool has_delays;        /* the log says when outcomes were reported */
    size_t n_probabilities; /* decisions that have one */
    size_t n_arms;
    char **names; /* of the arms, n_arms of them */
    size_t n_rejected;
    tarry__log_reject rejected[TARRY__LOG_SHOWN];
    size_t n_out_of_range;    /* rejected for their outcome's value */
    size_t n_reasons, n_rows; /* rows: that were not rejected */
    tarry__log_reason reason[TARRY__LOG_REASONS];
    bool any_reward; /* outcomes are called rewards */
    /* While it is read: */
    tarry__index ids, arm_index;
    size_t n_names, unordered, n_cancelled;
    double last_time, pdrop; /* of dsjson: the share of its lines dropped */
    bool has_time, any_loss;
    struct tarry__log_cost *cost; /* dsjson's costs without an outcome */
    size_t n_costs, costs_room;
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

/* Whether its outcomes are rewards: more is better. */
static inline bool tarry__log_is_reward(const tarry__log *log)
{
    return log->options.maximize || log->any_reward;
}

/* The reason for which most rows were rejected; NULL: none was. */
const tarry__log_reason *tarry__log_main_reason(const tarry__log *log);

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
    tarry__text cost;  /* dsjson: a label without `o`, see json.c */
    tarry__text pdrop; /* dsjson: lines dropped per line in the full log */
    bool at_once;      /* the log has no times of reports: seen when decided */
    bool only_outcome; /* of a decision that came before */
    bool is_numbered;  /* `decided` is the row's number: the log has no times */
    bool is_dsjson;
} tarry__log_row;

/* Adds a row, joins it to an earlier one of its id, or counts it as rejected.
 * Fails if out of memory, if one log has losses and rewards, or strict. */
tarry_status tarry__log_add(tarry__log *log, const tarry__log_row *row,
                            size_t line, tarry_error *error);

/* Counts a row as rejected because of a field and its value. */
tarry_status tarry__log_reject_row(tarry__log *log, size_t line,
                                   const char *why, tarry__text value,
                                   tarry_error *error);

#endif
