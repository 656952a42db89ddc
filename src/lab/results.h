/* results.h - what an experiment showed: figures of its policies, and all of it
 * as JSON.
 *
 * Functions that take `values` need room for a number per run there. */
#ifndef TARRY_LAB_RESULTS_H
#define TARRY_LAB_RESULTS_H

#include "base/json.h"
#include "lab/batch.h"

/* Numbers of a run, for tarry__experiment_results_pick: at_point is the regret
 * after round grid[i], the others do not look at i. */
tarry__experiment_pick tarry__results_regret, tarry__results_at_point,
    tarry__results_stuck, tarry__results_phases, tarry__results_active,
    tarry__results_best_kept, tarry__results_sigma_mean,
    tarry__results_sigma_max, tarry__results_sigma_final, tarry__results_used,
    tarry__results_late, tarry__results_ignored, tarry__results_lost,
    tarry__results_seconds;

/* Over the finished runs of policy p. */
tarry__experiment_summary
tarry__results_summary(const tarry__experiment_results *results, size_t p,
                       tarry__experiment_pick *pick, size_t i, double *values);
double tarry__results_mean(const tarry__experiment_results *results, size_t p,
                           tarry__experiment_pick *pick, double *values);
double tarry__results_largest(const tarry__experiment_results *results,
                              size_t p, tarry__experiment_pick *pick,
                              double *values);

/* The smallest value that a share q of the runs does not exceed. */
double tarry__results_quantile(const tarry__experiment_results *results,
                               size_t p, tarry__experiment_pick *pick, double q,
                               double *values);

/* Rounds per second, by the mean time of a run. */
double tarry__results_speed(const tarry__experiment_results *results, size_t p,
                            double *values);

/* Whether some run of the policy has finished. */
bool tarry__results_any(const tarry__experiment_results *results, size_t p);

/* Whether some finished run of a policy has cut all best arms. */
bool tarry__results_lost_best(const tarry__experiment_results *results,
                              size_t p);

/* The policy of smallest mean regret among those with finished runs; SIZE_MAX
 * if there is none. */
size_t tarry__results_best(const tarry__experiment_results *results,
                           double *values);

/* The plan as JSON, with the same keys as the options of `tarry run`; all that
 * `tarry run --json` prints.  New values, or NULL when out of memory. */
json_t *tarry__results_config(const tarry__batch_plan *plan);
json_t *tarry__results_json(const tarry__batch *batch, bool partial);

/* Part of it: the bounds policy p states on the gap of the arm it would
 * exploit, their mean with its interval over time and the mean gap, and how
 * often they held; null if it states none. */
json_t *tarry__results_certificate(const tarry__experiment_results *results,
                                   size_t p, double *values);

#endif
