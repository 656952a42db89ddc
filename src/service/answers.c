/* answers.c - what can be said to a caller: JSON, and problems as in RFC 9457.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "base/json.h"
#include "service/inner.h"

/* As JSON, a value takes up to 240 bytes, eighty times as much as its text.
 * Lists of outcomes have a few thousand values. */
enum { MOST_VALUES = 100000, MOST_WAITING = 1000000 };

static const char JSON[] = "application/json";
static const char PROBLEM[] = "application/problem+json";

static const struct {
    int status;
    const char *title;
} titles[] = {{307, "Temporary Redirect"},
              {400, "Bad Request"},
              {401, "Unauthorized"},
              {403, "Forbidden"},
              {404, "Not Found"},
              {405, "Method Not Allowed"},
              {408, "Request Timeout"},
              {409, "Conflict"},
              {413, "Content Too Large"},
              {414, "URI Too Long"},
              {417, "Expectation Failed"},
              {422, "Unprocessable Content"},
              {431, "Request Header Fields Too Large"},
              {500, "Internal Server Error"},
              {501, "Not Implemented"},
              {503, "Service Unavailable"},
              {505, "HTTP Version Not Supported"}};

static const char *title_of(int status)
{
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (titles[i].status == status)
            return titles[i].title;
    return "Error";
}

void tarry__service_say(tarry__service_call *c, int status)
{
    tarry__service_answer *a = &c->answer;
    if (c->text.failed) {
        c->is_lost = true;
        tarry__writer_clear(&c->text);
        a->status = 503;
        a->type = "text/plain";
        a->body = "out of memory\n";
        a->size = strlen(a->body);
        a->retry_after = 1;
        return;
    }
    a->status = status;
    a->retry_after = status == 503;
    if (a->type == NULL)
        a->type = JSON;
    a->owned = c->text.bytes;
    a->body = c->text.bytes;
    a->size = c->text.size;
    c->text = (tarry__writer){0};
}

void tarry__service_say_json(tarry__service_call *c, int status, json_t *json)
{
    tarry__service_answer *a = &c->answer;
    char *bytes =
        tarry__json_text(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(json);
    if (bytes == NULL) {
        tarry__service_say_problem(c, 503, "out_of_memory", "out of memory");
        return;
    }
    a->status = status;
    a->type = JSON;
    a->owned = bytes;
    a->body = bytes;
    a->size = strlen(bytes);
}

static void put_problem(tarry__writer *t, int status, const char *code,
                        const char *detail)
{
    tarry__writer_print(t,
                        "{\"type\":\"urn:tarry:problem:%s\",\"title\":\"%s\","
                        "\"status\":%d,\"detail\":",
                        code, title_of(status), status);
    tarry__writer_quote(t, detail);
    tarry__writer_print(t, ",\"code\":\"%s\"}", code);
}

void tarry__service_say_problem(tarry__service_call *c, int status,
                                const char *code, const char *format, ...)
{
    char detail[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    c->text.size = 0;
    put_problem(&c->text, status, code, detail);
    c->answer.type = PROBLEM;
    tarry__service_say(c, status);
}

static const struct {
    tarry_status status;
    int answer;
    const char *code;
} refusals[] = {{TARRY_UNKNOWN_ROUND, 404, "unknown_id"},
                {TARRY_REPORTED_TWICE, 409, "conflict"},
                {TARRY_EXPIRED, 409, "expired"},
                {TARRY_HORIZON_REACHED, 409, "horizon_reached"},
                {TARRY_CANCELLED, 409, "paused"},
                {TARRY_BAD_LOSS, 422, "invalid"},
                {TARRY_BAD_ARGUMENT, 422, "invalid"},
                {TARRY_BAD_INPUT, 422, "invalid"},
                {TARRY_NOT_FINITE, 422, "invalid"},
                {TARRY_NO_MEMORY, 503, "out_of_memory"},
                {TARRY_IO_ERROR, 503, "store_unavailable"},
                {TARRY_BAD_STATE, 503, "store_damaged"}};

void tarry__service_say_refusal(tarry__service_call *c, tarry_status status,
                                const tarry_error *error)
{
    size_t i = 0;
    const size_t count = sizeof refusals / sizeof *refusals;
    if (status == TARRY_CANCELLED && c->owner[0] != '\0') {
        tarry__service_say_elsewhere(c);
        return;
    }
    while (i < count && refusals[i].status != status)
        i++;
    const int answer = i < count ? refusals[i].answer : 422;
    tarry__service_say_problem(
        c, answer, i < count ? refusals[i].code : "refused", "%s",
        error->text[0] != '\0' ? error->text : tarry_status_text(status));
}

bool tarry__service_is_broken(tarry_status status)
{
    return status == TARRY_IO_ERROR || status == TARRY_NO_MEMORY ||
           status == TARRY_BAD_STATE;
}

void tarry__service_refuse(tarry__service *s, int status, const char *code,
                           const char *detail, tarry__service_answer *answer)
{
    tarry__writer text = {0};
    put_problem(&text, status, code, detail);
    *answer = (tarry__service_answer){.status = status,
                                      .type = PROBLEM,
                                      .body = text.bytes,
                                      .owned = text.bytes,
                                      .size = text.size,
                                      .retry_after = status == 503};
    tarry__service_count(s, tarry__service_n_routes, status);
}

tarry__service_shown tarry__service_show(const json_t *value)
{
    static const char *const kinds[] = {[JSON_OBJECT] = "an object",
                                        [JSON_ARRAY] = "a list",
                                        [JSON_STRING] = "a long string"};
    tarry__service_shown s = {"nothing"};
    if (value == NULL)
        return s;
    const size_t size =
        json_dumpb(value, s.text, sizeof s.text - 1,
                   JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    if (size > 0 && size < sizeof s.text)
        s.text[size] = '\0';
    else
        snprintf(s.text, sizeof s.text, "%s",
                 json_typeof(value) <= JSON_STRING ? kinds[json_typeof(value)]
                                                   : "a number");
    return s;
}

/* ---- bodies ---------------------------------------------------------------*/

/* Numbers that JSON cannot write, or that no double can hold: the text around
 * them is what a client's library made of NaN and infinity. */
static bool is_not_finite(const char *body, size_t size,
                          const json_error_t *error)
{
    if (json_error_code(error) == json_error_numeric_overflow ||
        strstr(error->text, "'NaN'") != NULL ||
        strstr(error->text, "'Infinity'") != NULL)
        return true;
    static const char word[] = "-Infinity";
    const size_t at = error->position > 0 ? (size_t)error->position : 0;
    for (size_t i = at > 10 ? at - 10 : 0; i + strlen(word) <= size && i <= at;
         i++)
        if (memcmp(body + i, word, strlen(word)) == 0)
            return true;
    return false;
}

/* All values but the first stand behind one of these. */
static size_t count_values(const char *body, size_t size)
{
    size_t count = 1;
    for (size_t i = 0; i < size; i++)
        count += body[i] == ',' || body[i] == '[' || body[i] == '{';
    return count;
}

/* Whether there is room for a body as JSON; else a problem has been said.  Only
 * an experiment may have very many values. */
static bool has_room(tarry__service_call *c)
{
    c->n_values = count_values(c->request.body, c->request.size);
    const size_t others = atomic_fetch_add(&c->service->n_values, c->n_values);
    const bool is_much =
        c->route->lane == TARRY__SERVICE_KEEPER && c->n_values > MOST_VALUES;
    const bool must_wait = others > 0 && others + c->n_values > MOST_WAITING;
    if (is_much)
        tarry__service_say_problem(c, 422, "too_many",
                                   "the body must have at most %d values; got "
                                   "%zu",
                                   MOST_VALUES, c->n_values);
    else if (must_wait)
        tarry__service_say_problem(c, 503, "overloaded",
                                   "too many large requests are waiting; ask "
                                   "again");
    return !is_much && !must_wait;
}

/* A whole number may be larger than jansson's; it is in a double then. */
static json_t *load(const tarry__service_request *r, json_error_t *error,
                    bool *has_memory)
{
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
    json_t *json = tarry__json_load(r->body, r->size, flags, error, has_memory);
    return json == NULL && *has_memory &&
                   json_error_code(error) == json_error_numeric_overflow
               ? tarry__json_load(r->body, r->size,
                                  flags | JSON_DECODE_INT_AS_REAL, error,
                                  has_memory)
               : json;
}

bool tarry__service_read_body(tarry__service_call *c)
{
    json_error_t error;
    bool has_memory;
    const tarry__service_request *r = &c->request;
    if (r->size == 0 || (r->size == 2 && memcmp(r->body, "{}", 2) == 0))
        return true; /* NULL is an empty object */
    if (!has_room(c))
        return false;
    c->json = load(r, &error, &has_memory);
    if (c->json != NULL)
        return true;
    if (!has_memory)
        tarry__service_say_problem(c, 503, "out_of_memory", "out of memory");
    else if (is_not_finite(r->body, r->size, &error))
        tarry__service_say_problem(c, 422, "invalid",
                                   "line %d column %d of the body: a number "
                                   "that is not finite",
                                   error.line, error.column);
    else
        tarry__service_say_problem(c, 400, "bad_json",
                                   "the body is not JSON: line %d column %d: "
                                   "%s",
                                   error.line, error.column, error.text);
    return false;
}

static void say_unknown(tarry__service_call *c, const char *key,
                        const char *const *keys)
{
    char list[200] = "";
    for (size_t i = 0, at = 0; keys[i] != NULL && at < sizeof list; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s",
                               i > 0 ? ", " : "", keys[i]);
    tarry__service_say_problem(c, 422, "invalid",
                               "unknown field \"%.100s\"; this request has: %s",
                               key, list);
}

bool tarry__service_has_only(tarry__service_call *c, json_t *object,
                             const char *const *keys)
{
    const char *key;
    json_t *value;
    if (object == NULL)
        return true;
    if (!json_is_object(object)) {
        tarry__service_say_problem(c, 422, "invalid",
                                   "the body must be a JSON object; got %s",
                                   tarry__service_show(object).text);
        return false;
    }
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (keys[i] != NULL && strcmp(keys[i], key) != 0)
            i++;
        if (keys[i] == NULL) {
            say_unknown(c, key, keys);
            return false;
        }
    }
    return true;
}
