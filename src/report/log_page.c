/* log_page.c - see log_page.h.  The page is for readers who have never heard of
 * censoring or of bandits: every number stands in a sentence or has a head. */
#include "report/log_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/file.h"
#include "log/examine.h"
#include "report/html.h"
#include "report/page.h"
#include "report/report.h"

enum { ARMS_SHOWN = 50, ARMS_DRAWN = 6, PERIODS_DRAWN = 200 };

typedef struct {
    FILE *out;
    const json_t *result;
    const char *name, *figures; /* of the log; the folder, with '/' */
    json_t *config;
    bool is_calendar;
    double unit; /* of time on the axes, in the log's unit */
    const char *unit_name;
    tarry_error *error;
} page;

/* ---- reading --------------------------------------------------------------*/

static const json_t *at(const json_t *object, const char *key)
{
    return json_object_get(object, key);
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = at(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void put_time(const page *p, const json_t *object, const char *key)
{
    char text[32];
    tarry__examine_duration(number(object, key), p->is_calendar, text,
                            sizeof text);
    tarry__html(p->out, "%s", isnan(number(object, key)) ? "–" : text);
}

static void put_number(const page *p, double value, const char *format)
{
    char text[48];
    snprintf(text, sizeof text, format, value);
    tarry__html(p->out, "%s", isfinite(value) ? text : "–");
}

/* ---- tables ---------------------------------------------------------------*/

static void begin_table(const page *p, const char *name,
                        const char *const *heads)
{
    tarry__html(p->out,
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                "aria-label=\"%s\">\n<table>\n<thead><tr>",
                name);
    for (; *heads != NULL; heads++)
        tarry__html(p->out, "<th scope=\"col\">%s</th>", *heads);
    fputs("</tr></thead>\n<tbody>\n", p->out);
}

static void end_table(const page *p)
{
    fputs("</tbody>\n</table>\n</div>\n", p->out);
}

static void begin_row(const page *p, const json_t *name)
{
    fputs("<tr><th scope=\"row\">", p->out);
    (void)tarry__html_value(p->out, name); /* a text or a number */
    fputs("</th>", p->out);
}

static void put_cell(const page *p, double value, const char *format)
{
    fputs("<td class=\"number\">", p->out);
    put_number(p, value, format);
    fputs("</td>", p->out);
}

static void put_time_cell(const page *p, const json_t *object, const char *key)
{
    fputs("<td class=\"number\">", p->out);
    put_time(p, object, key);
    fputs("</td>", p->out);
}

/* ---- figures --------------------------------------------------------------*/

/* Seconds are drawn in the unit that suits the longest. */
static void choose_unit(page *p)
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}};
    const json_t *curve = at(at(p->result, "delay"), "curve");
    const size_t n = json_array_size(curve);
    const double longest =
        n > 0
            ? json_number_value(json_array_get(json_array_get(curve, n - 1), 0))
            : 0;
    p->unit = 1;
    p->unit_name = p->is_calendar ? "seconds" : "unit of the log";
    for (size_t i = 3; p->is_calendar && i-- > 0;)
        if (longest > 2 * units[i].seconds) {
            p->unit = units[i].seconds;
            p->unit_name = units[i].name;
        }
}

static json_t *point_of(double time, const double v[3], bool band)
{
    return band ? json_pack("[f,f,f,f]", time, v[0], v[1], v[2])
                : json_pack("[f,f]", time, v[0]);
}

/* A curve as points [time, share out, low, high], from time 0 on; it falls in
 * steps. */
static json_t *points_of(const page *p, const json_t *curve, bool band)
{
    json_t *points = json_array(), *row;
    double v[3] = {1, 1, 1};
    size_t i;
    points = tarry__json_add(points, point_of(0, v, band));
    json_array_foreach(curve, i, row)
    {
        const double time = json_number_value(json_array_get(row, 0)) / p->unit;
        points = tarry__json_add(points, point_of(time, v, band));
        for (size_t k = 0; k < 3; k++)
            v[k] = json_number_value(json_array_get(row, k + 1));
        points = tarry__json_add(points, point_of(time, v, band));
    }
    return points;
}

static tarry_status put_figure(const page *p, const char *id, const char *title,
                               const char *note, const char *x, const char *y,
                               json_t *series)
{
    json_t *figure = json_pack("{s:s, s:s, s:s, s:{s:s}, s:{s:s}, s:o}", "id",
                               id, "title", title, "note", note, "x", "label",
                               x, "y", "label", y, "series", series);
    if (figure == NULL)
        return tarry__base_fail(p->error, TARRY_NO_MEMORY, "out of memory");
    fputs("<div class=\"figures\">\n", p->out);
    const tarry_status status = tarry__report_put_figure(
        p->out, figure, p->config, p->figures, p->error);
    fputs("</div>\n", p->out);
    json_decref(figure);
    return status;
}

static json_t *series_of(const char *name, const char *kind, json_t *points)
{
    return json_pack("{s:s, s:s, s:o}", "name", name, "kind", kind, "points",
                     points);
}

static void arm_name(const json_t *arm, char *text, size_t size)
{
    const json_t *name = at(arm, "arm");
    if (json_is_integer(name))
        snprintf(text, size, "arm %lld", (long long)json_integer_value(name));
    else
        snprintf(text, size, "%s", json_string_value(name));
}

static tarry_status draw_delays(const page *p)
{
    char label[80], name[80];
    const json_t *arms = at(p->result, "arms");
    json_t *all = json_array(), *by_arm = json_array();
    snprintf(label, sizeof label, "time since the decision (%s)", p->unit_name);
    all = tarry__json_add(
        all,
        series_of("all decisions", "band",
                  points_of(p, at(at(p->result, "delay"), "curve"), true)));
    tarry_status status =
        put_figure(p, "delays", "Decisions still without an outcome",
                   "Of all decisions, the share whose outcome has not come "
                   "yet so long after them. The shade is a 95 % band for the "
                   "whole curve. Decisions that are still waiting count as "
                   "long as they have waited.",
                   label, "share still out", all);
    for (size_t i = 0; i < json_array_size(arms) && i < ARMS_DRAWN; i++) {
        const json_t *arm = json_array_get(arms, i);
        const json_t *curve = at(at(arm, "delay"), "curve");
        if (curve == NULL)
            continue;
        arm_name(arm, name, sizeof name);
        by_arm = tarry__json_add(
            by_arm, series_of(name, "line", points_of(p, curve, false)));
    }
    if (status == TARRY_OK && (by_arm == NULL || json_array_size(by_arm) > 1))
        return put_figure(p, "arms", "The same for each arm",
                          "The first arms of the log, one line each.", label,
                          "share still out", by_arm);
    json_decref(by_arm);
    return status;
}

static tarry_status draw_drift(const page *p)
{
    const json_t *drift = at(at(p->result, "delay"), "drift");
    char label[80];
    json_t *points = json_array(), *series = json_array(), *period;
    size_t i;
    json_array_foreach(at(drift, "periods"), i, period)
    {
        const json_t *ends = at(period, "median_ci95");
        const double median = number(period, "median");
        const json_t *low = json_array_get(ends, 0),
                     *high = json_array_get(ends, 1);
        if (!isfinite(median) || i >= PERIODS_DRAWN)
            continue;
        points = tarry__json_add(
            points, json_is_number(low) && json_is_number(high)
                        ? json_pack("[f,f,f,f]", (double)i, median / p->unit,
                                    json_number_value(low) / p->unit,
                                    json_number_value(high) / p->unit)
                        : json_pack("[f,f]", (double)i, median / p->unit));
    }
    if (points != NULL && json_array_size(points) < 2) {
        json_decref(points);
        json_decref(series);
        return TARRY_OK;
    }
    snprintf(label, sizeof label, "median delay (%s)", p->unit_name);
    series = tarry__json_add(series, series_of("median", "points", points));
    return put_figure(p, "drift", "The median delay over time",
                      "Bars are 95 % intervals. Periods are numbered from 0, "
                      "the first of the log.",
                      tarry__html_text(drift, "by"), label, series);
}

/* ---- sections -------------------------------------------------------------*/

static const char *verdict_class(const char *verdict)
{
    return strcmp(verdict, "independent") == 0 ? "supported"
           : strcmp(verdict, "dependent") == 0 ? "contradicted"
                                               : "unresolved";
}

/* In the first sentences: what the log does not show. */
static void put_refused(const page *p)
{
    const json_t *rejected = at(p->result, "rejected");
    const json_t *reason = json_array_get(at(rejected, "reasons"), 0);
    if (!(number(rejected, "count") > 0))
        return;
    fputs(" ", p->out);
    put_number(p, number(rejected, "count"), "%.0f");
    fputs(" rows were refused, ", p->out);
    put_number(p, number(reason, "count"), "%.0f");
    tarry__html(p->out, " of them because of this: %s, first in line ",
                tarry__html_text(reason, "why"));
    put_number(p, number(reason, "line"), "%.0f.");
}

static bool has_delays(const page *p)
{
    return json_is_object(at(p->result, "delay"));
}

static const char no_delays[] =
    "The log does not say when outcomes were reported, so nothing is said of "
    "delays";

static void put_median(const page *p)
{
    if (!has_delays(p)) {
        fputs(no_delays, p->out);
        return;
    }
    fputs("Half of all decisions have their outcome within <b>", p->out);
    put_time(p, at(p->result, "delay"), "median");
    fputs("</b>, nine of ten within <b>", p->out);
    put_time(p, at(p->result, "delay"), "q90");
    fputs("</b>", p->out);
}

static void put_advice(const page *p)
{
    const json_t *advice = at(p->result, "recommendation");
    if (json_is_string(at(advice, "policy")))
        tarry__html(p->out, "Use <code>%s</code>",
                    tarry__html_text(advice, "policy"));
    else
        fputs("No policy is recommended", p->out);
}

static void put_top(const page *p)
{
    const json_t *r = p->result, *d = at(r, "dependence");
    const char *verdict = tarry__html_text(d, "verdict");
    tarry__html(p->out,
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                "content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n"
                "<title>What %s says about its delays</title>\n"
                "<link rel=\"icon\" href=\"data:,\">\n<style>\n%m</style>\n"
                "</head>\n<body>\n<header>\n<h1>What this log says about its "
                "delays</h1>\n<p class=\"lead\">%s: ",
                p->name, tarry__page_style, p->name);
    put_number(p, number(r, "decisions"), "%.0f");
    fputs(" decisions, of which ", p->out);
    put_number(p, number(r, "outstanding"), "%.0f");
    fputs(" still wait for their outcome.", p->out);
    put_refused(p);
    fputs("</p>\n<ul>\n<li>", p->out);
    put_median(p);
    tarry__html(p->out,
                ".</li>\n<li>Do good or bad outcomes take longer? <span "
                "class=\"verdict %m\">%s</span></li>\n<li>",
                verdict_class(verdict),
                strcmp(verdict, "dependent") == 0     ? "yes"
                : strcmp(verdict, "independent") == 0 ? "no"
                                                      : "cannot tell");
    put_advice(p);
    fputs(".</li>\n</ul>\n</header>\n<main>\n", p->out);
}

static void put_delay_cells(const page *p, const json_t *delay)
{
    static const char *const keys[] = {"median", "mean", "q90", "q99"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        put_time_cell(p, delay, keys[i]);
    fputs("</tr>\n", p->out);
}

static void put_arms(const page *p)
{
    static const char *const heads[] = {
        "Arm",        "Decisions",      "With outcome", "Half by",
        "On average", "Nine of ten by", "99 of 100 by", NULL};
    const json_t *arms = at(p->result, "arms");
    json_t *all = json_string("all"), *arm;
    size_t i;
    begin_table(p, "Delays", heads);
    begin_row(p, all);
    json_decref(all);
    put_cell(p, number(p->result, "decisions"), "%.0f");
    put_cell(p,
             number(p->result, "decisions") - number(p->result, "outstanding"),
             "%.0f");
    put_delay_cells(p, at(p->result, "delay"));
    json_array_foreach(arms, i, arm)
    {
        if (i == ARMS_SHOWN)
            break;
        begin_row(p, at(arm, "arm"));
        put_cell(p, number(arm, "decisions"), "%.0f");
        put_cell(p, number(arm, "reported"), "%.0f");
        put_delay_cells(p, at(arm, "delay"));
    }
    end_table(p);
    if (json_array_size(arms) > ARMS_SHOWN)
        tarry__html(p->out, "<p class=\"small\">The other arms are in "
                            "results.json.</p>\n");
}

static tarry_status put_delays(const page *p)
{
    const json_t *delay = at(p->result, "delay"), *never = at(delay, "never");
    const json_t *law = json_array_get(at(delay, "laws"), 0);
    fputs("<section id=\"delays\">\n<h2>How long outcomes take</h2>\n<p>",
          p->out);
    if (!has_delays(p)) {
        tarry__html(p->out, "%s.</p>\n", no_delays);
        put_arms(p);
        fputs("</section>\n", p->out);
        return TARRY_OK;
    }
    fputs("A decision that still waits is not left out: it says that its "
          "outcome takes longer than it has waited so far. Leaving such "
          "decisions out would make delays look shorter than they are. The "
          "average is of the outcomes that come; a dash means that so many "
          "outcomes never came within the time of this log.</p>\n",
          p->out);
    const tarry_status status = draw_delays(p);
    put_arms(p);
    if (law != NULL) {
        tarry__html(p->out,
                    "<p>Of the laws that tarry knows, <code>%s</code> fits "
                    "best. The share of outcomes that never come is about <b>",
                    tarry__html_text(law, "law"));
        put_number(p, 100 * number(never, "estimate"), "%.1f %%");
        fputs("</b> (between ", p->out);
        put_number(p, 100 * number(never, "low"), "%.1f");
        fputs(" and ", p->out);
        put_number(p, 100 * number(never, "high"), "%.1f %%");
        fputs(").</p>\n", p->out);
    }
    fputs("</section>\n", p->out);
    return status;
}

static void put_dependence(const page *p)
{
    static const char *const heads[] = {"Arm", "With outcome",
                                        "Rank correlation", "p-value", NULL};
    const json_t *d = at(p->result, "dependence");
    const char *verdict = tarry__html_text(d, "verdict");
    size_t i;
    json_t *arm;
    tarry__html(p->out,
                "<section id=\"dependence\">\n<h2>Does the delay depend on the "
                "outcome?</h2>\n<p class=\"claim\"><span class=\"verdict "
                "%m\">%s</span>: %s.</p>\n",
                verdict_class(verdict), verdict, tarry__html_text(d, "why"));
    fputs("<p>Why it matters: if bad news is slow, or good news is, then what "
          "has come in so far shows a wrong picture of each choice, and a "
          "method that trusts it may drop the best one for good.</p>\n"
          "<p>How it was tested: two decisions for the same arm, made at about "
          "the same time, are compared if each outcome came soon enough that "
          "it would have been seen in the other’s place too. If delays "
          "have nothing to do with outcomes, the later of the two is the worse "
          "one as often as the better one. The p-value says how often chance "
          "alone would tip the scales as far as here: below 0.05 we call them "
          "dependent, and are wrong about that in at most 5 of 100 logs.</p>\n",
          p->out);
    begin_table(p, "Dependence by arm", heads);
    json_array_foreach(at(d, "by_arm"), i, arm)
    {
        if (i == ARMS_SHOWN)
            break;
        begin_row(p, at(arm, "arm"));
        put_cell(p, number(arm, "reported"), "%.0f");
        put_cell(p, number(arm, "correlation"), "%.2f");
        put_cell(p, number(arm, "p_value"), "%.2g");
        fputs("</tr>\n", p->out);
    }
    end_table(p);
    tarry__html(p->out,
                "<p class=\"small\">A correlation above 0: high %s are "
                "late. ",
                strcmp(tarry__html_text(p->result, "outcome"), "reward") == 0
                    ? "rewards"
                    : "losses");
    fputs("Among twenty arms, one p-value below 0.05 is to be "
          "expected.</p>\n</section>\n",
          p->out);
}

static tarry_status put_drift(const page *p)
{
    const json_t *delay = at(p->result, "delay");
    const double drift = number(at(delay, "drift"), "p_value");
    const double arms = number(at(delay, "arms_differ"), "p_value");
    fputs("<section id=\"drift\">\n<h2>Do delays differ between arms, or "
          "change over time?</h2>\n<p>Between arms: ",
          p->out);
    fputs(!isfinite(arms) ? "there is nothing to compare"
          : arms <= 0.05  ? "<b>yes</b>"
                          : "no sign of it",
          p->out);
    fputs(" (p = ", p->out);
    put_number(p, arms, "%.2g");
    fputs("). Over time, arm by arm: ", p->out);
    fputs(!isfinite(drift) ? "there is nothing to compare"
          : drift <= 0.05  ? "<b>yes</b>"
                           : "no sign of it",
          p->out);
    fputs(" (p = ", p->out);
    put_number(p, drift, "%.2g");
    fputs(").</p>\n", p->out);
    const tarry_status status = draw_drift(p);
    fputs("</section>\n", p->out);
    return status;
}

static void put_policies(const page *p)
{
    static const char *const heads[] = {"Policy", "Regret", "±", "Certificate",
                                        NULL};
    const json_t *advice = at(p->result, "recommendation");
    const json_t *rows = at(p->result, "simulation");
    size_t i;
    json_t *row;
    tarry__html(p->out,
                "<section id=\"policies\">\n<h2>Which policy to use</h2>\n<p "
                "class=\"claim\">");
    put_advice(p);
    tarry__html(p->out, ", because %s.</p>\n", tarry__html_text(advice, "why"));
    if (json_array_size(rows) > 0) {
        fputs("<p>A small world was made of this log, with the same arms, "
              "outcomes and delays, and each policy made your next decisions "
              "in it, many times over. Regret is what it lost against always "
              "knowing the best arm. A certificate is a promise: the arm it "
              "would settle on is at most so much worse than the best.</p>\n",
              p->out);
        begin_table(p, "Policies", heads);
        json_array_foreach(rows, i, row)
        {
            const char *format = number(row, "regret") < 1 ? "%.3g" : "%.1f";
            begin_row(p, at(row, "policy"));
            put_cell(p, number(row, "regret"), format);
            put_cell(p, number(row, "ci95"), format);
            put_cell(p, number(row, "certificate"), "%.3g");
            fputs("</tr>\n", p->out);
        }
        end_table(p);
    }
    fputs("</section>\n", p->out);
}

/* Which of the values are ends of their intervals, and what was left out. */
static void put_clipped(const page *p)
{
    const double without = number(at(p->result, "ripe"), "without_probability");
    const char *before = "<p>Where the formula of a method gives a value "
                         "outside of the interval, the nearest end is shown: ";
    size_t i;
    json_t *row;
    json_array_foreach(at(p->result, "value"), i, row)
    {
        if (!json_is_true(at(row, "clipped")))
            continue;
        tarry__html(p->out, "%m%s (%s)", before,
                    tarry__html_text(row, "policy"),
                    tarry__html_text(row, "method"));
        before = ", ";
    }
    if (*before == ',')
        fputs(".</p>\n", p->out);
    if (without > 0) {
        fputs("<p>", p->out);
        put_number(p, without, "%.0f");
        fputs(" decisions have no probability and are left out of these "
              "values.</p>\n",
              p->out);
    }
}

static void put_values(const page *p)
{
    static const char *const heads[] = {"Policy", "Method", "Value",
                                        "From",   "To",     NULL};
    const json_t *rows = at(p->result, "value");
    size_t i;
    json_t *row;
    if (json_array_size(rows) == 0) {
        tarry__html(p->out,
                    "<section id=\"value\">\n<h2>What would another policy "
                    "have earned?</h2>\n<p>This cannot be said: %s.</p>\n"
                    "</section>\n",
                    tarry__html_text(p->result, "no_value"));
        return;
    }
    fputs("<section id=\"value\">\n<h2>What would another policy have "
          "earned?</h2>\n<p>The log says how likely each choice was, so "
          "choices that another policy would have made more often can be given "
          "more weight. Each value is the average over decisions old enough "
          "to have their outcome, in the log’s own unit; the truth lies "
          "between “from” and “to” in 95 of 100 "
          "logs.</p>\n",
          p->out);
    begin_table(p, "Values", heads);
    json_array_foreach(rows, i, row)
    {
        begin_row(p, at(row, "policy"));
        tarry__html(p->out, "<td>%s</td>", tarry__html_text(row, "method"));
        put_cell(p, number(row, "estimate"), "%.4g");
        put_cell(p, number(row, "low"), "%.4g");
        put_cell(p, number(row, "high"), "%.4g");
        fputs("</tr>\n", p->out);
    }
    end_table(p);
    put_clipped(p);
    fputs("</section>\n", p->out);
}

static void put_rejected(const page *p)
{
    const json_t *rejected = at(p->result, "rejected");
    size_t i;
    json_t *row;
    if (!(number(rejected, "count") > 0))
        return;
    fputs("<section id=\"rejected\">\n<h2>Rows left out</h2>\n<p>", p->out);
    put_number(p, number(rejected, "count"), "%.0f");
    fputs(" rows of the log make no sense and are left out. The first:</p>\n"
          "<ul>\n",
          p->out);
    json_array_foreach(at(rejected, "first"), i, row)
    {
        fputs("<li>line ", p->out);
        put_number(p, number(row, "line"), "%.0f");
        tarry__html(p->out, ": %s</li>\n", tarry__html_text(row, "why"));
    }
    fputs("</ul>\n</section>\n", p->out);
}

static tarry_status put_page(page *p)
{
    tarry_status status;
    put_top(p);
    if ((status = put_delays(p)) != TARRY_OK)
        return status;
    put_dependence(p);
    if ((status = put_drift(p)) != TARRY_OK)
        return status;
    put_policies(p);
    put_values(p);
    put_rejected(p);
    fputs("</main>\n<footer>\n<p>Every number of this page is in <a "
          "href=\"results.json\">results.json</a>; the same command and seed "
          "give the same numbers.</p>\n</footer>\n</body>\n</html>\n",
          p->out);
    return TARRY_OK;
}

/* ---- files ----------------------------------------------------------------*/

tarry_status tarry__log_page_write(const json_t *result, const char *name,
                                   const char *dir, tarry_error *error)
{
    char path[4096], figures[4096], command[4200];
    tarry__file file;
    tarry_status status;
    if (strlen(dir) > sizeof path - 32)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%.80s...: too long",
                                dir);
    snprintf(path, sizeof path, "%s/index.html", dir);
    snprintf(figures, sizeof figures, "%s/figures/", dir);
    snprintf(command, sizeof command, "tarry examine %.4000s --page DIR", name);
    json_t *config = json_pack("{s:s, s:I}", "command", command, "seed",
                               json_integer_value(at(result, "seed")));
    if (config == NULL && tarry__json_has_failed()) /* or a name not UTF-8 */
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    if ((status = tarry__report_folders(dir, error)) ||
        (status = tarry__report_save(result, dir, error)) ||
        (status = tarry__file_begin(&file, path, error))) {
        json_decref(config);
        return status;
    }
    page p = {.out = file.stream,
              .result = result,
              .name = name,
              .figures = figures,
              .config = config,
              .is_calendar =
                  strcmp(tarry__html_text(result, "unit"), "seconds") == 0,
              .error = error};
    choose_unit(&p);
    status = tarry__file_end(&file, put_page(&p), error);
    json_decref(config);
    return status;
}
