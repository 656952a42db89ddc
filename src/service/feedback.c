/* feedback.c - outcomes, one or many, run by the keeper. */
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "service/inner.h"

enum { MOST_ITEMS = 1000 };

const char *const tarry__service_results[TARRY__SERVICE_N_RESULTS] = {
    "applied",  "late",    "duplicate", "unknown",
    "conflict", "invalid", "elsewhere"};

typedef struct {
    const char *id; /* NULL: it has none */
    tarry__service_experiment *experiment;
    tarry_status status; /* TARRY_OK, or why it was refused */
    tarry__service_result result;
    tarry_error error;
} outcome;

static tarry_status refuse(outcome *o, tarry_status status, const char *why)
{
    return tarry__base_fail(&o->error, status, "%s", why);
}

/* The value under the right one of two keys. */
static tarry_status read_value(outcome *o, const json_t *item, bool maximize,
                               double *value)
{
    const json_t *loss = json_object_get(item, "loss");
    const json_t *reward = json_object_get(item, "reward");
    if ((loss != NULL) + (reward != NULL) != 1)
        return refuse(o, TARRY_BAD_INPUT,
                      "exactly one of \"loss\" and \"reward\" is needed");
    if ((reward != NULL) != maximize)
        return refuse(o, TARRY_BAD_INPUT,
                      maximize ? "this experiment takes a \"reward\""
                               : "this experiment takes a \"loss\"");
    const json_t *given = maximize ? reward : loss;
    if (!json_is_number(given))
        return refuse(o, TARRY_BAD_INPUT, "the outcome is not a number");
    *value = json_number_value(given);
    return TARRY_OK;
}

static tarry_status check_item(outcome *o, json_t *item)
{
    const char *key;
    json_t *value;
    if (!json_is_object(item))
        return refuse(o, TARRY_BAD_INPUT, "not a JSON object");
    o->id = json_string_value(json_object_get(item, "id"));
    if (o->id == NULL)
        return refuse(o, TARRY_BAD_INPUT, "\"id\" must be a string");
    json_object_foreach(item, key, value)
    {
        if (strcmp(key, "id") != 0 && strcmp(key, "loss") != 0 &&
            strcmp(key, "reward") != 0)
            return tarry__base_fail(&o->error, TARRY_BAD_INPUT,
                                    "not known here: \"%.100s\"", key);
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
        status = read_value(o, item, o->experiment->made->maximize, &value);
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
                                   "at most %d outcomes at once", MOST_ITEMS);
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
