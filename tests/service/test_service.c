/* The service without sockets: its routes, tokens, the crew, and what happens
 * when memory runs out at any moment. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "service/asking.h"
#include "base/base.h"
#include "base/json.h"
#include "service/inner.h"

static void open_memory(uint64_t most_queued)
{
    tarry__service_limits limits = tarry__service_default_limits();
    limits.most_queued = most_queued;
    assert_int_equal(tarry__service_open("memory:", &limits, &service, NULL),
                     TARRY_OK);
    for (char name = 'a'; name <= 'd'; name++) {
        char body[200];
        snprintf(body, sizeof body,
                 "{\"name\":\"%c\",\"policy\":\"lints\",\"arms\":"
                 "[{\"name\":\"x\"},{\"name\":\"y\"}]}",
                 name);
        assert_int_equal(ask("POST", "/v1/experiments", body).status, 201);
    }
}

typedef struct {
    atomic_bool is_there; /* an answer, which is not let through the gate */
    pthread_mutex_t gate;
} holder;

static void hold(void *context, const tarry__service_answer *answer)
{
    holder *h = context;
    tarry__service_answer mine = *answer;
    tarry__service_answer_clear(service, &mine);
    h->is_there = true;
    pthread_mutex_lock(&h->gate);
    pthread_mutex_unlock(&h->gate);
}

/* ---- tests ----------------------------------------------------------------*/

/* A path made of a route's pattern leads to it, and nowhere else. */
static void every_route_can_be_reached(void **state)
{
    (void)state;
    tarry__service_route_shown r;
    open_memory(1000);
    size_t count = 0;
    for (; tarry__service_route_at(count, &r); count++) {
        char path[200] = "";
        for (const char *c = r.pattern; *c != '\0'; c++) {
            const size_t used = strlen(path);
            path[used] = *c == '{' ? 'a' : *c;
            path[used + 1] = '\0';
            if (*c == '{')
                c += strcspn(c, "}");
        }
        assert_int_not_equal(ask(r.method, path, "").status, 405);
        if (strstr(ask(r.method, path, "").body, "no_such_path") != NULL)
            fail_msg("%s %s leads nowhere", r.method, path);
        assert_int_equal(ask("BREW", path, "").status, 405);
        strcat(path, "/more");
        const int status = ask(r.method, path, "").status;
        assert_true(status == 404 || status == 405 || status == 200 ||
                    status == 422);
    }
    assert_true(count >= 17);
    tarry__service_close(service);
}

/* The methods of a path, as the list of routes has them. */
static void every_path_tells_its_methods(void **state)
{
    static const char *const methods[] = {"GET", "POST", "DELETE"};
    tarry__service_route_shown r, other;
    (void)state;
    open_memory(1000);
    for (size_t i = 0; tarry__service_route_at(i, &r); i++) {
        char wanted[60] = "";
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
            for (size_t k = 0; tarry__service_route_at(k, &other); k++)
                if (strcmp(other.pattern, r.pattern) == 0 &&
                    strcmp(other.method, methods[m]) == 0) {
                    strcat(wanted, wanted[0] != '\0' ? ", " : "");
                    strcat(wanted, m == 0 ? "GET, HEAD" : methods[m]);
                }
        char path[100];
        size_t size = 0;
        for (const char *c = r.pattern; *c != '\0'; c++) {
            if (*c == '{')
                c += strcspn(c, "}");
            path[size++] = *c == '}' ? 'a' : *c;
        }
        path[size] = '\0';
        const receiver told = ask("PUT", path, "");
        assert_int_equal(told.status, 405);
        assert_string_equal(told.allow, wanted);
        assert_string_equal(told.type, "application/problem+json");
    }
    tarry__service_close(service);
}

static void files_are_there_to_be_read(void **state)
{
    static const tarry__service_file files[] = {
        {"/one", "text/one", (const unsigned char *)"first", 5},
        {"/two", "text/two", (const unsigned char *)"second", 6},
        {NULL, NULL, NULL, 0}};
    (void)state;
    open_memory(1000);
    assert_int_equal(ask("GET", "/one", "").status, 404);
    tarry__service_serve_files(service, files);
    for (const tarry__service_file *f = files; f->path != NULL; f++) {
        receiver r = ask("GET", f->path, "");
        assert_int_equal(r.status, 200);
        assert_string_equal(r.type, f->type);
        assert_string_equal(r.body, (const char *)f->bytes);
        assert_int_equal(ask("HEAD", f->path, "").status, 200);
        r = ask("POST", f->path, "");
        assert_int_equal(r.status, 405);
        assert_string_equal(r.allow, "GET, HEAD");
    }
    assert_int_equal(ask("GET", "/three", "").status, 404);
    tarry__service_close(service);
}

/* What may stand under a key of a new experiment, to the last number. */
static void bodies_of_experiments_have_exact_limits(void **state)
{
    static const struct {
        const char *fields;
        int status;
    } all[] = {{"\"horizon\":2", 201},
               {"\"horizon\":1", 422},
               {"\"horizon\":2.5", 422},
               {"\"horizon\":1e3", 201},
               {"\"horizon\":549755813887", 201},
               {"\"horizon\":549755813888", 422},
               {"\"horizon\":-5", 422},
               {"\"horizon\":\"5\"", 422},
               {"\"horizon\":null", 201},
               {"\"seed\":0", 201},
               {"\"seed\":0.5", 422},
               {"\"seed\":-1", 422},
               {"\"seed\":9007199254740992", 201},
               {"\"seed\":9007199254740993", 422},
               {"\"seed\":9007199254740993.0", 422},
               {"\"seed\":9007199254740993,\"range\":[0,1" /* 1e19 */
                "0000000000000000000]",
                422},
               {"\"seed\":9007199254740994", 422},
               {"\"seed\":true", 422},
               {"\"confidence\":0.5", 201},
               {"\"confidence\":0.49", 422},
               {"\"confidence\":0", 422},
               {"\"confidence\":-0.0,\"horizon\":9", 422},
               {"\"confidence\":null,\"horizon\":9", 201},
               {"\"confidence\":1", 422},
               {"\"confidence\":\"0.9\"", 422},
               {"\"confidence\":0.9,\"horizon\":9", 422},
               {"\"range\":[0,1]", 201},
               {"\"range\":[0,0]", 422},
               {"\"range\":[1,0]", 422},
               {"\"range\":[0]", 422},
               {"\"range\":[0,1,2]", 422},
               {"\"range\":[0,\"1\"]", 422},
               {"\"range\":{}", 422},
               {"\"objective\":\"maximize\"", 201},
               {"\"objective\":\"max\"", 422},
               {"\"objective\":1", 422},
               {"\"expire_after\":\"3d\"", 201},
               {"\"expire_after\":\"3y\"", 422},
               {"\"expire_after\":3", 422},
               {"\"beyond_horizon\":true", 201},
               {"\"beyond_horizon\":1", 422},
               {"\"intercept\":\"no\"", 201},
               {"\"intercept\":\"auto\",\"range\":[0,1]", 201},
               {"\"intercept\":\"yes\"", 422},
               {"\"floor\":0.1,\"control\":{\"x\":0.2}", 201},
               {"\"floor\":2", 422},
               {"\"floor\":\"0.1\"", 422},
               {"\"control\":{\"nobody\":0.2}", 422},
               {"\"control\":{\"x\":\"0.2\"}", 422},
               {"\"control\":{\"x\":0.1},\"floor\":0.2", 422},
               {"\"cap\":{\"x\":0.5}", 201},
               {"\"cap\":[]", 422},
               {"\"policy\":\"linucb:lambda=2\"", 201},
               {"\"policy\":\"linucb:lambda=x\"", 422},
               {"\"policy\":\"nobody\"", 422},
               {"\"policy\":7", 422},
               {"\"horzon\":5", 422},
               {"\"dim\":2", 422}};
    (void)state;
    open_memory(1000);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char body[300];
        snprintf(body, sizeof body,
                 "{\"name\":\"n%d\",\"arms\":[{\"name\":\"x\"},{\"name\":"
                 "\"y\"}],%s}",
                 (int)i, all[i].fields);
        const receiver r = ask("POST", "/v1/experiments", body);
        if (r.status != all[i].status)
            fail_msg("%s: %d %s", all[i].fields, r.status, r.body);
    }
    tarry__service_close(service);
}

/* Names and arms, right and wrong in each way. */
static void names_and_arms_have_exact_forms(void **state)
{
#define LETTERS_60                                                             \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01234567"
#define ARMS(list) "\"arms\":" list ",\"name\":\"n%d\""
#define NAME(text) "\"arms\":[{},{}],\"name\":" text
    static const struct {
        const char *fields;
        int status;
    } all[] = {{NAME("\"" LETTERS_60 "89_\""), 201},
               {NAME("\"" LETTERS_60 "89_x\""), 422},
               {NAME("\"0\""), 201},
               {NAME("\"Z.a_b-c\""), 201},
               {NAME("\"\""), 422},
               {NAME("\"-a\""), 422},
               {NAME("\".a\""), 422},
               {NAME("\"_a\""), 422},
               {NAME("\"a b\""), 422},
               {NAME("\"a:b\""), 422},
               {NAME("\"a/b\""), 422},
               {NAME("7"), 422},
               {NAME("null"), 422},
               {"\"arms\":[{},{}]", 422},
               {"\"name\":\"without\"", 422},
               {ARMS("[]"), 422},
               {ARMS("{}"), 422},
               {ARMS("\"x\""), 422},
               {ARMS("[1]"), 422},
               {ARMS("[[]]"), 422},
               {ARMS("[{}]"), 201},
               {ARMS("[{},{}]"), 201},
               {ARMS("[{\"name\":\"x\"},{\"name\":\"x\"}]"), 422},
               {ARMS("[{\"name\":\"x\"},{}]"), 422},
               {ARMS("[{},{\"name\":\"x\"}]"), 422},
               {ARMS("[{\"name\":1}]"), 422},
               {ARMS("[{\"name\":null}]"), 422},
               {ARMS("[{\"name\":\"\"}]"), 422},
               {ARMS("[{\"nome\":\"x\"}]"), 422},
               {ARMS("[{\"features\":[1],\"more\":1}]"), 422},
               {ARMS("[{\"features\":[1]}]"), 201},
               {ARMS("[{\"features\":[]}]"), 422},
               {ARMS("[{\"features\":null}]"), 422},
               {ARMS("[{\"features\":1}]"), 422},
               {ARMS("[{\"features\":{}}]"), 422},
               {ARMS("[{\"features\":[1,\"2\"]}]"), 422},
               {ARMS("[{\"features\":[1,null]}]"), 422},
               {ARMS("[{\"features\":[1]},{\"features\":[1,2]}]"), 422},
               {ARMS("[{\"features\":[1,2]},{\"features\":[1]}]"), 422},
               {ARMS("[{\"features\":[1,2]},{\"features\":[2,1]}]"), 201},
               {ARMS("[{\"features\":[1,2]},{}]"), 422},
               {ARMS("[{\"features\":[1,2]},{},{}]"), 422},
               {ARMS("[{},{\"features\":[1,2]}]"), 422},
               {ARMS("[{\"features\":[1e400]}]"), 422}};
    (void)state;
    open_memory(1000);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char fields[300], body[310];
        snprintf(fields, sizeof fields, all[i].fields, (int)i);
        snprintf(body, sizeof body, "{%s}", fields);
        const receiver r = ask("POST", "/v1/experiments", body);
        if (r.status != all[i].status)
            fail_msg("%s: %d %s", fields, r.status, r.body);
    }
    tarry__service_close(service);
#undef LETTERS_60
#undef ARMS
#undef NAME
}

/* Arms without features are a basis; given ones are kept number by number. */
static void features_are_kept_as_they_are(void **state)
{
    static const struct {
        const char *arms;
        double features[9];
    } all[] = {{"[{},{},{}]", {1, 0, 0, 0, 1, 0, 0, 0, 1}},
               {"[{\"features\":[1,2.5,-3]},{\"features\":[0,0,1e-9]},"
                "{\"features\":[4,0.1,1e9]}]",
                {1, 2.5, -3, 0, 0, 1e-9, 4, 0.1, 1e9}}};
    (void)state;
    open_memory(1000);
    for (size_t i = 0; i < 2; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "{\"name\":\"f%zu\",\"policy\":\"uniform\",\"arms\":%s}", i,
                 all[i].arms);
        assert_int_equal(ask("POST", "/v1/experiments", text).status, 201);
        snprintf(text, sizeof text, "/v1/experiments/f%zu/log", i);
        const receiver r = ask("GET", text, "");
        const char *line = r.body;
        for (size_t k = 0; k < 3; k++) {
            json_t *json = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
            const json_t *list = json_object_get(json, "features");
            assert_int_equal(json_array_size(list), 3);
            for (size_t j = 0; j < 3; j++)
                CHECK_NEAR(json_number_value(json_array_get(list, j)),
                           all[i].features[3 * k + j], 0);
            json_decref(json);
            line = strchr(line, '\n') + 1;
        }
        assert_int_equal(*line, '\0');
    }
    tarry__service_close(service);
}

/* A loss, a reward and the ends of a range that are -0 are 0: said again, in a
 * list, in the log, and where the store is opened anew.  Features stay. */
static void tell_zeros(const char *url)
{
    static const char *const bodies[][2] = {
        {"/v1/experiments",
         "{\"name\":\"z\",\"policy\":\"uniform\",\"range\":[-0.0,1],\"arms\":"
         "[{\"features\":[-0.0,1]},{\"features\":[1,0.0]}]}"},
        {"/v1/experiments/z/decisions", "{\"id\":\"m\",\"count\":4}"},
        {"/v1/feedback", "{\"id\":\"m.0\",\"loss\":-0.0}"},
        {"/v1/feedback", "[{\"id\":\"m.1\",\"loss\":-0.0},"
                         "{\"id\":\"m.2\",\"loss\":-0}]"},
        {"/v1/experiments/z/arms", "{\"name\":\"n\",\"features\":[-0.0,2]}"},
        {"/v1/experiments", "{\"name\":\"y\",\"policy\":\"uniform\",\"range\":"
                            "[-1,-0.0],\"objective\":\"maximize\","
                            "\"arms\":[{},{}]}"},
        {"/v1/experiments/y/decisions", "{\"id\":\"r\"}"},
        {"/v1/feedback", "{\"id\":\"r\",\"reward\":-0.0}"}};
    static const char *const again[] = {
        "{\"id\":\"m.0\",\"loss\":0}", "{\"id\":\"m.1\",\"loss\":-0.0}",
        "{\"id\":\"m.2\",\"loss\":0.0}", "{\"id\":\"r\",\"reward\":0}"};
    const tarry__service_limits limits = tarry__service_default_limits();
    const bool is_kept = strcmp(url, "memory:") != 0;
    tarry_error error = {""};
    receiver log[2];
    assert_int_equal(tarry__service_open(url, &limits, &service, NULL),
                     TARRY_OK);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        assert_int_equal(ask("POST", bodies[i][0], bodies[i][1]).status / 100,
                         2);
    for (int k = 0; k <= is_kept; k++) {
        if (k > 0) {
            tarry__service_close(service);
            if (tarry__service_open(url, &limits, &service, &error) != TARRY_OK)
                fail_msg("%s", error.text);
        }
        for (size_t i = 0; i < sizeof again / sizeof *again; i++)
            assert_non_null(strstr(ask("POST", "/v1/feedback", again[i]).body,
                                   "\"status\":\"duplicate\""));
        log[k] = ask("GET", "/v1/experiments/z/log", "");
        assert_non_null(strstr(log[k].body, "\"loss\":0.0,"));
        assert_null(strstr(log[k].body, "\"loss\":-"));
        assert_non_null(strstr(log[k].body, "\"features\":[-0.0,1.0]"));
        assert_non_null(strstr(log[k].body, "\"features\":[-0.0,2.0]"));
        assert_string_equal(log[k].body, log[0].body);
        assert_non_null(strstr(ask("GET", "/v1/experiments/y/log", "").body,
                               "\"reward\":0.0,"));
        assert_non_null(strstr(ask("GET", "/v1/experiments/z", "").body,
                               "\"range\":[0.0,1.0]"));
        assert_non_null(strstr(ask("GET", "/v1/experiments/y", "").body,
                               "\"range\":[-1.0,0.0]"));
    }
    tarry__service_close(service);
}

static void negative_zeros_are_zeros(void **state)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-lock"};
    char folder[] = "/tmp/tarry-service-XXXXXX", path[60];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/s.db", folder);
    tell_zeros("memory:");
    tell_zeros(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(path, sizeof path, "%s/s.db%s", folder, ends[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* What is not given may be null as well. */
static void null_is_as_good_as_nothing(void **state)
{
    static const char *const keys[] = {
        "policy",     "range", "objective",    "horizon",
        "confidence", "seed",  "expire_after", "beyond_horizon"};
    (void)state;
    open_memory(1000);
    const receiver plain =
        ask("POST", "/v1/experiments", "{\"name\":\"n-\",\"arms\":[{},{}]}");
    json_t *wanted = json_loads(plain.body, 0, NULL);
    assert_int_equal(plain.status, 201);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char body[200];
        snprintf(body, sizeof body,
                 "{\"name\":\"n%d\",\"arms\":[{},{}],\"%s\":null}", (int)i,
                 keys[i]);
        const receiver r = ask("POST", "/v1/experiments", body);
        json_t *made = json_loads(r.body, 0, NULL);
        assert_int_equal(r.status, 201);
        assert_int_equal(
            json_object_set(made, "name", json_object_get(wanted, "name")), 0);
        assert_int_equal(json_object_set(made, "created_at",
                                         json_object_get(wanted, "created_at")),
                         0);
        if (!json_equal(made, wanted))
            fail_msg("%s: %s", keys[i], r.body);
        json_decref(made);
    }
    json_decref(wanted);
    tarry__service_close(service);
}

/* ---- refusals -------------------------------------------------------------*/

static const char *title_of(int status)
{
    return status == 400   ? "Bad Request"
           : status == 404 ? "Not Found"
           : status == 405 ? "Method Not Allowed"
           : status == 409 ? "Conflict"
           : status == 422 ? "Unprocessable Content"
                           : "another";
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* RFC 9457: five members, which agree with each other and with the answer. */
static void check_problem(const receiver *r, const char *code,
                          const char *detail)
{
    json_t *json = json_loads(r->body, 0, NULL);
    char type[100];
    snprintf(type, sizeof type, "urn:tarry:problem:%s", code);
    const bool agrees =
        strcmp(r->type, "application/problem+json") == 0 &&
        json_object_size(json) == 5 &&
        strcmp(text_at(json, "type"), type) == 0 &&
        strcmp(text_at(json, "code"), code) == 0 &&
        strcmp(text_at(json, "title"), title_of(r->status)) == 0 &&
        json_integer_value(json_object_get(json, "status")) == r->status &&
        strstr(text_at(json, "detail"), detail) != NULL;
    if (!agrees)
        fail_msg("%d %s, not %s with '%s'", r->status, r->body, code, detail);
    json_decref(json);
}

/* In order: some need what was done before. */
static void every_refusal_says_why(void **state)
{
#define E "/v1/experiments"
#define A E "/a"
#define D "/v1/decisions/"
#define TWO_ARMS "\"policy\":\"lints\",\"arms\":[{},{}]"
    static const struct {
        const char *method, *path, *body;
        int status;
        const char *code, *detail; /* NULL: it is not refused */
    } all[] = {
        {"POST", E, "{\"name\":\"h\",\"horizon\":3," TWO_ARMS "}", 201, NULL,
         NULL},
        {"POST", E, "{\"name\":\"a\"," TWO_ARMS "}", 409, "exists",
         "experiment \"a\" is there already"},
        {"POST", E, "{\"name\":\"b2\",", 400, "bad_json", "line 1 column"},
        {"POST", E, "{\"seed\":1,\"seed\":2}", 400, "bad_json", "line 1"},
        {"POST", E, "{\"range\":[0,NaN]}", 422, "invalid", "not finite"},
        {"POST", E, "{\"range\":[-Infinity,0]}", 422, "invalid", "not finite"},
        {"POST", E, "{\"range\":[0,Infinity]}", 422, "invalid", "not finite"},
        {"POST", E, "{\"range\":[0,1e999]}", 422, "invalid", "not finite"},
        {"POST", E, "[]", 422, "invalid", "must be a JSON object; got []"},
        {"POST", E, "{\"name\":\"c2\",\"dim\":2}", 422, "contextual",
         "\"dim\""},
        {"POST", E, "{\"name\":\"c2\",\"x\":2}", 422, "invalid",
         "unknown field \"x\"; this request has: name, arms,"},
        {"GET", E "/nobody", "", 404, "unknown_experiment",
         "experiment \"nobody\""},
        {"GET", "/v2", "", 404, "no_such_path", ""},
        {"PUT", A, "", 405, "method_not_allowed", ""},
        {"POST", A "/decisions", "{\"count\":3}", 201, NULL, NULL},
        {"POST", A "/decisions", "{\"id\":\"a:1\"}", 422, "invalid",
         "got \"a:1\""},
        {"POST", A "/decisions", "{\"id\":\"mine\"}", 201, NULL, NULL},
        {"POST", E "/b/decisions", "{\"id\":\"mine\"}", 409, "conflict",
         "another request"},
        {"POST", D "a:1/cancel", "", 200, NULL, NULL},
        {"POST", D "a:1/expire", "", 409, "conflict", ""},
        {"POST", D "a:2/expire", "", 200, NULL, NULL},
        {"POST", "/v1/feedback", "{\"id\":\"a:2\",\"loss\":0}", 200, NULL,
         NULL},
        {"POST", "/v1/feedback", "{\"id\":\"a:2\",\"loss\":1}", 409, "conflict",
         "has the loss 0, the first one reported; got 1"},
        {"POST", "/v1/feedback", "{\"id\":\"a:1\",\"loss\":1}", 409, "conflict",
         "cancelled"},
        {"POST", "/v1/feedback", "{\"id\":\"a:3\",\"loss\":2}", 422, "invalid",
         "losses of experiment \"a\" lie in [-1, 1]; got 2 for id \"a:3\""},
        {"POST", "/v1/feedback", "{\"id\":\"a:9\",\"loss\":2}", 404,
         "unknown_id", ""},
        {"POST", D "none/cancel", "", 404, "unknown_id", ""},
        {"POST", A "/pause", "", 200, NULL, NULL},
        {"POST", A "/decisions", "", 409, "paused", "paused"},
        {"POST", A "/resume", "", 200, NULL, NULL},
        {"POST", A "/decisions", "", 201, NULL, NULL},
        {"POST", E "/h/decisions", "{\"count\":3}", 201, NULL, NULL},
        {"POST", E "/h/decisions", "", 409, "horizon_reached", "horizon"},
        {"POST", A "/arms", "{\"name\":\"x\",\"features\":[1,2]}", 409,
         "exists", "arm \"x\" of experiment \"a\" is there already"},
        {"POST", A "/arms", "{\"name\":\"z\",\"features\":[1,2,3]}", 422,
         "invalid", "arm \"z\" must be a list of 2 numbers; got [1,2,3]"},
        {"DELETE", A "/arms/z", "", 404, "unknown_arm", ""},
        {"DELETE", A "/arms/x", "", 200, NULL, NULL},
        {"DELETE", A "/arms/y", "", 422, "invalid", ""}};
    (void)state;
    open_memory(1000);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const receiver r = ask(all[i].method, all[i].path, all[i].body);
        if (r.status != all[i].status)
            fail_msg("%s %s %s: %d %s", all[i].method, all[i].path, all[i].body,
                     r.status, r.body);
        if (all[i].code != NULL)
            check_problem(&r, all[i].code, all[i].detail);
    }
    tarry__service_close(service);
#undef E
#undef A
#undef D
#undef TWO_ARMS
}

/* What was given is what is told of it, now and later. */
static void every_setting_is_shown(void **state)
{
    static const struct {
        const char *fields, *key, *value;
    } all[] = {
        {"\"policy\":\"greedy\"", "policy", "\"greedy\""},
        {"\"range\":[-0.25,2.385]", "range", "[-0.25,2.385]"},
        {"\"objective\":\"maximize\"", "objective", "\"maximize\""},
        {"\"objective\":\"minimize\"", "objective", "\"minimize\""},
        {"\"horizon\":2385", "horizon", "2385"},
        {"\"seed\":9007199254740992", "seed", "9007199254740992"},
        {"\"expire_after\":\"90min\"", "expire_after", "\"90min\""},
        {"\"confidence\":0.875", "confidence", "0.875"},
        {"\"horizon\":null", "confidence", "0.99"},
        {"\"horizon\":null", "horizon", "null"},
        {"\"horizon\":5", "confidence", NULL},
        {"\"horizon\":5,\"beyond_horizon\":true", "beyond_horizon", "true"},
        {"\"horizon\":5,\"beyond_horizon\":false", "beyond_horizon", "false"},
        {"\"seed\":1", "dim", "3"},
        {"\"seed\":1", "arms", "3"},
        {"\"seed\":1", "decisions", "0"},
        {"\"seed\":1", "pending", "0"},
        {"\"seed\":1", "expire_after", "null"}};
    (void)state;
    open_memory(1000);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char body[300], path[60];
        snprintf(body, sizeof body,
                 "{\"name\":\"n%d\",\"arms\":[{\"name\":\"x\"},{\"name\":"
                 "\"y\"},{\"name\":\"z\"}],%s}",
                 (int)i, all[i].fields);
        snprintf(path, sizeof path, "/v1/experiments/n%d", (int)i);
        const receiver told[] = {ask("POST", "/v1/experiments", body),
                                 ask("GET", path, "")};
        json_t *wanted = all[i].value != NULL
                             ? json_loads(all[i].value, JSON_DECODE_ANY, NULL)
                             : NULL;
        for (size_t k = 0; k < 2; k++) {
            json_t *json = json_loads(told[k].body, 0, NULL);
            const json_t *value = json_object_get(json, all[i].key);
            if (told[k].status / 100 != 2 ||
                (value != wanted && !json_equal(value, wanted)))
                fail_msg("%s: %s", all[i].fields, told[k].body);
            json_decref(json);
        }
        json_decref(wanted);
    }
    tarry__service_close(service);
}

/* Each limit of a service, and one more. */
static void every_limit_holds_to_the_last_one(void **state)
{
#define EXPERIMENT "/v1/experiments"
#define X "{\"name\":\"x\"}"
#define Y "{\"name\":\"y\"}"
#define F2(n) "{\"name\":\"" n "\",\"features\":[1,2]}"
#define F3(n) "{\"name\":\"" n "\",\"features\":[1,2,3]}"
    static const struct {
        const char *path, *body;
        int status;
    } all[] = {
        {EXPERIMENT, "{\"name\":\"a\",\"arms\":[" F3("x") "]}", 422},
        {EXPERIMENT, "{\"name\":\"a\",\"arms\":[" X "," Y "]}", 201},
        {EXPERIMENT,
         "{\"name\":\"b\",\"arms\":[" F2("x") "," F2("y") "," F2("z") "," F2(
             "u") "]}",
         422},
        {EXPERIMENT,
         "{\"name\":\"b\",\"arms\":[" F2("x") "," F2("y") "," F2("z") "]}",
         201},
        {EXPERIMENT, "{\"name\":\"c\",\"arms\":[" X "," Y "]}", 409},
        {EXPERIMENT "/a/arms", F2("z"), 201},
        {EXPERIMENT "/a/arms", F2("u"), 422},
        {EXPERIMENT "/b/arms", F2("u"), 422},
        {EXPERIMENT "/a/decisions", "{\"count\":5}", 201},
        {EXPERIMENT "/a/decisions", "{\"count\":6}", 422},
        {EXPERIMENT "/a/decisions", "{\"count\":1}", 201},
        {EXPERIMENT "/a/decisions", "{\"count\":0}", 422},
        {EXPERIMENT "/a/decisions", "{\"count\":1.5}", 422},
        {EXPERIMENT "/a/decisions", "{\"count\":2.0}", 201},
        {EXPERIMENT "/a/decisions", "{\"count\":\"2\"}", 422},
        {EXPERIMENT "/a/decisions", "{\"count\":true}", 422},
        {EXPERIMENT "/a/decisions", "{\"count\":null}", 201},
        {EXPERIMENT "/a/decisions", "{\"id\":null}", 201},
        {EXPERIMENT "/a/decisions", "{\"id\":5}", 422},
        {EXPERIMENT "/a/decisions", "{\"id\":\"\"}", 422},
        {EXPERIMENT "/a/decisions", "{\"id\":\"o\"}", 201},
        {EXPERIMENT "/a/decisions", "{\"id\":\"o\"}", 200},
        {EXPERIMENT "/a/decisions", "{\"od\":\"o\"}", 422},
        {EXPERIMENT "/a/decisions", "{\"arms\":[]}", 422}};
    tarry__service_limits limits = tarry__service_default_limits();
    (void)state;
    limits.most_experiments = 2;
    limits.most_arms = 3;
    limits.most_dim = 2;
    limits.most_choices = 5;
    assert_int_equal(tarry__service_open("memory:", &limits, &service, NULL),
                     TARRY_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const receiver r = ask("POST", all[i].path, all[i].body);
        if (r.status != all[i].status)
            fail_msg("%s %s: %d %s", all[i].path, all[i].body, r.status,
                     r.body);
    }
    tarry__service_close(service);
#undef EXPERIMENT
#undef X
#undef Y
#undef F2
#undef F3
}

/* A thousand outcomes may come at once. */
static void a_list_of_outcomes_has_an_end(void **state)
{
    (void)state;
    open_memory(1000);
    for (size_t count = 999; count <= 1001; count++) {
        char *body = calloc(count, 3);
        assert_non_null(body);
        for (size_t i = 0; i < count; i++)
            memcpy(body + 3 * i, i == 0 ? "[{}" : ",{}", 3);
        body = realloc(body, 3 * count + 2);
        strcpy(body + 3 * count, "]");
        const receiver r = ask("POST", "/v1/feedback", body);
        assert_int_equal(r.status, count <= 1000 ? 200 : 422);
        free(body);
    }
    tarry__service_close(service);
}

/* The id of its last choice has at most 64 characters, and leads to it. */
static void ids_of_leases_have_exact_limits(void **state)
{
    static const size_t counts[] = {1, 2, 9, 10, 11, 99, 100, 101};
    (void)state;
    open_memory(1000);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t length = 63; length <= 65; length++) {
            char last[24], id[120], body[200], path[200];
            const int digits =
                snprintf(last, sizeof last, ".%zu", counts[i] - 1);
            snprintf(id, sizeof id, "%c%0*d%s", (int)('a' + i),
                     (int)length - digits - 1, (int)length, last);
            snprintf(path, sizeof path, "/v1/decisions/%s/cancel", id);
            id[length - (size_t)digits] = '\0';
            snprintf(body, sizeof body, "{\"id\":\"%s\",\"count\":%zu}", id,
                     counts[i]);
            const receiver r = ask("POST", "/v1/experiments/a/decisions", body);
            if (r.status != (length <= 64 ? 201 : 422))
                fail_msg("%zu, %zu: %d %s", length, counts[i], r.status,
                         r.body);
            assert_int_equal(ask("POST", path, "").status,
                             length <= 64 ? 200 : 404);
        }
    tarry__service_close(service);
}

/* Who asks again gets the same again, whatever others have asked for in the
 * meantime: of two requests one of which would take an id of the other's, be it
 * a decision's or a lease's, the second is refused. */
static void what_was_given_can_be_asked_for_again(void **state)
{
    static const struct {
        const char *first, *second;
        int status; /* of the second */
    } all[] = {
        {"{\"id\":\"a.0\",\"count\":2}", "{\"id\":\"a\",\"count\":2}", 409},
        {"{\"id\":\"b.1\",\"count\":2}", "{\"id\":\"b\",\"count\":2}", 409},
        {"{\"id\":\"c.2\",\"count\":2}", "{\"id\":\"c\",\"count\":2}", 201},
        {"{\"id\":\"d\",\"count\":2}", "{\"id\":\"d.0\",\"count\":2}", 409},
        {"{\"id\":\"e.1\"}", "{\"id\":\"e\",\"count\":2}", 409},
        {"{\"id\":\"f\",\"count\":2}", "{\"id\":\"f\"}", 409},
        {"{\"id\":\"g.0.0\"}", "{\"id\":\"g\",\"count\":2}", 409},
        {"{\"id\":\"h\"}", "{\"id\":\"h.0\",\"count\":2}", 201}};
    (void)state;
    open_memory(1000);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        static const char path[] = "/v1/experiments/a/decisions";
        const receiver first = ask("POST", path, all[i].first);
        assert_int_equal(first.status, 201);
        const int status = ask("POST", path, all[i].second).status;
        if (status != all[i].status)
            fail_msg("%s, then %s: %d", all[i].first, all[i].second, status);
        const receiver again = ask("POST", path, all[i].first);
        assert_int_equal(again.status, 200);
        assert_string_equal(again.body, first.body);
    }
    tarry__service_close(service);
}

/* Any byte of an id may be written with a percent sign, in either case. */
static void every_byte_of_a_path_may_be_quoted(void **state)
{
    static const char *const bad[] = {"%",   "%4", "%4g", "%g4",
                                      "%00", "a%", "%%41"};
    (void)state;
    open_memory(1000);
    for (int c = '!'; c <= '~'; c++)
        for (int form = 0; form < 2; form++) {
            char body[60], path[100], told[60];
            const char *escape = c == '"' || c == '\\' ? "\\" : "";
            snprintf(body, sizeof body, "{\"id\":\"i%s%cj%d\"}", escape, c,
                     form);
            snprintf(path, sizeof path,
                     form == 0 ? "/v1/decisions/i%%%02xj%d/cancel"
                               : "/v1/decisions/%%69%%%02X%%6A%d/cancel",
                     (unsigned)c, form);
            snprintf(told, sizeof told, "{\"id\":\"i%s%cj%d\",", escape, c,
                     form);
            assert_int_equal(
                ask("POST", "/v1/experiments/a/decisions", body).status, 201);
            const receiver r = ask("POST", path, "");
            if (r.status != 200 || strncmp(r.body, told, strlen(told)) != 0)
                fail_msg("%s: %d %s", path, r.status, r.body);
        }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char path[60];
        snprintf(path, sizeof path, "/v1/decisions/%s/cancel", bad[i]);
        const receiver r = ask("POST", path, "");
        if (strstr(r.body, "no_such_path") == NULL)
            fail_msg("%s: %d %s", path, r.status, r.body);
    }
    tarry__service_close(service);
}

static void tokens_have_scopes(void **state)
{
    (void)state;
    char path[] = "/tmp/tarry-keys-XXXXXX", token[TARRY__KEYS_ROOM],
         digest[TARRY__KEYS_ROOM];
    tarry__keys *keys;
    assert_int_equal(tarry__keys_make(token, digest, NULL), TARRY_OK);
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    dprintf(fd, "# nobody\n\n%064d decide # note\n %s\tread,admin a note\n", 7,
            digest);
    close(fd);
    assert_int_equal(tarry__keys_read(path, &keys, NULL), TARRY_OK);
    assert_int_equal(tarry__keys_scopes(keys, token),
                     TARRY__SERVICE_READ | TARRY__SERVICE_ADMIN);
    token[10] ^= 1;
    assert_int_equal(tarry__keys_scopes(keys, token), -1);
    assert_int_equal(tarry__keys_scopes(keys, ""), -1);
    tarry__keys_free(keys);
    unlink(path);
    assert_int_equal(tarry__keys_parse_scopes("decide,feedback,read,admin"),
                     15);
    static const char *const bad[] = {
        "", ",", "decide,", ",read", "dec", "decide feedback", "all"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(tarry__keys_parse_scopes(bad[i]), 0);
}

/* ---- who may do what ------------------------------------------------------*/

/* A path of a route's pattern, for experiment a. */
static void path_of(const char *pattern, char path[200])
{
    size_t used = 0;
    for (const char *c = pattern; *c != '\0'; c++) {
        path[used++] = *c == '{' ? 'a' : *c;
        if (*c == '{')
            c += strcspn(c, "}");
    }
    path[used] = '\0';
}

static int status_of(tarry__service_request request)
{
    receiver r;
    request.query = "";
    request.body = "";
    send_request(&r, request);
    wait_for(&r);
    return r.status;
}

/* A token for each set of scopes, token i for those with the bits of i. */
static void make_tokens(char token[16][TARRY__KEYS_ROOM])
{
    char path[] = "/tmp/tarry-keys-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (int i = 0; i < 16; i++) {
        char digest[TARRY__KEYS_ROOM], scopes[60] = "";
        static const char *const names[] = {",decide", ",feedback", ",read",
                                            ",admin"};
        for (int k = 0; k < 4; k++)
            strcat(scopes, i >> k & 1 ? names[k] : "");
        assert_int_equal(tarry__keys_make(token[i], digest, NULL), TARRY_OK);
        if (i > 0) /* the first is unknown */
            dprintf(fd, "%s %s\n", digest, scopes + 1);
    }
    close(fd);
    assert_int_equal(tarry__service_read_tokens(service, path, NULL), TARRY_OK);
    unlink(path);
}

/* Each set of scopes opens the routes that ask for one of them, and no other;
 * pages of others may only look; bodies need a length. */
static void every_route_asks_for_its_scope(void **state)
{
    char token[16][TARRY__KEYS_ROOM], path[200];
    tarry__service_route_shown route;
    (void)state;
    open_memory(1000);
    make_tokens(token);
    for (size_t i = 0; tarry__service_route_at(i, &route); i++) {
        path_of(route.pattern, path);
        for (int k = -1; k < 16; k++) {
            const int found = status_of(
                (tarry__service_request){.method = route.method,
                                         .path = path,
                                         .token = k < 0 ? NULL : token[k]});
            const bool is_open = route.scope == TARRY__SERVICE_ANYBODY;
            const int wanted = is_open                       ? 0
                               : k <= 0                      ? 401
                               : (k & (int)route.scope) == 0 ? 403
                                                             : 0;
            const bool is_refused = found == 401 || found == 403;
            if (is_refused ? found != wanted : wanted != 0)
                fail_msg("%s %s, scopes %d: %d", route.method, path, k, found);
        }
        const bool only_looks = strcmp(route.method, "GET") == 0;
        assert_true((status_of((tarry__service_request){.method = route.method,
                                                        .path = path,
                                                        .token = token[15],
                                                        .is_foreign = true}) ==
                     403) == !only_looks);
    }
    tarry__service_close(service);
}

/* How many are listed, by what the query says. */
static void pending_lists_as_many_as_are_asked_for(void **state)
{
    static const struct {
        const char *query;
        int status;
        size_t listed;
    } all[] = {{"", 200, 12},           {"limit=0", 200, 0},
               {"limit=1", 200, 1},     {"limit=12", 200, 12},
               {"limit=13", 200, 12},   {"limit=10000", 200, 12},
               {"limit=10001", 422, 0}, {"limit=", 422, 0},
               {"limit=-1", 422, 0},    {"limit=1.5", 422, 0},
               {"limit=x", 422, 0},     {"limits=1", 422, 0},
               {"x=1", 422, 0},         {"limit=1&x=1", 422, 0}};
    (void)state;
    open_memory(1000);
    ask("POST", "/v1/experiments/a/decisions", "{\"count\":12}");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        receiver r;
        send_request(
            &r, (tarry__service_request){.method = "GET",
                                         .path = "/v1/experiments/a/pending",
                                         .query = all[i].query,
                                         .body = ""});
        wait_for(&r);
        json_t *json = json_loads(r.body, 0, NULL);
        const json_t *list = json_object_get(json, "pending");
        if (r.status != all[i].status || json_array_size(list) != all[i].listed)
            fail_msg("%s: %d %s", all[i].query, r.status, r.body);
        for (size_t k = 0; k < json_array_size(list); k++) {
            char id[30];
            const json_t *one = json_array_get(list, k);
            snprintf(id, sizeof id, "a:%zu", k + 1);
            assert_string_equal(text_at(one, "id"), id);
            assert_int_equal(json_integer_value(json_object_get(one, "rounds")),
                             11 - k);
        }
        if (r.status == 200)
            assert_int_equal(json_integer_value(json_object_get(json, "count")),
                             12);
        json_decref(json);
    }
    tarry__service_close(service);
}

static void work(void *context, size_t i)
{
    ((atomic_int *)context)[i]++;
}

static void a_crew_does_every_piece_once(void **state)
{
    (void)state;
    for (size_t threads = 0; threads <= 5; threads++) {
        tarry__crew *crew = tarry__crew_create(threads);
        for (size_t count = 0; count < 200; count++) {
            atomic_int done[200] = {0};
            tarry__crew_run(crew, count, work, done);
            for (size_t i = 0; i < 200; i++)
                assert_int_equal(done[i], i < count);
        }
        tarry__crew_free(crew);
    }
}

typedef struct {
    char path[60];
    int wrong;
    char last[4000];
} asker;

static void *decide_often(void *context)
{
    asker *a = context;
    for (int i = 0; i < 200; i++) {
        const receiver r = ask("POST", a->path, "{\"count\":40}");
        a->wrong += r.status != 201;
    }
    return NULL;
}

/* Experiments side by side choose as they would alone. */
static void experiments_do_not_disturb_each_other(void **state)
{
    (void)state;
    asker askers[4];
    pthread_t threads[4];
    char alone[4000];
    open_memory(1000);
    strcpy(askers[0].path, "/v1/experiments/a/decisions");
    askers[0].wrong = 0;
    decide_often(&askers[0]);
    strcpy(alone, ask("GET", "/v1/experiments/a/status", "").body);
    tarry__service_close(service);
    open_memory(1000);
    for (int k = 0; k < 4; k++) {
        snprintf(askers[k].path, sizeof askers[k].path,
                 "/v1/experiments/%c/decisions", 'a' + k);
        askers[k].wrong = 0;
        assert_int_equal(
            pthread_create(&threads[k], NULL, decide_often, &askers[k]), 0);
    }
    for (int k = 0; k < 4; k++) {
        pthread_join(threads[k], NULL);
        assert_int_equal(askers[k].wrong, 0);
    }
    assert_string_equal(ask("GET", "/v1/experiments/a/status", "").body, alone);
    tarry__service_close(service);
}

/* The k-th allocation fails: the answer is what it should be, or 503 and
 * nothing has happened. */
static void every_failed_allocation_is_answered(void **state)
{
    (void)state;
    open_memory(1000);
    uint64_t round = 0;
    for (uint64_t k = 1; k < 40; k++) {
        tarry__base_fail_alloc(k);
        const receiver r = ask("POST", "/v1/experiments/a/decisions",
                               "{\"id\":\"mine\",\"count\":2}");
        tarry__base_fail_alloc(0);
        if (r.status != 201 && r.status != 200)
            assert_int_equal(r.status, 503);
        else
            round = 2;
    }
    assert_int_equal(round, 2);
    const receiver r = ask("GET", "/v1/experiments/a/status", "");
    assert_non_null(strstr(r.body, "\"round\":2,"));
    tarry__service_close(service);
}

/* A new experiment is told to be there, or 503; asked for again, it is. */
static void an_experiment_is_made_or_there_is_no_memory(void **state)
{
    char body[200], path[60];
    uint64_t k = 0, seen;
    (void)state;
    open_memory(1000);
    do {
        snprintf(body, sizeof body,
                 "{\"name\":\"n%ju\",\"arms\":[{\"name\":\"x\"},"
                 "{\"name\":\"y\"}],\"policy\":\"lints\"}",
                 (uintmax_t)++k);
        tarry__base_fail_alloc(k);
        const receiver r = ask("POST", "/v1/experiments", body);
        seen = tarry__base_fail_alloc(0);
        if (r.status != 201 && (r.status != 503 || r.retry_after == 0))
            fail_msg("allocation %ju: %d %s", (uintmax_t)k, r.status, r.body);
        const int again = ask("POST", "/v1/experiments", body).status;
        assert_true(again == 409 || (again == 201 && r.status == 503));
        snprintf(path, sizeof path, "/v1/experiments/n%ju/decisions",
                 (uintmax_t)k);
        assert_int_equal(ask("POST", path, "{}").status, 201);
    } while (seen >= k);
    assert_true(k > 20);
    tarry__service_close(service);
}

/* Who asks for a new experiment may find it in the store before its maker has
 * put it in place. */
static void an_experiment_is_found_in_the_store(void **state)
{
    static const double arms[] = {1, 0, 0, 1};
    static const tarry__store_experiment made = {.name = "n",
                                                 .prefix = "n:",
                                                 .policy = "lints",
                                                 .expire_after = "",
                                                 .n_arms = 2,
                                                 .dim = 2,
                                                 .low = -1,
                                                 .high = 1,
                                                 .confidence = 0.9};
    (void)state;
    open_memory(1000);
    assert_int_equal(
        tarry__session_create(service->store, &made, arms, NULL, NULL, NULL),
        TARRY_OK);
    for (int i = 1; i <= 2; i++) {
        char id[32];
        snprintf(id, sizeof id, "\"id\":\"n:%d\"", i);
        const receiver r = ask("POST", "/v1/experiments/n/decisions", "{}");
        assert_int_equal(r.status, 201);
        assert_non_null(strstr(r.body, id));
    }
    tarry__service_close(service);
}

/* Arms whose features are 10^13 times as large as others' are too much for this
 * policy, some time after they have come; a lease is cut short then. */
static void a_policy_that_cannot_go_on_cuts_a_lease(void **state)
{
    static const char path[] = "/v1/experiments/n/decisions";
    static const char lease[] = "{\"id\":\"own\",\"count\":100}";
    (void)state;
    open_memory(1000);
    assert_int_equal(
        ask("POST", "/v1/experiments",
            "{\"name\":\"n\",\"arms\":[{\"features\":[0.5,0]},{\"features\":"
            "[0.5,0.5]},{\"features\":[0.001,1]},{\"features\":[2,1]}]}")
            .status,
        201);
    ask("POST", path, "{}");
    ask("POST", "/v1/experiments/n/arms",
        "{\"name\":\"large\",\"features\":[0.5,9007199254741]}");
    const receiver first = ask("POST", path, lease);
    assert_int_equal(first.status, 201);
    assert_int_equal(ask("DELETE", "/v1/experiments/n/arms/large", "").status,
                     200);
    const receiver again = ask("POST", path, lease);
    assert_int_equal(again.status, 200);
    assert_string_equal(again.body, first.body);
    tarry__service_close(service);
}

/* Requests that are committed together, and the answer to each: an id that one
 * of them gives is not another's, be it a lease's, and nobody else suffers. */
static void ids_of_one_group_are_told_apart(void **state)
{
    static const struct {
        const char *experiment, *body;
        int status;
    } asked[] = {
        {"a", "{\"id\":\"p\"}", 201},
        {"b", "{\"id\":\"p\"}", 409},
        {"a", "{\"id\":\"p\"}", 200},
        {"a", "{\"id\":\"q\",\"count\":3}", 201},
        {"a", "{\"id\":\"q\",\"count\":3}", 200},
        {"a", "{\"id\":\"q\",\"count\":2}", 409},
        {"b", "{\"id\":\"q\",\"count\":3}", 409},
        {"b", "{\"id\":\"q.1\"}", 409},
        {"b", "{\"id\":\"q.01\"}", 201},
        {"b", "{\"id\":\"q.x\"}", 201},
        {"b", "{\"id\":\"q.2\",\"count\":2}", 409},
        {"b", "{\"id\":\"r.1\"}", 201},
        {"b", "{\"id\":\"r.2\"}", 201},
        {"a", "{\"id\":\"r\",\"count\":4}", 409},
        {"a", "{\"id\":\"r\"}", 201},
        {"c", "{}", 201},
    };
    enum { COUNT = sizeof asked / sizeof *asked };
    receiver r[COUNT];
    (void)state;
    open_memory(1000);
    tarry__service_gather(service);
    for (size_t i = 0; i < COUNT; i++) {
        char path[60];
        snprintf(path, sizeof path, "/v1/experiments/%s/decisions",
                 asked[i].experiment);
        send(&r[i], "POST", path, asked[i].body);
    }
    tarry__service_flush(service);
    for (size_t i = 0; i < COUNT; i++) {
        wait_for(&r[i]);
        if (r[i].status != asked[i].status)
            fail_msg("%s %s: %d %s", asked[i].experiment, asked[i].body,
                     r[i].status, r[i].body);
    }
    tarry__service_close(service);
}

/* The processor time in which many who ask at once for a lease are refused. */
static double refuse_leases(receiver *r, size_t count, bool is_one)
{
    const clock_t begin = clock();
    char body[60];
    for (size_t i = 0; i < count; i++) {
        snprintf(body, sizeof body, "{\"id\":\"l%zu\",\"count\":9}",
                 is_one ? 0 : i);
        send(&r[i], "POST", "/v1/experiments/a/decisions", body);
    }
    tarry__service_flush(service);
    for (size_t i = 0; i < count; i++) {
        wait_for(&r[i]);
        assert_int_equal(r[i].status, 409);
    }
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

static void who_asks_for_one_lease_does_not_wait_for_others(void **state)
{
    enum { COUNT = 3000 };
    receiver *r = malloc(COUNT * sizeof *r);
    (void)state;
    open_memory(COUNT + 1);
    ask("POST", "/v1/experiments/a/pause", "");
    tarry__service_gather(service);
    const double many = refuse_leases(r, COUNT, false);
    const double one = refuse_leases(r, COUNT, true);
    if (one > 10 * many + 0.2)
        fail_msg("%g s, and for one lease %g s", many, one);
    tarry__service_close(service);
    free(r);
}

/* A clock whose next tick never comes. */
static atomic_bool is_timeless;

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
                           const struct timespec *until)
{
    return is_timeless
               ? pthread_cond_wait(cond, lock)
               : pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, until);
}

/* The keeper is told of lists and leases, whatever else waits, and does not
 * find them at its next tick: there is none, and the answers come. */
static void what_is_left_to_the_keeper_is_not_late(void **state)
{
    enum { TIMES = 16 };
    static const char decisions[] = "/v1/experiments/a/decisions";
    (void)state;
    is_timeless = true;
    open_memory(1000);
    tarry__service_gather(service);
    for (int i = 0; i < TIMES; i++) {
        receiver light, heavy;
        const bool is_list = i % 4 < 2;
        usleep(10000); /* until it sleeps again */
        if (i % 2 == 0)
            send(&light, "POST", decisions, "{}");
        send(&heavy, "POST", is_list ? "/v1/feedback" : decisions,
             is_list ? "[]" : "{\"count\":2}");
        assert_false(tarry__service_flush(service));
        wait_for(&heavy);
        if (i % 2 == 0)
            wait_for(&light);
        assert_int_equal(heavy.status, is_list ? 200 : 201);
    }
    tarry__service_close(service);
    is_timeless = false;
}

/* A decision whose answer is not taken, and with it the keeper waits, until the
 * gate is opened. */
static void hold_up(holder *h)
{
    pthread_mutex_lock(&h->gate);
    tarry__service_take(
        service,
        &(tarry__service_request){.method = "POST",
                                  .path = "/v1/experiments/a/decisions",
                                  .query = "",
                                  .body = "{}",
                                  .size = 2},
        hold, h);
    while (!h->is_there)
        usleep(1000);
}

/* While the keeper is held up, two requests may wait. */
static void more_than_may_wait_are_turned_away(void **state)
{
    static const char path[] = "/v1/experiments/a/decisions";
    static holder h = {.gate = PTHREAD_MUTEX_INITIALIZER};
    receiver r[3];
    (void)state;
    open_memory(2);
    hold_up(&h);
    for (size_t i = 0; i < 3; i++)
        send(&r[i], "POST", path, "{}");
    wait_for(&r[2]);
    assert_int_equal(r[2].status, 503);
    assert_non_null(strstr(r[2].body, "requests are waiting; ask again"));
    assert_int_equal(ask("GET", "/healthz", "").status, 200);
    pthread_mutex_unlock(&h.gate);
    for (size_t i = 0; i < 2; i++) {
        wait_for(&r[i]);
        assert_int_equal(r[i].status, 201);
    }
    assert_int_equal(ask("POST", path, "{}").status, 201);
    tarry__service_close(service);
}

static size_t count_answers(receiver *r, size_t count)
{
    size_t come = 0;
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_lock(&r[i].lock);
        come += r[i].has_come;
        pthread_mutex_unlock(&r[i].lock);
    }
    return come;
}

/* With its numbers a list has so many values. */
static char *make_list(size_t count)
{
    char *list = malloc(2 * count);
    assert_non_null(list);
    for (size_t i = 0; i + 1 < count; i++)
        memcpy(list + 2 * i, i == 0 ? "[1" : ",1", 2);
    strcpy(list + 2 * count - 2, "]");
    return list;
}

/* As JSON, they take many times the memory of their text. */
static void values_do_not_pile_up(void **state)
{
    enum { EACH = 100000, COUNT = 16, MOST = 10 };
    static holder h = {.gate = PTHREAD_MUTEX_INITIALIZER};
    receiver *r = calloc(COUNT, sizeof *r);
    char *list = make_list(EACH), *longer = make_list(EACH + 1);
    size_t refused = 0;
    (void)state;
    assert_non_null(r);
    open_memory(1000);
    receiver one = ask("POST", "/v1/feedback", longer);
    assert_non_null(strstr(one.body, "at most 100000 values; got "));
    one = ask("POST", "/v1/feedback", list);
    assert_non_null(strstr(one.body, "at most 1000 outcomes"));
    hold_up(&h);
    for (size_t i = 0; i < COUNT; i++)
        send(&r[i], "POST", "/v1/feedback", list);
    while (count_answers(r, COUNT) < COUNT - MOST)
        usleep(1000);
    pthread_mutex_unlock(&h.gate);
    for (size_t i = 0; i < COUNT; i++) {
        wait_for(&r[i]);
        refused += r[i].status == 503 && r[i].retry_after > 0;
        assert_true(r[i].status == 503 || r[i].status == 422);
    }
    assert_int_equal(refused, COUNT - MOST);
    assert_int_equal(ask("POST", "/v1/feedback", list).status, 422);
    tarry__service_close(service);
    free(longer);
    free(list);
    free(r);
}

/* Alone, a new experiment may have more values than all that wait together; it
 * is looked at, and refused for what is wrong with it.  While others wait,
 * there is no room for it; nor has anything else so many. */
static void a_large_experiment_is_only_in_the_way_of_others(void **state)
{
    enum { VALUES = 1000001 }; /* as commas, which need no memory each */
    static holder h = {.gate = PTHREAD_MUTEX_INITIALIZER};
    char *body = malloc(VALUES + 20);
    (void)state;
    assert_non_null(body);
    strcpy(body, "{\"name\":\"");
    memset(body + 9, ',', VALUES);
    strcpy(body + 9 + VALUES, "\"}");
    open_memory(1000);
    for (int i = 0; i < 3; i++) { /* what is over leaves nothing behind */
        const receiver r = ask("POST", "/v1/experiments", body);
        assert_int_equal(r.status, 422);
        assert_non_null(strstr(r.body, "63 letters"));
    }
    receiver r = ask("POST", "/v1/feedback", body);
    assert_non_null(strstr(r.body, "too_many"));
    hold_up(&h);
    receiver waits;
    send(&waits, "POST", "/v1/experiments/a/decisions", "{\"count\":1}");
    r = ask("POST", "/v1/experiments", body);
    assert_int_equal(r.status, 503);
    assert_non_null(strstr(r.body, "too many large requests"));
    pthread_mutex_unlock(&h.gate);
    wait_for(&waits);
    assert_int_equal(waits.status, 201);
    r = ask("POST", "/v1/experiments", body);
    assert_int_equal(r.status, 422);
    tarry__service_close(service);
    free(body);
}

static uint64_t count_pending(void)
{
    const receiver r = ask("GET", "/v1/experiments/a/status", "");
    const char *found = strstr(r.body, "\"pending\":");
    assert_non_null(found);
    return strtoull(found + strlen("\"pending\":"), NULL, 10);
}

/* Decisions m.0 to m.9, of which the first `told` have their outcomes; then
 * the others in one list, with the k-th allocation failing.  False: there are
 * fewer. */
static bool tell_the_others(int told, uint64_t k, uint64_t *refused)
{
    enum { COUNT = 10 };
    char list[COUNT * 70] = "[", one[60];
    open_memory(1000);
    ask("POST", "/v1/experiments/a/decisions", "{\"id\":\"m\",\"count\":10}");
    for (int i = 0; i < COUNT; i++) {
        snprintf(one, sizeof one, "{\"id\":\"m.%d\",\"loss\":0.5}", i);
        if (i < told)
            assert_int_equal(ask("POST", "/v1/feedback", one).status, 200);
        else
            snprintf(list + strlen(list), 70, "%s%s", one,
                     i == COUNT - 1 ? "]" : ",");
    }
    tarry__base_fail_alloc(k);
    const receiver r = ask("POST", "/v1/feedback", list);
    const uint64_t seen = tarry__base_fail_alloc(0);
    assert_true(r.status == 200 || r.status == 503);
    *refused += r.status == 503;
    assert_int_equal(count_pending(),
                     r.status == 503 ? (uint64_t)(COUNT - told) : 0);
    tarry__service_close(service);
    return seen >= k;
}

/* And of a list: all outcomes are taken, or none.  The policy needs memory for
 * what it is told in between: how many it was told before decides at which
 * outcome of the list. */
static void a_list_of_outcomes_is_taken_as_a_whole(void **state)
{
    (void)state;
    for (int told = 0; told < 10; told++) {
        uint64_t k = 1, refused = 0;
        while (tell_the_others(told, k, &refused))
            k++;
        assert_true(refused > 0);
    }
}

/* After `before` decisions a lease of three, with the k-th allocation failing.
 * False: there are fewer. */
static bool lease_three(uint64_t before, uint64_t k, uint64_t *refused)
{
    char body[40];
    open_memory(1000);
    snprintf(body, sizeof body, "{\"count\":%d}", (int)before);
    assert_int_equal(ask("POST", "/v1/experiments/a/decisions", body).status,
                     201);
    tarry__base_fail_alloc(k);
    const receiver r =
        ask("POST", "/v1/experiments/a/decisions", "{\"count\":3}");
    const uint64_t seen = tarry__base_fail_alloc(0);
    assert_true(r.status == 201 || r.status == 503);
    *refused += r.status == 503;
    assert_int_equal(count_pending(), before + (r.status == 201 ? 3 : 0));
    tarry__service_close(service);
    return seen >= k;
}

/* A lease is given as a whole too.  With some 50 choices outstanding the policy
 * needs memory for more: how many there are decides for which of the lease. */
static void a_lease_is_given_as_a_whole(void **state)
{
    (void)state;
    for (uint64_t before = 47; before < 53; before++) {
        uint64_t k = 1, refused = 0;
        while (lease_three(before, k, &refused))
            k++;
        assert_true(refused > 0);
    }
}

/* Ages and times may differ. */
static bool is_same_but_for_numbers(const char *a, const char *b)
{
    static const char digits[] = "0123456789.";
    while (*a == *b && *a != '\0') {
        a += strspn(a + 1, digits) + 1;
        b += strspn(b + 1, digits) + 1;
    }
    return *a == *b;
}

/* The k-th allocation fails, until none is left to fail. */
static void an_answer_is_whole_or_none(void **state)
{
    static const char *const paths[] = {
        "/v1/experiments", "/v1/experiments/a", "/v1/experiments/a/status",
        "/v1/experiments/a/pending", "/v1/experiments/a/log"};
    (void)state;
    open_memory(1000);
    ask("POST", "/v1/experiments/a/decisions", "{\"count\":30}");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const receiver good = ask("GET", paths[i], "");
        assert_int_equal(good.status, 200);
        uint64_t k = 0, seen = 1;
        for (; k < seen; k++) {
            tarry__base_fail_alloc(k + 1);
            const receiver r = ask("GET", paths[i], "");
            seen = tarry__base_fail_alloc(0);
            if (r.status != 200)
                assert_true(r.status == 503 && r.retry_after > 0);
            else if (!is_same_but_for_numbers(r.body, good.body))
                fail_msg("%s, allocation %ju: %s", paths[i], (uintmax_t)k,
                         r.body);
        }
        assert_true(k > 3);
    }
    tarry__service_close(service);
}

/* A part of a log: how many lines it has, and what goes on with it. */
typedef struct {
    receiver r;
    size_t lines;
    tarry__service_stream *stream;
} listener;

static void receive_part(void *context, const tarry__service_answer *answer)
{
    listener *l = context;
    tarry__service_answer mine = *answer;
    mine.stream = NULL;
    pthread_mutex_lock(&l->r.lock);
    for (size_t i = 0; i < answer->size; i++)
        l->lines += answer->body[i] == '\n';
    l->stream = answer->stream;
    tarry__service_answer_clear(service, &mine);
    l->r.has_come = true;
    pthread_cond_signal(&l->r.come);
    pthread_mutex_unlock(&l->r.lock);
}

static void make_decisions(size_t count)
{
    char body[40];
    snprintf(body, sizeof body, "{\"count\":%zu}", count);
    assert_int_equal(ask("POST", "/v1/experiments/a/decisions", body).status,
                     201);
}

/* The lines of a log that grows by more than a part between any two. */
static size_t read_growing_log(size_t most_parts)
{
    static const tarry__service_request request = {
        .method = "GET", .path = "/v1/experiments/a/log", .query = ""};
    listener l = {.r = {.lock = PTHREAD_MUTEX_INITIALIZER,
                        .come = PTHREAD_COND_INITIALIZER}};
    tarry__service_take(service, &request, receive_part, &l);
    wait_for(&l.r);
    for (size_t parts = 1; l.stream != NULL; parts++) {
        assert_true(parts <= most_parts);
        make_decisions(500);
        l.r.has_come = false;
        tarry__service_next(service, l.stream, receive_part, &l);
        wait_for(&l.r);
    }
    return l.lines;
}

/* Of whatever length: two arms, and so many decisions. */
static void a_log_ends_where_it_ended_when_it_was_asked_for(void **state)
{
    static const size_t lengths[] = {3,   199, 200, 201, 202,
                                     399, 400, 401, 599, 1000};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        open_memory(1000);
        make_decisions(lengths[i] - 2);
        assert_int_equal(read_growing_log(lengths[i] / 50), lengths[i]);
        tarry__service_close(service);
    }
}

/* ---- the default outcome --------------------------------------------------*/

static void expect(const char *method, const char *path, const char *body,
                   int status, const char *part)
{
    const receiver r = ask(method, path, body);
    if (r.status != status || strstr(r.body, part) == NULL)
        fail_msg("%s %s %s: %d %s, not '%s'", method, path, body, r.status,
                 r.body, part);
}

static void expect_refused(const char *rule, const char *why)
{
    char body[500];
    snprintf(body, sizeof body,
             "{\"name\":\"x\",\"range\":[0,1],\"arms\":[{},{}],"
             "\"default_outcome\":%s}",
             rule);
    expect("POST", "/v1/experiments", body, 422, why);
}

static void default_outcome_is_strictly_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "7",
        "\"0/7d\"",
        "[]",
        "{}",
        "{\"value\":0}",
        "{\"after\":\"7d\"}",
        "{\"value\":\"0\",\"after\":\"7d\"}",
        "{\"value\":0,\"after\":7}",
        "{\"value\":0,\"after\":\"7\"}",
        "{\"value\":0,\"after\":\"\"}",
        "{\"value\":0,\"after\":\"7d/final\"}",
        "{\"value\":0,\"after\":\"7d\",\"final\":1}",
        "{\"value\":0,\"after\":\"7d\",\"final\":null}",
        "{\"value\":0,\"after\":\"7d\",\"or\":1}",
        "{\"value\":0,\"after\":\"70000000000000000000000000000000d\"}"};
    open_memory(10);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_refused(bad[i], "must be {");
    expect_refused("{\"value\":2,\"after\":\"7d\"}",
                   "outcomes lie in [0, 1]; got 2");
    expect_refused("{\"value\":0,\"after\":\"7d\"},\"expire_after\":\"7d\"",
                   "give one of them");
    expect_refused("{\"value\":0,\"after\":\"7d\"},\"policy\":\"otf-lints\"",
                   "otf-lints cannot take corrections");
    tarry__service_close(service);
}

static void default_outcome_is_applied_and_corrected(void **state)
{
    static const char rule[] =
        "\"default_outcome\":{\"value\":0.25,\"after\":\"1r\",\"final\":false}";
    char body[300];
    (void)state;
    open_memory(10);
    snprintf(body, sizeof body,
             "{\"name\":\"s\",\"range\":[0,1],\"objective\":\"maximize\","
             "\"arms\":[{},{}],%s}",
             rule);
    expect("POST", "/v1/experiments", body, 201, rule);
    expect("GET", "/v1/experiments/s", "", 200, rule);
    expect("POST", "/v1/experiments/s/decisions", "{\"count\":3}", 201, "s:3");
    expect("POST", "/v1/feedback", "{\"id\":\"s:1\",\"reward\":1}", 200,
           "\"status\":\"corrected\"");
    expect("POST", "/v1/feedback",
           "[{\"id\":\"s:1\",\"reward\":1},{\"id\":\"s:3\",\"reward\":1}]", 200,
           "\"duplicate\"},{\"id\":\"s:3\",\"status\":\"applied\"");
    expect("POST", "/v1/experiments/s/decisions", "", 201, "s:4");
    expect("POST", "/v1/decisions/s:2/cancel", "", 409, "default outcome");
    expect("GET", "/v1/experiments/s/status", "", 200,
           "\"applied\":2,\"corrected\":1");
    expect("GET", "/v1/experiments/s/log", "", 200,
           "\"event\":\"default\",\"id\":\"s:2\",\"round\":2,"
           "\"reward\":0.25");
    expect("GET", "/metrics", "", 200,
           "tarry_feedback_total{experiment=\"s\",status=\"corrected\"} 1");
    tarry__service_close(service);
}

static int begin(void **state)
{
    (void)state;
    tarry__json_use_base();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_can_be_reached),
        cmocka_unit_test(bodies_of_experiments_have_exact_limits),
        cmocka_unit_test(names_and_arms_have_exact_forms),
        cmocka_unit_test(features_are_kept_as_they_are),
        cmocka_unit_test(negative_zeros_are_zeros),
        cmocka_unit_test(null_is_as_good_as_nothing),
        cmocka_unit_test(every_refusal_says_why),
        cmocka_unit_test(every_path_tells_its_methods),
        cmocka_unit_test(files_are_there_to_be_read),
        cmocka_unit_test(every_setting_is_shown),
        cmocka_unit_test(every_limit_holds_to_the_last_one),
        cmocka_unit_test(a_list_of_outcomes_has_an_end),
        cmocka_unit_test(ids_of_leases_have_exact_limits),
        cmocka_unit_test(what_was_given_can_be_asked_for_again),
        cmocka_unit_test(every_byte_of_a_path_may_be_quoted),
        cmocka_unit_test(tokens_have_scopes),
        cmocka_unit_test(every_route_asks_for_its_scope),
        cmocka_unit_test(pending_lists_as_many_as_are_asked_for),
        cmocka_unit_test(a_crew_does_every_piece_once),
        cmocka_unit_test(experiments_do_not_disturb_each_other),
        cmocka_unit_test(every_failed_allocation_is_answered),
        cmocka_unit_test(an_experiment_is_made_or_there_is_no_memory),
        cmocka_unit_test(an_experiment_is_found_in_the_store),
        cmocka_unit_test(a_policy_that_cannot_go_on_cuts_a_lease),
        cmocka_unit_test(ids_of_one_group_are_told_apart),
        cmocka_unit_test(what_is_left_to_the_keeper_is_not_late),
        cmocka_unit_test(more_than_may_wait_are_turned_away),
        cmocka_unit_test(values_do_not_pile_up),
        cmocka_unit_test(a_large_experiment_is_only_in_the_way_of_others),
        cmocka_unit_test(a_list_of_outcomes_is_taken_as_a_whole),
        cmocka_unit_test(a_lease_is_given_as_a_whole),
        cmocka_unit_test(who_asks_for_one_lease_does_not_wait_for_others),
        cmocka_unit_test(an_answer_is_whole_or_none),
        cmocka_unit_test(default_outcome_is_strictly_checked),
        cmocka_unit_test(default_outcome_is_applied_and_corrected),
        cmocka_unit_test(a_log_ends_where_it_ended_when_it_was_asked_for),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
