/* design.c - `tarry design`: the optimal design of an arm file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "cli/cli.h"

static const char summary[] = "optimal design: which arms to play how often";

typedef struct {
    const char *path, *rule;
    double tolerance, rank_tolerance;
    uint64_t max_support, threads, seed;
    bool json;
} arguments;

static int parse(int argc, char **argv, arguments *a)
{
    const cli_option options[] = {
        {"rule", CLI_TEXT, &a->rule, "near|paper",
         "near: g <= (1 + tol) r; paper: g <= 2r on few arms, none of\n"
         "them rare, as the paper's policies need it (default near)"},
        {"tol", CLI_REAL, &a->tolerance, "X",
         "how near to optimal, for near; 1e-9 or more (default 1e-3)"},
        {"rank-tol", CLI_REAL, &a->rank_tolerance, "X",
         "singular values below this share of the largest count as\n"
         "zero (default 1e-11)"},
        {"max-support", CLI_COUNT, &a->max_support, "N",
         "use at most N arms, for near (default: no limit)"},
        {"threads", CLI_COUNT, &a->threads, "N",
         "threads to use (default: all); no effect on the result"},
        {"seed", CLI_COUNT, &a->seed, "N",
         "accepted as in every command; designs use no randomness"},
        {"json", CLI_FLAG, &a->json, NULL, "print one JSON object"},
    };
    const cli_syntax syntax = {
        .command = "design",
        .summary = summary,
        .usage = "ARMS [options]",
        .about = "Finds weights for the arms of a file such that the largest\n"
                 "variance g = max a' V^+ a, V = sum of weight(a) a a', is as "
                 "small\n"
                 "as can be: r, the dimension of the arms' span.\n\n"
                 "ARMS is a CSV file, one arm per line (- for standard input), "
                 "or a\n"
                 "NumPy .npy file, one arm per row.",
        .examples = "  tarry design arms.csv\n"
                    "  tarry design arms.npy --rule paper --json\n"
                    "  tarry design arms.csv --tol 1e-6 --max-support 30",
        .options = options,
        .n_options = sizeof options / sizeof *options,
        .positional = &a->path,
        .min_positional = 1,
        .max_positional = 1,
    };
    return cli_parse(&syntax, argc, argv);
}

static int show_progress(void *context, double share, double g_over_rank)
{
    char note[64];
    (void)context;
    snprintf(note, sizeof note, "g / r = %.6g", g_over_rank);
    cli_progress(share, note);
    return cli_interrupted();
}

/* ---- output ---------------------------------------------------------------*/

/* A name that is not UTF-8 is taken for Latin-1, as spreadsheets write it. */
static json_t *name_to_json(const char *name)
{
    if (tarry__json_is_text(name))
        return json_string(name);
    char *text = malloc(2 * strlen(name) + 1);
    if (text == NULL)
        return NULL;
    char *end = text;
    for (const char *c = name; *c != '\0'; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte >= 0x80)
            *end++ = (char)(0xC0 | byte >> 6);
        *end++ = (char)(byte >= 0x80 ? 0x80 | (byte & 0x3F) : byte);
    }
    *end = '\0';
    json_t *json = json_string(text);
    free(text);
    return json;
}

static json_t *to_json(const tarry_arms *arms, const tarry_design *d, bool met)
{
    json_t *support = json_array();
    for (size_t i = 0; i < d->n_support; i++) {
        json_t *entry = json_pack("{s:I, s:f}", "arm", (json_int_t)d->arm[i],
                                  "weight", d->weight[i]);
        if (arms->names != NULL)
            entry = tarry__json_set(entry, "name",
                                    name_to_json(arms->names[d->arm[i]]));
        support = tarry__json_add(support, entry);
    }
    return json_pack("{s:I, s:I, s:I, s:o, s:o, s:f, s:f, s:f, s:b}", "arms",
                     (json_int_t)arms->n_arms, "dim", (json_int_t)arms->dim,
                     "rank", (json_int_t)d->rank, "g", tarry__json_number(d->g),
                     "support", support, "min_weight", d->min_weight, "passes",
                     d->passes, "seconds", d->seconds, "met", met);
}

/* Heaviest arms first. */
static const tarry_design *sorted_design;

static int heavier_first(const void *a, const void *b)
{
    const double x = sorted_design->weight[*(const size_t *)a];
    const double y = sorted_design->weight[*(const size_t *)b];
    return x != y ? (x < y) - (x > y)
                  : (*(const size_t *)a > *(const size_t *)b) -
                        (*(const size_t *)a < *(const size_t *)b);
}

static int print_heaviest(const tarry_arms *arms, const tarry_design *d)
{
    enum { SHOWN = 12 };
    size_t *order = malloc(d->n_support * sizeof *order);
    if (order == NULL)
        return cli_error(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < d->n_support; i++)
        order[i] = i;
    sorted_design = d;
    qsort(order, d->n_support, sizeof *order, heavier_first);
    printf("\n%12s  %10s\n", "arm", "weight");
    for (size_t i = 0; i < d->n_support && i < SHOWN; i++) {
        const size_t arm = d->arm[order[i]];
        cli_put("%12zu  %10.6f%s%s", arm, d->weight[order[i]],
                arms->names != NULL ? "  " : "",
                arms->names != NULL ? arms->names[arm] : "");
        cli_put_end();
    }
    if (d->n_support > SHOWN)
        printf("%12s  and %zu more (--json lists all)\n", "...",
               d->n_support - SHOWN);
    free(order);
    return EXIT_DONE;
}

static int print_table(const tarry_arms *arms, const tarry_design *d)
{
    printf("%zu arms in %zu dimensions, span of rank %zu\n", arms->n_arms,
           arms->dim, d->rank);
    printf("largest variance g    %.9g", d->g);
    if (d->rank > 0)
        printf("   (%.2e above the optimum %zu)",
               fmax(d->g / (double)d->rank - 1, 0), d->rank);
    printf("\nsupport               %zu arms, smallest weight %.3g\n",
           d->n_support, d->min_weight);
    printf("time                  %.3g s, %.2f passes over the arms\n",
           d->seconds, d->passes);
    const int code = print_heaviest(arms, d);
    return code == EXIT_DONE ? cli_flush() : code;
}

/* ---- the command ----------------------------------------------------------*/

static int options_of(const arguments *a, tarry_design_options *o)
{
    *o = tarry_design_defaults();
    if (strcmp(a->rule, "paper") == 0)
        o->rule = TARRY_DESIGN_PAPER;
    else if (strcmp(a->rule, "near") != 0)
        return cli_error(EXIT_USAGE, "--rule: neither near nor paper: '%s'",
                         a->rule);
    if (a->threads > 1024)
        return cli_error(EXIT_USAGE, "--threads: more than 1024: '%ju'",
                         (uintmax_t)a->threads);
    o->tolerance = a->tolerance;
    o->rank_tolerance = a->rank_tolerance;
    o->max_support = a->max_support;
    o->threads = (int)a->threads;
    o->progress = show_progress;
    const char *wrong = tarry_design_options_check(o, 1, 1);
    return wrong == NULL ? EXIT_DONE
                         : cli_error(EXIT_USAGE, "--tol %g, --rank-tol %g: %s",
                                     o->tolerance, o->rank_tolerance, wrong);
}

static int solve(const arguments *a, const tarry_arms *arms,
                 const tarry_design_options *options)
{
    tarry_design *design;
    const tarry_status status = tarry_design_solve(arms->data, arms->n_arms,
                                                   arms->dim, options, &design);
    cli_progress_end();
    if (status == TARRY_CANCELLED)
        return cli_error(EXIT_FAILED, "interrupted");
    if (status == TARRY_BAD_ARGUMENT)
        return cli_error(EXIT_USAGE,
                         "%s: no entry of the arms is 1e-290 or more, and not "
                         "all are 0; scale all arms alike",
                         a->path);
    if (design == NULL)
        return cli_error(cli_code(status), "%s: %s", a->path,
                         tarry_status_text(status));
    int code = a->json
                   ? cli_print_json(to_json(arms, design, status == TARRY_OK))
                   : print_table(arms, design);
    if (code == EXIT_DONE && status != TARRY_OK)
        code = cli_error(
            EXIT_FAILED, "%s: %s: g = %.9g on %zu arms is the best found",
            a->path, tarry_status_text(status), design->g, design->n_support);
    tarry_design_free(design);
    return code;
}

static int run(int argc, char **argv)
{
    const tarry_design_options defaults = tarry_design_defaults();
    arguments a = {.rule = "near",
                   .tolerance = defaults.tolerance,
                   .rank_tolerance = defaults.rank_tolerance};
    tarry_design_options options;
    int code = parse(argc, argv, &a);
    if (code >= 0)
        return code;
    if ((code = options_of(&a, &options)) != EXIT_DONE)
        return code;
    tarry_arms *arms;
    tarry_error error;
    const tarry_status status = tarry_arms_read(a.path, &arms, &error);
    if (status != TARRY_OK)
        return cli_error(cli_code(status), "%s", error.text);
    cli_catch_interrupt(); /* before this Ctrl-C just ends the program */
    const char *wrong =
        tarry_design_options_check(&options, arms->n_arms, arms->dim);
    if (wrong != NULL)
        code = cli_error(EXIT_USAGE, "%s: %zu arms in %zu dimensions: %s",
                         a.path, arms->n_arms, arms->dim, wrong);
    else
        code = solve(&a, arms, &options);
    tarry_arms_free(arms);
    return code;
}

const cli_command cli_design = {"design", summary, run};
