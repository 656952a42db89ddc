/* read.c - tells the formats apart, and knows the names of columns. */
#include "log/read.h"

#include <string.h>

static const struct {
    tarry__log_field field;
    const char *name;
} names[] = {
    {TARRY__LOG_ID, "id"},
    {TARRY__LOG_ID, "eventid"},
    {TARRY__LOG_ID, "event_id"},
    {TARRY__LOG_ID, "decision_id"},
    {TARRY__LOG_ARM, "arm"},
    {TARRY__LOG_ARM, "action"},
    {TARRY__LOG_ARM, "item_id"},
    {TARRY__LOG_DECIDED, "decided"},
    {TARRY__LOG_DECIDED, "decided_at"},
    {TARRY__LOG_DECIDED, "timestamp"},
    {TARRY__LOG_REPORTED, "reported"},
    {TARRY__LOG_REPORTED, "reported_at"},
    {TARRY__LOG_LOSS, "loss"},
    {TARRY__LOG_LOSS, "cost"},
    {TARRY__LOG_REWARD, "reward"},
    {TARRY__LOG_REWARD, "click"},
    {TARRY__LOG_PROBABILITY, "probability"},
    {TARRY__LOG_PROBABILITY, "propensity_score"},
    {TARRY__LOG_PROBABILITY, "pscore"},
    {TARRY__LOG_STATE, "state"},
};

tarry__log_field tarry__log_field_of(tarry__text name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (tarry__text_is(name, names[i].name))
            return names[i].field;
    return TARRY__LOG_FIELDS;
}

void tarry__log_row_set(tarry__log_row *row, tarry__log_field field,
                        tarry__text value)
{
    tarry__text *const place[TARRY__LOG_FIELDS] = {
        &row->id,   &row->arm,    &row->decided,     &row->reported,
        &row->loss, &row->reward, &row->probability, &row->state};
    if (field < TARRY__LOG_FIELDS)
        *place[field] = value;
}

/* The first line that is not empty stays the next one. */
static tarry_status look(tarry__lines *lines, bool *is_json, tarry_error *error)
{
    tarry__text line;
    tarry_status status;
    do
        status = tarry__lines_next(lines, &line, error);
    while (status == TARRY_OK && line.begin != NULL && line.begin == line.end);
    *is_json = false;
    if (status == TARRY_OK && line.begin != NULL) {
        const tarry__text t = tarry__text_trim(line);
        *is_json = t.begin < t.end && *t.begin == '{';
        tarry__lines_back(lines, line);
    }
    return status;
}

tarry_status tarry__log_read(tarry__log *log, const char *path,
                             const tarry__log_options *options,
                             tarry_error *error)
{
    tarry__lines lines;
    bool is_json;
    tarry_status status = tarry__log_begin(log, path, options, error);
    if (status != TARRY_OK)
        return status;
    status = tarry__lines_open(&lines, path, error);
    if (status == TARRY_OK)
        status = look(&lines, &is_json, error);
    if (status == TARRY_OK)
        status = is_json ? tarry__log_read_json(log, &lines, error)
                         : tarry__log_read_csv(log, &lines, error);
    tarry__lines_close(&lines);
    return status == TARRY_OK ? tarry__log_end(log, error) : status;
}
