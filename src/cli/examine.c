/* examine.c - `tarry examine`: what a log says about its delays, and which
 * policy to use. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/spec.h"
#include "cli.h"
#include "lab/workers.h"
#include "log/examine.h"
#include "log/kept.h"
#include "report/log_page.h"

static const char summary[] =
    "what a log says about its delays, and which policy to use";

enum { ARMS_SHOWN = 20, NAME_WIDTH = 20, REJECTS_SHOWN = 5 };

typedef struct {
    const char *log, *arms, *page, *now, *world, *target, *name;
    uint64_t horizon, runs, seed, threads;
    bool maximize, json, strict;
    double max_refused;
    cli_range range;
} arguments;

static const char about[] =
    "Says what a log of decisions tells: how long outcomes take,\n"
    "whether their delay depends on the loss, which policy to use, and\n"
    "what another policy would have earned.\n\n"
    "LOG is CSV or NDJSON with the columns id, arm, decided, reported,\n"
    "loss (or reward) and perhaps probability; reported and loss are\n"
    "empty while an outcome is out; rows of one id are one decision;\n"
    "times are numbers or ISO 8601.  Vowpal Wabbit's\n"
    "dsjson and Open Bandit Pipeline's tables will do too, and - is\n"
    "standard input.  A store of tarry pipe or tarry serve (FILE or\n"
    "URL) knows its arms, range and objective itself.";

static int parse(arguments *a, int argc, char **argv)
{
    const cli_option options[] = {
        {"arms", CLI_TEXT, &a->arms, "FILE",
         "the arms' features, by name or number (default: none)"},
        {"range", CLI_RANGE, &a->range, "LO,HI",
         "range of the losses or rewards (default -1,1)"},
        {"maximize", CLI_FLAG, &a->maximize, NULL,
         "the column loss holds rewards"},
        {"name", CLI_TEXT, &a->name, "NAME",
         "the experiment, in a store of several"},
        {"now", CLI_TEXT, &a->now, "TIME",
         "when the log was taken (default: the last time in it)"},
        {"strict", CLI_FLAG, &a->strict, NULL,
         "a row that makes no sense is an error (default: left out, named\n"
         "and counted)"},
        {"max-refused", CLI_REAL, &a->max_refused, "SHARE",
         "conclude nothing, with exit code 1, if more than this share of\n"
         "the rows makes no sense, or of outcomes other than the most\n"
         "frequent one is out of range (default 0.01)"},
        {"horizon", CLI_COUNT, &a->horizon, "N",
         "your next decisions, to be simulated (default: as many as the log\n"
         "has, from 1000 to 100000)"},
        {"runs", CLI_COUNT, &a->runs, "R",
         "of each policy in the rebuilt world; 0: none (default 20)"},
        {"target", CLI_TEXT, &a->target, "FILE",
         "value this policy too: a probability per arm, a row or a column"},
        {"export-world", CLI_TEXT, &a->world, "DIR",
         "write the rebuilt world for tarry run"},
        {"page", CLI_TEXT, &a->page, "DIR", "write a page about it"},
        {"seed", CLI_COUNT, &a->seed, "N", "of all randomness (default 1)"},
        {"threads", CLI_COUNT, &a->threads, "N",
         "threads to use (default: all); no effect on the result"},
        {"json", CLI_FLAG, &a->json, NULL, "print one JSON object"},
    };
    const cli_syntax syntax = {
        .command = "examine",
        .summary = summary,
        .usage = "LOG [options]",
        .about = about,
        .examples =
            "  tarry examine decisions.csv\n"
            "  tarry examine decisions.csv --arms ads.csv --page page\n"
            "  tarry examine clicks.ndjson --range 0,1 --maximize --json\n"
            "  tarry examine decisions.csv --export-world world\n"
            "  tarry examine routes.db",
        .options = options,
        .n_options = sizeof options / sizeof *options,
        .positional = &a->log,
        .min_positional = 1,
        .max_positional = 1,
    };
    return cli_parse(&syntax, argc, argv);
}

static int check(const arguments *a)
{
    if (a->horizon != 0 && (a->horizon < 2 || a->horizon >= 1ull << 39))
        return cli_error(EXIT_USAGE, "--horizon: not from 2 to 2^39 - 1: '%ju'",
                         (uintmax_t)a->horizon);
    if (a->runs > 100000)
        return cli_error(EXIT_USAGE, "--runs: more than 1e5: '%ju'",
                         (uintmax_t)a->runs);
    if (!(a->max_refused >= 0 && a->max_refused <= 1))
        return cli_error(EXIT_USAGE, "--max-refused: not in [0, 1]: '%g'",
                         a->max_refused);
    if (a->threads > 1024)
        return cli_error(EXIT_USAGE, "--threads: more than 1024: '%ju'",
                         (uintmax_t)a->threads);
    return EXIT_DONE;
}

/* ---- text -----------------------------------------------------------------*/

static double number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static bool is_calendar(const json_t *result)
{
    return strcmp(text_at(result, "unit"), "seconds") == 0;
}

typedef struct {
    char text[32];
} shown;

static shown show_time(const json_t *result, const json_t *delay,
                       const char *key)
{
    shown s;
    tarry__examine_duration(number_at(delay, key), is_calendar(result), s.text,
                            sizeof s.text);
    return s;
}

static void put_delay(const json_t *r, const json_t *d)
{
    if (json_is_object(d))
        cli_put(" %12s %12s %12s %12s", show_time(r, d, "median").text,
                show_time(r, d, "mean").text, show_time(r, d, "q90").text,
                show_time(r, d, "q99").text);
    cli_put_end();
}

/* The first characters of a name, and spaces up to the column's end. */
static void put_name(const char *name)
{
    int bytes = 0, characters = 0;
    for (; name[bytes] != '\0'; bytes++) {
        const bool begins = (name[bytes] & 0xC0) != 0x80;
        if (begins && characters == NAME_WIDTH)
            break;
        characters += begins;
    }
    cli_put("%.*s%*s", bytes, name, NAME_WIDTH - characters, "");
}

static void print_arms(const json_t *r)
{
    const json_t *arms = json_object_get(r, "arms");
    const bool has_delays = json_is_object(json_object_get(r, "delay"));
    size_t i;
    json_t *arm;
    printf("\n%-20s %10s %10s", has_delays ? "delays" : "arms", "decisions",
           "reported");
    if (has_delays)
        printf(" %12s %12s %12s %12s", "median", "mean", "90 % by", "99 % by");
    putchar('\n');
    put_name("all");
    cli_put(" %10.0f %10.0f", number_at(r, "decisions"),
            number_at(r, "decisions") - number_at(r, "outstanding"));
    put_delay(r, json_object_get(r, "delay"));
    json_array_foreach(arms, i, arm)
    {
        const json_t *name = json_object_get(arm, "arm");
        char text[24];
        if (i == ARMS_SHOWN)
            break;
        snprintf(text, sizeof text, "%lld",
                 (long long)json_integer_value(name));
        put_name(json_is_integer(name) ? text : json_string_value(name));
        cli_put(" %10.0f %10.0f", number_at(arm, "decisions"),
                number_at(arm, "reported"));
        put_delay(r, json_object_get(arm, "delay"));
    }
    if (json_array_size(arms) > ARMS_SHOWN)
        printf("and %zu more arms\n", json_array_size(arms) - ARMS_SHOWN);
    if (!has_delays)
        puts("\nthe log does not say when outcomes were reported, so nothing "
             "is said of delays");
}

static void print_laws(const json_t *r)
{
    const json_t *delay = json_object_get(r, "delay");
    const json_t *law = json_array_get(json_object_get(delay, "laws"), 0);
    const json_t *never = json_object_get(delay, "never");
    const json_t *drift = json_object_get(delay, "drift");
    if (law != NULL)
        printf("\nlike %s; never %.3g %% (%.3g to %.3g)\n", text_at(law, "law"),
               100 * number_at(never, "estimate"),
               100 * number_at(never, "low"), 100 * number_at(never, "high"));
    const double arms =
        number_at(json_object_get(delay, "arms_differ"), "p_value");
    const double time = number_at(drift, "p_value");
    if (!isnan(arms))
        printf("arms %s (p = %.2g)\n",
               arms <= 0.05 ? "differ" : "do not differ visibly", arms);
    if (!isnan(time))
        printf("%s by %s (p = %.2g)\n",
               time <= 0.05 ? "delays change" : "no visible change",
               text_at(drift, "by"), time);
}

static void print_dependence(const json_t *r)
{
    const json_t *d = json_object_get(r, "dependence");
    printf("\ndoes the delay depend on the %s?  %s (p = %.2g)\n  %s\n",
           text_at(r, "outcome"), text_at(d, "verdict"),
           number_at(d, "p_value"), text_at(d, "why"));
}

static void print_number(double value, int width, int digits)
{
    if (isnan(value))
        printf("%*s", width, "-");
    else
        printf("%*.*g", width, digits, value);
}

static void print_policies(const json_t *r)
{
    const json_t *rows = json_object_get(r, "simulation");
    const json_t *advice = json_object_get(r, "recommendation");
    size_t i;
    json_t *row;
    if (json_is_string(json_object_get(advice, "policy")))
        printf("\nuse %s\n", text_at(advice, "policy"));
    else
        printf("\nno policy is recommended\n");
    printf("  because %s\n", text_at(advice, "why"));
    if (json_array_size(rows) > 0)
        printf("\n%12s %9s %12s  %s\n", "regret", "+/-", "certificate",
               "policy, in the rebuilt world");
    json_array_foreach(rows, i, row)
    {
        printf("%12.5g", number_at(row, "regret"));
        print_number(number_at(row, "ci95"), 10, 3);
        print_number(number_at(row, "certificate"), 13, 3);
        printf("  %s\n", text_at(row, "policy"));
    }
}

/* What is not seen in the rows. */
static void print_about_values(const json_t *r)
{
    const double without =
        number_at(json_object_get(r, "ripe"), "without_probability");
    if (json_is_string(json_object_get(r, "no_value")))
        cli_put("\nno values of other policies: %s", text_at(r, "no_value"));
    else if (without > 0)
        cli_put("%.0f decisions without a probability are left out of these "
                "values",
                without);
    else
        return;
    cli_put_end();
}

static void print_values(const json_t *r)
{
    const json_t *rows = json_object_get(r, "value");
    size_t i;
    json_t *row;
    if (json_array_size(rows) > 0)
        printf("\n%12s %12s %12s %6s  %s\n", "value", "from", "to", "by",
               "policy");
    json_array_foreach(rows, i, row)
    {
        print_number(number_at(row, "estimate"), 12, 5);
        cli_put(" %12.5g %12.5g %6s  %s%s", number_at(row, "low"),
                number_at(row, "high"), text_at(row, "method"),
                text_at(row, "policy"),
                json_is_true(json_object_get(row, "clipped"))
                    ? " (clipped to the interval)"
                    : "");
        cli_put_end();
    }
    print_about_values(r);
}

/* How many rows were refused, most often why, and where first. */
static void put_refused(const json_t *r)
{
    const json_t *rejected = json_object_get(r, "rejected");
    const json_t *reason =
        json_array_get(json_object_get(rejected, "reasons"), 0);
    if (!(number_at(rejected, "count") > 0))
        return;
    cli_put(", %.0f rows refused (%.2g %%), %.0f of them: %s, first in line "
            "%.0f",
            number_at(rejected, "count"), 100 * number_at(rejected, "share"),
            number_at(reason, "count"), text_at(reason, "why"),
            number_at(reason, "line"));
}

static void put_head(const arguments *a, const json_t *r)
{
    cli_put("%s: %.0f decisions (%s), %.0f outstanding", a->log,
            number_at(r, "decisions"), text_at(r, "format"),
            number_at(r, "outstanding"));
    put_refused(r);
    cli_put_end();
}

static bool is_concluded(const json_t *r)
{
    return json_is_true(json_object_get(r, "concluded"));
}

static int print_text(const arguments *a, const json_t *r)
{
    put_head(a, r);
    if (!is_concluded(r))
        return cli_flush();
    print_arms(r);
    print_laws(r);
    print_dependence(r);
    print_policies(r);
    print_values(r);
    if (a->page != NULL)
        printf("\npage: %s/index.html\n", a->page);
    return cli_flush();
}

/* ---- the job --------------------------------------------------------------*/

/* Rows left out are told, whatever is printed on stdout. */
static void warn(const arguments *a, const json_t *r)
{
    const json_t *rejected = json_object_get(r, "rejected");
    const double count = number_at(rejected, "count");
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(rejected, "first"), i, row)
    {
        if (i < REJECTS_SHOWN)
            cli_error(0, "%s:%.0f: %s (row left out)", a->log,
                      number_at(row, "line"), text_at(row, "why"));
    }
    if (count > REJECTS_SHOWN)
        cli_error(0, "%s: %.0f rows left out in all", a->log, count);
}

static bool show_progress(void *context, double share, uint64_t rounds)
{
    uint64_t *played = context;
    char note[80];
    *played += rounds;
    snprintf(note, sizeof note, "simulating: %.3g rounds", (double)*played);
    if (tarry__workers_rank() == 0)
        cli_progress(share, note);
    return cli_interrupted();
}

static int print_answer(const arguments *a, json_t *result)
{
    if (a->json)
        return cli_print_json(result);
    const int code = print_text(a, result);
    json_decref(result);
    return code;
}

static int refuse_log(const arguments *a, json_t *result)
{
    const json_t *rejected = json_object_get(result, "rejected");
    const json_t *reason =
        json_array_get(json_object_get(rejected, "reasons"), 0);
    cli_error(0,
              "%s: %.0f rows refused, %.3g %% of all (of outcomes other than "
              "the most frequent one %.3g %% are out of range); --max-refused "
              "%g allows no more; %.0f of them: %s, first in line %.0f; "
              "nothing is concluded",
              a->log, number_at(rejected, "count"),
              100 * number_at(rejected, "share"),
              100 * number_at(rejected, "out_of_range"), a->max_refused,
              number_at(reason, "count"), text_at(reason, "why"),
              number_at(reason, "line"));
    const int code = print_answer(a, result);
    return code == EXIT_DONE ? EXIT_FAILED : code;
}

static int answer(const arguments *a, json_t *result)
{
    tarry_error error;
    warn(a, result);
    if (!is_concluded(result))
        return refuse_log(a, result);
    if (a->page != NULL) {
        const tarry_status status =
            tarry__log_page_write(result, a->log, a->page, &error);
        if (status != TARRY_OK) {
            json_decref(result);
            return cli_error(cli_code(status), "%s", error.text);
        }
    }
    return print_answer(a, result);
}

static int examine(const arguments *a, tarry__examine_options *o)
{
    uint64_t played = 0;
    const tarry__trials_observer observer = {&played, show_progress, NULL};
    json_t *result;
    tarry_error error = {""};
    o->observer = &observer;
    cli_catch_interrupt();
    const tarry_status status = tarry__examine(a->log, o, &result, &error);
    cli_progress_end();
    if (status == TARRY_CANCELLED)
        return cli_error(EXIT_FAILED, "interrupted");
    if (status != TARRY_OK)
        return cli_error(cli_code(status), "%s",
                         error.text[0] != '\0' ? error.text
                                               : tarry_status_text(status));
    if (tarry__workers_rank() != 0) {
        json_decref(result);
        return EXIT_DONE;
    }
    return answer(a, result);
}

static int examine_store(const arguments *a, tarry__examine_options *o)
{
    tarry__kept kept;
    tarry_error error;
    if (a->arms != NULL || a->range.is_given || a->maximize)
        return cli_error(EXIT_USAGE, "%s: --%s: a store has its own", a->log,
                         a->arms != NULL     ? "arms"
                         : a->range.is_given ? "range"
                                             : "maximize");
    const tarry_status status =
        tarry__kept_open(&kept, a->log, a->name, &o->log, &error);
    o->read = tarry__kept_read;
    o->read_context = &kept;
    const int code = status == TARRY_OK ? examine(a, o)
                     : status == TARRY_BAD_STATE
                         ? cli_error(EXIT_USAGE, "%s", error.text)
                         : cli_error(cli_code(status), "%s", error.text);
    tarry__kept_close(&kept);
    return code;
}

/* With the arms of a file, if there is one. */
static int examine_file(const arguments *a, tarry__examine_options *o)
{
    tarry_arms *arms = NULL;
    tarry_error error;
    if (a->name != NULL)
        return cli_error(EXIT_USAGE, "--name: not a store: '%s'", a->log);
    if (a->arms != NULL) {
        const tarry_status status = tarry_arms_read(a->arms, &arms, &error);
        if (status != TARRY_OK)
            return cli_error(cli_code(status), "%s", error.text);
    }
    o->log.maximize = a->maximize;
    o->log.arms = arms;
    const int code = examine(a, o);
    tarry_arms_free(arms);
    return code;
}

static int run(int argc, char **argv)
{
    arguments a = {.seed = 1,
                   .runs = 20,
                   .range = {.low = -1, .high = 1},
                   .max_refused = 0.01};
    int code = parse(&a, argc, argv);
    if (code >= 0 || (code = check(&a)) != EXIT_DONE)
        return code;
    tarry__examine_options o = {.log = {.low = a.range.low,
                                        .high = a.range.high,
                                        .now = a.now,
                                        .strict = a.strict},
                                .horizon = a.horizon,
                                .runs = a.runs,
                                .seed = a.seed,
                                .threads = (int)a.threads,
                                .max_refused = a.max_refused,
                                .world = a.world,
                                .target = a.target};
    return tarry__kept_is_store(a.log) ? examine_store(&a, &o)
                                       : examine_file(&a, &o);
}

const cli_command cli_examine = {"examine", summary, run};
