/* plot.c - `tarry plot`: results as figures, and as the paper's page. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cli.h"
#include "figure/figure.h"
#include "report/report.h"
#include "lab/workers.h"

enum { MAX_POLICIES = 64 };

static struct {
    const char *input, *out, *world, *title, *figure, *page;
    const char *policy[MAX_POLICIES];
    size_t n_policies;
    uint64_t seed, threads; /* nothing here depends on them */
    bool log, certificate, json;
} a;

static bool add_policy(const char *name)
{
    if (a.n_policies == MAX_POLICIES) {
        cli_error(EXIT_USAGE, "--policy: more than %d", MAX_POLICIES);
        return false;
    }
    a.policy[a.n_policies++] = name;
    return true;
}

static int parse(int argc, char **argv)
{
    const cli_option options[] = {
        {"out", CLI_TEXT, &a.out, "FILE", "FILE.svg, FILE.pdf or FILE.png"},
        {"world", CLI_TEXT, &a.world, "NAME",
         "which world, if the experiment has several"},
        {"policy", CLI_ACTION, (void *)add_policy, "NAME",
         "only this one; may be given many times"},
        {"log", CLI_FLAG, &a.log, NULL, "logarithmic axes"},
        {"certificate", CLI_FLAG, &a.certificate, NULL,
         "what the policies certify, instead of their regret"},
        {"title", CLI_TEXT, &a.title, "TEXT",
         "above the figure (default: the world)"},
        {"figure", CLI_TEXT, &a.figure, "ID",
         "a figure of tarry paper's results.json"},
        {"page", CLI_TEXT, &a.page, "DIR",
         "the whole page of tarry paper's results.json again"},
        {"json", CLI_FLAG, &a.json, NULL,
         "print the figure itself as JSON; --out may be missing"},
        {"seed", CLI_COUNT, &a.seed, "N", "accepted as in every command"},
        {"threads", CLI_COUNT, &a.threads, "N", "accepted as in every command"},
    };
    const cli_syntax syntax = {
        .command = "plot",
        .usage = "RESULT.json --out FILE.svg|pdf|png [options]",
        .about =
            "Draws the regret curves of a result of tarry run --json, with\n"
            "shaded 95 % intervals, or a figure out of the results.json of\n"
            "tarry paper.  RESULT.json may be - for standard input.  gnuplot\n"
            "draws.",
        .examples =
            "  tarry run --policy linear --json >result.json\n"
            "  tarry plot result.json --out regret.svg --log\n"
            "  tarry plot result.json --out two.pdf --policy lints --policy "
            "linucb\n"
            "  tarry run experiments/delay-zoo.json --json | tarry plot - "
            "--world pareto --out pareto.png",
        .options = options,
        .n_options = sizeof options / sizeof *options,
        .positional = &a.input,
        .min_positional = 1,
        .max_positional = 1,
    };
    return cli_parse(&syntax, argc, argv);
}

/* ---- input ----------------------------------------------------------------*/

/* NULL after an error has been printed. */
static json_t *load(const char *path)
{
    json_error_t error;
    const bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "r");
    if (file == NULL) {
        cli_error(EXIT_USAGE, "%s: %s", path, strerror(errno));
        return NULL;
    }
    json_t *json = json_loadf(file, 0, &error);
    if (json == NULL)
        cli_error(EXIT_USAGE, "%s:%d:%d: %s", path, error.line, error.column,
                  error.text);
    if (!is_input)
        fclose(file);
    return json;
}

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

static int unknown(const char *option, const char *name, const json_t *list)
{
    char names[2000];
    list_texts(list, "name", names, sizeof names);
    return cli_error(EXIT_USAGE, "%s: no %s '%s'; there are: %s", a.input,
                     option, name, names);
}

/* ---- the figure of a run --------------------------------------------------*/

/* The part of the result that is drawn: itself, or one of its worlds. */
static int choose_world(const json_t *result, const json_t **world)
{
    const json_t *worlds = json_object_get(result, "worlds");
    char names[2000];
    *world = result;
    if (!json_is_array(worlds)) {
        if (a.world != NULL)
            return cli_error(EXIT_USAGE, "%s: has no worlds to choose from",
                             a.input);
        return EXIT_DONE;
    }
    if (a.world == NULL && json_array_size(worlds) != 1) {
        list_texts(worlds, "name", names, sizeof names);
        return cli_error(EXIT_USAGE,
                         "%s: several worlds; choose with --world one of: %s",
                         a.input, names);
    }
    *world =
        a.world != NULL ? named(worlds, a.world) : json_array_get(worlds, 0);
    return *world != NULL ? EXIT_DONE : unknown("world", a.world, worlds);
}

static bool is_chosen(const char *name)
{
    for (size_t i = 0; i < a.n_policies; i++)
        if (strcmp(a.policy[i], name) == 0)
            return true;
    return a.n_policies == 0;
}

static void add_series(json_t *series, json_t *name, const char *kind,
                       json_t *points)
{
    json_array_append_new(series, json_pack("{s:o, s:s, s:o}", "name", name,
                                            "kind", kind, "points", points));
}

/* Bounds with their band, and the gaps they bound: [t, mean, low, high, gap].
 */
static void add_certificate(const char *name, const json_t *curve,
                            json_t *series)
{
    json_t *bounds = json_array(), *gaps = json_array(), *p;
    size_t i;
    json_array_foreach(curve, i, p)
    {
        json_array_append_new(
            bounds, json_pack("[O?, O?, O?, O?]", json_array_get(p, 0),
                              json_array_get(p, 1), json_array_get(p, 2),
                              json_array_get(p, 3)));
        json_array_append_new(gaps, json_pack("[O?, O?]", json_array_get(p, 0),
                                              json_array_get(p, 4)));
    }
    add_series(series, json_string(name), "band", bounds);
    add_series(series, json_sprintf("%s: true gap", name), "line", gaps);
}

/* Every policy asked for must be there with a curve; of the others, those
 * that have one are drawn. */
static int add_curves(const json_t *policies, json_t *series)
{
    const char *key = a.certificate ? "certificate" : "curve";
    size_t i;
    json_t *policy;
    for (i = 0; i < a.n_policies; i++)
        if (named(policies, a.policy[i]) == NULL)
            return unknown("policy", a.policy[i], policies);
    json_array_foreach(policies, i, policy)
    {
        const char *name = text_at(policy, "name");
        json_t *curve = json_object_get(policy, key);
        if (a.certificate)
            curve = json_object_get(curve, "curve");
        if (!is_chosen(name))
            continue;
        if (json_is_array(curve) && a.certificate)
            add_certificate(name, curve, series);
        else if (json_is_array(curve))
            add_series(series, json_string(name), "band", json_incref(curve));
        else if (a.n_policies > 0)
            return cli_error(EXIT_USAGE, "%s: policy '%s' has no %s", a.input,
                             name, key);
    }
    if (json_array_size(series) == 0)
        return cli_error(EXIT_USAGE, "%s: no policy has a %s", a.input, key);
    return EXIT_DONE;
}

static json_t *title_of(const json_t *world)
{
    const json_t *config = json_object_get(world, "config");
    return a.title != NULL
               ? json_string(a.title)
               : json_sprintf("%s, %s, %s", text_at(config, "instance"),
                              text_at(config, "loss"),
                              text_at(config, "delay"));
}

static int figure_of_run(const json_t *result, json_t **figure)
{
    const json_t *world, *policies;
    int code = choose_world(result, &world);
    if (code != EXIT_DONE)
        return code;
    policies = json_object_get(world, "policies");
    if (!json_is_array(policies))
        return cli_error(EXIT_USAGE,
                         "%s: not a result of tarry run --json: no policies",
                         a.input);
    json_t *series = json_array();
    code = add_curves(policies, series);
    if (code != EXIT_DONE) {
        json_decref(series);
        return code;
    }
    *figure =
        json_pack("{s:s, s:o, s:{s:s, s:b}, s:{s:s, s:b}, s:o}", "id", "regret",
                  "title", title_of(world), "x", "label", "round", "log", a.log,
                  "y", "label", a.certificate ? "certified gap" : "regret",
                  "log", a.log, "series", series);
    return *figure != NULL ? EXIT_DONE
                           : cli_error(EXIT_FAILED, "out of memory");
}

static int figure_of_paper(const json_t *results, json_t **figure)
{
    const json_t *found = tarry__report_figure(results, a.figure);
    if (found == NULL)
        return cli_error(EXIT_USAGE, "%s: no figure '%s'", a.input, a.figure);
    *figure = json_copy((json_t *)found);
    if (a.title != NULL)
        json_object_set_new(*figure, "title", json_string(a.title));
    return EXIT_DONE;
}

/* ---- output ---------------------------------------------------------------*/

/* Input that is no figure or no report is the user's; gnuplot and full disks
 * are not. */
static int failed(tarry_status status, const tarry_error *error)
{
    if (status == TARRY_BAD_INPUT)
        return cli_error(EXIT_USAGE, "%s: %s", a.input, error->text);
    return cli_error(status == TARRY_BAD_ARGUMENT ? EXIT_USAGE : EXIT_FAILED,
                     "%s", error->text);
}

/* Prints the note, which says what the drawing leaves out, or the figure. */
static int draw(json_t *figure)
{
    tarry_error error;
    const tarry_status status =
        a.out != NULL ? tarry__figure_write(figure, a.out, &error) : TARRY_OK;
    if (status != TARRY_OK)
        return failed(status, &error);
    if (a.json)
        return cli_print_json(json_incref(figure));
    char *note = tarry__figure_note(figure);
    if (note != NULL && note[0] != '\0')
        puts(note);
    free(note);
    return cli_flush();
}

static int plot(const json_t *result)
{
    tarry_error error;
    json_t *figure = NULL;
    if (a.page != NULL) {
        const tarry_status status = tarry__report_write(result, a.page, &error);
        return status == TARRY_OK ? EXIT_DONE : failed(status, &error);
    }
    int code = a.figure != NULL ? figure_of_paper(result, &figure)
                                : figure_of_run(result, &figure);
    if (code == EXIT_DONE)
        code = draw(figure);
    json_decref(figure);
    return code;
}

static int run(int argc, char **argv)
{
    const int code = parse(argc, argv);
    if (code >= 0)
        return code;
    if ((a.out != NULL || a.json) == (a.page != NULL))
        return cli_error(EXIT_USAGE,
                         "plot: give either --out FILE or --page DIR");
    if (tarry__workers_rank() != 0) /* one of many: rank 0 draws */
        return EXIT_DONE;
    json_t *result = load(a.input);
    if (result == NULL)
        return EXIT_USAGE;
    const int done = plot(result);
    json_decref(result);
    return done;
}

const cli_command cli_plot = {
    "plot", "regret curves of a result as SVG, PDF or PNG", run};
