/* audit.c - see audit.h.
 *
 * Errors.  With V = N sum w(b) b b' and noise of variance v the estimate of b
 * has variance v b' V(w)^-1 b / N, and sum_b w(b) b' V(w)^-1 b = r, the rank:
 * so (N / r) sum w(b) (estimate - mean)^2 / sum w(b) v(b) is 1 on average,
 * whatever the design, if N losses were counted and none was chosen by what it
 * is.  For arms without features it is N times the mean squared error over v.
 * Losses are +1 or -1: v = 1 - mean^2. */
#include "paper/audit.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"

static const struct {
    const char *name;
    double cut, gap, widest;
} algorithms[] = {
    {"", 0, 0, 0},
    {"phased-stochastic", 2, 4, 0},
    {"phased-adversarial", 2, 4, 0},
    {"phased-loss-dependent", 6, 19.313708498984761, 5.656854249492381},
    {"phased-mab", 4, 10, 2},
};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

double tarry__audit_largest_gap(int algorithm)
{
    return algorithms[algorithm].gap;
}

double tarry__audit_widest(int algorithm)
{
    return algorithms[algorithm].widest;
}

tarry_status tarry__audit_open(tarry__audit *a, const char *instance,
                               const char *loss, const char *policy,
                               uint64_t horizon, uint64_t seed, uint32_t run,
                               tarry_error *error)
{
    memset(a, 0, sizeof *a);
    for (int i = 1; i < ALGORITHMS; i++)
        if (strcmp(policy, algorithms[i].name) == 0)
            a->algorithm = i;
    a->horizon = (double)horizon;
    const tarry_status status = tarry__world_create(
        instance, loss, "none", seed, run, &a->world, error);
    if (status != TARRY_OK)
        return status;
    const size_t K = a->world->instance.n_arms;
    a->active = tarry__base_alloc(K, sizeof *a->active);
    a->plan = tarry__base_alloc(K, sizeof *a->plan);
    return a->active != NULL && a->plan != NULL
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

void tarry__audit_close(tarry__audit *a)
{
    tarry__world_free(a->world);
    tarry__base_free(a->active);
    tarry__base_free(a->plan);
}

void tarry__audit_began(tarry__audit *a, const tarry_policy_status *status)
{
    a->n_active = status->n_active;
    memcpy(a->active, status->active, a->n_active * sizeof *a->active);
    a->n_plan = status->n_plan;
    if (a->n_plan > 0)
        memcpy(a->plan, status->plan, a->n_plan * sizeof *a->plan);
    a->epsilon = ldexp(0.5, -(int)a->n_phases);
}

/* ---- one phase ------------------------------------------------------------*/

static double quota(const tarry__audit *a)
{
    const tarry__instance *in = &a->world->instance;
    const double n = (double)in->dim, eps = a->epsilon;
    const double log_kt = tarry__ln((double)in->n_arms * a->horizon);
    double least = 1;
    for (size_t i = 0; i < a->n_plan; i++)
        least = fmin(least, a->plan[i].weight);
    if (a->algorithm == 4)
        return ceil(24 * log_kt / (eps * eps));
    const double N = 16 * n * log_kt / (eps * eps);
    return a->algorithm == 3
               ? fmax(N, 24 * sqrt(n) * tarry__ln(a->horizon) / (eps * least))
               : N;
}

static double asked_for(const tarry__audit *a, double N)
{
    double sum = 0;
    for (size_t i = 0; i < a->n_plan; i++)
        sum += a->algorithm == 4 ? N : ceil(N * a->plan[i].weight);
    return sum;
}

static double planned(const tarry__audit *a)
{
    double sum = 0;
    for (size_t i = 0; i < a->n_plan; i++)
        sum += (double)a->plan[i].target;
    return sum;
}

static double squared_errors(const tarry__audit *a,
                             const tarry_estimate *estimates, double N)
{
    const tarry__instance *in = &a->world->instance;
    const size_t rank = in->dim < a->n_active ? in->dim : a->n_active;
    double sum = 0, noise = 0;
    for (size_t i = 0; i < a->n_plan; i++) {
        const size_t arm = a->plan[i].arm;
        const double w = a->algorithm == 4 ? 1 : a->plan[i].weight;
        const double middle =
            (estimates[arm].lower + estimates[arm].upper) / 2 - in->mean[arm];
        sum += w * middle * middle;
        noise += w * (1 - in->mean[arm] * in->mean[arm]);
    }
    return (a->algorithm == 4 ? N : N / (double)rank) * sum / noise;
}

static bool is_among(const uint32_t *list, size_t count, uint32_t arm)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (list[middle] < arm)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && list[low] == arm;
}

static void judge_arms(const tarry__audit *a, const tarry_policy_status *status,
                       tarry__audit_phase *p)
{
    const tarry__instance *in = &a->world->instance;
    const double eps = a->epsilon, cut = algorithms[a->algorithm].cut * eps;
    double least = INFINITY;
    for (size_t i = 0; i < a->n_active; i++)
        least = fmin(least, status->estimates[a->active[i]].upper);
    for (size_t i = 0; i < a->n_active; i++) {
        const uint32_t arm = a->active[i];
        const tarry_estimate e = status->estimates[arm];
        const double mean = in->mean[arm];
        const double over = e.lower - least - cut;
        const bool kept = is_among(status->active, status->n_active, arm);
        p->off = fmax(p->off, fmax(e.lower - mean, mean - e.upper) / eps);
        p->widest = fmax(p->widest, (e.upper - e.lower) / eps);
        p->misjudged += fabs(over) > 1e-9 && kept != (over < 0);
        if (kept)
            p->gap = fmax(p->gap, (mean - in->best_mean) / eps);
    }
}

void tarry__audit_ended(tarry__audit *a, const tarry_policy_status *status)
{
    if (a->algorithm == 0 || a->n_phases == TARRY__AUDIT_PHASES ||
        status->n_estimates == 0)
        return;
    tarry__audit_phase *p = &a->phase[a->n_phases++];
    p->ended = 1;
    p->quota = quota(a);
    p->plan = planned(a) / asked_for(a, p->quota);
    p->error = squared_errors(a, status->estimates, p->quota);
    judge_arms(a, status, p);
}
