/* run_report.c - what an experiment showed: table, JSON, CSV, curves. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/run.h"

/* ---- numbers of a run -----------------------------------------------------*/

static double regret(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return o->regret;
}

static double at_point(const tarry__sim_outcome *o, size_t i)
{
    return o->curve[i];
}

static double phases(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->n_phases;
}

static double active(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->active;
}

static double best_kept(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->best_kept;
}

static double sigma_mean(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return o->sigma_mean;
}

static double sigma_max(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->sigma_max;
}

static double sigma_final(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->sigma_final;
}

static double seconds_of(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return o->seconds;
}

static double used(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->used;
}

static double late(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->late;
}

static double ignored(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->ignored;
}

static double lost(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->lost;
}

/* Room for a number per run; ends the program's command when there is none. */
static double *room(const tarry__experiment_results *r)
{
    double *values = malloc((r->experiment->runs + 1) * sizeof *values);
    if (values == NULL)
        cli_error(EXIT_FAILED, "out of memory");
    return values;
}

static tarry__experiment_summary summary_of(const tarry__experiment_results *r,
                                            size_t p,
                                            tarry__experiment_pick *pick,
                                            size_t i, double *values)
{
    return tarry__experiment_summarise(
        values, tarry__experiment_results_pick(r, p, pick, i, values));
}

static double mean_of(const tarry__experiment_results *r, size_t p,
                      tarry__experiment_pick *pick, double *values)
{
    return summary_of(r, p, pick, 0, values).mean;
}

static double largest_of(const tarry__experiment_results *r, size_t p,
                         tarry__experiment_pick *pick, double *values)
{
    double largest = 0;
    const size_t count = tarry__experiment_results_pick(r, p, pick, 0, values);
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, values[i]);
    return largest;
}

/* Only policies with a finished run are reported. */
static bool has_finished(const tarry__experiment_results *r, size_t p)
{
    const size_t runs = r->experiment->runs;
    for (size_t run = 0; run < runs; run++)
        if (r->finished[p * runs + run])
            return true;
    return false;
}

tarry__experiment_summary run_regret(const tarry__experiment_results *r,
                                     size_t p, double *values)
{
    return summary_of(r, p, regret, 0, values);
}

bool run_lost_best(const tarry__experiment_results *r, size_t p)
{
    const size_t runs = r->experiment->runs;
    for (size_t i = p * runs; i < (p + 1) * runs; i++)
        if (r->finished[i] && !r->outcome[i].best_kept)
            return true;
    return false;
}

size_t run_best_policy(const tarry__experiment_results *r, double *values)
{
    size_t best = SIZE_MAX;
    double least = INFINITY;
    for (size_t p = 0; p < r->experiment->n_policies; p++) {
        const double mean = mean_of(r, p, regret, values);
        if (has_finished(r, p) && mean < least) {
            least = mean;
            best = p;
        }
    }
    return best;
}

static double speed_of(const tarry__experiment_results *r, size_t p,
                       double *values)
{
    const double seconds = mean_of(r, p, seconds_of, values);
    return seconds > 0 ? (double)r->experiment->horizon / seconds : 0;
}

/* ---- table ----------------------------------------------------------------*/

static void print_row(const tarry__experiment_results *r, size_t p, size_t best,
                      double *values)
{
    const tarry__experiment_summary s = summary_of(r, p, regret, 0, values);
    const size_t count =
        tarry__experiment_results_difference(r, p, best, values);
    const tarry__experiment_summary d =
        tarry__experiment_summarise(values, count);
    printf("%-32s %12.5g %10.2g %12.4g %9.2g", r->experiment->policy[p], s.mean,
           s.ci95, d.mean, d.ci95);
    printf(" %7.2f %8.1f %6.3f %10.0f %9.3g\n", mean_of(r, p, phases, values),
           mean_of(r, p, active, values), mean_of(r, p, best_kept, values),
           largest_of(r, p, sigma_max, values), speed_of(r, p, values));
}

/* Policies by mean regret, the best first; answers how many. */
static size_t rank_policies(const tarry__experiment_results *r, double *values,
                            size_t *order)
{
    double mean[TARRY__EXPERIMENT_MAX_POLICIES];
    size_t count = 0;
    for (size_t p = 0; p < r->experiment->n_policies; p++) {
        if (!has_finished(r, p))
            continue;
        mean[p] = mean_of(r, p, regret, values);
        size_t at = count++;
        for (; at > 0 && mean[order[at - 1]] > mean[p]; at--)
            order[at] = order[at - 1];
        order[at] = p;
    }
    return count;
}

int run_print_table(const tarry__experiment_results *r, double seconds)
{
    const tarry__experiment *e = r->experiment;
    size_t order[TARRY__EXPERIMENT_MAX_POLICIES];
    double *values = room(r);
    if (values == NULL)
        return EXIT_FAILED;
    printf("%s, %s, %s: %ju rounds, %ju runs, seed %ju, %.1f s\n\n",
           e->instance, e->loss, e->delay, (uintmax_t)e->horizon,
           (uintmax_t)e->runs, (uintmax_t)e->seed, seconds);
    printf("%-32s %12s %10s %12s %9s %7s %8s %6s %10s %9s\n", "policy",
           "regret", "+/-", "above best", "+/-", "phases", "active", "kept",
           "sigma_max", "rounds/s");
    const size_t count = rank_policies(r, values, order);
    for (size_t i = 0; i < count; i++)
        print_row(r, order[i], order[0], values);
    puts("\n+/- is the half-width of a 95 % interval; above best: difference "
         "to the first line,\nrun by run; kept: share of runs in which a best "
         "arm is still active.");
    free(values);
    return cli_flush();
}

/* ---- JSON -----------------------------------------------------------------*/

static json_t *runs_json(const tarry__experiment_results *r, size_t p,
                         tarry__experiment_pick *pick, double *values)
{
    json_t *list = json_array();
    const size_t count = tarry__experiment_results_pick(r, p, pick, 0, values);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_real(values[i]));
    return list;
}

static json_t *curve_json(const tarry__experiment_results *r, size_t p,
                          double *values)
{
    json_t *list = json_array();
    const tarry__experiment *e = r->experiment;
    for (size_t i = 0; i < e->n_grid; i++) {
        const tarry__experiment_summary s =
            summary_of(r, p, at_point, i, values);
        json_array_append_new(
            list, json_pack("[I, f, f, f]", (json_int_t)e->grid[i], s.mean,
                            s.mean - s.ci95, s.mean + s.ci95));
    }
    return list;
}

/* Per run the finished phases: length, designated, waited, active after. */
static json_t *phases_json(const tarry__experiment_results *r, size_t p)
{
    json_t *list = json_array();
    const size_t runs = r->experiment->runs;
    for (size_t run = 0; run < runs; run++) {
        const tarry__sim_outcome *o = &r->outcome[p * runs + run];
        if (!r->finished[p * runs + run])
            continue;
        json_t *of_run = json_array();
        for (size_t i = 0; i < o->n_phases && i < TARRY__SIM_MAX_PHASES; i++) {
            const tarry__sim_phase *l = &o->phase[i];
            json_array_append_new(
                of_run, json_pack("{s:I, s:I, s:I, s:I}", "length",
                                  (json_int_t)l->length, "designated",
                                  (json_int_t)l->designated, "waited",
                                  (json_int_t)(l->length - l->designated),
                                  "active_after", (json_int_t)l->active_after));
        }
        json_array_append_new(list, of_run);
    }
    return list;
}

static json_t *ran_json(const tarry__experiment_results *r, size_t p,
                        size_t best, double *values)
{
    const tarry__experiment_summary s = summary_of(r, p, regret, 0, values);
    json_t *runs = runs_json(r, p, regret, values);
    const size_t count =
        tarry__experiment_results_difference(r, p, best, values);
    const tarry__experiment_summary d =
        tarry__experiment_summarise(values, count);
    return json_pack(
        "{s:s, s:{s:f, s:f, s:o}, s:{s:s, s:f, s:f}, s:o, s:f, s:o, s:f, s:f, "
        "s:f, s:{s:f, s:f, s:f}, s:{s:f, s:f, s:f, s:f}, s:f}",
        "name", r->experiment->policy[p], "regret", "mean", s.mean, "ci95",
        s.ci95, "runs", runs, "above_best", "best", r->experiment->policy[best],
        "mean", d.mean, "ci95", d.ci95, "curve", curve_json(r, p, values),
        "phases", mean_of(r, p, phases, values), "phase_log", phases_json(r, p),
        "active", mean_of(r, p, active, values), "best_kept",
        mean_of(r, p, best_kept, values), "sigma_max",
        largest_of(r, p, sigma_max, values), "sigma", "mean",
        mean_of(r, p, sigma_mean, values), "max",
        largest_of(r, p, sigma_max, values), "final",
        mean_of(r, p, sigma_final, values), "arrivals", "used",
        mean_of(r, p, used, values), "late", mean_of(r, p, late, values),
        "ignored", mean_of(r, p, ignored, values), "lost",
        mean_of(r, p, lost, values), "rounds_per_second",
        speed_of(r, p, values));
}

static json_t *policy_json(const tarry__experiment_results *r, size_t p,
                           size_t best, double *values)
{
    if (r->refused[p].text[0] == '\0') {
        json_t *ran = ran_json(r, p, best, values);
        json_object_set_new(ran, "certificate",
                            run_certificate_json(r, p, values));
        return ran;
    }
    return json_pack("{s:s, s:s}", "name", r->experiment->policy[p], "error",
                     r->refused[p].text);
}

static json_t *policies_json(const tarry__experiment_results *r, double *values)
{
    json_t *policies = json_array();
    const size_t best = run_best_policy(r, values);
    for (size_t p = 0; p < r->experiment->n_policies; p++)
        if (has_finished(r, p) || r->refused[p].text[0] != '\0')
            json_array_append_new(policies, policy_json(r, p, best, values));
    return policies;
}

static json_t *worlds_json(const run_batch *b, double *values)
{
    json_t *worlds = json_array();
    for (size_t w = 0; w < b->count; w++)
        json_array_append_new(
            worlds,
            json_pack("{s:s, s:o, s:o}", "name", b->plan->world[w].name,
                      "config", run_experiment_config(&b->experiment[w]),
                      "policies", policies_json(&b->results[w], values)));
    return worlds;
}

int run_print_json(const run_batch *b, bool partial)
{
    double *values = room(b->results);
    if (values == NULL)
        return EXIT_FAILED;
    json_t *root = json_pack("{s:s, s:b, s:o}", "version", tarry_version(),
                             "partial", partial, "config", run_config(b->plan));
    if (b->plan->n_worlds > 0)
        json_object_set_new(root, "worlds", worlds_json(b, values));
    else
        json_object_set_new(root, "policies",
                            policies_json(b->results, values));
    free(values);
    return cli_print_json(root);
}

/* ---- files ----------------------------------------------------------------*/

static FILE *create(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        cli_error(EXIT_FAILED, "%s: %s", path, strerror(errno));
    return file;
}

static int finish(FILE *file, const char *path)
{
    const bool ok = !ferror(file);
    if (fclose(file) == 0 && ok)
        return EXIT_DONE;
    return cli_error(EXIT_FAILED, "%s: cannot write: %s", path,
                     strerror(errno));
}

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
static void put_world(FILE *file, const run_batch *b, size_t w)
{
    if (b->plan->n_worlds == 0)
        return;
    put_text(file, b->plan->world[w].name);
    fputc(',', file);
}

static void put_runs(FILE *file, const run_batch *b, size_t w)
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

int run_write_csv(const run_batch *b, const char *path)
{
    FILE *file = create(path);
    if (file == NULL)
        return EXIT_FAILED;
    fprintf(file,
            "%spolicy,run,regret,phases,active,best_kept,sigma_mean,sigma_max,"
            "sigma_final,used,late,ignored,lost,seconds\n",
            b->plan->n_worlds > 0 ? "world," : "");
    for (size_t w = 0; w < b->count; w++)
        put_runs(file, b, w);
    return finish(file, path);
}

static void put_curves(FILE *file, const run_batch *b, size_t w, double *values)
{
    const tarry__experiment_results *r = &b->results[w];
    const tarry__experiment *e = r->experiment;
    for (size_t p = 0; p < e->n_policies; p++)
        for (size_t i = 0; has_finished(r, p) && i < e->n_grid; i++) {
            const tarry__experiment_summary s =
                summary_of(r, p, at_point, i, values);
            put_world(file, b, w);
            fprintf(file, "%ju,", (uintmax_t)e->grid[i]);
            put_text(file, e->policy[p]);
            fprintf(file, ",%.17g,%.17g,%.17g\n", s.mean, s.mean - s.ci95,
                    s.mean + s.ci95);
        }
}

int run_write_curves(const run_batch *b, const char *path)
{
    double *values = room(b->results);
    FILE *file = values != NULL ? create(path) : NULL;
    if (file == NULL) {
        free(values);
        return EXIT_FAILED;
    }
    fprintf(file, "%sround,policy,mean,low,high\n",
            b->plan->n_worlds > 0 ? "world," : "");
    for (size_t w = 0; w < b->count; w++)
        put_curves(file, b, w, values);
    free(values);
    return finish(file, path);
}
