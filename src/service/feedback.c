/* feedback.c - outcomes, one or many, run by the keeper. */
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "service/inner.h"

enum { MOST_ITEMS = 1000 };

const char *const tarry__service_results[TARRY__SERVICE_N_RESULTS] = {
    "applied", "late",     "duplicate", "corrected",
    "unknown", "conflict", "invalid",   "elsewhere"};

typedef struct {
    const char *id; /* NULL: it has none */
    tarry__service_experiment *experiment;
    tarry_status status; /* TARRY_OK, or why it was refused */
    tarry__service_result result;
    tarry_error error;
} outcome;

/* `rule` is about the outcome, or a field of it. */
static tarry_status refuse(outcome *o, const char *rule, const json_t *given)
{
    const char *id = o->id != NULL ? o->id : "";
    return tarry__base_fail(&o->error, TARRY_BAD_INPUT, "%s; got %s%s%.100s%s",
                            rule, tarry__service_show(given).text,
                            o->id != NULL ? " for id \"" : "", id,
                            o->id != NULL ? "\"" : "");
}

/* The value under the right one of two keys. */
static tarry_status read_value(outcome *o, const json_t *item, double *value)
{
    const tarry__store_experiment *e = o->experiment->made;
    const bool maximize = e->maximize;
    const json_t *loss = json_object_get(item, "loss");
    const json_t *reward = json_object_get(item, "reward");
    if ((loss != NULL) + (reward != NULL) != 1)
        return refuse(o,
                      "an outcome must have exactly one of \"loss\" and "
                      "\"reward\"",
                      item);
    if ((reward != NULL) != maximize)
        return tarry__base_fail(
            &o->error, TARRY_BAD_INPUT,
            "experiment \"%.100s\" takes a \"%s\", because it %ss; got a "
            "\"%s\" for id \"%.100s\"",
            e->name, maximize ? "reward" : "loss",
            maximize ? "maximize" : "minimize", maximize ? "loss" : "reward",
            o->id);
    const json_t *given = maximize ? reward : loss;
    if (!json_is_number(given))
        return refuse(o,
                      maximize ? "\"reward\" must be a number"
                               : "\"loss\" must be a number",
                      given);
    *value = json_number_value(given);
    return TARRY_OK;
}

static tarry_status check_item(outcome *o, json_t *item)
{
    const char *key;
    json_t *value;
    if (!json_is_object(item))
        return refuse(o, "an outcome must be a JSON object", item);
    const json_t *id = json_object_get(item, "id");
    o->id = json_string_value(id);
    if (o->id == NULL)
        return refuse(o, "\"id\" must be a string", id);
    json_object_foreach(item, key, value)
    {
        if (strcmp(key, "id") != 0 && strcmp(key, "loss") != 0 &&
            strcmp(key, "reward") != 0)
            return tarry__base_fail(&o->error, TARRY_BAD_INPUT,
                                    "unknown field \"%.100s\"; an outcome has: "
                                    "id, loss or reward",
                                    key);
    }
    return TARRY_OK;
}

/* How long the outcome took; what is not known is not counted. */
static void note_delay(tarry__service *s, const outcome *o, int64_t now)
{
    int64_t at;
    if (tarry__session_decided_at(o->experiment->session, o->id, &at) ==
        TARRY_OK)
        tarry__service_histogram_add(&s->new_delays,
                                     tarry__service_delay_bounds,
                                     now > at ? (double)(now - at) / 1000 : 0);
}

static tarry_status observe(tarry__service_call *c, outcome *o, json_t *item)
{
    tarry__session_result result;
    double value = 0;
    const int64_t now = tarry__session_now();
    tarry_status status = check_item(o, item);
    if (status != TARRY_OK)
        return status;
    o->experiment = tarry__service_enter_id(c, o->id, &status, &o->error);
    if (status == TARRY_OK)
        status = read_value(o, item, &value);
    if (status == TARRY_OK)
        status = tarry__session_observe(o->experiment->session, o->id, value,
                                        now, &result, &o->error);
    if (status == TARRY_OK) {
        o->result = (tarry__service_result)result; /* the same order */
        if (result != TARRY__SESSION_DUPLICATE)
            note_delay(c->service, o, now);
    }
    return status;
}

static tarry__service_result result_of(tarry_status status)
{
    return status == TARRY_UNKNOWN_ROUND    ? TARRY__SERVICE_UNKNOWN
           : status == TARRY_REPORTED_TWICE ? TARRY__SERVICE_CONFLICT
           : status == TARRY_CANCELLED      ? TARRY__SERVICE_ELSEWHERE
                                            : TARRY__SERVICE_INVALID;
}

static void count(tarry__service *s, const outcome *o)
{
    if (o->experiment != NULL)
        o->experiment->counts.feedback[o->result]++;
    else
        s->counts.feedback[o->result]++;
}

/* Takes one outcome; false: the store does not work, and that is said. */
static bool take(tarry__service_call *c, json_t *item, outcome *o)
{
    o->status = observe(c, o, item);
    if (tarry__service_is_broken(o->status)) {
        tarry__service_say_refusal(c, o->status, &o->error);
        return false;
    }
    if (o->status != TARRY_OK)
        o->result = result_of(o->status);
    count(c->service, o);
    return true;
}

static void put_result(tarry__writer *t, const outcome *o)
{
    tarry__writer_put(t, "{\"id\":");
    if (o->id != NULL)
        tarry__writer_quote(t, o->id);
    else
        tarry__writer_put(t, "null");
    tarry__writer_put(t, ",\"status\":\"");
    tarry__writer_put(t, tarry__service_results[o->result]);
    tarry__writer_put(t, "\"");
    if (o->status != TARRY_OK) {
        tarry__writer_put(t, ",\"detail\":");
        tarry__writer_quote(t, o->error.text);
    }
    tarry__writer_put(t, "}");
}

static void take_one(tarry__service_call *c)
{
    outcome o = {0};
    if (!take(c, c->json, &o))
        return;
    if (o.status != TARRY_OK) {
        tarry__service_say_refusal(c, o.status, &o.error);
        return;
    }
    put_result(&c->text, &o);
    tarry__service_say(c, 200);
}

static void take_list(tarry__service_call *c)
{
    const size_t count = json_array_size(c->json);
    if (count > MOST_ITEMS) {
        tarry__service_say_problem(c, 422, "too_many",
                                   "a list must have at most %d outcomes; got "
                                   "%zu",
                                   MOST_ITEMS, count);
        return;
    }
    char owner[TARRY__STORE_OWNER_ROOM] = "";
    size_t elsewhere = 0; /* with that owner */
    tarry__writer_put(&c->text, "{\"results\":[");
    for (size_t i = 0; i < count; i++) {
        outcome o = {0};
        if (!take(c, json_array_get(c->json, i), &o)) {
            if (i > 0) /* all of it or nothing */
                c->service->broken = o.status;
            return;
        }
        if (o.status == TARRY_CANCELLED && elsewhere == 0)
            strcpy(owner, c->owner);
        elsewhere +=
            o.status == TARRY_CANCELLED && strcmp(owner, c->owner) == 0;
        tarry__writer_put(&c->text, i > 0 ? "," : "");
        put_result(&c->text, &o);
    }
    tarry__writer_put(&c->text, "]}");
    if (count > 0 && elsewhere == count) /* all of them go there */
        tarry__service_say_elsewhere(c);
    else
        tarry__service_say(c, 200);
}

void tarry__service_feedback(tarry__service_call *c)
{
    if (json_is_array(c->json))
        take_list(c);
    else
        take_one(c);
}
