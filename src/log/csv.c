/* csv.c - logs as tables of comma-separated values.
 *
 * Quotes may stand around a field, with "" for a quote inside; such a field may
 * go on in the next line. */
#include "log/read.h"

#include <stdio.h>
#include <string.h>
#include "arms/source.h"
#include "base/base.h"

enum { MAX_COLUMNS = 4096 };

typedef struct {
    char separator;
    size_t n_columns;
    uint8_t field[MAX_COLUMNS]; /* tarry__log_field of each column */
    bool has[TARRY__LOG_FIELDS];
} table;

/* "" inside quotes becomes ", in place: lines lie in memory of ours. */
static tarry__text unquote(const char *begin, const char *end)
{
    char *to = (char *)begin;
    for (const char *from = begin; from < end; from++) {
        *to++ = *from;
        from += *from == '"';
    }
    return (tarry__text){begin, to};
}

/* The field at *at, which moves behind its separator, or to NULL behind the
 * last, with "" left as it is.  False if quotes do not close as they should. */
static bool look_at_field(const char **at, const char *end, char separator,
                          tarry__text *field, bool *is_quoted)
{
    const char *c = *at;
    while (c < end && *c == ' ')
        c++;
    *is_quoted = c < end && *c == '"';
    if (*is_quoted) {
        const char *begin = ++c;
        while (c < end && (*c != '"' || (c + 1 < end && c[1] == '"')))
            c += *c == '"' ? 2 : 1;
        if (c >= end)
            return false;
        *field = (tarry__text){begin, c++};
        while (c < end && *c == ' ')
            c++;
        if (c < end && *c != separator)
            return false;
    } else {
        c = memchr(*at, separator, (size_t)(end - *at));
        c = c != NULL ? c : end;
        *field = tarry__text_trim((tarry__text){*at, c});
    }
    *at = c < end ? c + 1 : NULL;
    return true;
}

/* The same, and rewrites it without quotes. */
static bool next_field(const char **at, const char *end, char separator,
                       tarry__text *field)
{
    bool is_quoted;
    if (!look_at_field(at, end, separator, field, &is_quoted))
        return false;
    if (is_quoted)
        *field = unquote(field->begin, field->end);
    return true;
}

/* ---- the header -----------------------------------------------------------*/

/* What occurs most often in the first line. */
static char find_separator(tarry__text line)
{
    static const char candidates[] = ",;\t";
    char best = ',';
    size_t most = 0;
    for (const char *s = candidates; *s != '\0'; s++) {
        size_t count = 0;
        for (const char *c = line.begin; c < line.end; c++)
            count += *c == *s;
        if (count > most) {
            most = count;
            best = *s;
        }
    }
    return best;
}

static tarry_status name_columns(table *t, tarry__text line,
                                 const tarry__lines *lines, tarry_error *error)
{
    const char *at = line.begin;
    tarry__text name;
    for (t->n_columns = 0; at != NULL; t->n_columns++) {
        if (!next_field(&at, line.end, t->separator, &name))
            return tarry__base_fail(error, TARRY_BAD_INPUT,
                                    "%s:%zu: quotes do not close", lines->path,
                                    lines->number);
        if (t->n_columns == MAX_COLUMNS)
            return tarry__base_fail(error, TARRY_BAD_INPUT,
                                    "%s:%zu: more than %d columns", lines->path,
                                    lines->number, MAX_COLUMNS);
        const tarry__log_field field = tarry__log_field_of(name);
        if (field < TARRY__LOG_FIELDS && t->has[field])
            return tarry__base_fail(
                error, TARRY_BAD_INPUT,
                "%s:%zu: two columns for the same: '%s'", lines->path,
                lines->number, tarry__arms_show(name.begin, name.end).text);
        t->field[t->n_columns] = (uint8_t)field;
        if (field < TARRY__LOG_FIELDS)
            t->has[field] = true;
    }
    return TARRY_OK;
}

/* Columns in the order of the documentation, if the line can be such a row. */
static bool is_row(table *t, tarry__text line)
{
    static const uint8_t order[] = {TARRY__LOG_ID,      TARRY__LOG_ARM,
                                    TARRY__LOG_DECIDED, TARRY__LOG_REPORTED,
                                    TARRY__LOG_LOSS,    TARRY__LOG_PROBABILITY};
    const char *at = line.begin;
    tarry__text text = {NULL, NULL};
    double time;
    size_t n = 0;
    bool is_time = false, is_quoted;
    for (; at != NULL && n < 7; n++) {
        if (!look_at_field(&at, line.end, t->separator, &text, &is_quoted))
            return false;
        if (n == 2)
            is_time = tarry__text_number(text, &time) ||
                      tarry__text_moment(text, &time);
    }
    if (!is_time || n < 5 || n > 6)
        return false;
    memcpy(t->field, order, n);
    t->n_columns = n;
    for (size_t i = 0; i < n; i++)
        t->has[order[i]] = true;
    return true;
}

static tarry_status read_header(table *t, tarry__lines *lines,
                                tarry_error *error)
{
    tarry__text line;
    tarry_status status = tarry__lines_next(lines, &line, error);
    if (status != TARRY_OK)
        return status;
    if (line.begin == NULL)
        return tarry__base_fail(error, TARRY_BAD_INPUT, "%s: empty",
                                lines->path);
    t->separator = find_separator(line);
    tarry__lines_back(lines, line);
    const size_t number = lines->number + 1;
    status = tarry__lines_next_record(lines, t->separator, &line, error);
    if (status != TARRY_OK)
        return status;
    if (is_row(t, line)) {
        tarry__lines_back(lines, line);
        lines->number = number - 1;
        return TARRY_OK;
    }
    status = name_columns(t, line, lines, error);
    if (status != TARRY_OK)
        return status;
    const char *missing =
        !t->has[TARRY__LOG_ARM]                                      ? "arm"
        : !t->has[TARRY__LOG_LOSS] && !t->has[TARRY__LOG_REWARD]     ? "loss"
        : t->has[TARRY__LOG_REPORTED] && !t->has[TARRY__LOG_DECIDED] ? "decided"
                                                                     : NULL;
    if (missing == NULL && t->has[TARRY__LOG_LOSS] && t->has[TARRY__LOG_REWARD])
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s:%zu: the log has losses and rewards: keep "
                                "the column that holds the outcome",
                                lines->path, lines->number);
    if (missing == NULL)
        return TARRY_OK;
    return tarry__base_fail(error, TARRY_BAD_INPUT,
                            "%s:%zu: no column '%s' in the header: '%s'",
                            lines->path, lines->number, missing,
                            tarry__arms_show(line.begin, line.end).text);
}

/* ---- rows -----------------------------------------------------------------*/

static tarry_status read_row(const table *t, tarry__log *log, tarry__text line,
                             size_t number, tarry_error *error)
{
    const tarry__text nothing = {NULL, NULL};
    const char *at = line.begin;
    tarry__log_row row = {.at_once = !t->has[TARRY__LOG_REPORTED]};
    tarry__text value;
    char count[24];
    size_t i = 0;
    for (; at != NULL && i <= t->n_columns; i++) {
        if (!next_field(&at, line.end, t->separator, &value))
            return tarry__log_reject_row(log, number, "quotes do not close",
                                         nothing, error);
        if (i < t->n_columns)
            tarry__log_row_set(&row, (tarry__log_field)t->field[i], value);
    }
    if (i != t->n_columns)
        return tarry__log_reject_row(log, number,
                                     i < t->n_columns
                                         ? "fewer fields than columns"
                                         : "more fields than columns",
                                     nothing, error);
    if (!t->has[TARRY__LOG_DECIDED]) { /* the number of the row will do */
        const int size = snprintf(count, sizeof count, "%zu", log->count);
        row.decided = (tarry__text){count, count + size};
        row.is_numbered = true;
    }
    return tarry__log_add(log, &row, number, error);
}

static tarry_status read_rows(const table *t, tarry__log *log,
                              tarry__lines *lines, tarry_error *error)
{
    tarry__text line;
    for (;;) {
        const size_t number = lines->number + 1;
        tarry_status status =
            tarry__lines_next_record(lines, t->separator, &line, error);
        if (status != TARRY_OK || line.begin == NULL)
            return status;
        if (line.begin == line.end)
            continue;
        status = read_row(t, log, line, number, error);
        if (status != TARRY_OK)
            return status;
    }
}

tarry_status tarry__log_read_csv(tarry__log *log, tarry__lines *lines,
                                 tarry_error *error)
{
    table *t = tarry__base_zalloc(1, sizeof *t);
    if (t == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    log->format = "CSV";
    tarry_status status = read_header(t, lines, error);
    if (status == TARRY_OK)
        status = read_rows(t, log, lines, error);
    tarry__base_free(t);
    return status;
}
