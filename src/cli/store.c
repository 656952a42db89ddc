/* store.c - `tarry store`: looks after stores of live decisions.
 *
 * Opening a store verifies it; check also plays every experiment again from its
 * first event and compares with the snapshot.  Export goes through the log
 * twice: for what became of the choices, then for the choices. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/json.h"
#include "cli/cli.h"
#include "session/session.h"
#include "store/copy.h"
#include "store/fates.h"

static const char summary[] = "checks, exports, copies and upgrades stores";

typedef struct {
    const char *action, *store, *to, *name;
    bool json;
    uint64_t seed, threads;
} arguments;

static int parse(arguments *a, int argc, char **argv)
{
    const char *positional[3] = {NULL, NULL, NULL};
    const cli_option options[] = {
        {"json", CLI_FLAG, &a->json, NULL,
         "export: one JSON object per line; check: the same as JSON"},
        {"name", CLI_TEXT, &a->name, "NAME",
         "export: this experiment only (default: all)"},
        {"seed", CLI_COUNT, &a->seed, "N",
         "accepted as in every command; nothing is drawn"},
        {"threads", CLI_COUNT, &a->threads, "N",
         "accepted as in every command; one is used"},
    };
    const cli_syntax syntax = {
        .command = "store",
        .summary = summary,
        .usage = "check|export|upgrade STORE [options]\n"
                 "       tarry store copy STORE TO",
        .about =
            "check    verifies every row and index, plays all experiments\n"
            "         again, and says what is in the store or what is wrong\n"
            "export   writes all decisions with what became of them, as CSV\n"
            "         (as tarry examine reads it) or one JSON object per "
            "line;\n"
            "         outcomes are in the column reward of experiments that\n"
            "         maximize, in the column loss of others\n"
            "copy     copies everything to TO, which is made or empty, and\n"
            "         verifies the copy\n"
            "upgrade  brings a store of an older version to this one\n\n"
            "A store is a file, sqlite:FILE, or postgresql://...\n"
            "A store file that a process uses is exported and copied as it\n"
            "is at one moment; check and upgrade refuse it and name the\n"
            "process.",
        .examples = "  tarry store check log.db\n"
                    "  tarry store export log.db > log.csv\n"
                    "  tarry store copy log.db postgresql://host/decisions",
        .options = options,
        .n_options = sizeof options / sizeof *options,
        .positional = positional,
        .min_positional = 2,
        .max_positional = 3,
    };
    const int code = cli_parse(&syntax, argc, argv);
    a->action = positional[0];
    a->store = positional[1];
    a->to = positional[2];
    return code;
}

static int fail(tarry_status status, const tarry_error *error)
{
    return cli_error(status == TARRY_BAD_STATE ? EXIT_USAGE : cli_code(status),
                     "%s", error->text);
}

/* ---- check ----------------------------------------------------------------*/

static char *status_text(tarry__session *s)
{
    json_t *json = tarry__session_status(s, true);
    char *text = tarry__json_text(json, JSON_REAL_PRECISION(17));
    json_decref(json);
    return text;
}

/* The state that a snapshot leads to must be that of the whole log. */
static tarry_status check_experiment(tarry__store *store, uint64_t number,
                                     json_t **found, tarry_error *error)
{
    tarry__session *whole = NULL, *quick = NULL;
    tarry_status status =
        tarry__session_open(store, number, true, &whole, error);
    if (status == TARRY_OK)
        status = tarry__session_open(store, number, false, &quick, error);
    char *one = status == TARRY_OK ? status_text(whole) : NULL;
    char *other = status == TARRY_OK ? status_text(quick) : NULL;
    if (status == TARRY_OK && (one == NULL || other == NULL))
        status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    else if (status == TARRY_OK && strcmp(one, other) != 0)
        status = tarry__base_fail(error, TARRY_BAD_STATE,
                                  "experiment '%s': its snapshot is not what "
                                  "its log leads to",
                                  tarry__store_get(store, number)->name);
    if (status == TARRY_OK) {
        json_t *s = tarry__session_status(whole, true);
        *found = json_pack("{s:s, s:I, s:O, s:O}", "experiment",
                           tarry__store_get(store, number)->name, "events",
                           (json_int_t)tarry__store_events(store, number, NULL),
                           "decisions", json_object_get(s, "round"), "pending",
                           json_object_get(s, "pending"));
        json_decref(s);
        if (*found == NULL)
            status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    }
    free(one);
    free(other);
    tarry__session_close(whole);
    tarry__session_close(quick);
    return status;
}

static void print_found(const json_t *list)
{
    size_t i;
    json_t *e;
    json_array_foreach(list, i, e)
        printf("%s: %" JSON_INTEGER_FORMAT " events, %" JSON_INTEGER_FORMAT
               " decisions, %" JSON_INTEGER_FORMAT " outstanding\n",
               json_string_value(json_object_get(e, "experiment")),
               json_integer_value(json_object_get(e, "events")),
               json_integer_value(json_object_get(e, "decisions")),
               json_integer_value(json_object_get(e, "pending")));
    puts("ok");
}

static int check(const arguments *a, tarry__store *store)
{
    tarry_error error;
    tarry_status status = TARRY_OK;
    json_t *list = json_array();
    for (uint64_t i = 1; status == TARRY_OK && i <= tarry__store_count(store);
         i++) {
        json_t *found = NULL;
        status = check_experiment(store, i, &found, &error);
        if (status == TARRY_OK)
            list = tarry__json_add(list, found);
    }
    if (status == TARRY_OK && list == NULL)
        status = tarry__base_fail(&error, TARRY_NO_MEMORY, "out of memory");
    if (status != TARRY_OK) {
        json_decref(list);
        return fail(status, &error);
    }
    if (a->json)
        return cli_print_json(
            json_pack("{s:s, s:o}", "result", "ok", "experiments", list));
    print_found(list);
    json_decref(list);
    return cli_flush();
}

/* ---- export ---------------------------------------------------------------*/

typedef struct {
    const tarry__store_experiment *made;
    tarry__fates fates;
    bool json;
    bool loss, reward; /* columns of the table */
} export;

/* A field of CSV, in quotes if it must be: also for blanks at its ends, which
 * readers drop. */
static void print_field(const char *text)
{
    const size_t length = strlen(text);
    if (strpbrk(text, ",\"") == NULL && text[0] != ' ' &&
        (length == 0 || text[length - 1] != ' ')) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

static const char *name_of(const export *x, const tarry__store_event *e)
{
    return e->arm < x->fates.n_arms ? x->fates.names[e->arm] : NULL;
}

/* A probability of 0 means that nobody worked it out. */
static void print_csv(const export *x, const tarry__store_event *e,
                      const char *id, const tarry__fates_fate *f)
{
    print_field(id);
    putchar(',');
    print_field(x->made->name);
    printf(",%" PRIu64 ",", e->round);
    if (name_of(x, e) != NULL)
        print_field(name_of(x, e));
    else
        printf("%" PRIu64, e->arm);
    if (e->value > 0)
        printf(",%.17g", e->value);
    else
        putchar(',');
    printf(",%s,%s,", tarry__fates_moment(e->at).text,
           tarry__fates_state_name(f->state));
    const bool is_in = f->state == TARRY__FATES_OBSERVED;
    if (is_in)
        fputs(tarry__fates_moment(f->at).text, stdout);
    for (int reward = 0; reward <= 1; reward++) {
        if (!(reward ? x->reward : x->loss))
            continue;
        putchar(',');
        if (is_in && reward == x->made->maximize)
            printf("%.17g", f->loss);
    }
    putchar('\n');
}

static bool print_json(const export *x, const tarry__store_event *e,
                       const char *id, const tarry__fates_fate *f)
{
    const char *name = name_of(x, e);
    const bool is_in = f->state == TARRY__FATES_OBSERVED;
    json_t *json = json_pack(
        "{s:s, s:s, s:I, s:o, s:o, s:s, s:s, s:o, s:o}", "id", id, "experiment",
        x->made->name, "round", (json_int_t)e->round, "arm",
        name != NULL ? json_string(name) : json_integer((json_int_t)e->arm),
        "probability", e->value > 0 ? json_real(e->value) : json_null(),
        "decided", tarry__fates_moment(e->at).text, "state",
        tarry__fates_state_name(f->state), "reported",
        is_in ? json_string(tarry__fates_moment(f->at).text) : json_null(),
        x->made->maximize ? "reward" : "loss",
        is_in ? json_real(f->loss) : json_null());
    const bool done =
        json != NULL && json_dumpf(json, stdout, JSON_REAL_PRECISION(17)) == 0;
    putchar('\n');
    json_decref(json);
    return done;
}

static tarry_status print_choice(void *context, const tarry__store_event *e)
{
    export *x = context;
    char generated[300];
    if (e->kind != TARRY__STORE_CHOOSE)
        return TARRY_OK;
    const char *id = tarry__fates_id(x->made, e, generated);
    const tarry__fates_fate *f = tarry__fates_of(&x->fates, e->round);
    if (!x->json)
        print_csv(x, e, id, f);
    else if (!print_json(x, e, id, f) && !ferror(stdout))
        return TARRY_NO_MEMORY;
    return ferror(stdout) ? TARRY_CANCELLED : TARRY_OK;
}

static tarry_status export_one(tarry__store *store, uint64_t number, export *x,
                               tarry_error *error)
{
    x->made = tarry__store_get(store, number);
    tarry_status status = tarry__fates_load(&x->fates, store, number, error);
    if (status == TARRY_OK)
        status = tarry__store_scan(store, number, 0, print_choice, x, error);
    tarry__fates_clear(&x->fates);
    return status;
}

static void print_header(const export *x)
{
    printf("id,experiment,round,arm,probability,decided,state,reported%s%s\n",
           x->loss ? ",loss" : "", x->reward ? ",reward" : "");
}

/* Experiments first to last, from 1. */
static int export_range(tarry__store *store, uint64_t first, uint64_t last,
                        export *x)
{
    tarry_error error = {"out of memory"};
    tarry_status status = TARRY_OK;
    for (uint64_t i = first; i <= last; i++)
        if (tarry__store_get(store, i)->maximize)
            x->reward = true;
        else
            x->loss = true;
    x->loss = x->loss || !x->reward;
    if (!x->json)
        print_header(x);
    for (uint64_t i = first; status == TARRY_OK && i <= last; i++)
        status = export_one(store, i, x, &error);
    if (status != TARRY_OK && status != TARRY_CANCELLED)
        return fail(status, &error);
    return cli_flush();
}

static int export_all(const arguments *a, tarry__store *store)
{
    export x = {.json = a->json};
    if (a->name == NULL)
        return export_range(store, 1, tarry__store_count(store), &x);
    const uint64_t number = tarry__store_find(store, a->name);
    if (number == 0)
        return cli_error(EXIT_USAGE, "%s: no experiment has the name '%s'",
                         a->store, a->name);
    return export_range(store, number, number, &x);
}

/* ---- the command ----------------------------------------------------------*/

/* Opening refuses every version but this one, the first. */
static int upgrade(const arguments *a)
{
    if (a->json)
        return cli_print_json(json_pack("{s:s}", "result", "ok"));
    puts("ok: the version is this program's");
    return cli_flush();
}

static int copy(const arguments *a)
{
    uint64_t experiments, events;
    tarry_error error;
    const tarry_status status =
        tarry__store_copy(a->store, a->to, &experiments, &events, &error);
    if (status != TARRY_OK)
        return fail(status, &error);
    if (a->json)
        return cli_print_json(json_pack("{s:s, s:I, s:I}", "result", "ok",
                                        "experiments", (json_int_t)experiments,
                                        "events", (json_int_t)events));
    printf("ok: %" PRIu64 " experiments, %" PRIu64 " events\n", experiments,
           events);
    return cli_flush();
}

static int run(int argc, char **argv)
{
    arguments a = {0};
    tarry_error error;
    tarry__store *store;
    int code = parse(&a, argc, argv);
    if (code >= 0)
        return code;
    const bool is_check = strcmp(a.action, "check") == 0;
    const bool is_export = strcmp(a.action, "export") == 0;
    const bool is_copy = strcmp(a.action, "copy") == 0;
    if (!is_check && !is_export && !is_copy && strcmp(a.action, "upgrade") != 0)
        return cli_error(EXIT_USAGE,
                         "store: not check, export, copy or upgrade: '%s'",
                         a.action);
    if (a.name != NULL && !is_export)
        return cli_error(EXIT_USAGE, "store: --name is for export");
    if (is_copy != (a.to != NULL))
        return cli_error(EXIT_USAGE, "store: %s takes %s", a.action,
                         is_copy ? "two stores" : "one store");
    if (is_copy)
        return copy(&a);
    const tarry_status status =
        is_export ? tarry__store_read(a.store, &store, &error)
                  : tarry__store_open(a.store, false, &store, &error);
    if (status != TARRY_OK)
        return fail(status, &error);
    code = is_check    ? check(&a, store)
           : is_export ? export_all(&a, store)
                       : upgrade(&a);
    tarry__store_close(store);
    return code;
}

const cli_command cli_store = {"store", summary, run};
