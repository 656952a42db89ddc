/* plot.c - `tarry plot`: results as figures, and as the paper's page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "cli/cli.h"
#include "figure/figure.h"
#include "report/report.h"
#include "lab/workers.h"

static const char summary[] = "regret curves of a result as SVG, PDF or PNG";

enum { MAX_POLICIES = 64 };

typedef struct {
    const char *input, *out, *world, *title, *figure, *page;
    const char *policy[MAX_POLICIES];
    size_t n_policies;
    uint64_t seed, threads; /* nothing here depends on them */
    bool log, certificate, json;
} arguments;

static bool add_policy(void *context, const char *name)
{
    arguments *a = context;
    if (a->n_policies == MAX_POLICIES) {
        cli_error(EXIT_USAGE, "--policy: more than %d", MAX_POLICIES);
        return false;
    }
    a->policy[a->n_policies++] = name;
    return true;
}

static int parse(arguments *a, int argc, char **argv)
{
    cli_action policy = {add_policy, a};
    const cli_option options[] = {
        {"out", CLI_TEXT, &a->out, "FILE", "FILE.svg, FILE.pdf or FILE.png"},
        {"world", CLI_TEXT, &a->world, "NAME",
         "which world, if the experiment has several"},
        {"policy", CLI_ACTION, &policy, "NAME",
         "only this one; may be given many times"},
        {"log", CLI_FLAG, &a->log, NULL, "logarithmic axes"},
        {"certificate", CLI_FLAG, &a->certificate, NULL,
         "what the policies certify, instead of their regret"},
        {"title", CLI_TEXT, &a->title, "TEXT",
         "above the figure (default: the world)"},
        {"figure", CLI_TEXT, &a->figure, "ID",
         "a figure of tarry paper's results.json"},
        {"page", CLI_TEXT, &a->page, "DIR",
         "the whole page of tarry paper's results.json again"},
        {"json", CLI_FLAG, &a->json, NULL,
         "print the figure itself as JSON; --out may be missing"},
        {"seed", CLI_COUNT, &a->seed, "N", "accepted as in every command"},
        {"threads", CLI_COUNT, &a->threads, "N",
         "accepted as in every command"},
    };
    const cli_syntax syntax = {
        .command = "plot",
        .summary = summary,
        .usage = "RESULT.json --out FILE.svg|pdf|png [options]",
        .about =
            "Draws the regret curves of a result of tarry run --json, with\n"
            "shaded 95 % intervals, or a figure out of the results.json of\n"
            "tarry paper.  RESULT.json may be - for standard input.  The "
            "limit\n"
            "of tarry run --limit is drawn too.  gnuplot draws.",
        .examples =
            "  tarry run --policy linear --json >result.json\n"
            "  tarry plot result.json --out regret.svg --log\n"
            "  tarry plot result.json --out two.pdf --policy lints --policy "
            "linucb\n"
            "  tarry run experiments/delay-zoo.json --json | tarry plot - "
            "--world pareto --out pareto.png",
        .options = options,
        .n_options = sizeof options / sizeof *options,
        .positional = &a->input,
        .min_positional = 1,
        .max_positional = 1,
    };
    return cli_parse(&syntax, argc, argv);
}

/* ---- input ----------------------------------------------------------------*/

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static const json_t *named(const json_t *list, const char *name)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
    {
        if (strcmp(text_at(entry, "name"), name) == 0)
            return entry;
    }
    return NULL;
}

/* "a, b, c" for an error line. */
static void list_texts(const json_t *list, const char *key, char *line,
                       size_t size)
{
    size_t i, used = 0;
    json_t *entry;
    line[0] = '\0';
    json_array_foreach(list, i, entry)
    {
        if (used < size)
            used += (size_t)snprintf(line + used, size - used, "%s%s",
                                     i > 0 ? ", " : "", text_at(entry, key));
    }
}

static int unknown(const arguments *a, const char *option, const char *name,
                   const json_t *list)
{
    char names[2000];
    list_texts(list, "name", names, sizeof names);
    return cli_error(EXIT_USAGE, "%s: no %s '%s'; there are: %s", a->input,
                     option, name, names);
}

/* ---- the figure of a run --------------------------------------------------*/

/* The part of the result that is drawn: itself, or one of its worlds. */
static int choose_world(const arguments *a, const json_t *result,
                        const json_t **world)
{
    const json_t *worlds = json_object_get(result, "worlds");
    char names[2000];
    *world = result;
    if (!json_is_array(worlds)) {
        if (a->world != NULL)
            return cli_error(EXIT_USAGE, "%s: has no worlds to choose from",
                             a->input);
        return EXIT_DONE;
    }
    if (a->world == NULL && json_array_size(worlds) != 1) {
        list_texts(worlds, "name", names, sizeof names);
        return cli_error(EXIT_USAGE,
                         "%s: several worlds; choose with --world one of: %s",
                         a->input, names);
    }
    *world =
        a->world != NULL ? named(worlds, a->world) : json_array_get(worlds, 0);
    return *world != NULL ? EXIT_DONE : unknown(a, "world", a->world, worlds);
}

static bool is_chosen(const arguments *a, const char *name)
{
    for (size_t i = 0; i < a->n_policies; i++)
        if (strcmp(a->policy[i], name) == 0)
            return true;
    return a->n_policies == 0;
}

static void add_series(json_t **series, json_t *name, const char *kind,
                       json_t *points)
{
    *series =
        tarry__json_add(*series, json_pack("{s:o, s:s, s:o}", "name", name,
                                           "kind", kind, "points", points));
}

/* Bounds with their band, and the gaps they bound: [t, mean, low, high, gap].
 */
static void add_certificate(const char *name, const json_t *curve,
                            json_t **series)
{
    json_t *bounds = json_array(), *gaps = json_array(), *p;
    size_t i;
    json_array_foreach(curve, i, p)
    {
        bounds = tarry__json_add(
            bounds, json_pack("[O?, O?, O?, O?]", json_array_get(p, 0),
                              json_array_get(p, 1), json_array_get(p, 2),
                              json_array_get(p, 3)));
        gaps = tarry__json_add(gaps, json_pack("[O?, O?]", json_array_get(p, 0),
                                               json_array_get(p, 4)));
    }
    add_series(series, json_string(name), "band", bounds);
    add_series(series, json_sprintf("%s: true gap", name), "line", gaps);
}

/* Every policy asked for must be there with a curve; of the others, those
 * that have one are drawn. */
static int add_curves(const arguments *a, const json_t *policies,
                      json_t **series)
{
    const char *key = a->certificate ? "certificate" : "curve";
    size_t i;
    json_t *policy;
    for (i = 0; i < a->n_policies; i++)
        if (named(policies, a->policy[i]) == NULL)
            return unknown(a, "policy", a->policy[i], policies);
    json_array_foreach(policies, i, policy)
    {
        const char *name = text_at(policy, "name");
        json_t *curve = json_object_get(policy, key);
        if (a->certificate)
            curve = json_object_get(curve, "curve");
        if (!is_chosen(a, name))
            continue;
        if (json_is_array(curve) && a->certificate)
            add_certificate(name, curve, series);
        else if (json_is_array(curve))
            add_series(series, json_string(name), "band", json_incref(curve));
        else if (a->n_policies > 0)
            return cli_error(EXIT_USAGE, "%s: policy '%s' has no %s", a->input,
                             name, key);
    }
    if (json_array_size(*series) == 0 && *series != NULL)
        return cli_error(EXIT_USAGE, "%s: no policy has a %s", a->input, key);
    return EXIT_DONE;
}

/* The limit, if the run was asked for it. */
static void add_limit(const json_t *world, json_t **series)
{
    json_t *curve = json_object_get(json_object_get(world, "limit"), "curve");
    if (json_is_array(curve))
        add_series(series, json_string("limit, c log t"), "line",
                   json_incref(curve));
}

static json_t *title_of(const arguments *a, const json_t *world)
{
    const json_t *config = json_object_get(world, "config");
    return a->title != NULL
               ? json_string(a->title)
               : json_sprintf("%s, %s, %s", text_at(config, "instance"),
                              text_at(config, "loss"),
                              text_at(config, "delay"));
}

/* No figure came of it. */
static int cannot_say(void)
{
    return tarry__json_has_failed()
               ? cli_error(EXIT_FAILED, "out of memory")
               : cli_error(EXIT_USAGE, "--title: not UTF-8");
}

static int figure_of_run(const arguments *a, const json_t *result,
                         json_t **figure)
{
    const json_t *world, *policies;
    int code = choose_world(a, result, &world);
    if (code != EXIT_DONE)
        return code;
    policies = json_object_get(world, "policies");
    if (!json_is_array(policies))
        return cli_error(EXIT_USAGE,
                         "%s: not a result of tarry run --json: no policies",
                         a->input);
    json_t *series = json_array();
    code = add_curves(a, policies, &series);
    if (code == EXIT_DONE && !a->certificate)
        add_limit(world, &series);
    if (code != EXIT_DONE) {
        json_decref(series);
        return code;
    }
    *figure = json_pack("{s:s, s:o, s:{s:s, s:b}, s:{s:s, s:b}, s:o}", "id",
                        "regret", "title", title_of(a, world), "x", "label",
                        "round", "log", a->log, "y", "label",
                        a->certificate ? "certified gap" : "regret", "log",
                        a->log, "series", series);
    return *figure != NULL ? EXIT_DONE : cannot_say();
}

static int figure_of_paper(const arguments *a, const json_t *results,
                           json_t **figure)
{
    const json_t *found = tarry__report_figure(results, a->figure);
    if (found == NULL)
        return cli_error(EXIT_USAGE, "%s: no figure '%s'", a->input, a->figure);
    *figure = json_copy((json_t *)found);
    if (a->title != NULL)
        *figure = tarry__json_set(*figure, "title", json_string(a->title));
    return *figure != NULL ? EXIT_DONE : cannot_say();
}

/* ---- output ---------------------------------------------------------------*/

/* Input that is no figure or no report is the user's; gnuplot and full disks
 * are not. */
static int failed(const arguments *a, tarry_status status,
                  const tarry_error *error)
{
    if (status == TARRY_BAD_INPUT)
        return cli_error(EXIT_USAGE, "%s: %s", a->input, error->text);
    return cli_error(status == TARRY_BAD_ARGUMENT ? EXIT_USAGE : EXIT_FAILED,
                     "%s", error->text);
}

/* Prints the note, which says what the drawing leaves out, or the figure. */
static int draw(const arguments *a, json_t *figure)
{
    tarry_error error;
    const tarry_status status =
        a->out != NULL ? tarry__figure_write(figure, a->out, &error) : TARRY_OK;
    if (status != TARRY_OK)
        return failed(a, status, &error);
    if (a->json)
        return cli_print_json(json_incref(figure));
    char *note = tarry__figure_note(figure);
    if (note != NULL && note[0] != '\0')
        puts(note);
    free(note);
    return cli_flush();
}

static int plot(const arguments *a, const json_t *result)
{
    tarry_error error;
    json_t *figure = NULL;
    if (a->page != NULL) {
        const tarry_status status =
            tarry__report_write(result, a->page, &error);
        return status == TARRY_OK ? EXIT_DONE : failed(a, status, &error);
    }
    int code = a->figure != NULL ? figure_of_paper(a, result, &figure)
                                 : figure_of_run(a, result, &figure);
    if (code == EXIT_DONE)
        code = draw(a, figure);
    json_decref(figure);
    return code;
}

static int run(int argc, char **argv)
{
    arguments a = {0};
    int code = parse(&a, argc, argv);
    if (code >= 0)
        return code;
    if ((a.out != NULL || a.json) == (a.page != NULL))
        return cli_error(EXIT_USAGE,
                         "plot: give either --out FILE or --page DIR");
    if (tarry__workers_rank() != 0) /* one of many: rank 0 draws */
        return EXIT_DONE;
    json_t *result = cli_load_json(a.input, 0, &code);
    if (result != NULL)
        code = plot(&a, result);
    json_decref(result);
    return code;
}

const cli_command cli_plot = {"plot", summary, run};
