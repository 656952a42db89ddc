/* run.c - `tarry run`: policies side by side in a world. */
#include "cli/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/base.h"
#include "base/file.h"
#include "cli/journal.h"
#include "env/world.h"
#include "lab/workers.h"

static const char summary[] =
    "simulate policies in a world and compare their regret";

typedef struct {
    tarry__batch_plan plan;
    uint64_t threads;
    const char *file, *csv, *curves, *resume, *export;
    bool json, limit, print_config;
    bool policies_given; /* --policy replaces those of the file */
} arguments;

/* ---- arguments ------------------------------------------------------------*/

static bool add_policy(void *context, const char *text)
{
    arguments *a = context;
    tarry__experiment *e = &a->plan.experiment;
    if (!a->policies_given)
        e->n_policies = 0;
    a->policies_given = true;
    if (e->n_policies == TARRY__EXPERIMENT_MAX_POLICIES) {
        cli_error(EXIT_USAGE, "--policy: more than %d",
                  TARRY__EXPERIMENT_MAX_POLICIES);
        return false;
    }
    e->policy[e->n_policies++] = text;
    return true;
}

static const char about[] =
    "Simulates policies in a world and compares their regret.\n"
    "SPEC is NAME or NAME:key=value,key=value; `tarry list` names all\n"
    "policies, instances, losses and delays with their settings.\n"
    "EXPERIMENT.json holds the same keys as the options (see\n"
    "--print-config); options given besides win.  It may have a list\n"
    "of \"worlds\", each with name, instance, loss, delay, report and\n"
    "default_outcome: then one table compares the policies in all of them.\n\n"
    "Ctrl-C ends cleanly: finished runs are reported as partial, with\n"
    "exit code 1.";

static int parse(arguments *a, int argc, char **argv)
{
    tarry__experiment *e = &a->plan.experiment;
    cli_action policy = {add_policy, a};
    const cli_option options[] = {
        {"policy", CLI_ACTION, &policy, "SPEC",
         "a policy, or all, linear or mab, or recommended: the best certified\n"
         "one for the world's delays; may be repeated (default: the paper's\n"
         "four)"},
        {"instance", CLI_TEXT, &e->instance, "SPEC",
         "arms and theta (default sphere: 100 arms in 10 dimensions)"},
        {"loss", CLI_TEXT, &e->loss, "SPEC",
         "law of the losses (default rademacher: +1 or -1)"},
        {"delay", CLI_TEXT, &e->delay, "SPEC",
         "delay or adversary (default exponential:mean=100)"},
        {"report", CLI_TEXT, &e->reports.report, "SPEC",
         "which outcomes are ever reported: all, only-low, only-high or\n"
         "window:rounds=N (default all)"},
        {"default-outcome", CLI_TEXT, &e->reports.default_outcome, "RULE",
         "the outcome of plays that are not reported, LOSS/AGE or\n"
         "LOSS/AGE/final, as 1/500r: all policies are told; a later report\n"
         "replaces it, or with final is not seen"},
        {"horizon", CLI_COUNT, &e->horizon, "T", "rounds (default 1e5)"},
        {"runs", CLI_COUNT, &e->runs, "R",
         "independent runs; policies share their luck (default 10)"},
        {"seed", CLI_COUNT, &e->seed, "N", "of all randomness (default 1)"},
        {"points", CLI_COUNT, &e->points, "N",
         "points on the regret curves, up to 256 (default 100)"},
        {"threads", CLI_COUNT, &a->threads, "N",
         "threads to use (default: all); no effect on the result"},
        {"json", CLI_FLAG, &a->json, NULL, "print one JSON object"},
        {"limit", CLI_FLAG, &a->limit, NULL,
         "also say what no policy can do better than for long: c log T"},
        {"csv", CLI_TEXT, &a->csv, "FILE", "write one row per run"},
        {"curves", CLI_TEXT, &a->curves, "FILE",
         "write the regret curves: round, policy, mean, low, high"},
        {"resume", CLI_TEXT, &a->resume, "FILE",
         "keep finished runs in FILE, and do not repeat those in it"},
        {"print-config", CLI_FLAG, &a->print_config, NULL,
         "print the experiment as JSON and stop"},
        {"export-instance", CLI_TEXT, &a->export, "DIR",
         "write arms.csv, theta.csv and world.json of run 0 and stop"},
    };
    const cli_syntax syntax = {
        .command = "run",
        .summary = summary,
        .usage = "[EXPERIMENT.json] [options]",
        .about = about,
        .examples =
            "  tarry run\n"
            "  tarry run --delay low-late:late=1000 --horizon 1e6 --runs 20\n"
            "  tarry run --policy phased-adversarial --delay "
            "hold-rarest:sigma=500 --json\n"
            "  tarry run experiments/delay-zoo.json --resume zoo.runs",
        .options = options,
        .n_options = sizeof options / sizeof *options,
        .positional = &a->file,
        .max_positional = 1,
    };
    return cli_parse(&syntax, argc, argv);
}

static const arguments defaults = {
    .plan.experiment = {.instance = "sphere",
                        .loss = "rademacher",
                        .delay = "exponential:mean=100",
                        .n_policies = 4,
                        .policy = {"phased-stochastic", "phased-adversarial",
                                   "phased-loss-dependent", "phased-mab"},
                        .horizon = 100000,
                        .runs = 10,
                        .seed = 1,
                        .points = 100},
};

static int check(arguments *a)
{
    tarry__experiment *e = &a->plan.experiment;
    if (e->horizon < 2 || e->horizon >= 1ull << 39)
        return cli_error(EXIT_USAGE, "--horizon: not from 2 to 2^39 - 1: '%ju'",
                         (uintmax_t)e->horizon);
    if (e->runs == 0 || e->runs > 1000000)
        return cli_error(EXIT_USAGE, "--runs: not from 1 to 1e6: '%ju'",
                         (uintmax_t)e->runs);
    if (e->points == 0 || e->points > TARRY__SIM_MAX_GRID)
        return cli_error(EXIT_USAGE, "--points: not from 1 to %d: '%ju'",
                         TARRY__SIM_MAX_GRID, (uintmax_t)e->points);
    if (a->threads > 1024)
        return cli_error(EXIT_USAGE, "--threads: more than 1024: '%ju'",
                         (uintmax_t)a->threads);
    e->threads = (int)a->threads;
    e->n_grid = tarry__sim_log_grid(e->horizon, e->points, e->grid);
    if (a->plan.n_worlds > 0 && a->export != NULL)
        return cli_error(EXIT_USAGE, "--export-instance: not with worlds");
    return run_expand_groups(e);
}

/* ---- running --------------------------------------------------------------*/

typedef struct {
    const arguments *given;
    tarry__batch batch;
    double start;
    uint64_t played, total; /* rounds */
} session;

static bool show_progress(void *context, double share, uint64_t rounds)
{
    session *s = context;
    (void)share; /* of a trial's end; rounds are smoother */
    char note[80];
    s->played += rounds;
    const double elapsed = tarry__base_seconds() - s->start;
    const double speed = (double)s->played / elapsed;
    const double total = (double)s->total; /* of a rank: an even share */
    const double played = fmin((double)s->played, total);
    snprintf(note, sizeof note, "%.3g rounds/s, %.0f s left", speed,
             (total - played) / speed);
    if (tarry__workers_rank() == 0)
        cli_progress(played / total, note);
    return cli_interrupted();
}

static int print_limits(const tarry__batch *b)
{
    putchar('\n');
    if (b->plan->n_worlds == 0)
        run_print_limit(b->experiment, "limit:");
    for (size_t w = 0; w < b->plan->n_worlds; w++) {
        char name[80];
        snprintf(name, sizeof name, "limit of %s:", b->plan->world[w].name);
        run_print_limit(&b->experiment[w], name);
    }
    return cli_flush();
}

static int report(const session *s, bool partial)
{
    const arguments *a = s->given;
    const tarry__batch *b = &s->batch;
    const double seconds = tarry__base_seconds() - s->start;
    int code = a->json                ? run_print_json(b, partial, a->limit)
               : a->plan.n_worlds > 0 ? run_print_worlds(b, seconds)
                                      : run_print_table(b->results, seconds);
    if (code == EXIT_DONE && a->limit && !a->json)
        code = print_limits(b);
    if (code == EXIT_DONE && a->csv != NULL)
        code = run_write_csv(b, a->csv);
    if (code == EXIT_DONE && a->curves != NULL)
        code = run_write_curves(b, a->curves);
    if (code == EXIT_DONE && partial)
        code = cli_error(EXIT_FAILED, "interrupted: %zu of %zu runs finished",
                         tarry__batch_finished(b), tarry__batch_trials(b));
    return code;
}

static int simulate(session *s)
{
    const tarry__trials_observer observer = {s, show_progress, NULL};
    tarry__batch *b = &s->batch;
    tarry_error error;
    s->start = tarry__base_seconds();
    s->total = (tarry__batch_trials(b) - tarry__batch_finished(b)) *
               s->given->plan.experiment.horizon /
               (uint64_t)tarry__workers_ranks();
    cli_catch_interrupt();
    const tarry_status status = tarry__batch_run(b, &observer, &error);
    cli_progress_end();
    if (status != TARRY_OK && status != TARRY_CANCELLED)
        return cli_error(b->journal.failed ? EXIT_FAILED : cli_code(status),
                         "%s", error.text);
    if (tarry__workers_rank() != 0)
        return status == TARRY_OK ? EXIT_DONE : EXIT_FAILED;
    return report(s, status == TARRY_CANCELLED);
}

static int export_instance(const arguments *a)
{
    const tarry__experiment *e = &a->plan.experiment;
    tarry__world *world;
    tarry_error error;
    tarry_status status = tarry__world_create(e->instance, e->loss, e->delay,
                                              e->seed, 0, &world, &error);
    if (status == TARRY_OK)
        status = tarry__world_export(world, a->export, &error);
    tarry__world_free(world);
    return status == TARRY_OK ? EXIT_DONE
                              : cli_error(cli_code(status), "%s", error.text);
}

/* Whether a file can be written, known before hours of work. */
static int check_writable(const char *path)
{
    tarry_error error;
    const tarry_status status =
        path == NULL ? TARRY_OK : tarry__file_check(path, &error);
    return status == TARRY_OK
               ? EXIT_DONE
               : cli_error(status == TARRY_NO_MEMORY ? EXIT_FAILED : EXIT_USAGE,
                           "%s", error.text);
}

/* Of two results in one file only the last would be left. */
static int check_apart(const arguments *a)
{
    const char *const path[] = {a->csv, a->curves, a->resume};
    struct stat about;
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < i; j++)
            if (path[i] != NULL && path[j] != NULL &&
                strcmp(path[i], path[j]) == 0 &&
                (stat(path[i], &about) != 0 || S_ISREG(about.st_mode)))
                return cli_error(EXIT_USAGE, "given for two results: '%s'",
                                 path[i]);
    return EXIT_DONE;
}

/* Rank 0 opens the files; what comes of it is for all ranks. */
static int open_files(session *s)
{
    const arguments *a = s->given;
    tarry_error error;
    int code = EXIT_DONE;
    if (tarry__workers_rank() == 0 && (code = check_apart(a)) == EXIT_DONE &&
        (code = check_writable(a->csv)) == EXIT_DONE &&
        (code = check_writable(a->curves)) == EXIT_DONE)
        code = cli_journal_opened(
            &s->batch.journal,
            tarry__batch_open_journal(&s->batch, a->resume, &error), &error);
    tarry__workers_share(&code, sizeof code);
    return code;
}

static int start(const arguments *a)
{
    session s = {.given = a};
    tarry_error error = {"out of memory"};
    if (a->export != NULL)
        return export_instance(a);
    if (a->print_config)
        return cli_print_json(tarry__results_config(&a->plan));
    int code = EXIT_DONE;
    tarry_status status = tarry__batch_create(&s.batch, &a->plan);
    if (status == TARRY_OK)
        status = tarry__batch_check(&s.batch, &error);
    if (status != TARRY_OK)
        code = cli_error(cli_code(status), "%s", error.text);
    if (code == EXIT_DONE)
        code = open_files(&s);
    if (code == EXIT_DONE)
        code = simulate(&s);
    tarry__batch_clear(&s.batch);
    return code;
}

/* What is not given is that of the others. */
static tarry__sim_reports override_reports(tarry__sim_reports given,
                                           tarry__sim_reports others)
{
    if (given.report == NULL)
        given.report = others.report;
    if (given.default_outcome == NULL)
        given.default_outcome = others.default_outcome;
    return given;
}

/* Before the options are read: what a world of the list leaves out is the
 * file's, or the default. */
static void complete_worlds(tarry__batch_plan *plan)
{
    tarry__experiment *e = &plan->experiment;
    for (size_t i = 0; i < plan->n_worlds; i++) {
        tarry__batch_world *w = &plan->world[i];
        w->instance = w->instance != NULL ? w->instance : e->instance;
        w->loss = w->loss != NULL ? w->loss : e->loss;
        w->delay = w->delay != NULL ? w->delay : e->delay;
        w->reports = override_reports(w->reports, e->reports);
    }
    if (plan->n_worlds > 0) {
        e->instance = e->loss = e->delay = NULL;
        e->reports = (tarry__sim_reports){NULL, NULL};
    }
}

/* After: what the options say holds in all worlds. */
static void settle_worlds(tarry__batch_plan *plan)
{
    const tarry__experiment *e = &plan->experiment;
    for (size_t i = 0; i < plan->n_worlds; i++) {
        tarry__batch_world *w = &plan->world[i];
        w->instance = e->instance != NULL ? e->instance : w->instance;
        w->loss = e->loss != NULL ? e->loss : w->loss;
        w->delay = e->delay != NULL ? e->delay : w->delay;
        w->reports = override_reports(e->reports, w->reports);
    }
}

/* The file first, then the options over it. */
static int read_file(arguments *a, int argc, char **argv, json_t *texts)
{
    const char *file = a->file;
    *a = defaults;
    int code = run_read_config(file, texts, &a->plan);
    if (code != EXIT_DONE)
        return code;
    complete_worlds(&a->plan);
    code = parse(a, argc, argv);
    settle_worlds(&a->plan);
    return code;
}

static int run(int argc, char **argv)
{
    arguments a = defaults;
    int code = parse(&a, argc, argv);
    if (code >= 0)
        return code;
    json_t *texts = json_array();
    if (a.file != NULL)
        code = read_file(&a, argc, argv, texts);
    if (code < 0 && (code = check(&a)) == EXIT_DONE)
        code = start(&a);
    json_decref(texts);
    return code;
}

const cli_command cli_run = {"run", summary, run};
