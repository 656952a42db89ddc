/* examine.c - reads a log and lets the parts speak. */
#include "log/examine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/base.h"
#include "log/examine_parts.h"

/* ---- what parts share -----------------------------------------------------*/

tarry_status tarry__examine_no_memory(tarry_error *error)
{
    return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

const char *tarry__examine_name(const tarry__log *log, size_t arm,
                                char room[TARRY__EXAMINE_NAME_ROOM])
{
    if (tarry__json_is_text(log->names[arm]))
        return log->names[arm];
    snprintf(room, TARRY__EXAMINE_NAME_ROOM, "%zu", arm);
    return room;
}

json_t *tarry__examine_arm(const tarry__log *log, size_t arm)
{
    char room[TARRY__EXAMINE_NAME_ROOM];
    const char *name = tarry__examine_name(log, arm, room);
    const size_t size = strlen(name);
    if (size < 16 && strspn(name, "0123456789") == size && size > 0 &&
        (name[0] != '0' || size == 1)) {
        json_int_t number = 0;
        for (const char *c = name; *c != '\0'; c++)
            number = 10 * number + (*c - '0');
        return json_integer(number);
    }
    return json_string(name);
}

json_t *tarry__examine_time(const tarry__log *log, double time)
{
    if (!log->is_calendar)
        return tarry__json_number(time);
    const time_t seconds = (time_t)floor(time);
    struct tm parts;
    char text[40];
    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        return tarry__json_number(time);
    return json_string(text);
}

void tarry__examine_duration(double time, bool is_calendar, char *text,
                             size_t size)
{
    static const struct {
        double seconds;
        const char *unit;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    if (!isfinite(time)) {
        snprintf(text, size, "-");
        return;
    }
    size_t i = 0;
    while (is_calendar && i < 3 && time < 2 * units[i].seconds)
        i++;
    if (is_calendar)
        snprintf(text, size, "%.3g %s", time / units[i].seconds, units[i].unit);
    else
        snprintf(text, size, "%.4g", time);
}

const tarry__laws_fit *tarry__examine_law(const tarry__examine_state *x)
{
    return x->laws.count > 0 ? &x->laws.fit[0] : NULL;
}

/* ---- the whole ------------------------------------------------------------*/

static bool prepare(tarry__examine_state *x)
{
    const tarry__log *log = &x->log;
    x->time = tarry__base_alloc(log->count, sizeof *x->time);
    x->seen = tarry__base_alloc(log->count, sizeof *x->seen);
    if (x->time == NULL || x->seen == NULL)
        return false;
    for (size_t i = 0; i < log->count; i++) {
        x->seen[i] = !isnan(log->loss[i]);
        x->seen_count += x->seen[i];
        x->time[i] = x->seen[i] ? log->reported[i] - log->decided[i]
                                : tarry__log_age(log, i);
    }
    x->has_no_times = x->seen_count > 0 && !log->has_delays;
    return true;
}

/* Of all rows. */
static double share_rejected(const tarry__log *log)
{
    const double rejected = (double)log->n_rejected;
    return rejected > 0 ? rejected / (rejected + (double)log->n_rows) : 0;
}

/* Outcomes that differ from the most frequent one, if most are that. */
static size_t count_informative(const tarry__log *log)
{
    double candidate = NAN; /* Boyer and Moore's vote finds a majority */
    size_t votes = 0, outcomes = 0, same = 0;
    for (size_t i = 0; i < log->count; i++) {
        if (isnan(log->loss[i]))
            continue;
        outcomes++;
        if (votes == 0)
            candidate = log->loss[i];
        if (log->loss[i] == candidate)
            votes++;
        else
            votes--;
    }
    for (size_t i = 0; i < log->count; i++)
        same += log->loss[i] == candidate;
    return 2 * same > outcomes ? outcomes - same : outcomes;
}

/* A wrong range refuses all clicks, which may be few of the rows: of outcomes
 * that say something, the share out of range. */
static double share_out_of_range(const tarry__log *log)
{
    const double out = (double)log->n_out_of_range;
    return out > 0 ? out / (out + (double)count_informative(log)) : 0;
}

static bool is_concluded(const tarry__examine_state *x)
{
    const double most = x->options->max_refused;
    return share_rejected(&x->log) <= most &&
           share_out_of_range(&x->log) <= most;
}

/* The most frequent first. */
static json_t *tell_reasons(const tarry__log *log)
{
    json_t *list = json_array();
    size_t told = SIZE_MAX; /* rows of the reason told last */
    for (size_t n = 0; n < log->n_reasons; n++) {
        size_t most = 0;
        for (size_t i = 0; i < log->n_reasons; i++)
            if (log->reason[i].count < told && log->reason[i].count > most)
                most = log->reason[i].count;
        for (size_t i = 0; i < log->n_reasons; i++)
            if (log->reason[i].count == most && most > 0)
                list = tarry__json_add(
                    list,
                    json_pack("{s:s, s:I, s:I}", "why", log->reason[i].why,
                              "count", (json_int_t)most, "line",
                              (json_int_t)log->reason[i].line));
        told = most;
    }
    return list;
}

static json_t *tell_rejected(const tarry__log *log)
{
    json_t *first = json_array();
    for (size_t i = 0; i < log->n_rejected && i < TARRY__LOG_SHOWN; i++)
        first =
            tarry__json_add(first, json_pack("{s:I, s:s}", "line",
                                             (json_int_t)log->rejected[i].line,
                                             "why", log->rejected[i].why));
    return json_pack("{s:I, s:f, s:f, s:o, s:o}", "count",
                     (json_int_t)log->n_rejected, "share", share_rejected(log),
                     "out_of_range", share_out_of_range(log), "reasons",
                     tell_reasons(log), "first", first);
}

static void tell_log(tarry__examine_state *x)
{
    const tarry__log *log = &x->log;
    const size_t n = log->count;
    x->out = tarry__json_join(
        x->out,
        json_pack("{s:I, s:I, s:I, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:b}",
                  "seed", (json_int_t)x->options->seed, "decisions",
                  (json_int_t)n, "outstanding", (json_int_t)(n - x->seen_count),
                  "format", log->format, "unit",
                  log->is_calendar ? "seconds" : "as in the log", "outcome",
                  tarry__log_is_reward(log) ? "reward" : "loss", "first",
                  tarry__examine_time(log, log->decided[0]), "last",
                  tarry__examine_time(log, log->decided[n - 1]), "now",
                  tarry__examine_time(log, log->now), "rejected",
                  tell_rejected(log), "concluded", is_concluded(x)));
}

static void clear(tarry__examine_state *x)
{
    tarry__log_clear(&x->log);
    tarry__base_free(x->time);
    tarry__base_free(x->seen);
    tarry__survival_clear(&x->curve);
}

static tarry_status conclude(tarry__examine_state *x, tarry_error *error)
{
    tarry_status status = tarry__examine_delays(x, error);
    if (status == TARRY_OK)
        status = tarry__examine_dependence(x, error);
    if (status == TARRY_OK)
        status = tarry__examine_policies(x, error);
    return status == TARRY_OK ? tarry__examine_value(x, error) : status;
}

tarry_status tarry__examine(const char *path,
                            const tarry__examine_options *options, json_t **out,
                            tarry_error *error)
{
    tarry__examine_state x = {.options = options, .out = json_object()};
    tarry_status status =
        options->read != NULL
            ? options->read(options->read_context, &x.log, path, &options->log,
                            error)
            : tarry__log_read(&x.log, path, &options->log, error);
    *out = NULL;
    if (status == TARRY_OK && !prepare(&x))
        status = tarry__examine_no_memory(error);
    if (status == TARRY_OK)
        tell_log(&x);
    if (status == TARRY_OK && is_concluded(&x))
        status = conclude(&x, error);
    clear(&x);
    if (status == TARRY_OK && x.out == NULL)
        status = tarry__examine_no_memory(error);
    if (status == TARRY_OK)
        *out = x.out;
    else
        json_decref(x.out);
    return status;
}
