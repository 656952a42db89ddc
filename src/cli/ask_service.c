/* ask_service.c - one question of `tarry ask`, tried until it is answered. */
#define _DEFAULT_SOURCE
#include "cli/ask.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/base.h"
#include "base/json.h"

/* The status of HTTP says whose fault it is; a pause is nobody's. */
static int refused(const tarry__client_answer *answer)
{
    json_t *json =
        json_loads(answer->body != NULL ? answer->body : "", 0, NULL);
    const char *detail = json_string_value(json_object_get(json, "detail"));
    const char *code = json_string_value(json_object_get(json, "code"));
    const int status = answer->status;
    const bool is_paused = code != NULL && strcmp(code, "paused") == 0;
    const bool is_input = status == 400 || status == 404 || status == 405 ||
                          (status == 409 && !is_paused) || status == 413 ||
                          status == 422 || status == 501;
    cli_error(0, "%d %s%s%s", status, code != NULL ? code : "",
              detail != NULL ? ": " : "", detail != NULL ? detail : "");
    json_decref(json);
    return is_input ? EXIT_USAGE : EXIT_FAILED;
}

static void pause_before(uint64_t attempt, double retry_after)
{
    double s = 0.1 * (double)(attempt < 8 ? 1u << attempt : 256);
    s = s > retry_after ? s : retry_after;
    s = s < 30 ? s : 30;
    const struct timespec t = {(time_t)s,
                               (long)(1e9 * (s - (double)(time_t)s))};
    nanosleep(&t, NULL);
}

/* 307, after one was followed: who owns the experiment is not settled.  502 and
 * 504 are a proxy's, for an answer that was lost. */
static bool is_busy(int status, bool again)
{
    return status == 307 || status == 429 || status == 503 ||
           (again && (status == 502 || status == 504));
}

int ask_service(const ask_arguments *a, tarry__client_request r, bool again,
                tarry__client_answer *answer)
{
    tarry_error error;
    r.token = a->token;
    r.timeout_s = a->timeout;
    for (uint64_t attempt = 0;; attempt++) {
        const tarry_status status =
            tarry__client_ask(&a->url, &r, answer, &error);
        /* what a sink has got cannot be taken back */
        const bool may_repeat =
            attempt < a->retries &&
            (status == TARRY_OK
                 ? is_busy(answer->status, again)
                 : (again && r.sink == NULL) || answer->was_not_reached);
        if (!may_repeat) {
            if (status != TARRY_OK)
                return cli_error(EXIT_FAILED, "%s",
                                 status == TARRY_NO_MEMORY ? "out of memory"
                                                           : error.text);
            const int code = answer->status < 300 ? EXIT_DONE : refused(answer);
            if (code != EXIT_DONE)
                tarry__base_free(answer->body);
            return code;
        }
        pause_before(attempt, answer->retry_after);
        tarry__base_free(answer->body);
    }
}

int ask_json(const ask_arguments *a, const char *method, const char *path,
             json_t *body, bool again, json_t **out)
{
    tarry__client_answer answer;
    char *text = tarry__json_text(body, JSON_REAL_PRECISION(17));
    const bool is_lost = body != NULL && text == NULL;
    json_decref(body);
    *out = NULL;
    if (is_lost)
        return cli_error(EXIT_FAILED, "out of memory");
    const int code = ask_service(
        a,
        (tarry__client_request){.method = method, .path = path, .body = text},
        again, &answer);
    free(text);
    if (code != EXIT_DONE)
        return code;
    if (a->json)
        puts(answer.body);
    else
        *out = json_loads(answer.body, JSON_DECODE_ANY, NULL);
    tarry__base_free(answer.body);
    return a->json ? cli_flush() : EXIT_DONE;
}
