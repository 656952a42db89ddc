/* ask_outcomes.c - losses and rewards that `tarry ask` reports, from words or
 * from lines of standard input. */
#define _DEFAULT_SOURCE
#include "cli/ask.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "base/spec.h"

enum { BATCH = 1000 }; /* outcomes that go at a time */

/* Adds an outcome to a list; the exit code, after an error that begins with
 * `where` it was. */
static int add_outcome(json_t *list, const char *where, const char *id,
                       const char *value, const char *key)
{
    double x;
    if (!tarry__base_parse_real(value, &x))
        return cli_error(EXIT_USAGE, "%s%s of '%s': not a number: '%s'", where,
                         key, id, value);
    if (json_array_append_new(list,
                              json_pack("{s:s, s:f}", "id", id, key, x)) == 0)
        return EXIT_DONE;
    return tarry__json_has_failed()
               ? cli_error(EXIT_FAILED, "out of memory")
               : cli_error(EXIT_USAGE, "%san id is not UTF-8: '%s'", where, id);
}

static bool is_refused(const char *result)
{
    return strcmp(result, "applied") != 0 && strcmp(result, "late") != 0 &&
           strcmp(result, "duplicate") != 0 && strcmp(result, "corrected") != 0;
}

/* `ok` for what was applied, as the pipe says it; the exit code. */
static int print_result(const json_t *one)
{
    const char *result = json_string_value(json_object_get(one, "status"));
    if (result == NULL)
        return cli_error(EXIT_FAILED, "an answer without a status");
    if (!is_refused(result)) {
        puts(strcmp(result, "applied") == 0 ? "ok" : result);
        return EXIT_DONE;
    }
    printf("error %s\n", result);
    return EXIT_USAGE;
}

/* One outcome by itself; its refusal has a reason. */
static int send_one(const ask_arguments *a, json_t *outcome)
{
    json_t *answer;
    int code = ask_json(a, "POST", "/v1/feedback", outcome, true, &answer);
    if (code == EXIT_DONE && !a->json)
        code = print_result(answer);
    json_decref(answer);
    return code;
}

/* What is for experiments of other owners goes there by itself. */
static int print_results(const ask_arguments *a, const json_t *list,
                         const json_t *answer)
{
    const json_t *results = json_object_get(answer, "results");
    int code = EXIT_DONE;
    size_t i;
    json_t *one;
    if (json_array_size(results) != json_array_size(list))
        return cli_error(EXIT_FAILED, "the answer is not one of a service");
    json_array_foreach(results, i, one)
    {
        const char *result = json_string_value(json_object_get(one, "status"));
        const bool is_elsewhere =
            result != NULL && strcmp(result, "elsewhere") == 0;
        const int now = is_elsewhere
                            ? send_one(a, json_incref(json_array_get(list, i)))
                            : print_result(one);
        code = code != EXIT_DONE ? code : now;
    }
    return code;
}

/* Sends a list, which it ends.  One alone goes alone. */
static int send_outcomes(const ask_arguments *a, json_t *list)
{
    json_t *answer = NULL;
    int code;
    if (json_array_size(list) == 1) {
        code = send_one(a, json_incref(json_array_get(list, 0)));
    } else {
        code = ask_json(a, "POST", "/v1/feedback", json_incref(list), true,
                        &answer);
        if (code == EXIT_DONE && !a->json)
            code = print_results(a, list, answer);
    }
    json_decref(answer);
    json_decref(list);
    const int flushed = cli_flush();
    return code != EXIT_DONE ? code : flushed;
}

/* The outcome of a line `ID VALUE`; the exit code.  A line whose end did not
 * come may be half of another one. */
static int add_line(json_t *list, char *line, size_t length, uint64_t number,
                    const char *key)
{
    static const char space[] = " \t\r\n";
    char where[32], *rest;
    snprintf(where, sizeof where, "-:%" PRIu64 ": ", number);
    if (line[length - 1] != '\n')
        return cli_error(EXIT_USAGE, "%sthe input ended inside a line", where);
    const bool has_zeros = strlen(line) != length;
    const char *id = strtok_r(line, space, &rest);
    const char *value = strtok_r(NULL, space, &rest);
    if (id == NULL && !has_zeros)
        return EXIT_DONE;
    if (has_zeros || value == NULL || strtok_r(NULL, space, &rest) != NULL)
        return cli_error(EXIT_USAGE, "%snot ID NUMBER", where);
    return add_outcome(list, where, id, value, key);
}

/* Lines of standard input, a thousand at a time.  The exit code is that of the
 * first that failed; what stands before a bad line is done. */
static int send_lines(const ask_arguments *a, const char *key)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length = 0;
    uint64_t number = 0;
    int code = EXIT_DONE;
    while (length >= 0 && code != EXIT_FAILED) {
        json_t *list = json_array();
        int now = EXIT_DONE;
        while (now == EXIT_DONE && json_array_size(list) < BATCH &&
               (length = getline(&line, &room, stdin)) >= 0)
            now = add_line(list, line, (size_t)length, ++number, key);
        const int sent = json_array_size(list) > 0
                             ? send_outcomes(a, json_incref(list))
                             : EXIT_DONE;
        json_decref(list);
        code = code != EXIT_DONE ? code : now != EXIT_DONE ? now : sent;
        if (now != EXIT_DONE)
            break;
    }
    free(line);
    return length >= 0 || feof(stdin)
               ? code
               : cli_error(EXIT_FAILED, "cannot read standard input");
}

static int report(const ask_arguments *a, const char *const *words, size_t n,
                  const char *key)
{
    if (n == 1 && strcmp(words[0], "-") == 0)
        return send_lines(a, key);
    if (n % 2 != 0 || n / 2 > BATCH)
        return cli_error(EXIT_USAGE, "ask: not pairs ID NUMBER, or too many");
    int code = EXIT_DONE;
    json_t *list = json_array();
    for (size_t i = 0; code == EXIT_DONE && i < n; i += 2)
        code = add_outcome(list, "", words[i], words[i + 1], key);
    if (code == EXIT_DONE)
        return send_outcomes(a, list);
    json_decref(list);
    return code;
}

int ask_observe(const ask_arguments *a, const char *const *words, size_t n)
{
    return report(a, words, n, "loss");
}

int ask_reward(const ask_arguments *a, const char *const *words, size_t n)
{
    return report(a, words, n, "reward");
}
