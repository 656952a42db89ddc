/* examine_parts.h - what the parts of an examination share. */
#ifndef TARRY_LOG_EXAMINE_PARTS_H
#define TARRY_LOG_EXAMINE_PARTS_H

#include "log/dependence.h"
#include "log/examine.h"
#include "log/laws.h"
#include "log/survival.h"

/* A law of delays is believed up to so many times the longest time that
 * anything was out; what comes later is as good as never. */
enum { TARRY__EXAMINE_FAR = 10 };

typedef enum {
    TARRY__EXAMINE_CANNOT_TELL,
    TARRY__EXAMINE_INDEPENDENT,
    TARRY__EXAMINE_DEPENDENT,
} tarry__examine_verdict;

typedef struct {
    const tarry__examine_options *options;
    tarry__log log;
    size_t seen_count; /* outcomes */
    bool has_no_times; /* there are outcomes, but not when they were reported */
    double *time;      /* per decision: its delay, or its age while out */
    bool *seen;
    tarry__survival curve; /* of all */
    tarry__laws laws;
    tarry__log_interval left; /* share still out at the age `left_age`, the */
    double left_age;          /*   oldest that enough decisions have reached */
    tarry__examine_verdict verdict;
    double p_value, correlation;
    double differ_p; /* that arms differ so much in their outcomes by chance */
    json_t *out;
} tarry__examine_state;

/* Each adds its keys to x->out. */
tarry_status tarry__examine_delays(tarry__examine_state *x, tarry_error *error);
tarry_status tarry__examine_dependence(tarry__examine_state *x,
                                       tarry_error *error);
tarry_status tarry__examine_policies(tarry__examine_state *x,
                                     tarry_error *error);
tarry_status tarry__examine_value(tarry__examine_state *x, tarry_error *error);

/* The law that fits best; NULL: there were no outcomes. */
const tarry__laws_fit *tarry__examine_law(const tarry__examine_state *x);

/* An arm's name, whole; of one that is not UTF-8 the arm's number, which is
 * written to `room`. */
enum { TARRY__EXAMINE_NAME_ROOM = 24 };
const char *tarry__examine_name(const tarry__log *log, size_t arm,
                                char room[TARRY__EXAMINE_NAME_ROOM]);

/* The same, as a number if it is one. */
json_t *tarry__examine_arm(const tarry__log *log, size_t arm);

/* A time of the log as the log writes it. */
json_t *tarry__examine_time(const tarry__log *log, double time);

tarry_status tarry__examine_no_memory(tarry_error *error);

#endif
