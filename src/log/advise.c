/* advise.c - see advise.h. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "log/advise.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "policy/policy_type.h"

/* ---- candidates -----------------------------------------------------------*/

/* A policy whose certificate needs delays that do not look at losses is left
 * out where they may. */
static size_t list_policies(bool has_features, bool safe, const char **list)
{
    size_t n = 0;
    list[n++] = tarry__policy_recommended.stands_for(TARRY__POLICY_ANY_DELAYS);
    if (!safe)
        list[n++] =
            tarry__policy_recommended.stands_for(TARRY__POLICY_BY_CHANCE);
    list[n++] = "lints";
    if (has_features) {
        list[n++] = "linucb";
    } else {
        list[n++] = "ucb-delayed";
        list[n++] = "phased-mab:constants=tight";
    }
    list[n++] = "uniform";
    return n;
}

static bool states_bounds(const char *policy)
{
    return strncmp(policy, "phased-", 7) == 0;
}

/* ---- results --------------------------------------------------------------*/

static double regret_of(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return o->regret;
}

static double bound_of(const tarry__sim_outcome *o, size_t i)
{
    return o->certificate[i];
}

static double kept_of(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->best_kept;
}

static tarry__advise_row row_of(const tarry__experiment_results *r, size_t p,
                                double *values)
{
    const tarry__experiment *e = r->experiment;
    size_t n = tarry__experiment_results_pick(r, p, regret_of, 0, values);
    const tarry__experiment_summary s = tarry__experiment_summarise(values, n);
    tarry__advise_row row = {.policy = e->policy[p],
                             .regret = s.mean,
                             .ci95 = n > 1 ? s.ci95 : NAN,
                             .certified = states_bounds(e->policy[p])};
    n = tarry__experiment_results_pick(r, p, bound_of, e->n_grid - 1, values);
    row.certificate = tarry__experiment_summarise(values, n).mean;
    n = tarry__experiment_results_pick(r, p, kept_of, 0, values);
    row.best_kept = tarry__experiment_summarise(values, n).mean;
    return row;
}

/* All policies have the same luck in a run, so their differences scatter less
 * than their regret. */
static void set_gains(const tarry__experiment_results *r,
                      tarry__advise_result *a, const size_t *number,
                      double *values)
{
    size_t uniform = 0;
    while (strcmp(r->experiment->policy[uniform], "uniform") != 0)
        uniform++;
    for (size_t i = 0; i < a->count; i++) {
        const size_t n =
            tarry__experiment_results_difference(r, uniform, number[i], values);
        const tarry__experiment_summary s =
            tarry__experiment_summarise(values, n);
        a->row[i].gain = n > 0 ? s.mean : NAN;
        a->row[i].gain_ci95 = n > 1 ? s.ci95 : NAN;
    }
}

static void sort_rows(tarry__advise_result *a)
{
    for (size_t i = 1; i < a->count; i++)
        for (size_t k = i; k > 0 && a->row[k].regret < a->row[k - 1].regret;
             k--) {
            const tarry__advise_row other = a->row[k];
            a->row[k] = a->row[k - 1];
            a->row[k - 1] = other;
        }
}

/* The row of least regret.  Uniform play is the yardstick: advised only where
 * it beats all others by more than chance. */
static size_t least_regret(const tarry__advise_result *a)
{
    const tarry__advise_row *best = &a->row[0], *next = &a->row[1];
    return a->count > 1 && strcmp(best->policy, "uniform") == 0 &&
           !(next->regret - best->regret > next->ci95 + best->ci95);
}

/* Of the certified ones that pay at most 5 % more than the best, the one that
 * can promise most; else the best. */
static void pick(tarry__advise_result *a)
{
    double bound = INFINITY;
    a->pick = least_regret(a);
    for (size_t i = 0; i < a->count; i++)
        if (a->row[i].certified && a->row[i].certificate < bound &&
            a->row[i].regret <= 1.05 * a->row[0].regret) {
            bound = a->row[i].certificate;
            a->pick = i;
        }
    a->certified = a->row[a->pick].certified;
}

/* ---- the world's files ----------------------------------------------------*/

static void remove_world(const char *folder)
{
    static const char *const names[] = {"arms.csv", "theta.csv", "pairs.csv"};
    char path[4200];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static tarry_status make_folder(char *folder, size_t size, tarry_error *error)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, size, "%s/tarry-world-XXXXXX",
             base != NULL && *base != '\0' ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", folder,
                                strerror(errno));
    return TARRY_OK;
}

static void describe(tarry__advise_result *a, const char *folder)
{
    snprintf(a->instance, sizeof a->instance,
             "file:arms=%.2000s/arms.csv,theta=%.2000s/theta.csv", folder,
             folder);
    snprintf(a->loss, sizeof a->loss, "rademacher");
    snprintf(a->delay, sizeof a->delay, "resampled:file=%.4000s/pairs.csv",
             folder);
}

/* ---- the experiment -------------------------------------------------------*/

static tarry_status run(tarry__experiment *e,
                        const tarry__advise_options *options,
                        tarry__advise_result *a, tarry_error *error)
{
    tarry__experiment_results r;
    double *values = tarry__base_alloc(e->runs, sizeof *values);
    tarry_status status = tarry__experiment_results_create(&r, e);
    if (status != TARRY_OK || values == NULL)
        status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    if (status == TARRY_OK)
        status = tarry__experiment_check(e, &r, error);
    if (status == TARRY_OK)
        status = tarry__experiment_run(e, options->observer, &r, error);
    size_t number[TARRY__ADVISE_MOST]; /* of the rows, among the policies */
    for (size_t p = 0; status == TARRY_OK && p < e->n_policies; p++)
        if (r.refused[p].text[0] == '\0') {
            number[a->count] = p;
            a->row[a->count++] = row_of(&r, p, values);
        }
    if (status == TARRY_OK)
        set_gains(&r, a, number, values);
    tarry__experiment_results_clear(&r);
    tarry__base_free(values);
    return status;
}

static tarry_status simulate(const tarry__rebuild_world *world,
                             bool has_features, bool safe, const char *folder,
                             const tarry__advise_options *options,
                             tarry__advise_result *a, tarry_error *error)
{
    tarry_status status = tarry__rebuild_write(world, folder, error);
    if (status != TARRY_OK)
        return status;
    describe(a, folder);
    tarry__experiment *e = tarry__base_zalloc(1, sizeof *e);
    if (e == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    *e = (tarry__experiment){.instance = a->instance,
                             .loss = a->loss,
                             .delay = a->delay,
                             .horizon = options->horizon,
                             .runs = options->runs,
                             .seed = options->seed,
                             .threads = options->threads,
                             .points = 10};
    e->n_policies = list_policies(has_features, safe, e->policy);
    e->n_grid = tarry__sim_log_grid(e->horizon, e->points, e->grid);
    status = run(e, options, a, error);
    tarry__base_free(e);
    return status;
}

tarry_status tarry__advise(const tarry__rebuild_world *world, bool has_features,
                           bool safe, const tarry__advise_options *options,
                           tarry__advise_result *a, tarry_error *error)
{
    char own[4096];
    const char *folder = options->folder;
    memset(a, 0, sizeof *a);
    if (folder == NULL) {
        const tarry_status made = make_folder(own, sizeof own, error);
        if (made != TARRY_OK)
            return made;
        folder = own;
    }
    const tarry_status status =
        simulate(world, has_features, safe, folder, options, a, error);
    if (folder == own)
        remove_world(own);
    if (status != TARRY_OK)
        return status;
    if (a->count == 0)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "no policy can run in this log's world");
    sort_rows(a);
    pick(a);
    return TARRY_OK;
}
