/* json.c - logs as one JSON object per line: our own names, or dsjson.
 *
 * A line of dsjson is a decision (it has EventId, Timestamp, a and p; the arm
 * is _label_Action or a[0], its probability _label_probability or p[0]) with
 * its outcome, if "o" or RewardValue says that there was one: then _label_cost
 * is the loss.  Or it is an outcome that came by itself: EventId, RewardValue
 * and EnqueuedTimeUtc.  The outcome's time is EnqueuedTimeUtc, of "o" or of the
 * line; dsjson that is joined often lacks it, and the outcome then counts as
 * seen at once.  In a file without any such time _label_cost is the outcome
 * also without "o"; in others a cost of 0 without "o" means outstanding.
 * pdrop, the probability with which lines like this one were dropped, must be
 * the same throughout. */
#include "log/read.h"

#include <string.h>
#include "log/tokens.h"

static const tarry__text nothing = {NULL, NULL};

/* What only dsjson has. */
typedef struct {
    tarry__text action, first_action, first_probability, label_probability;
    tarry__text cost, enqueued, reward, pdrop;
    bool has_outcome, has_context;
} dsjson;

static tarry__text read_first(tarry__tokens *s)
{
    tarry__text first_value = nothing;
    bool first = true, is_first = true;
    if (!tarry__tokens_enter(s, '['))
        return tarry__tokens_value(s);
    for (; tarry__tokens_more(s, &first); is_first = false) {
        const tarry__text value = tarry__tokens_value(s);
        first_value = is_first ? value : first_value;
    }
    return first_value;
}

/* The list of outcomes: that there is one, and the time of the last. */
static void read_outcomes(tarry__tokens *s, dsjson *d)
{
    bool first = true;
    tarry__text key;
    if (!tarry__tokens_enter(s, '[')) {
        tarry__tokens_value(s);
        return;
    }
    while (tarry__tokens_more(s, &first)) {
        bool first_key = true;
        d->has_outcome = true;
        if (!tarry__tokens_enter(s, '{')) {
            tarry__tokens_value(s);
            continue;
        }
        while (tarry__tokens_key(s, &first_key, &key)) {
            const tarry__text value = tarry__tokens_value(s);
            if (tarry__text_is(key, "EnqueuedTimeUtc"))
                d->enqueued = value;
        }
    }
}

/* True if the key is one of dsjson's, and its value has been read. */
static bool read_dsjson(tarry__tokens *s, tarry__text key, dsjson *d)
{
    if (tarry__text_is(key, "_label_cost"))
        d->cost = tarry__tokens_value(s);
    else if (tarry__text_is(key, "_label_Action"))
        d->action = tarry__tokens_value(s);
    else if (tarry__text_is(key, "_label_probability"))
        d->label_probability = tarry__tokens_value(s);
    else if (tarry__text_is(key, "a"))
        d->first_action = read_first(s);
    else if (tarry__text_is(key, "p"))
        d->first_probability = read_first(s);
    else if (tarry__text_is(key, "o"))
        read_outcomes(s, d);
    else if (tarry__text_is(key, "EnqueuedTimeUtc"))
        d->enqueued = tarry__tokens_value(s);
    else if (tarry__text_is(key, "pdrop"))
        d->pdrop = tarry__tokens_value(s);
    else if (tarry__text_is(key, "RewardValue"))
        d->reward = tarry__tokens_value(s);
    else
        return false;
    d->has_context = d->has_context || d->cost.begin != NULL ||
                     d->first_action.begin != NULL;
    return true;
}

static void finish_dsjson(tarry__log_row *row, const dsjson *d)
{
    row->only_outcome = !d->has_context;
    if (!tarry__text_is_empty(d->reward))
        row->reward = d->reward;
    else if (d->has_outcome)
        row->loss = d->cost;
    else
        row->cost = d->cost;
    row->pdrop = d->pdrop;
    row->is_dsjson = true;
    if (row->reward.begin != NULL || row->loss.begin != NULL)
        row->reported = d->enqueued;
    row->at_once = true;
    row->arm = d->action.begin != NULL ? d->action : d->first_action;
    row->probability = d->label_probability.begin != NULL
                           ? d->label_probability
                           : d->first_probability;
}

/* Reads one object; false if the line is not one. */
static bool read_object(tarry__text line, tarry__log_row *row, bool *is_dsjson,
                        bool *has_reported)
{
    tarry__tokens s = {.at = (char *)line.begin, .end = (char *)line.end};
    dsjson d = {0};
    bool first = true;
    tarry__text key;
    *is_dsjson = false;
    if (!tarry__tokens_enter(&s, '{'))
        return false;
    while (tarry__tokens_key(&s, &first, &key)) {
        if (read_dsjson(&s, key, &d)) {
            *is_dsjson = true;
            continue;
        }
        const tarry__log_field field = tarry__log_field_of(key);
        *has_reported = *has_reported || field == TARRY__LOG_REPORTED;
        tarry__log_row_set(row, field, tarry__tokens_value(&s));
    }
    *is_dsjson = *is_dsjson && row->arm.begin == NULL;
    if (*is_dsjson)
        finish_dsjson(row, &d);
    return !s.failed && tarry__tokens_peek(&s) == '\0';
}

tarry_status tarry__log_read_json(tarry__log *log, tarry__lines *lines,
                                  tarry_error *error)
{
    bool is_dsjson, has_reported = false;
    log->format = "NDJSON";
    for (;;) {
        tarry__text line;
        tarry_status status = tarry__lines_next(lines, &line, error);
        if (status != TARRY_OK || line.begin == NULL)
            return status;
        line = tarry__text_trim(line);
        if (line.begin == line.end)
            continue;
        tarry__log_row row = {0};
        if (!read_object(line, &row, &is_dsjson, &has_reported)) {
            status = tarry__log_reject_row(log, lines->number,
                                           "not a JSON object", nothing, error);
        } else {
            if (is_dsjson)
                log->format = "dsjson";
            row.at_once = row.at_once || !has_reported;
            status = tarry__log_add(log, &row, lines->number, error);
        }
        if (status != TARRY_OK)
            return status;
    }
}
