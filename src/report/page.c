/* page.c - the report as one page of HTML. */
#include "report/page.h"

#include <stdlib.h>
#include <string.h>
#include "figure/figure.h"
#include "report/html.h"

enum { DATA_ROWS = 40 }; /* shown of a row's data */

static const struct {
    const char *name, *sign;
} verdicts[] = {{"supported", "✓"}, {"unresolved", "?"}, {"contradicted", "✗"}};

verdict tarry__page_verdict(const json_t *row)
{
    const char *name = tarry__html_text(row, "verdict");
    for (int i = 0; i < N_VERDICTS; i++)
        if (strcmp(name, verdicts[i].name) == 0)
            return (verdict)i;
    return N_VERDICTS;
}

static void put_verdict(FILE *out, const json_t *row)
{
    const verdict v = tarry__page_verdict(row);
    if (v == N_VERDICTS) { /* a number that no claim is about */
        fputs("<span class=\"small\">reported</span>", out);
        return;
    }
    tarry__html(
        out,
        "<span class=\"verdict %m\"><span aria-hidden=\"true\">%m</span> "
        "%m</span>",
        verdicts[v].name, verdicts[v].sign, verdicts[v].name);
}

static bool is_in_table(const json_t *row)
{
    return strcmp(tarry__html_text(row, "group"), "table") == 0;
}

/* ---- summary and reading --------------------------------------------------*/

static void put_summary(FILE *out, const json_t *rows)
{
    size_t count[N_VERDICTS] = {0}, i;
    json_t *row;
    json_array_foreach(rows, i, row) count[tarry__page_verdict(row)]++;
    fputs("<ul class=\"tally\" aria-label=\"Verdicts\">\n", out);
    for (int v = 0; v < N_VERDICTS; v++)
        fprintf(out,
                "<li class=\"%s\"><b>%zu</b> <span><span aria-hidden=\"true\">"
                "%s</span> %s</span></li>\n",
                verdicts[v].name, count[v], verdicts[v].sign, verdicts[v].name);
    fputs("</ul>\n", out);
}

static const char how_to_read[] =
    "<section id=\"reading\">\n<h2>How to read this page</h2>\n"
    "<p>Each row is one claim of the paper, turned into a series of "
    "simulations that could have come out otherwise.</p>\n"
    "<dl>\n"
    "<dt><span class=\"verdict supported\"><span aria-hidden=\"true\">✓</span> "
    "supported</span></dt>\n"
    "<dd>The whole interval of what was measured fulfils the claim, numbers "
    "give or take the tolerance beside it. That is evidence at these sizes; "
    "the proof is the "
    "paper's.</dd>\n"
    "<dt><span class=\"verdict unresolved\"><span "
    "aria-hidden=\"true\">?</span> "
    "unresolved</span></dt>\n"
    "<dd>A part of the interval fulfils the claim: the runs were too few or "
    "too short to tell. The claim may well hold; this page does not show "
    "it.</dd>\n"
    "<dt><span class=\"verdict contradicted\"><span "
    "aria-hidden=\"true\">✗</span> contradicted</span></dt>\n"
    "<dd>No part of the interval fulfils the claim. A row has the verdict of "
    "its worst check.</dd>\n"
    "<dt>Exponents</dt>\n"
    "<dd>“Grows like E[d]” means: on axes that are both logarithmic, a line of "
    "slope 1. The slope is fitted; √n is slope ½, no dependence is slope 0. "
    "The bounds hide constants and logarithms, and a logarithm bends a slope a "
    "little at any finite size.</dd>\n"
    "<dt>Intervals</dt>\n"
    "<dd>± is the half width of a 95 % interval over independent runs. Of "
    "twenty true values, about one lies outside of its interval.</dd>\n"
    "<dt>Shared luck</dt>\n"
    "<dd>Policies that are compared meet the same losses and delays, run by "
    "run, and a penalty is the difference to the same run without delay. "
    "Differences are therefore sharper than the regrets themselves.</dd>\n"
    "<dt>Figures</dt>\n"
    "<dd>Marks with bars are measured; a thin line in the same colour is their "
    "fit; a dashed grey line is the theory, whose slope matters and whose "
    "height is a free constant unless it is said otherwise.</dd>\n"
    "</dl>\n";

static void put_reading(FILE *out, const json_t *config)
{
    const char *scale = tarry__html_text(config, "scale");
    fputs(how_to_read, out);
    if (strcmp(scale, "quick") == 0)
        fputs("<p>These are results at the <b>quick</b> scale, made to end in "
              "minutes: few runs, short horizons. What needs many dimensions "
              "or long horizons to show may stay unresolved here; "
              "<code>tarry paper --full</code> goes further.</p>\n",
              out);
    else
        tarry__html(out, "<p>These are results at the <b>%s</b> scale.</p>\n",
                    scale);
    fputs("</section>\n", out);
}

/* ---- tables ---------------------------------------------------------------*/

/* A box that scrolls by itself when the page is narrow, or whose rows become
 * cards then (class "stack").  The heads of the columns follow, then
 * begin_body. */
static void begin_table(FILE *out, const char *name, const char *class)
{
    tarry__html(out,
                "<div class=\"scroll %m\" tabindex=\"0\" role=\"region\" "
                "aria-label=\"%s\">\n<table>\n<thead><tr>",
                class, name);
}

static void put_head(FILE *out, const char *head)
{
    tarry__html(out, "<th scope=\"col\">%s</th>", head);
}

static void begin_body(FILE *out)
{
    fputs("</tr></thead>\n<tbody>\n", out);
}

/* The columns that every table of results ends with. */
static void put_result_heads(FILE *out)
{
    put_head(out, "Theory");
    put_head(out, "Measured");
    put_head(out, "Verdict");
    begin_body(out);
}

static void end_table(FILE *out)
{
    fputs("</tbody>\n</table>\n</div>\n", out);
}

static void put_verdict_cell(FILE *out, const json_t *row)
{
    fputs("<td data-head=\"Verdict\">", out);
    put_verdict(out, row);
    fputs("</td></tr>\n", out);
}

/* "at most 0.5 (tolerance 0.08)": which side of the number the theory allows,
 * and the tolerance of the judgement. */
static void put_theory(FILE *out, const json_t *row)
{
    const char *relation = tarry__html_text(row, "relation");
    const json_t *tolerance = json_object_get(row, "tolerance");
    fputs(strcmp(relation, "<=") == 0   ? "at most "
          : strcmp(relation, ">=") == 0 ? "at least "
                                        : "",
          out);
    tarry__html_number(out, json_object_get(row, "theory"), NULL);
    if (json_number_value(tolerance) > 0) {
        fputs(" <span class=\"small\">(tolerance ", out);
        tarry__html_number(out, tolerance, NULL);
        fputs(")</span>", out);
    }
}

/* The last cells of a row: theory, measured, verdict. */
static void put_result(FILE *out, const json_t *row)
{
    fputs("<td class=\"number\" data-head=\"Theory\">", out);
    put_theory(out, row);
    fputs("</td><td class=\"number\" data-head=\"Measured\">", out);
    tarry__html_number(out, json_object_get(row, "measured"),
                       json_object_get(row, "ci95"));
    fputs("</td>", out);
    put_verdict_cell(out, row);
}

/* A bound of the paper, a dash where it states none, and the exponents seen. */
static void put_bound(FILE *out, const json_t *row, const char *key,
                      const char *head)
{
    const json_t *paper = json_object_get(row, "paper");
    const char *text = tarry__html_text(paper, key);
    size_t i;
    json_t *seen;
    tarry__html(out, "<td class=\"bound\" data-head=\"%s\">%f", head,
                text[0] != '\0' ? text : "–");
    json_array_foreach(json_object_get(json_object_get(paper, "seen"), key), i,
                       seen)
    {
        tarry__html(out, "<div class=\"seen\">seen: %f<sup>",
                    tarry__html_text(seen, "symbol"));
        tarry__html_number(out, json_object_get(seen, "exponent"),
                           json_object_get(seen, "ci95"));
        fputs("</sup></div>", out);
    }
    fputs("</td>", out);
}

static void put_title_cell(FILE *out, const json_t *row)
{
    tarry__html(out, "<tr><th scope=\"row\"><a href=\"#row-%s\">%f</a></th>",
                tarry__html_text(row, "id"), tarry__html_text(row, "title"));
}

static bool has_group(const json_t *rows, bool in_table)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        if (is_in_table(row) == in_table)
            return true;
    }
    return false;
}

static void put_table1(FILE *out, const json_t *rows)
{
    size_t i;
    json_t *row;
    if (!has_group(rows, true))
        return;
    fputs("<section id=\"table\">\n<h2>The paper’s Table 1, measured</h2>\n"
          "<p>How the regret depends on the delay under each model of delay. "
          "The bounds are the paper’s, up to constants and logarithms; "
          "below each are the exponents seen here, with 95 % intervals, where "
          "it was put to the test.</p>\n",
          out);
    begin_table(out, "Table 1 of the paper with what was measured", "stack");
    put_head(out, "Delay model");
    put_head(out, "Plain bandits");
    put_head(out, "Linear, before");
    put_head(out, "Linear, new");
    put_head(out, "Verdict");
    begin_body(out);
    json_array_foreach(rows, i, row)
    {
        if (!is_in_table(row))
            continue;
        put_title_cell(out, row);
        put_bound(out, row, "bandits", "Plain bandits");
        put_bound(out, row, "prior", "Linear, before");
        put_bound(out, row, "here", "Linear, new");
        put_verdict_cell(out, row);
    }
    end_table(out);
    fputs("<p class=\"small\">E[d] is the mean delay, d(a) the delay of arm a, "
          "d* that of the best arm, D the longest; σ<sub>max</sub> is the "
          "largest number "
          "of losses on their way at once; n is the dimension.</p>\n"
          "</section>\n",
          out);
}

static void put_theorems(FILE *out, const json_t *rows)
{
    size_t i;
    json_t *row;
    if (!has_group(rows, false))
        return;
    fputs("<section id=\"theorems\">\n<h2>Theorems and promises</h2>\n", out);
    begin_table(out, "Theorems and promises", "stack");
    put_head(out, "Claim");
    put_result_heads(out);
    json_array_foreach(rows, i, row)
    {
        if (is_in_table(row))
            continue;
        put_title_cell(out, row);
        put_result(out, row);
    }
    end_table(out);
    fputs("</section>\n", out);
}

void tarry__page_top(FILE *out, const json_t *results)
{
    const json_t *rows = json_object_get(results, "rows");
    const json_t *config = json_object_get(results, "config");
    tarry__html(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<title>Linear bandits with delay, measured</title>\n"
        "<link rel=\"icon\" href=\"data:,\">\n<style>\n%m</style>\n"
        "</head>\n<body>\n<header>\n"
        "<h1>Linear bandits with delay, measured</h1>\n"
        "<p class=\"lead\">The claims of “Near-Optimal Stochastic Linear "
        "Bandits with Delay”, each beside an experiment.</p>\n",
        tarry__page_style);
    put_summary(out, rows);
    tarry__html(
        out,
        "<p class=\"made\"><code>%s</code></p>\n<p><a href=\"#reading\">How to "
        "read this page</a></p>\n</header>\n<main>\n",
        tarry__html_text(config, "command"));
    put_table1(out, rows);
    put_theorems(out, rows);
    put_reading(out, config);
}

/* ---- a row ----------------------------------------------------------------*/

static void put_checks(FILE *out, const json_t *row)
{
    const json_t *checks = json_object_get(row, "checks");
    size_t i;
    json_t *check;
    if (json_array_size(checks) == 0)
        return;
    begin_table(out, "Checks", "stack");
    put_head(out, "Check");
    put_result_heads(out);
    json_array_foreach(checks, i, check)
    {
        tarry__html(out, "<tr><th scope=\"row\">%f",
                    tarry__html_text(check, "name"));
        if (tarry__html_text(check, "text")[0] != '\0')
            tarry__html(out, "<span class=\"small\">%f</span>",
                        tarry__html_text(check, "text"));
        fputs("</th>", out);
        put_result(out, check);
    }
    end_table(out);
}

void tarry__page_row_top(FILE *out, const json_t *row)
{
    tarry__html(out,
                "<section class=\"row\" id=\"row-%s\">\n<h2>%f</h2>\n"
                "<p class=\"claim\">%f</p>\n<p>",
                tarry__html_text(row, "id"), tarry__html_text(row, "title"),
                tarry__html_text(row, "claim"));
    put_verdict(out, row);
    tarry__html(out, " %f</p>\n", tarry__html_text(row, "because"));
    put_checks(out, row);
    fputs("<div class=\"figures\">\n", out);
}

/* ---- data -----------------------------------------------------------------*/

/* The keys of the records that are shown, in order of appearance; NULL: out of
 * memory. */
static json_t *data_columns(const json_t *data)
{
    json_t *columns = json_object(), *record, *value;
    const char *key;
    size_t i;
    json_array_foreach(data, i, record)
    {
        if (i == DATA_ROWS)
            break;
        json_object_foreach(record, key, value) columns =
            tarry__json_set(columns, key, json_true());
    }
    return columns;
}

static bool put_record(FILE *out, const json_t *record, json_t *columns)
{
    const char *key;
    json_t *unused;
    bool is_whole = true;
    fputs("<tr>", out);
    json_object_foreach(columns, key, unused)
    {
        const json_t *value = json_object_get(record, key);
        fputs(json_is_number(value) ? "<td class=\"number\">" : "<td>", out);
        is_whole &= tarry__html_value(out, value);
        fputs("</td>", out);
    }
    fputs("</tr>\n", out);
    return is_whole;
}

static bool put_data(FILE *out, const json_t *row)
{
    const json_t *data = json_object_get(row, "data");
    const size_t count = json_array_size(data);
    if (count == 0)
        return true;
    json_t *columns = data_columns(data), *record, *unused;
    const char *key;
    size_t i;
    bool is_whole = columns != NULL;
    fprintf(out, "<details>\n<summary>Data: %zu record%s</summary>\n", count,
            count == 1 ? "" : "s");
    begin_table(out, "Data", "");
    json_object_foreach(columns, key, unused) put_head(out, key);
    begin_body(out);
    json_array_foreach(data, i, record)
    {
        if (i < DATA_ROWS)
            is_whole &= put_record(out, record, columns);
    }
    end_table(out);
    if (count > DATA_ROWS)
        fprintf(out,
                "<p class=\"small\">The first %d are shown; <a "
                "href=\"results.json\">results.json</a> has them all, with "
                "every digit.</p>\n",
                DATA_ROWS);
    fputs("</details>\n", out);
    json_decref(columns);
    return is_whole;
}

bool tarry__page_row_end(FILE *out, const json_t *row)
{
    const json_t *seconds = json_object_get(row, "seconds");
    fputs("</div>\n", out);
    const bool is_whole = put_data(out, row);
    if (json_is_number(seconds))
        fprintf(out, "<p class=\"small\">Computed in %.1f s.</p>\n",
                json_number_value(seconds));
    fputs("</section>\n", out);
    return is_whole;
}

/* ---- a figure -------------------------------------------------------------*/

/* The drawing itself without the prologue of its file. */
static void put_svg(FILE *out, const json_t *figure, const char *svg)
{
    const char *start = strstr(svg, "<svg");
    if (start != NULL)
        tarry__html(out, "<svg role=\"img\" aria-label=\"%s\"%m",
                    tarry__html_text(figure, "title"), start + strlen("<svg"));
}

static bool put_command(FILE *out, const json_t *figure, const json_t *config)
{
    const char *command = tarry__html_text(figure, "command");
    tarry__html(out, "<p class=\"made\"><code>%s</code><br>seed ",
                command[0] != '\0' ? command
                                   : tarry__html_text(config, "command"));
    return tarry__html_value(out, json_object_get(config, "seed"));
}

bool tarry__page_figure(FILE *out, const json_t *figure, const char *svg,
                        const json_t *config)
{
    static const char *const formats[][2] = {
        {"csv", "CSV"}, {"pdf", "PDF"}, {"png", "PNG"}, {"svg", "SVG"}};
    const char *id = tarry__html_text(figure, "id");
    char *note = tarry__figure_note(figure);
    tarry__html(out, "<figure id=\"figure-%s\">\n", id);
    put_svg(out, figure, svg);
    tarry__html(out, "<figcaption>\n<p>%f</p>\n", note);
    const bool is_whole = put_command(out, figure, config) && note != NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        tarry__html(out, " · <a href=\"figures/%s.%m\">%m</a>", id,
                    formats[i][0], formats[i][1]);
    fputs("</p>\n</figcaption>\n</figure>\n", out);
    free(note);
    return is_whole;
}

/* ---- the end --------------------------------------------------------------*/

bool tarry__page_end(FILE *out, const json_t *results)
{
    json_t *config = json_object_get(results, "config"), *value;
    const char *key;
    bool is_whole = true;
    fputs("</main>\n<footer>\n<h2>How this page was made</h2>\n"
          "<p>The same command and seed give the same numbers, on any number "
          "of threads or machines. Every number of the page is in <a "
          "href=\"results.json\">results.json</a>.</p>\n<dl>\n",
          out);
    json_object_foreach(config, key, value)
    {
        tarry__html(out, "<dt>%s</dt><dd><code>", key);
        is_whole &= tarry__html_value(out, value);
        fputs("</code></dd>\n", out);
    }
    fputs("</dl>\n</footer>\n</body>\n</html>\n", out);
    return is_whole;
}
