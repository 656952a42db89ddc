/* examine.h - everything a log says, as one JSON object.
 *
 *   decisions, outstanding, format, unit, outcome, first, last, now, rejected,
 *   concluded: false if too many rows were rejected; then nothing follows
 *   arms         per arm: decisions, reported, delay
 *   delay        median, mean, q90, q99 with intervals, the curve, the share
 *                that never comes, fitted laws, arms that differ, drift
 *   dependence   verdict, p_value, by_arm, why
 *   outcomes     their mean, and whether arms differ in it
 *   recommendation  policy (null: none), why;   simulation  a row per policy
 *   value        a row per policy and method;   no_value: why there are none
 *   model        what dr predicts of each arm
 *
 * docs/logs.md says what each of them means.  Numbers that do not exist are
 * null. */
#ifndef TARRY_LOG_EXAMINE_H
#define TARRY_LOG_EXAMINE_H

#include "base/json.h"
#include "lab/experiment.h"
#include "log/log.h"

typedef struct {
    tarry__log_options log;
    uint64_t horizon; /* next decisions to simulate; 0: as many as the log has,
                         from 1000 to 100000 */
    uint64_t runs;    /* of each policy; 0: no simulation */
    uint64_t seed;
    int threads;
    double max_refused; /* share of rows that may be rejected, 0 to 1; also of
                           decisions that may lack a probability */
    const char *world;  /* folder for the rebuilt world; NULL: not kept */
    const char *target; /* file of a policy to value: arm, probability */
    const tarry__trials_observer *observer; /* of the simulation */
    /* How the log is read; NULL: by tarry__log_read. */
    tarry_status (*read)(void *context, tarry__log *log, const char *path,
                         const tarry__log_options *options, tarry_error *error);
    void *read_context;
} tarry__examine_options;

/* Examines a log; the caller ends *out with json_decref.  On failure *out is
 * NULL; errors are those of tarry__log_read and tarry__advise. */
tarry_status tarry__examine(const char *path,
                            const tarry__examine_options *options, json_t **out,
                            tarry_error *error);

/* A duration for people: "3.2 h" of seconds, "320" of other units. */
void tarry__examine_duration(double time, bool is_calendar, char *text,
                             size_t size);

#endif
