/* results.c - figures of an experiment's policies. */
#include "lab/results.h"

#include <math.h>

double tarry__results_regret(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return o->regret;
}

double tarry__results_at_point(const tarry__sim_outcome *o, size_t i)
{
    return o->curve[i];
}

double tarry__results_phases(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->n_phases;
}

double tarry__results_active(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->active;
}

double tarry__results_best_kept(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->best_kept;
}

double tarry__results_sigma_mean(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return o->sigma_mean;
}

double tarry__results_sigma_max(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->sigma_max;
}

double tarry__results_sigma_final(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->sigma_final;
}

static double seconds_of(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return o->seconds;
}

double tarry__results_used(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->used;
}

double tarry__results_late(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->late;
}

double tarry__results_ignored(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->ignored;
}

double tarry__results_lost(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return (double)o->lost;
}

tarry__experiment_summary
tarry__results_summary(const tarry__experiment_results *r, size_t p,
                       tarry__experiment_pick *pick, size_t i, double *values)
{
    return tarry__experiment_summarise(
        values, tarry__experiment_results_pick(r, p, pick, i, values));
}

double tarry__results_mean(const tarry__experiment_results *r, size_t p,
                           tarry__experiment_pick *pick, double *values)
{
    return tarry__results_summary(r, p, pick, 0, values).mean;
}

double tarry__results_largest(const tarry__experiment_results *r, size_t p,
                              tarry__experiment_pick *pick, double *values)
{
    double largest = 0;
    const size_t count = tarry__experiment_results_pick(r, p, pick, 0, values);
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, values[i]);
    return largest;
}

bool tarry__results_any(const tarry__experiment_results *r, size_t p)
{
    const size_t runs = r->experiment->runs;
    for (size_t run = 0; run < runs; run++)
        if (r->finished[p * runs + run])
            return true;
    return false;
}

bool tarry__results_lost_best(const tarry__experiment_results *r, size_t p)
{
    const size_t runs = r->experiment->runs;
    for (size_t i = p * runs; i < (p + 1) * runs; i++)
        if (r->finished[i] && !r->outcome[i].best_kept)
            return true;
    return false;
}

size_t tarry__results_best(const tarry__experiment_results *r, double *values)
{
    size_t best = SIZE_MAX;
    double least = INFINITY;
    for (size_t p = 0; p < r->experiment->n_policies; p++) {
        const double mean =
            tarry__results_mean(r, p, tarry__results_regret, values);
        if (tarry__results_any(r, p) && (best == SIZE_MAX || mean < least)) {
            least = mean;
            best = p;
        }
    }
    return best;
}

double tarry__results_speed(const tarry__experiment_results *r, size_t p,
                            double *values)
{
    const double seconds = tarry__results_mean(r, p, seconds_of, values);
    return seconds > 0 ? (double)r->experiment->horizon / seconds : 0;
}
