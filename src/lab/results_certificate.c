/* results_certificate.c - the bounds that policies state on the gap of the arm
 * they would exploit, over time, and whether they held. */
#include <math.h>
#include "lab/results.h"

static double bound_at(const tarry__sim_outcome *o, size_t i)
{
    return o->certificate[i];
}

static double gap_at(const tarry__sim_outcome *o, size_t i)
{
    return o->exploit_gap[i];
}

/* Rounding must not count as a failure. */
static bool holds(const tarry__sim_outcome *o, size_t i)
{
    return o->exploit_gap[i] <= o->certificate[i] + 1e-12;
}

static bool states_bounds(const tarry__experiment_results *r, size_t p)
{
    const size_t runs = r->experiment->runs;
    for (size_t i = p * runs; i < (p + 1) * runs; i++)
        if (r->finished[i])
            return !isnan(r->outcome[i].certificate[0]);
    return false;
}

/* Shares of points, and of runs with all their points, at which it held. */
static void count_coverage(const tarry__experiment_results *r, size_t p,
                           double *points, double *runs)
{
    const tarry__experiment *e = r->experiment;
    size_t n_runs = 0, good_runs = 0, good_points = 0;
    for (size_t i = p * e->runs; i < (p + 1) * e->runs; i++) {
        size_t good = 0;
        if (!r->finished[i])
            continue;
        for (size_t j = 0; j < e->n_grid; j++)
            good += holds(&r->outcome[i], j);
        n_runs++;
        good_points += good;
        good_runs += good == e->n_grid;
    }
    *points = (double)good_points / (double)(n_runs * e->n_grid);
    *runs = (double)good_runs / (double)n_runs;
}

json_t *tarry__results_certificate(const tarry__experiment_results *r, size_t p,
                                   double *values)
{
    const tarry__experiment *e = r->experiment;
    double points, runs;
    if (!states_bounds(r, p))
        return json_null();
    json_t *curve = json_array();
    for (size_t i = 0; i < e->n_grid; i++) {
        const tarry__experiment_summary s = tarry__experiment_summarise(
            values, tarry__experiment_results_pick(r, p, bound_at, i, values));
        const double gap =
            tarry__experiment_summarise(
                values, tarry__experiment_results_pick(r, p, gap_at, i, values))
                .mean;
        if (json_array_append_new(
                curve, json_pack("[I, o, o, o, f]", (json_int_t)e->grid[i],
                                 tarry__json_number(s.mean),
                                 tarry__json_number(s.mean - s.ci95),
                                 tarry__json_number(s.mean + s.ci95), gap)) !=
            0) {
            json_decref(curve);
            return NULL;
        }
    }
    count_coverage(r, p, &points, &runs);
    return json_pack("{s:f, s:f, s:o}", "points_held", points, "runs_held",
                     runs, "curve", curve);
}
