/* results.c - figures of an experiment's policies. */
#include "lab/results.h"

#include <math.h>
#include <stdlib.h>

#define PICK(name, field)                                                      \
    double tarry__results_##name(const tarry__sim_outcome *o, size_t i)        \
    {                                                                          \
        (void)i;                                                               \
        return (double)o->field;                                               \
    }
PICK(regret, regret)
PICK(phases, n_phases)
PICK(active, active)
PICK(best_kept, best_kept)
PICK(sigma_mean, sigma_mean)
PICK(sigma_max, sigma_max)
PICK(sigma_final, sigma_final)
PICK(used, used)
PICK(late, late)
PICK(ignored, ignored)
PICK(lost, lost)
PICK(seconds, seconds)

/* Whether the best arms have less than half of the second half's plays. */
double tarry__results_stuck(const tarry__sim_outcome *o, size_t i)
{
    (void)i;
    return o->best_share < 0.5;
}

double tarry__results_at_point(const tarry__sim_outcome *o, size_t i)
{
    return o->curve[i];
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

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double tarry__results_quantile(const tarry__experiment_results *r, size_t p,
                               tarry__experiment_pick *pick, double q,
                               double *values)
{
    const size_t count = tarry__experiment_results_pick(r, p, pick, 0, values);
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, compare);
    return values[(size_t)ceil(q * (double)count) - 1];
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
    const double seconds =
        tarry__results_mean(r, p, tarry__results_seconds, values);
    return seconds > 0 ? (double)r->experiment->horizon / seconds : 0;
}
