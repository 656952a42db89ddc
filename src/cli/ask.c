/* ask.c - `tarry ask`: a decision service from the shell.
 *
 * Answers are those of `tarry pipe`.  What fails on the way is tried again, a
 * choice with the same id (made up here if none is given), so that nothing
 * counts twice; what has no id is tried again only if it never left. */
#define _DEFAULT_SOURCE
#include "cli/ask.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/base.h"
#include "base/json.h"
#include "base/spec.h"
#include "policy/default.h"

static const char summary[] = "asks a decision service (tarry serve)";

enum { PATH_ROOM = 2048, ID_ROOM = 33 };

/* One verb: `least` to `most` words follow it. */
typedef struct {
    const char *name;
    size_t least, most;
    int (*run)(const ask_arguments *a, const char *const *words, size_t n);
} verb;

static const char about[] =
    "Asks the decision service at URL, http://HOST:PORT (no TLS).\n\n"
    "  create NAME --arms FILE  -> ok     a new experiment\n"
    "  choose NAME [N]          -> ID ARM, N lines of them\n"
    "  observe ID LOSS ...      -> ok, late, duplicate or corrected, each\n"
    "  reward ID REWARD ...        pair; from lines of standard\n"
    "                              input with - in their place;\n"
    "                              reward if they are maximized\n"
    "  cancel ID                -> ok     it was never shown\n"
    "  expire ID                -> ok     its loss will never come\n"
    "  admit NAME ARM X...      -> ok     a new arm and its features\n"
    "  withdraw NAME ARM        -> ok     an arm that is no more\n"
    "  pause NAME, resume NAME  -> ok     no decisions meanwhile\n"
    "  pending NAME [N]         -> lines ID ARM SECONDS, then ok COUNT\n"
    "  status NAME              -> one line of JSON\n"
    "  overview NAME            -> what the dashboard shows, as JSON\n"
    "  log NAME                 -> all that happened, a line each\n"
    "  list, show NAME          -> experiments and their settings\n"
    "  ready, metrics           -> the service itself\n\n"
    "Exit codes: 1 the service cannot be reached, or may not or\n"
    "cannot do this now; 2 bad usage, or it says that something is\n"
    "wrong with what was asked.";

static int parse(ask_arguments *a, int argc, char **argv)
{
    const cli_option options[] = {
        {"json", CLI_FLAG, &a->json, NULL, "print the service's own answers"},
        {"id", CLI_TEXT, &a->id, "TEXT",
         "choose: your own id; again with it: the same answer; of many they\n"
         "are TEXT.0, TEXT.1 and so on"},
        {"token", CLI_TEXT, &a->token, "TEXT",
         "your token (default: what TARRY_TOKEN says); others can see a\n"
         "command line, so better there"},
        {"timeout", CLI_REAL, &a->timeout, "S",
         "seconds for each try (default 10)"},
        {"retries", CLI_COUNT, &a->retries, "N",
         "tries after the first (default 4)"},
        {"arms", CLI_TEXT, &a->arms, "FILE",
         "create: the arms, as for tarry pipe"},
        {"policy", CLI_TEXT, &a->policy, "SPEC", "create: the policy"},
        {"horizon", CLI_COUNT, &a->horizon, "T", "create: how many decisions"},
        {"confidence", CLI_REAL, &a->confidence, "C",
         "create: with which probability all promises hold"},
        {"range", CLI_RANGE, &a->range, "LO,HI", "create: of what is reported"},
        {"intercept", CLI_TEXT, &a->intercept, "auto|no",
         "create: as for tarry pipe"},
        {"maximize", CLI_FLAG, &a->maximize, NULL,
         "create: what is reported are rewards"},
        {"expire-after", CLI_TEXT, &a->expire_after, "AGE",
         "create: 3d, 90min, 1000rounds: then an outcome is given up"},
        {"default-outcome", CLI_TEXT, &a->default_outcome, "VALUE/AGE",
         "create: as for tarry pipe"},
        {"seed", CLI_COUNT, &a->seed, "N", "create: of the policy's coins"},
        {"threads", CLI_COUNT, &a->threads, "N",
         "accepted as in every command; one is used"},
    };
    const cli_syntax syntax = {
        .command = "ask",
        .summary = summary,
        .usage = "URL WHAT [options]",
        .about = about,
        .examples =
            "  tarry ask http://127.0.0.1:8377 create shop --arms arms.csv\n"
            "  tarry ask http://127.0.0.1:8377 choose shop\n"
            "  tarry ask http://127.0.0.1:8377 observe shop-1 -0.25",
        .options = options,
        .n_options = sizeof options / sizeof *options,
        .positional = a->words,
        .min_positional = 2,
        .max_positional = ASK_MOST_WORDS,
    };
    return cli_parse(&syntax, argc, argv);
}

/* ---- paths and plain answers ----------------------------------------------*/

/* A path of these segments, NULL-terminated, each quoted but the first. */
static bool make_path(char path[PATH_ROOM], const char *const *segments)
{
    size_t at = strlen(segments[0]);
    memcpy(path, segments[0], at + 1);
    for (size_t i = 1; segments[i] != NULL; i++) {
        if (at + 2 >= PATH_ROOM)
            return false;
        path[at++] = '/';
        if (!tarry__client_quote(segments[i], path + at, PATH_ROOM - at))
            return false;
        at += strlen(path + at);
    }
    return true;
}

#define PATH(path, ...)                                                        \
    make_path(path, (const char *const[]){__VA_ARGS__, NULL})
#define EXPERIMENTS "/v1/experiments"

static int too_long(const char *text)
{
    return cli_error(EXIT_USAGE, "too long: '%.60s...'", text);
}

/* Anything whose only answer is `ok`. */
static int just_ok(const ask_arguments *a, const char *method, const char *path,
                   json_t *body, bool again)
{
    json_t *answer;
    const int code = ask_json(a, method, path, body, again, &answer);
    if (code == EXIT_DONE && !a->json)
        puts("ok");
    json_decref(answer);
    return code != EXIT_DONE ? code : cli_flush();
}

/* An answer that is JSON anyway. */
static int just_show(const ask_arguments *a, const char *path)
{
    json_t *answer;
    const int code = ask_json(a, "GET", path, NULL, true, &answer);
    return code != EXIT_DONE || a->json ? code : cli_print_json(answer);
}

/* An arm in JSON: a name or a number. */
static void print_arm(const json_t *arm)
{
    if (json_is_string(arm))
        fputs(json_string_value(arm), stdout);
    else
        printf("%" JSON_INTEGER_FORMAT, json_integer_value(arm));
}

/* Ends an answer that something else than a service has given. */
static int no_answer(json_t *answer)
{
    json_decref(answer);
    return cli_error(EXIT_FAILED, "the answer is not one of a service");
}

/* Whether it is a decision, or each of a list is one. */
static bool has_arm(const json_t *decision)
{
    const json_t *arm = json_object_get(decision, "arm");
    const json_t *id = json_object_get(decision, "id");
    return (json_is_string(arm) || json_is_integer(arm)) &&
           (json_is_string(id) || json_is_integer(id));
}

static bool have_arms(const json_t *list)
{
    size_t i = 0;
    while (i < json_array_size(list) && has_arm(json_array_get(list, i)))
        i++;
    return json_is_array(list) && i == json_array_size(list);
}

/* ---- experiments ----------------------------------------------------------*/

static json_t *features_of(const double *x, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        list = tarry__json_add(list, json_real(x[i]));
    return list;
}

static json_t *arms_json(const tarry_arms *arms)
{
    json_t *list = json_array();
    for (size_t k = 0; k < arms->n_arms; k++) {
        json_t *arm =
            json_pack("{s:o}", "features",
                      features_of(arms->data + k * arms->dim, arms->dim));
        if (arms->names != NULL)
            arm = tarry__json_set(arm, "name", json_string(arms->names[k]));
        list = tarry__json_add(list, arm);
    }
    return list;
}

/* The rule as the service takes it; what is no rule goes as it is, and is
 * refused there. */
static json_t *default_outcome(const char *text)
{
    char age[TARRY__DEFAULT_AGE_ROOM];
    tarry__default_rule rule;
    if (tarry__default_read(text, &rule, NULL) != TARRY_OK || !rule.declared)
        return json_string(text);
    tarry__default_print_age(&rule, age);
    return json_pack("{s:f, s:s, s:b}", "value", rule.value, "after", age,
                     "final", (int)rule.final);
}

/* What was not given is left to the service. */
static json_t *with_settings(const ask_arguments *a, json_t *body)
{
    if (a->policy != NULL)
        body = tarry__json_set(body, "policy", json_string(a->policy));
    if (a->horizon != UINT64_MAX)
        body = tarry__json_set(body, "horizon",
                               json_integer((json_int_t)a->horizon));
    if (!isnan(a->confidence))
        body = tarry__json_set(body, "confidence", json_real(a->confidence));
    if (a->expire_after != NULL)
        body =
            tarry__json_set(body, "expire_after", json_string(a->expire_after));
    if (a->range.is_given)
        body = tarry__json_set(
            body, "range", json_pack("[f, f]", a->range.low, a->range.high));
    if (a->intercept != NULL)
        body = tarry__json_set(body, "intercept", json_string(a->intercept));
    if (a->default_outcome != NULL)
        body = tarry__json_set(body, "default_outcome",
                               default_outcome(a->default_outcome));
    if (a->maximize)
        body = tarry__json_set(body, "objective", json_string("maximize"));
    if (a->seed != UINT64_MAX)
        body = tarry__json_set(body, "seed", json_integer((json_int_t)a->seed));
    return body;
}

static int create(const ask_arguments *a, const char *const *words, size_t n)
{
    tarry_arms *arms;
    tarry_error error;
    (void)n;
    if (a->arms == NULL)
        return cli_error(EXIT_USAGE, "ask create: --arms is needed");
    const tarry_status status = tarry_arms_read(a->arms, &arms, &error);
    if (status != TARRY_OK)
        return cli_error(cli_code(status), "%s", error.text);
    json_t *body =
        json_pack("{s:s, s:o}", "name", words[0], "arms", arms_json(arms));
    tarry_arms_free(arms);
    body = with_settings(a, body);
    if (body == NULL && tarry__json_has_failed())
        return cli_error(EXIT_FAILED, "out of memory");
    if (body == NULL)
        return cli_error(EXIT_USAGE, "a name is not UTF-8: '%s'", words[0]);
    return just_ok(a, "POST", EXPERIMENTS, body, false);
}

static int list(const ask_arguments *a, const char *const *words, size_t n)
{
    (void)words, (void)n;
    return just_show(a, EXPERIMENTS);
}

static int show(const ask_arguments *a, const char *const *words, size_t n)
{
    char path[PATH_ROOM];
    (void)n;
    return PATH(path, EXPERIMENTS, words[0]) ? just_show(a, path)
                                             : too_long(words[0]);
}

static int part(const ask_arguments *a, const char *name, const char *what)
{
    char path[PATH_ROOM];
    return PATH(path, EXPERIMENTS, name, what) ? just_show(a, path)
                                               : too_long(name);
}

static int status(const ask_arguments *a, const char *const *words, size_t n)
{
    (void)n;
    return part(a, words[0], "status");
}

static int overview(const ask_arguments *a, const char *const *words, size_t n)
{
    (void)n;
    return part(a, words[0], "overview");
}

static int turn(const ask_arguments *a, const char *name, const char *what)
{
    char path[PATH_ROOM];
    return PATH(path, EXPERIMENTS, name, what)
               ? just_ok(a, "POST", path, json_object(), true)
               : too_long(name);
}

static int pause_it(const ask_arguments *a, const char *const *words, size_t n)
{
    (void)n;
    return turn(a, words[0], "pause");
}

static int resume(const ask_arguments *a, const char *const *words, size_t n)
{
    (void)n;
    return turn(a, words[0], "resume");
}

/* Text as it comes, on standard output. */
static int copy_out(const ask_arguments *a, const char *path)
{
    tarry__client_answer answer;
    const int code = ask_service(
        a,
        (tarry__client_request){.method = "GET", .path = path, .sink = stdout},
        true, &answer);
    if (code == EXIT_DONE)
        tarry__base_free(answer.body);
    return code != EXIT_DONE ? code : cli_flush();
}

static int print_log(const ask_arguments *a, const char *const *words, size_t n)
{
    char path[PATH_ROOM];
    (void)n;
    return PATH(path, EXPERIMENTS, words[0], "log") ? copy_out(a, path)
                                                    : too_long(words[0]);
}

static int metrics(const ask_arguments *a, const char *const *words, size_t n)
{
    (void)words, (void)n;
    return copy_out(a, "/metrics");
}

static int ready(const ask_arguments *a, const char *const *words, size_t n)
{
    tarry__client_answer answer;
    (void)words, (void)n;
    const int code = ask_service(
        a, (tarry__client_request){.method = "GET", .path = "/readyz"}, true,
        &answer);
    if (code != EXIT_DONE)
        return code;
    puts(a->json ? answer.body : "ok");
    tarry__base_free(answer.body);
    return cli_flush();
}

static int pending(const ask_arguments *a, const char *const *words, size_t n)
{
    char path[PATH_ROOM];
    uint64_t limit;
    json_t *answer, *one;
    size_t i;
    if (!PATH(path, EXPERIMENTS, words[0], "pending") ||
        strlen(path) + 40 > PATH_ROOM)
        return too_long(words[0]);
    if (n > 1) {
        if (!tarry__base_parse_count(words[1], &limit))
            return cli_error(EXIT_USAGE, "not a whole number: '%s'", words[1]);
        snprintf(path + strlen(path), 40, "?limit=%" PRIu64, limit);
    }
    const int code = ask_json(a, "GET", path, NULL, true, &answer);
    if (code != EXIT_DONE || a->json)
        return code;
    if (!have_arms(json_object_get(answer, "pending")))
        return no_answer(answer);
    json_array_foreach(json_object_get(answer, "pending"), i, one)
    {
        printf("%s ", json_string_value(json_object_get(one, "id")));
        print_arm(json_object_get(one, "arm"));
        printf(" %.10g\n", json_number_value(json_object_get(one, "seconds")));
    }
    printf("ok %" JSON_INTEGER_FORMAT "\n",
           json_integer_value(json_object_get(answer, "count")));
    json_decref(answer);
    return cli_flush();
}

/* ---- arms -----------------------------------------------------------------*/

static int admit(const ask_arguments *a, const char *const *words, size_t n)
{
    char path[PATH_ROOM];
    json_t *features = json_array();
    for (size_t i = 2; i < n; i++) {
        double x;
        if (!tarry__base_parse_real(words[i], &x)) {
            json_decref(features);
            return cli_error(EXIT_USAGE, "not a number: '%s'", words[i]);
        }
        features = tarry__json_add(features, json_real(x));
    }
    json_t *body =
        json_pack("{s:s, s:o}", "name", words[1], "features", features);
    if (body == NULL)
        return cli_error(EXIT_USAGE, "a name is not UTF-8: '%s'", words[1]);
    if (PATH(path, EXPERIMENTS, words[0], "arms"))
        return just_ok(a, "POST", path, body, false);
    json_decref(body);
    return too_long(words[0]);
}

static int withdraw(const ask_arguments *a, const char *const *words, size_t n)
{
    char path[PATH_ROOM];
    (void)n;
    return PATH(path, EXPERIMENTS, words[0], "arms", words[1])
               ? just_ok(a, "DELETE", path, NULL, false)
               : too_long(words[1]);
}

/* ---- decisions ------------------------------------------------------------*/

static void print_decision(const json_t *d)
{
    const json_t *id = json_object_get(d, "id");
    if (json_is_string(id))
        printf("%s ", json_string_value(id));
    else
        printf("%" JSON_INTEGER_FORMAT " ", json_integer_value(id));
    print_arm(json_object_get(d, "arm"));
    putchar('\n');
}

/* 32 digits that nobody else has; the first is a letter, as an id may not be a
 * number. */
static bool make_id(char id[ID_ROOM])
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return false;
    bytes[0] |= 0xa0;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* What one choice, or `count` of them, is asked for with; NULL after an error
 * has been printed.  One gets an id, so that it can be asked for again. */
static json_t *question(const ask_arguments *a, uint64_t count)
{
    char made_up[ID_ROOM];
    json_t *body = json_object();
    if (count > 0)
        body = tarry__json_set(body, "count", json_integer((json_int_t)count));
    if (a->id == NULL && count == 0 && !make_id(made_up)) {
        json_decref(body);
        cli_error(EXIT_FAILED, "there is no randomness for an id");
        return NULL;
    }
    if (a->id != NULL || count == 0)
        body = tarry__json_set(body, "id",
                               json_string(a->id != NULL ? a->id : made_up));
    if (body == NULL)
        cli_error(EXIT_FAILED, "out of memory, or an id that is not UTF-8");
    return body;
}

static int choose(const ask_arguments *a, const char *const *words, size_t n)
{
    char path[PATH_ROOM];
    uint64_t count = 0;
    json_t *answer, *one;
    size_t i;
    if (!PATH(path, EXPERIMENTS, words[0], "decisions"))
        return too_long(words[0]);
    if (n > 1 && (!tarry__base_parse_count(words[1], &count) || count == 0))
        return cli_error(EXIT_USAGE,
                         "ask choose: not a whole number above 0: "
                         "'%s'",
                         words[1]);
    json_t *body = question(a, count);
    if (body == NULL)
        return EXIT_FAILED;
    const int code =
        ask_json(a, "POST", path, body, count == 0 || a->id != NULL, &answer);
    if (code != EXIT_DONE || a->json)
        return code;
    if (count == 0 ? !has_arm(answer)
                   : !have_arms(json_object_get(answer, "decisions")))
        return no_answer(answer);
    if (count == 0)
        print_decision(answer);
    json_array_foreach(json_object_get(answer, "decisions"), i, one)
        print_decision(one);
    json_decref(answer);
    return cli_flush();
}

static int end_decision(const ask_arguments *a, const char *id, const char *how)
{
    char path[PATH_ROOM];
    return PATH(path, "/v1/decisions", id, how)
               ? just_ok(a, "POST", path, json_object(), true)
               : too_long(id);
}

static int cancel(const ask_arguments *a, const char *const *words, size_t n)
{
    (void)n;
    return end_decision(a, words[0], "cancel");
}

static int expire(const ask_arguments *a, const char *const *words, size_t n)
{
    (void)n;
    return end_decision(a, words[0], "expire");
}

/* ---- all verbs ------------------------------------------------------------*/

static const verb verbs[] = {
    {"create", 1, 1, create},
    {"choose", 1, 2, choose},
    {"observe", 1, ASK_MOST_WORDS, ask_observe},
    {"reward", 1, ASK_MOST_WORDS, ask_reward},
    {"cancel", 1, 1, cancel},
    {"expire", 1, 1, expire},
    {"admit", 3, ASK_MOST_WORDS, admit},
    {"withdraw", 2, 2, withdraw},
    {"pause", 1, 1, pause_it},
    {"resume", 1, 1, resume},
    {"pending", 1, 2, pending},
    {"status", 1, 1, status},
    {"overview", 1, 1, overview},
    {"log", 1, 1, print_log},
    {"list", 0, 0, list},
    {"show", 1, 1, show},
    {"ready", 0, 0, ready},
    {"metrics", 0, 0, metrics},
};
enum { N_VERBS = sizeof verbs / sizeof *verbs };

static int dispatch(const ask_arguments *a)
{
    const size_t n = a->n_words - 2;
    for (size_t i = 0; i < N_VERBS; i++) {
        const verb *v = &verbs[i];
        if (strcmp(a->words[1], v->name) != 0)
            continue;
        if (n < v->least || n > v->most)
            return cli_error(EXIT_USAGE,
                             "ask %s: %s words (see tarry ask --help)", v->name,
                             n < v->least ? "too few" : "too many");
        return v->run(a, a->words + 2, n);
    }
    return cli_error(EXIT_USAGE, "ask: unknown: '%s' (see tarry ask --help)",
                     a->words[1]);
}

/* A token is one line of visible characters. */
static bool is_token(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

static int run(int argc, char **argv)
{
    static ask_arguments a; /* large */
    tarry_error error;
    a = (ask_arguments){.timeout = 10,
                        .retries = 4,
                        .seed = UINT64_MAX,
                        .horizon = UINT64_MAX,
                        .confidence = NAN,
                        .token = getenv("TARRY_TOKEN")};
    const int code = parse(&a, argc, argv);
    if (code >= 0)
        return code;
    while (a.n_words < ASK_MOST_WORDS && a.words[a.n_words] != NULL)
        a.n_words++;
    if (!(a.timeout > 0))
        return cli_error(EXIT_USAGE, "--timeout: not above 0: %g", a.timeout);
    if (a.token != NULL && a.token[0] == '\0')
        a.token = NULL;
    if (a.token != NULL && !is_token(a.token))
        return cli_error(EXIT_USAGE, "the token has a character that none has");
    if (tarry__client_parse_url(a.words[0], &a.url, &error) != TARRY_OK)
        return cli_error(EXIT_USAGE, "ask: %s", error.text);
    return dispatch(&a);
}

const cli_command cli_ask = {"ask", summary, run};
