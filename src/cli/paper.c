/* paper.c - `tarry paper`: the paper's claims as experiments, and their page.
 */
#define _DEFAULT_SOURCE /* strsep */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/base.h"
#include "base/json.h"
#include "cli/journal.h"
#include "paper/paper.h"
#include "figure/figure.h"
#include "report/report.h"
#include "lab/workers.h"

static const char summary[] =
    "test the paper's claims one by one and write a page";

enum { MAX_ROWS = 32 };

typedef struct {
    bool quick, full, json;
    const char *out, *rows;
    uint64_t seed, threads;
    size_t n_rows;
    const tarry__paper_row *row[MAX_ROWS];
} arguments;

static int parse(arguments *a, int argc, char **argv)
{
    const cli_option options[] = {
        {"out", CLI_TEXT, &a->out, "DIR",
         "where the page goes; made if need be"},
        {"quick", CLI_FLAG, &a->quick, NULL, "minutes (the default)"},
        {"full", CLI_FLAG, &a->full, NULL,
         "an hour or two: more runs, longer horizons, larger dimensions"},
        {"rows", CLI_TEXT, &a->rows, "ID,ID,...",
         "only these claims (default all): stochastic, adversarial,\n"
         "stochastic-by-arm, adversarial-by-arm, loss-dependent, payoff,\n"
         "trade-off, adversarial-losses, lower-loss, growth, bounds,\n"
         "algorithms, estimates, best-kept, design"},
        {"seed", CLI_COUNT, &a->seed, "N", "of everything random (default 1)"},
        {"threads", CLI_COUNT, &a->threads, "N", "default: all cores"},
        {"json", CLI_FLAG, &a->json, NULL,
         "print the results as one JSON object instead of a table"},
    };
    const cli_syntax syntax = {
        .command = "paper",
        .summary = summary,
        .usage = "[--quick|--full] --out DIR [options]",
        .about =
            "Tests the claims of \"Near-Optimal Stochastic Linear Bandits "
            "with\n"
            "Delay\" one by one: each line of its table and each theorem gets\n"
            "experiments, measured exponents with 95 % intervals, and a\n"
            "verdict: supported, unresolved (at this scale), or contradicted.\n"
            "\n"
            "DIR gets index.html, a page that needs nothing else; figures/ "
            "with\n"
            "each figure as SVG, PDF, PNG and its data as CSV; results.json.\n"
            "Results depend on the seed and the scale, not on threads or "
            "ranks.\n"
            "An interrupted job goes on where it was if started again with "
            "the\n"
            "same arguments (DIR/trials.jsonl, gone once the page is there).",
        .examples = "  tarry paper --quick --out page\n"
                    "  tarry paper --full --out full\n"
                    "  mpirun -n 8 tarry-mpi paper --full --out full\n"
                    "  tarry paper --rows growth --seed 7 --out growth",
        .options = options,
        .n_options = sizeof options / sizeof *options,
    };
    return cli_parse(&syntax, argc, argv);
}

/* ---- arguments ------------------------------------------------------------*/

static int add_row(arguments *a, const char *id)
{
    const tarry__paper_row *row = tarry__paper_find(id);
    if (row == NULL)
        return cli_error(EXIT_USAGE, "--rows: no such claim: '%s'", id);
    for (size_t i = 0; i < a->n_rows; i++)
        if (a->row[i] == row)
            return cli_error(EXIT_USAGE, "--rows: twice: '%s'", id);
    a->row[a->n_rows++] = row;
    return EXIT_DONE;
}

/* As given, or all. */
static int pick_rows(arguments *a)
{
    char *text = a->rows != NULL ? strdup(a->rows) : NULL, *rest = text;
    int code = EXIT_DONE;
    if (a->rows != NULL && text == NULL)
        return cli_error(EXIT_FAILED, "out of memory");
    if (text != NULL && *text == '\0')
        code = cli_error(EXIT_USAGE, "--rows: empty");
    while (code == EXIT_DONE && rest != NULL)
        code = add_row(a, strsep(&rest, ","));
    free(text);
    for (size_t i = 0; a->rows == NULL && tarry__paper_rows[i] != NULL; i++)
        a->row[a->n_rows++] = tarry__paper_rows[i];
    return code;
}

static int check(arguments *a)
{
    if (a->out == NULL || *a->out == '\0')
        return cli_error(EXIT_USAGE, "--out DIR is needed (see tarry paper "
                                     "--help)");
    if (a->quick && a->full)
        return cli_error(EXIT_USAGE, "--quick or --full, not both");
    if (a->threads > 1024)
        return cli_error(EXIT_USAGE, "--threads: more than 1024: '%ju'",
                         (uintmax_t)a->threads);
    return pick_rows(a);
}

/* ---- the job --------------------------------------------------------------*/

typedef struct {
    const arguments *a;
    tarry__lab *lab;
    tarry__plan plan[MAX_ROWS];
    tarry__journal journal;
    char *journal_path;
    double start;
} job;

/* What makes one row again; DIR is the reader's choice. */
static const char *command_of(const job *j, const char *rows)
{
    return tarry__lab_text(j->lab, "tarry paper --%s --seed %ju%s%s --out DIR",
                           j->a->full ? "full" : "quick", (uintmax_t)j->a->seed,
                           rows != NULL ? " --rows " : "",
                           rows != NULL ? rows : "");
}

static bool show_progress(void *context, double share, uint64_t rounds)
{
    const job *j = context;
    (void)rounds;
    char note[80];
    const double elapsed = tarry__base_seconds() - j->start;
    snprintf(note, sizeof note, "%.0f s, %.0f s left", elapsed,
             share > 0 ? elapsed * (1 / share - 1) : 0);
    if (tarry__workers_rank() == 0)
        cli_progress(share, note);
    return cli_interrupted();
}

/* Rank 0 opens the journal; what comes of it is for all ranks. */
static int open_journal(job *j)
{
    tarry_error error;
    int code = EXIT_DONE;
    if (tarry__workers_rank() == 0) {
        if (mkdir(j->a->out, 0777) != 0 && errno != EEXIST)
            code = cli_error(EXIT_USAGE, "%s: %s", j->a->out, strerror(errno));
        else
            code = cli_journal_opened(
                &j->journal,
                tarry__lab_open_journal(j->lab, j->journal_path, &j->journal,
                                        &error),
                &error);
    }
    tarry__workers_share(&code, sizeof code);
    return code;
}

static tarry_status ask_rows(job *j)
{
    tarry_status status = TARRY_OK;
    for (size_t i = 0; status == TARRY_OK && i < j->a->n_rows; i++) {
        j->plan[i].lab = j->lab;
        status = tarry__paper_row_ask(j->a->row[i], &j->plan[i]);
    }
    return status;
}

static bool judge_rows(job *j, json_t *rows)
{
    for (size_t i = 0; i < j->a->n_rows; i++) {
        json_t *row = tarry__paper_row_judge(j->a->row[i], &j->plan[i],
                                             command_of(j, j->a->row[i]->id));
        if (json_array_append_new(rows, row) != 0)
            return false;
    }
    return true;
}

/* ---- answers --------------------------------------------------------------*/

static const char *text_of(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

/* Characters, not bytes: rows speak of Greek letters. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++)
        width += (*text & 0xC0) != 0x80;
    return width;
}

static void print_padded(const char *text, int width)
{
    cli_put("%s%*s", text, width - width_of(text), "");
}

static void print_row(const json_t *row)
{
    const char *bound = text_of(json_object_get(row, "paper"), "here");
    print_padded(text_of(row, "title"), 43);
    print_padded(bound != NULL ? bound : "", 23);
    print_padded(text_of(row, "verdict"), 14);
    cli_put("%s", text_of(row, "headline"));
    cli_put_end();
}

/* Checks that are not as the paper says. */
static void print_doubts(const json_t *row)
{
    size_t i;
    const json_t *check;
    json_array_foreach(json_object_get(row, "checks"), i, check)
    {
        const char *verdict = text_of(check, "verdict");
        if (verdict != NULL && strcmp(verdict, "supported") != 0)
            printf("%s: %s: %s: %s\n", verdict, text_of(row, "title"),
                   text_of(check, "name"), text_of(check, "text"));
    }
}

static int print_table(const job *j, const json_t *results)
{
    size_t i;
    const json_t *row, *rows = json_object_get(results, "rows");
    print_padded("claim", 43);
    print_padded("price of delay", 23);
    print_padded("verdict", 14);
    cli_put("first of its checks");
    cli_put_end();
    json_array_foreach(rows, i, row) print_row(row);
    putchar('\n');
    json_array_foreach(rows, i, row) print_doubts(row);
    printf("%.0f s; all checks, figures and data: %s/index.html\n",
           json_real_value(json_object_get(results, "seconds")), j->a->out);
    return cli_flush();
}

static json_t *config_of(const job *j)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < j->a->n_rows; i++)
        rows = tarry__json_add(rows, json_string(j->a->row[i]->id));
    return json_pack("{s:s, s:s, s:I, s:s, s:o}", "version", tarry_version(),
                     "scale", j->a->full ? "full" : "quick", "seed",
                     (json_int_t)j->a->seed, "command",
                     command_of(j, j->a->rows), "rows", rows);
}

static int report(job *j)
{
    json_t *rows = json_array();
    tarry_error error = {"out of memory"};
    if (!judge_rows(j, rows)) {
        json_decref(rows);
        return cli_error(EXIT_FAILED, "out of memory");
    }
    json_t *results =
        json_pack("{s:o, s:o, s:f}", "config", config_of(j), "rows", rows,
                  "seconds", tarry__base_seconds() - j->start);
    const tarry_status status =
        results != NULL ? tarry__report_write(results, j->a->out, &error)
                        : TARRY_NO_MEMORY;
    int code = status == TARRY_OK ? EXIT_DONE
                                  : cli_error(EXIT_FAILED, "%s", error.text);
    if (code == EXIT_DONE && remove(j->journal_path) != 0)
        code =
            cli_error(EXIT_FAILED, "%s: %s", j->journal_path, strerror(errno));
    if (code == EXIT_DONE)
        code = j->a->json ? cli_print_json(json_incref(results))
                          : print_table(j, results);
    json_decref(results);
    return code;
}

static int work(job *j)
{
    tarry_error error = {"out of memory"};
    if (ask_rows(j) != TARRY_OK || tarry__lab_close(j->lab, &error) != TARRY_OK)
        return cli_error(EXIT_FAILED, "%s", error.text);
    int code = open_journal(j);
    if (code != EXIT_DONE)
        return code;
    cli_catch_interrupt();
    const tarry_status status = tarry__lab_run(
        j->lab, (int)j->a->threads, show_progress, j, &j->journal, &error);
    cli_progress_end();
    if (status == TARRY_CANCELLED)
        return cli_error(EXIT_FAILED,
                         "interrupted: the same command goes on from here");
    if (status != TARRY_OK)
        return cli_error(EXIT_FAILED, "%s", error.text);
    return tarry__workers_rank() == 0 ? report(j) : EXIT_DONE;
}

static int run(int argc, char **argv)
{
    arguments a = {.seed = 1};
    job j = {.a = &a, .start = tarry__base_seconds()};
    tarry_error error;
    int code = parse(&a, argc, argv);
    if (code >= 0 || (code = check(&a)) != EXIT_DONE)
        return code;
    if (tarry__figure_check(&error) != TARRY_OK)
        return cli_error(EXIT_FAILED, "%s", error.text);
    j.lab = tarry__lab_create(a.seed, a.full);
    j.journal_path = malloc(strlen(a.out) + sizeof "/trials.jsonl");
    if (j.lab == NULL || j.journal_path == NULL) {
        code = cli_error(EXIT_FAILED, "out of memory");
    } else {
        sprintf(j.journal_path, "%s/trials.jsonl", a.out);
        code = work(&j);
    }
    tarry__journal_clear(&j.journal);
    for (size_t i = 0; i < a.n_rows; i++)
        tarry__plan_clear(&j.plan[i]);
    free(j.journal_path);
    tarry__lab_free(j.lab);
    return code;
}

const cli_command cli_paper = {"paper", summary, run};
