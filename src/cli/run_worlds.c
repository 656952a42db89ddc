/* run_worlds.c - the common table of an experiment in several worlds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "cli/run.h"

/* ---- the table ------------------------------------------------------------*/

/* Regret of each policy in each world over that of the world's best; NAN where
 * it has none.  ratio[p * count + w]. */
static void fill_ratios(const tarry__batch *b, double *values, double *ratio)
{
    for (size_t w = 0; w < b->count; w++) {
        const tarry__experiment_results *r = &b->results[w];
        const size_t best = tarry__results_best(r, values);
        for (size_t p = 0; p < r->experiment->n_policies; p++) {
            const tarry__experiment_summary s =
                tarry__results_summary(r, p, tarry__results_regret, 0, values);
            double *at = &ratio[p * b->count + w];
            if (s.count == 0)
                *at = NAN;
            else if (s.mean == tarry__results_mean(
                                   r, best, tarry__results_regret, values))
                *at = 1; /* also if both are 0 */
            else
                *at = s.mean / tarry__results_mean(
                                   r, best, tarry__results_regret, values);
        }
    }
}

/* Whether some policy has regret above the best's, and that is 0. */
static bool has_no_scale(const tarry__batch *b, const double *ratio, size_t w)
{
    for (size_t p = 0; p < b->plan->experiment.n_policies; p++)
        if (isinf(ratio[p * b->count + w]))
            return true;
    return false;
}

/* The geometric mean over the worlds it ran in; NAN if none. */
static double typical(const tarry__batch *b, const double *ratio, size_t p)
{
    double sum = 0;
    size_t n = 0;
    for (size_t w = 0; w < b->count; w++) {
        const double r = ratio[p * b->count + w];
        if (isnan(r) || has_no_scale(b, ratio, w))
            continue;
        sum += tarry__ln(r);
        n++;
    }
    return n > 0 ? tarry__exp(sum / (double)n) : NAN;
}

static int column(const tarry__batch *b, size_t w)
{
    const size_t length = strlen(b->plan->world[w].name);
    return length > 6 ? (int)length + 1 : 7; /* and one for the mark */
}

static void print_ratio(double ratio, int width)
{
    if (isnan(ratio))
        cli_put("%*s", width, "-");
    else
        cli_put("%*.*f", width, ratio < 99.995 ? 2 : 0, ratio);
}

static void print_lines(const tarry__batch *b, const double *ratio)
{
    const tarry__experiment *e = &b->plan->experiment;
    size_t order[TARRY__EXPERIMENT_MAX_POLICIES];
    double mean[TARRY__EXPERIMENT_MAX_POLICIES];
    for (size_t p = 0; p < e->n_policies; p++) {
        size_t at = p;
        mean[p] = typical(b, ratio, p);
        for (; at > 0 && mean[order[at - 1]] > mean[p]; at--)
            order[at] = order[at - 1];
        order[at] = p;
    }
    for (size_t i = 0; i < e->n_policies; i++) {
        cli_put("%-24s", e->policy[order[i]]);
        print_ratio(mean[order[i]], 8);
        for (size_t w = 0; w < b->count; w++) {
            print_ratio(ratio[order[i] * b->count + w], column(b, w));
            cli_put("%c", tarry__results_lost_best(&b->results[w], order[i])
                              ? '*'
                              : ' ');
        }
        cli_put_end();
    }
}

static int widest_name(const tarry__batch *b)
{
    int widest = 5;
    for (size_t w = 0; w < b->count; w++)
        widest = (int)fmax(widest, (double)strlen(b->plan->world[w].name));
    return widest;
}

static void print_winners(const tarry__batch *b, double *values)
{
    const int widest = widest_name(b);
    for (size_t w = 0; w < b->count; w++) {
        const tarry__experiment *e = &b->experiment[w];
        const size_t best = tarry__results_best(&b->results[w], values);
        char mean[32], half[32];
        cli_put("%-*s  %s, %s, %s%s%s%s%s: ", widest, b->plan->world[w].name,
                e->instance, e->loss, e->delay,
                TARRY__SIM_REPORTS_TEXT(e->reports));
        if (best == SIZE_MAX) {
            cli_put("no run has finished");
            cli_put_end();
            continue;
        }
        const tarry__experiment_summary s = tarry__results_summary(
            &b->results[w], best, tarry__results_regret, 0, values);
        cli_put("%s +/- %s by %s", cli_number(s.mean, 5, mean),
                cli_half_width(s.ci95, s.count, half), e->policy[best]);
        cli_put_end();
    }
}

int run_print_worlds(const tarry__batch *b, double seconds)
{
    const tarry__experiment *e = &b->plan->experiment;
    double *ratio = tarry__base_alloc(e->n_policies * b->count, sizeof *ratio);
    double *values = tarry__base_alloc(e->runs, sizeof *values);
    int code = EXIT_DONE;
    if (ratio == NULL || values == NULL) {
        code = cli_error(EXIT_FAILED, "out of memory");
    } else {
        printf("%zu worlds: %ju rounds, %ju runs, seed %ju, %.1f s\n"
               "Regret over that of the world's best policy; mean: geometric; "
               "-: cannot run there;\n*: in some run it has cut the best "
               "arm.\n\n",
               b->count, (uintmax_t)e->horizon, (uintmax_t)e->runs,
               (uintmax_t)e->seed, seconds);
        cli_put("%-24s%8s", "policy", "mean");
        for (size_t w = 0; w < b->count; w++)
            cli_put("%*s ", column(b, w), b->plan->world[w].name);
        cli_put_end();
        fill_ratios(b, values, ratio);
        print_lines(b, ratio);
        puts("\nRegret over the runs; stuck: share of runs in which the best "
             "arm has less than\nhalf of the second half's plays.");
        run_print_spread_head(&b->plan->experiment, widest_name(b));
        for (size_t w = 0; w < b->count; w++)
            run_print_spreads(&b->results[w], b->plan->world[w].name,
                              widest_name(b), values);
        puts("\nThe best of each world:");
        print_winners(b, values);
        code = cli_flush();
    }
    tarry__base_free(values);
    tarry__base_free(ratio);
    return code;
}
