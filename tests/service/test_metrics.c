/* Histograms: a value is counted where Prometheus says, at or below a bound.
 * And all that happens is counted, and told by /metrics. */
#define _DEFAULT_SOURCE
#define BODY_ROOM 20000
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "base/json.h"
#include "service/asking.h"
#include "service/inner.h"
#include "tarry/version.h"

static size_t bucket_of(const double *bounds, double value)
{
    tarry__service_histogram h = {.sum = 0};
    size_t at = 0;
    tarry__service_histogram_add(&h, bounds, value);
    CHECK_NEAR(h.sum, value, 0);
    while (h.bucket[at] == 0)
        at++;
    assert_int_equal(h.bucket[at], 1);
    for (size_t i = at + 1; i <= TARRY__SERVICE_MOST_BUCKETS; i++)
        assert_int_equal(h.bucket[i], 0);
    return at;
}

static void a_bound_is_in_its_bucket(void **state)
{
    const double *const all[] = {tarry__service_commit_bounds,
                                 tarry__service_delay_bounds};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const double *bounds = all[k];
        size_t i = 0;
        assert_int_equal(bucket_of(bounds, 0), 0);
        for (; isfinite(bounds[i]); i++) {
            assert_true(i == 0 || bounds[i] > bounds[i - 1]);
            assert_int_equal(bucket_of(bounds, nextafter(bounds[i], 0)), i);
            assert_int_equal(bucket_of(bounds, bounds[i]), i);
            assert_int_equal(bucket_of(bounds, nextafter(bounds[i], 1e9)),
                             i + 1);
        }
        assert_int_equal(bucket_of(bounds, 1e300), i);
    }
}

/* ---- what is told ---------------------------------------------------------*/

typedef struct {
    const char *method, *path, *body;
    int status;
    const char *route; /* by which it is counted */
} call;

#define EXPERIMENTS "/v1/experiments"
#define DECIDE EXPERIMENTS "/{name}/decisions"
#define FEEDBACK "/v1/feedback"
#define MAKE(fields)                                                           \
    "POST", EXPERIMENTS,                                                       \
        "{" fields ",\"policy\":\"lints\",\"arms\":[{\"name\":\"x\"},"         \
        "{\"name\":\"y\"}]}"
#define CHOOSE(name, body) "POST", EXPERIMENTS "/" name "/decisions", body
#define OUTCOME(id, value) "POST", FEEDBACK, "{\"id\":\"" id "\"," value "}"

/* All that can become of outcomes, in two experiments and none. */
static const call calls[] = {
    {MAKE("\"name\":\"a\""), 201, EXPERIMENTS},
    {MAKE("\"name\":\"m\",\"objective\":\"maximize\",\"range\":[0,1]"), 201,
     EXPERIMENTS},
    {MAKE("\"name\":\"idle\""), 201, EXPERIMENTS},
    {MAKE("\"name\":\"a\""), 409, EXPERIMENTS},
    {MAKE("\"name\":\"\""), 422, EXPERIMENTS},
    {"POST", EXPERIMENTS, "{", 400, EXPERIMENTS},
    {CHOOSE("a", "{\"count\":5}"), 201, DECIDE},
    {CHOOSE("a", "{\"id\":\"own\"}"), 201, DECIDE},
    {CHOOSE("a", "{\"id\":\"own\"}"), 200, DECIDE},
    {CHOOSE("a", "{\"id\":\"two\",\"count\":2}"), 201, DECIDE},
    {CHOOSE("a", "{\"id\":\"two\",\"count\":2}"), 200, DECIDE},
    {CHOOSE("m", "{\"count\":4}"), 201, DECIDE},
    {CHOOSE("nobody", "{}"), 404, DECIDE},
    {CHOOSE("m", "{\"count\":0}"), 422, DECIDE},
    {OUTCOME("a:1", "\"loss\":0.5"), 200, FEEDBACK},
    {OUTCOME("a:1", "\"loss\":0.5"), 200, FEEDBACK},
    {OUTCOME("a:1", "\"loss\":0.25"), 409, FEEDBACK},
    {OUTCOME("a:2", "\"loss\":1.5"), 422, FEEDBACK},
    {OUTCOME("a:2", "\"reward\":0.5"), 422, FEEDBACK},
    {OUTCOME("a:2", "\"loss\":\"1\""), 422, FEEDBACK},
    {OUTCOME("a:2", "\"lass\":1"), 422, FEEDBACK},
    {OUTCOME("a:99", "\"loss\":0"), 404, FEEDBACK},
    {OUTCOME("nobody", "\"loss\":0"), 404, FEEDBACK},
    {OUTCOME("m:1", "\"reward\":0.5"), 200, FEEDBACK},
    {OUTCOME("m:2", "\"loss\":0.5"), 422, FEEDBACK},
    {"POST", "/v1/decisions/a:3/expire", "", 200, "/v1/decisions/{id}/expire"},
    {OUTCOME("a:3", "\"loss\":0"), 200, FEEDBACK},
    {"POST", "/v1/decisions/a:4/cancel", "", 200, "/v1/decisions/{id}/cancel"},
    {OUTCOME("a:4", "\"loss\":0"), 409, FEEDBACK},
    {"GET", "/v1/experiments/a/nothing", "", 404, "other"},
    {"PUT", "/v1/experiments", "", 405, "other"},
    {"GET", "/healthz", "", 200, "/healthz"},
};

/* A list whose outcomes meet each fate, and what is said of each. */
static const struct {
    const char *item, *id, *status, *detail;
} items[] = {
    {"{\"id\":\"own\",\"loss\":-1}", "own", "applied", NULL},
    {"{\"id\":\"own\",\"loss\":-1}", "own", "duplicate", NULL},
    {"{\"id\":\"own\",\"loss\":-0.5}", "own", "conflict",
     "decision \"own\" of experiment \"a\" has the loss -1, the first one "
     "reported; got -0.5"},
    {"{\"id\":\"m:3\",\"reward\":1}", "m:3", "applied", NULL},
    {"{\"id\":\"m:3\",\"reward\":1.01}", "m:3", "invalid",
     "rewards of experiment \"m\" lie in [0, 1]; got 1.01 for id \"m:3\""},
    {"{\"id\":\"m:3\",\"loss\":1}", "m:3", "invalid",
     "experiment \"m\" takes a \"reward\""},
    {"{\"id\":\"a:5\",\"reward\":1}", "a:5", "invalid", "takes a \"loss\""},
    {"{\"id\":\"a:5\"}", "a:5", "invalid", "exactly one"},
    {"{\"id\":\"a:5\",\"loss\":1,\"reward\":1}", "a:5", "invalid",
     "exactly one"},
    {"{\"id\":\"a:5\",\"loss\":null}", "a:5", "invalid",
     "\"loss\" must be a number; got null for id \"a:5\""},
    {"{\"id\":\"a:5\",\"loss\":1,\"extra\":1}", "a:5", "invalid", "\"extra\""},
    {"{\"id\":\"m:5\",\"reward\":1}", "m:5", "unknown",
     "experiment \"m\" has no decision with id \"m:5\""},
    {"{\"id\":\"who\",\"reward\":1}", "who", "unknown",
     "no experiment has a decision with id \"who\""},
    {"{\"id\":7,\"loss\":1}", NULL, "invalid", "\"id\" must be a string"},
    {"{\"loss\":1}", NULL, "invalid", "\"id\" must be a string"},
    {"[]", NULL, "invalid", "an outcome must be a JSON object; got []"},
};

static void make_calls(void)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const call *c = &calls[i];
        const receiver r = ask(c->method, c->path, c->body);
        if (r.status != c->status)
            fail_msg("%s %s %s: %d %s", c->method, c->path, c->body, r.status,
                     r.body);
    }
}

static void report_list(void)
{
    char body[4000] = "[";
    const size_t count = sizeof items / sizeof *items;
    for (size_t i = 0; i < count; i++) {
        strcat(body, i > 0 ? "," : "");
        strcat(body, items[i].item);
    }
    strcat(body, "]");
    const receiver r = ask("POST", FEEDBACK, body);
    assert_int_equal(r.status, 200);
    assert_string_equal(r.type, "application/json");
    json_t *json = json_loads(r.body, 0, NULL);
    const json_t *list = json_object_get(json, "results");
    assert_int_equal(json_object_size(json), 1);
    assert_int_equal(json_array_size(list), count);
    for (size_t i = 0; i < count; i++) {
        const json_t *said = json_array_get(list, i);
        const json_t *id = json_object_get(said, "id");
        const json_t *detail = json_object_get(said, "detail");
        if (items[i].id != NULL)
            assert_string_equal(json_string_value(id), items[i].id);
        else
            assert_true(json_is_null(id));
        assert_string_equal(json_string_value(json_object_get(said, "status")),
                            items[i].status);
        assert_int_equal(json_object_size(said), detail != NULL ? 3 : 2);
        if ((detail != NULL) != (items[i].detail != NULL) ||
            (detail != NULL &&
             strstr(json_string_value(detail), items[i].detail) == NULL))
            fail_msg("%s: %s", items[i].item, r.body);
    }
    json_decref(json);
}

/* ---- and what is counted --------------------------------------------------*/

/* The number behind a name with its labels; there is one such line. */
static double value_of(const char *text, const char *name)
{
    const size_t length = strlen(name);
    const char *found = NULL;
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ' ') {
            assert_null(found);
            found = line + length + 1;
        }
    }
    if (found == NULL)
        fail_msg("there is no %s in\n%s", name, text);
    return strtod(found, NULL);
}

static size_t count_lines(const char *text, const char *begin)
{
    size_t count = 0;
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        count += strncmp(line, begin, strlen(begin)) == 0;
    }
    return count;
}

static void check_value(const char *text, double wanted, const char *format,
                        ...)
{
    char name[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    if (value_of(text, name) != wanted)
        fail_msg("%s is %g, not %g", name, value_of(text, name), wanted);
}

static void check_feedback(const char *text)
{
    static const char *const results[] = {"applied",   "late",     "duplicate",
                                          "unknown",   "conflict", "invalid",
                                          "elsewhere", "corrected"};
    static const struct {
        const char *name;
        int of[8]; /* of the calls, and of the list */
    } wanted[] = {{"a", {1 + 1, 1, 1 + 1, 1, 2 + 1, 3 + 4, 0}},
                  {"m", {1 + 1, 0, 0, 0 + 1, 0, 1 + 2, 0}},
                  {"idle", {0}}};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 8; i++)
            check_value(text, wanted[k].of[i],
                        "tarry_feedback_total{experiment=\"%s\",status=\"%s\"}",
                        wanted[k].name, results[i]);
    check_value(text, 1 + 1,
                "tarry_feedback_total{experiment=\"\",status=\"unknown\"}");
    /* of no experiment as they had no id, or what nobody knows */
    check_value(text, 1 + 4,
                "tarry_feedback_total{experiment=\"\",status=\"invalid\"}");
    assert_int_equal(count_lines(text, "tarry_feedback_total{"), 3 * 8 + 2);
}

static bool is_first(size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (calls[k].status == calls[i].status &&
            strcmp(calls[k].method, calls[i].method) == 0 &&
            strcmp(calls[k].route, calls[i].route) == 0)
            return false;
    return true;
}

static void check_requests(const char *text)
{
    size_t kinds = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const call *c = &calls[i];
        double wanted = 0;
        if (!is_first(i))
            continue;
        for (size_t k = i; k < sizeof calls / sizeof *calls; k++)
            wanted += calls[k].status == c->status &&
                      strcmp(calls[k].method, c->method) == 0 &&
                      strcmp(calls[k].route, c->route) == 0;
        wanted += strcmp(c->route, FEEDBACK) == 0 && c->status == 200;
        const bool is_other = strcmp(c->route, "other") == 0;
        check_value(text, wanted,
                    "tarry_http_requests_total{route=\"%s%s%s\",code=\"%d\"}",
                    is_other ? "" : c->method, is_other ? "" : " ", c->route,
                    c->status);
        kinds++;
    }
    assert_int_equal(count_lines(text, "tarry_http_requests_total{"), kinds);
}

/* Buckets hold all that is below their bound, and grow. */
static void check_histogram(const char *text, const char *name,
                            const double *bounds, double count)
{
    double last = 0;
    char bucket[100];
    for (size_t i = 0; isfinite(bounds[i]); i++) {
        snprintf(bucket, sizeof bucket, "%s_bucket{le=\"%g\"}", name,
                 bounds[i]);
        if (bounds[i] >= 1e5)
            snprintf(bucket, sizeof bucket, "%s_bucket{le=\"%.0f\"}", name,
                     bounds[i]);
        assert_true(value_of(text, bucket) >= last);
        last = value_of(text, bucket);
    }
    check_value(text, count, "%s_bucket{le=\"+Inf\"}", name);
    check_value(text, count, "%s_count", name);
    assert_true(last <= count);
}

/* A name is told of before its first line, and its lines stand together. */
static void check_form(const char *text)
{
    char name[100] = "", head[210];
    const char *line = text;
    while (*line != '\0') {
        const char *end = strchr(line, '\n');
        assert_non_null(end);
        if (strncmp(line, "# HELP ", 7) == 0) {
            const size_t length = strcspn(line + 7, " ");
            assert_true(length > 0 && length < sizeof name);
            snprintf(name, sizeof name, "%.*s", (int)length, line + 7);
            assert_int_equal(end[1], '#');
            snprintf(head, sizeof head, "# HELP %s ", name);
            assert_int_equal(count_lines(text, head), 1);
        } else if (line[0] == '#') {
            const size_t length = strlen(name);
            const bool is_total =
                length > 6 && strcmp(name + length - 6, "_total") == 0;
            char bucket[120];
            snprintf(bucket, sizeof bucket, "\n%s_bucket{", name);
            snprintf(head, sizeof head, "# TYPE %s %s\n", name,
                     is_total                       ? "counter"
                     : strstr(text, bucket) != NULL ? "histogram"
                                                    : "gauge");
            assert_int_equal(strncmp(line, head, strlen(head)), 0);
        } else {
            assert_int_equal(strncmp(line, name, strlen(name)), 0);
        }
        line = end + 1;
    }
}

/* As the system tells it in another place, which may have changed by half. */
static void check_memory(double bytes)
{
    char line[200];
    double kb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        sscanf(line, "VmRSS: %lf", &kb);
    fclose(file);
    assert_true(bytes > 512 * kb && bytes < 1536 * kb);
}

static void everything_is_counted_and_told(void **state)
{
    tarry__service_limits limits = tarry__service_default_limits();
    const double begun = (double)tarry__session_now() / 1000;
    (void)state;
    assert_int_equal(tarry__service_open("memory:", &limits, &service, NULL),
                     TARRY_OK);
    make_calls();
    usleep(20000);
    report_list();
    const receiver r = ask("GET", "/metrics", "");
    const double rounding = 1e-6;
    const double passed =
        (double)tarry__session_now() / 1000 - begun + rounding;
    const char *text = r.body;
    assert_int_equal(r.status, 200);
    assert_string_equal(r.type, "text/plain; version=0.0.4; charset=utf-8");
    check_form(text);
    check_value(text, 8, "tarry_decisions_total{experiment=\"a\"}");
    check_value(text, 4, "tarry_decisions_total{experiment=\"m\"}");
    check_value(text, 0, "tarry_decisions_total{experiment=\"idle\"}");
    check_feedback(text);
    check_value(text, 4, "tarry_pending{experiment=\"a\"}");
    check_value(text, 2, "tarry_pending{experiment=\"m\"}");
    check_value(text, 0, "tarry_pending{experiment=\"idle\"}");
    const double oldest =
        value_of(text, "tarry_pending_oldest_seconds{experiment=\"a\"}");
    assert_true(oldest >= 0.02 && oldest <= passed);
    check_value(text, 0, "tarry_pending_oldest_seconds{experiment=\"idle\"}");
    check_value(text, 0, "tarry_reports_silent_seconds{experiment=\"a\"}");
    check_histogram(text, "tarry_feedback_delay_seconds",
                    tarry__service_delay_bounds, 5);
    const double delays = value_of(text, "tarry_feedback_delay_seconds_sum");
    assert_true(delays >= 0.04 && delays <= 5 * passed);
    check_histogram(text, "tarry_store_commit_seconds",
                    tarry__service_commit_bounds, 10);
    assert_true(value_of(text, "tarry_store_commit_seconds_sum") <= passed);
    check_requests(text);
    const double started = value_of(text, "process_start_time_seconds");
    assert_true(started >= begun && started <= begun + passed);
    check_memory(value_of(text, "process_resident_memory_bytes"));
    check_value(text, 1, "tarry_queue_requests"); /* this one */
    check_value(text, 1, "tarry_store_writable");
    check_value(text, 1, "tarry_build_info{version=\"%s\"}", tarry_version());
    for (int i = 0; i < 3; i++) /* commits without outcomes add no delays */
        assert_int_equal(
            ask("POST", "/v1/experiments/a/decisions", "{}").status, 201);
    const receiver later = ask("GET", "/metrics", "");
    CHECK_NEAR(value_of(later.body, "tarry_feedback_delay_seconds_sum"), delays,
               1e-12);
    tarry__service_close(service);
}

/* ---- what has not happened is not counted ---------------------------------*/

static double now(void)
{
    return (double)tarry__session_now() / 1000;
}

/* Asks while the k-th allocation fails, if there are so many. */
static int ask_without(uint64_t k, const char *path, const char *body,
                       bool *has_failed)
{
    tarry__base_fail_alloc(k);
    const int status = ask("POST", path, body).status;
    *has_failed |= tarry__base_fail_alloc(0) >= k;
    return status;
}

static void check_happened(double decisions, double applied)
{
    const receiver r = ask("GET", "/metrics", "");
    check_value(r.body, decisions, "tarry_decisions_total{experiment=\"a\"}");
    check_value(r.body, decisions - applied, "tarry_pending{experiment=\"a\"}");
    check_value(r.body, applied,
                "tarry_feedback_total{experiment=\"a\",status=\"applied\"}");
    check_value(r.body, applied, "tarry_feedback_delay_seconds_count");
}

/* Every allocation of a lease, and of a list of its outcomes, fails once.  A
 * list that is taken adds its delays, which are at least `PAUSE_MS` and at most
 * the time that it took; one that is refused adds none. */
static void what_was_refused_is_not_counted(void **state)
{
    static const char decide[] = EXPERIMENTS "/a/decisions";
    tarry__service_limits limits = tarry__service_default_limits();
    enum { PAUSE_MS = 5 };
    double decisions = 0, applied = 0, most_delay = 0;
    bool has_failed = true;
    uint64_t k = 1;
    (void)state;
    assert_int_equal(tarry__service_open("memory:", &limits, &service, NULL),
                     TARRY_OK);
    ask(MAKE("\"name\":\"a\""));
    for (; has_failed; k++) {
        char lease[60], list[120];
        snprintf(lease, sizeof lease, "{\"id\":\"l%ju\",\"count\":2}",
                 (uintmax_t)k);
        snprintf(list, sizeof list,
                 "[{\"id\":\"l%ju.0\",\"loss\":0},"
                 "{\"id\":\"l%ju.1\",\"loss\":0}]",
                 (uintmax_t)k, (uintmax_t)k);
        has_failed = false;
        const double begun = now();
        decisions += ask_without(k, decide, lease, &has_failed) == 201 ? 2 : 0;
        check_happened(decisions, applied);
        decisions += ask("POST", decide, lease).status == 201 ? 2 : 0;
        usleep(1000 * PAUSE_MS);
        const int status = ask_without(k, FEEDBACK, list, &has_failed);
        applied += status == 200 ? 2 : 0;
        most_delay += status == 200 ? 2 * (now() - begun) + 0.002 : 0;
        check_happened(decisions, applied);
        const receiver r = ask("GET", "/metrics", "");
        const double delays =
            value_of(r.body, "tarry_feedback_delay_seconds_sum");
        CHECK_AT_MOST(1e-3 * (PAUSE_MS - 1) * applied, delays);
        CHECK_AT_MOST(delays, most_delay);
    }
    assert_true(k > 20 && decisions == 2 * (double)(k - 1) && applied > 0);
    tarry__service_close(service);
}

/* Whatever may be answered, with those that the door itself refuses. */
static void every_code_is_counted_as_itself(void **state)
{
    static const int codes[] = {200, 201, 307, 400, 401, 403, 404,
                                405, 408, 409, 413, 414, 417, 422,
                                431, 500, 501, 503, 505};
    enum { N_CODES = sizeof codes / sizeof *codes };
    tarry__service_limits limits = tarry__service_default_limits();
    (void)state;
    assert_int_equal(tarry__service_open("memory:", &limits, &service, NULL),
                     TARRY_OK);
    for (size_t i = 0; i < N_CODES; i++)
        for (size_t n = 0; n <= i; n++) {
            tarry__service_answer answer = {0};
            if (codes[i] >= 400)
                tarry__service_refuse(service, codes[i], "code", "why",
                                      &answer);
            else
                tarry__service_count(service, tarry__service_n_routes,
                                     codes[i]);
            tarry__service_answer_clear(service, &answer);
        }
    const receiver r = ask("GET", "/metrics", "");
    for (size_t i = 0; i < N_CODES; i++)
        check_value(r.body, (double)i + 1,
                    "tarry_http_requests_total{route=\"other\",code=\"%d\"}",
                    codes[i]);
    assert_int_equal(count_lines(r.body, "tarry_http_requests_total{"),
                     N_CODES);
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
        cmocka_unit_test(a_bound_is_in_its_bucket),
        cmocka_unit_test(everything_is_counted_and_told),
        cmocka_unit_test(what_was_refused_is_not_counted),
        cmocka_unit_test(every_code_is_counted_as_itself),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
