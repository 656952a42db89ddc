/* run_report.c - what an experiment showed: table, JSON, CSV, curves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "cli/run.h"

/* A number per run, to be filled; NULL after the error is printed. */
static double *values_for(const tarry__experiment_results *r)
{
    double *values = malloc((r->experiment->runs + 1) * sizeof *values);
    if (values == NULL)
        cli_error(EXIT_FAILED, "out of memory");
    return values;
}

/* ---- table ----------------------------------------------------------------*/

/* Names have 32 columns, on a narrow terminal only what they need. */
static int column(const tarry__experiment *e)
{
    enum { USUAL = 32, WHOLE = 128 };
    int widest = 6;
    const int width = cli_width(stdout);
    for (size_t p = 0; p < e->n_policies; p++)
        widest = (int)fmax(widest, (double)strlen(e->policy[p]));
    return width == 0 || width >= WHOLE || widest > USUAL ? USUAL : widest;
}

static void print_row(const tarry__experiment_results *r, size_t p, size_t best,
                      double *values)
{
    const tarry__experiment_summary s =
        tarry__results_summary(r, p, tarry__results_regret, 0, values);
    const size_t count =
        tarry__experiment_results_difference(r, p, best, values);
    const tarry__experiment_summary d =
        tarry__experiment_summarise(values, count);
    char text[4][32];
    cli_put("%-*s %12s %10s %12s %9s", column(r->experiment),
            r->experiment->policy[p], cli_number(s.mean, 5, text[0]),
            cli_half_width(s.ci95, s.count, text[1]),
            cli_number(d.mean, 4, text[2]),
            cli_half_width(d.ci95, d.count, text[3]));
    cli_put(" %7.2f %8.1f %6.3f %10.0f %9.3g",
            tarry__results_mean(r, p, tarry__results_phases, values),
            tarry__results_mean(r, p, tarry__results_active, values),
            tarry__results_mean(r, p, tarry__results_best_kept, values),
            tarry__results_largest(r, p, tarry__results_sigma_max, values),
            tarry__results_speed(r, p, values));
    cli_put_end();
}

/* Policies by mean regret, the best first; answers how many. */
static size_t rank_policies(const tarry__experiment_results *r, double *values,
                            size_t *order)
{
    double mean[TARRY__EXPERIMENT_MAX_POLICIES];
    size_t count = 0;
    for (size_t p = 0; p < r->experiment->n_policies; p++) {
        if (!tarry__results_any(r, p))
            continue;
        mean[p] = tarry__results_mean(r, p, tarry__results_regret, values);
        size_t at = count++;
        for (; at > 0 && mean[order[at - 1]] > mean[p]; at--)
            order[at] = order[at - 1];
        order[at] = p;
    }
    return count;
}

/* How the runs of a policy differ, after its name. */
static void print_spread(const tarry__experiment_results *r, size_t p,
                         double *values)
{
    char text[4][32];
    cli_put(
        "%12s %10s %10s %10s",
        cli_number(tarry__results_mean(r, p, tarry__results_regret, values), 5,
                   text[0]),
        cli_number(
            tarry__results_quantile(r, p, tarry__results_regret, 0.5, values),
            5, text[1]),
        cli_number(
            tarry__results_quantile(r, p, tarry__results_regret, 0.95, values),
            5, text[2]),
        cli_number(tarry__results_largest(r, p, tarry__results_regret, values),
                   5, text[3]));
    cli_put(" %7.3f", tarry__results_mean(r, p, tarry__results_stuck, values));
    cli_put_end();
}

void run_print_spreads(const tarry__experiment_results *r, const char *world,
                       int width, double *values)
{
    const tarry__experiment *e = r->experiment;
    for (size_t p = 0; p < e->n_policies; p++) {
        if (!tarry__results_any(r, p))
            continue;
        if (width > 0)
            cli_put("%-*s ", width, world);
        cli_put("%-*s ", column(e), e->policy[p]);
        print_spread(r, p, values);
    }
}

void run_print_spread_head(const tarry__experiment *e, int width)
{
    if (width > 0)
        cli_put("%-*s ", width, "world");
    cli_put("%-*s %12s %10s %10s %10s %7s", column(e), "policy", "mean",
            "median", "95 %", "worst", "stuck");
    cli_put_end();
}

int run_print_table(const tarry__experiment_results *r, double seconds)
{
    const tarry__experiment *e = r->experiment;
    size_t order[TARRY__EXPERIMENT_MAX_POLICIES];
    double *values = values_for(r);
    if (values == NULL)
        return EXIT_FAILED;
    cli_put("%s, %s, %s%s%s%s%s: %ju rounds, %ju runs, seed %ju, %.1f s",
            e->instance, e->loss, e->delay, TARRY__SIM_REPORTS_TEXT(e->reports),
            (uintmax_t)e->horizon, (uintmax_t)e->runs, (uintmax_t)e->seed,
            seconds);
    cli_put_end();
    putchar('\n');
    cli_put("%-*s %12s %10s %12s %9s %7s %8s %6s %10s %9s", column(e), "policy",
            "regret", "+/-", "above best", "+/-", "phases", "active", "kept",
            "sigma_max", "rounds/s");
    cli_put_end();
    const size_t count = rank_policies(r, values, order);
    for (size_t i = 0; i < count; i++)
        print_row(r, order[i], order[0], values);
    putchar('\n');
    run_print_spread_head(e, 0);
    run_print_spreads(r, "", 0, values);
    puts("\n+/- is the half-width of a 95 % interval; above best: difference "
         "to the\nfirst line, run by run; kept: share of runs in which a best "
         "arm is still\nactive; stuck: share of runs in which it has less "
         "than half of the second half's\nplays.");
    for (size_t p = 0; p < e->n_policies; p++) {
        const char *meaning = tarry__experiment_meaning(e, p);
        if (meaning != NULL)
            printf("%s is %s here.\n", e->policy[p], meaning);
    }
    free(values);
    return cli_flush();
}

/* ---- JSON -----------------------------------------------------------------*/

int run_print_json(const tarry__batch *b, bool partial, bool limit)
{
    json_t *result = tarry__results_json(b, partial);
    return cli_print_json(limit && result != NULL ? run_add_limits(b, result)
                                                  : result);
}

/* ---- files ----------------------------------------------------------------*/

/* A field of CSV: descriptions contain commas. */
static void put_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

/* The world's name, where there is a list. */
static void put_world(FILE *file, const tarry__batch *b, size_t w)
{
    if (b->plan->n_worlds == 0)
        return;
    put_text(file, b->plan->world[w].name);
    fputc(',', file);
}

static void put_runs(FILE *file, const tarry__batch *b, size_t w)
{
    const tarry__experiment_results *r = &b->results[w];
    const size_t runs = r->experiment->runs;
    for (size_t i = 0; i < r->experiment->n_policies * runs; i++) {
        const tarry__sim_outcome *o = &r->outcome[i];
        if (!r->finished[i])
            continue;
        put_world(file, b, w);
        put_text(file, r->experiment->policy[i / runs]);
        fprintf(file, ",%zu,%.17g,%ju,%ju,%ju,%.17g,%ju,%ju", i % runs,
                o->regret, (uintmax_t)o->n_phases, (uintmax_t)o->active,
                (uintmax_t)o->best_kept, o->sigma_mean, (uintmax_t)o->sigma_max,
                (uintmax_t)o->sigma_final);
        fprintf(file, ",%ju,%ju,%ju,%ju,%.6f\n", (uintmax_t)o->used,
                (uintmax_t)o->late, (uintmax_t)o->ignored, (uintmax_t)o->lost,
                o->seconds);
    }
}

static int finish(tarry_status status, const tarry_error *error)
{
    return status == TARRY_OK ? EXIT_DONE
                              : cli_error(EXIT_FAILED, "%s", error->text);
}

int run_write_csv(const tarry__batch *b, const char *path)
{
    tarry__file file;
    tarry_error error;
    tarry_status status = tarry__file_begin(&file, path, &error);
    if (status == TARRY_OK) {
        fprintf(file.stream,
                "%spolicy,run,regret,phases,active,best_kept,sigma_mean,"
                "sigma_max,sigma_final,used,late,ignored,lost,seconds\n",
                b->plan->n_worlds > 0 ? "world," : "");
        for (size_t w = 0; w < b->count; w++)
            put_runs(file.stream, b, w);
        status = tarry__file_end(&file, TARRY_OK, &error);
    }
    return finish(status, &error);
}

static void put_curves(FILE *file, const tarry__batch *b, size_t w,
                       double *values)
{
    const tarry__experiment_results *r = &b->results[w];
    const tarry__experiment *e = r->experiment;
    for (size_t p = 0; p < e->n_policies; p++)
        for (size_t i = 0; tarry__results_any(r, p) && i < e->n_grid; i++) {
            const tarry__experiment_summary s = tarry__results_summary(
                r, p, tarry__results_at_point, i, values);
            put_world(file, b, w);
            fprintf(file, "%ju,", (uintmax_t)e->grid[i]);
            put_text(file, e->policy[p]);
            fprintf(file, ",%.17g,%.17g,%.17g\n", s.mean, s.mean - s.ci95,
                    s.mean + s.ci95);
        }
}

int run_write_curves(const tarry__batch *b, const char *path)
{
    tarry__file file;
    tarry_error error;
    double *values = values_for(b->results);
    if (values == NULL)
        return EXIT_FAILED;
    tarry_status status = tarry__file_begin(&file, path, &error);
    if (status == TARRY_OK) {
        fprintf(file.stream, "%sround,policy,mean,low,high\n",
                b->plan->n_worlds > 0 ? "world," : "");
        for (size_t w = 0; w < b->count; w++)
            put_curves(file.stream, b, w, values);
        status = tarry__file_end(&file, TARRY_OK, &error);
    }
    free(values);
    return finish(status, &error);
}
