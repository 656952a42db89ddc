/* vids.c - information-directed sampling with the posterior's variances.
 *
 * Source: Russo and Van Roy, "Learning to optimize via information-directed
 * sampling", 2014, section 6.  Of SAMPLES draws from N(theta_hat, alpha^2 V^-1)
 * those for which arm k is best have the mean theta(k) and the share q(k).  The
 * cost of an arm is its mean minus the mean of the draws' least, its
 * information the variance of its mean that knowing the best arm would
 * explain, sum_k q(k) <a, theta(k) - theta_hat>^2.
 *
 * Delays: draws come from what has arrived; as they are random, outstanding
 * plays need not be counted. */
#include <math.h>
#include <string.h>
#include "linalg/linalg.h"
#include "policy/linear/directed.h"
#include "policy/linear/linear.h"
#include "random/normals.h"

enum { SAMPLES = 100 };

static size_t room(size_t dim, size_t n_arms)
{
    (void)n_arms;
    return SAMPLES * (dim + 2) + dim + SAMPLES * (dim + 1) +
           tarry__linear_stride(dim);
}

typedef struct {
    double *theta; /* n per draw */
    double *best;  /* per draw: place of the best arm, a whole number, */
    double *least; /*   and its mean */
    double *middle, *normals, *z;
} draws;

static draws in_work(const tarry__directed *d)
{
    const size_t n = d->problem->dim;
    draws w = {.theta = d->work};
    w.best = w.theta + SAMPLES * n;
    w.least = w.best + SAMPLES;
    w.middle = w.least + SAMPLES;
    w.normals = w.middle + n;
    w.z = w.normals + SAMPLES * (n + 1);
    return w;
}

static void find_best(const tarry__directed *d, const draws *w, size_t j)
{
    const size_t n = d->problem->dim;
    w->least[j] = INFINITY;
    for (size_t i = 0; i < tarry__policy_n_choices(d->problem); i++) {
        const double mean =
            tarry__linalg_dot(tarry__directed_arm(d, i), w->theta + j * n, n);
        if (mean < w->least[j]) {
            w->least[j] = mean;
            w->best[j] = (double)i;
        }
    }
}

static void draw_all(const tarry__directed *d, const draws *w, uint64_t round)
{
    const size_t n = d->problem->dim, half = (n + 1) / 2;
    const uint64_t number =
        d->other > 0 ? round * TARRY_PROBABILITY_DRAWS + d->other - 1 : round;
    const tarry_random at = {.seed = d->problem->seed,
                             .run = d->problem->run,
                             .round = number * SAMPLES * half,
                             .stream = d->other > 0
                                           ? TARRY__POLICY_STREAM_OTHERS
                                           : TARRY__POLICY_STREAM_NORMALS};
    tarry__random_normal_rounds(&at, SAMPLES * half, w->normals);
    memset(w->z, 0, tarry__linear_stride(n) * sizeof *w->z);
    for (size_t j = 0; j < SAMPLES; j++) {
        double *theta = w->theta + j * n;
        memcpy(w->z, w->normals + j * 2 * half, n * sizeof *w->z);
        d->seen.kernels->times(d->seen.S, n, w->z, theta);
        for (size_t i = 0; i < n; i++)
            theta[i] = d->seen.theta[i] + d->alpha * theta[i];
        find_best(d, w, j);
    }
}

/* Adds q(k) <a, theta(k) - theta_hat>^2 of the arm k that draw j finds best to
 * every arm's information, if j is the first such draw. */
static void add_class(tarry__directed *d, const draws *w, size_t j)
{
    const size_t n = d->problem->dim;
    double count = 0;
    memset(w->middle, 0, n * sizeof *w->middle);
    for (size_t k = 0; k < SAMPLES; k++) {
        if (w->best[k] != w->best[j])
            continue;
        if (k < j)
            return;
        count++;
        for (size_t i = 0; i < n; i++)
            w->middle[i] += w->theta[k * n + i] - d->seen.theta[i];
    }
    for (size_t i = 0; i < tarry__policy_n_choices(d->problem); i++) {
        const double moved =
            tarry__linalg_dot(tarry__directed_arm(d, i), w->middle, n) / count;
        d->info[i] += count / SAMPLES * moved * moved;
    }
}

static void weigh(tarry__directed *d, uint64_t round)
{
    const size_t count = tarry__policy_n_choices(d->problem);
    const draws w = in_work(d);
    double least = 0;
    draw_all(d, &w, round);
    memset(d->info, 0, count * sizeof *d->info);
    for (size_t j = 0; j < SAMPLES; j++) {
        least += w.least[j] / SAMPLES;
        add_class(d, &w, j);
    }
    for (size_t i = 0; i < count; i++) /* draws are few: costs stay positive */
        d->cost[i] = fmax(d->mean[i] - least, 1e-12);
    tarry__directed_mix(d);
}

static const tarry__directed_rule rule = {
    .room = room, .weigh = weigh, .draws = true};

static const tarry_setting settings[] = {
    TARRY__RIDGE_SETTING,
    TARRY__SPEC_REAL("alpha", "1", 0, 1e6,
                     "standard deviation of the noise it assumes"),
    TARRY__SPEC_END,
};

const tarry__policy_type tarry__linear_vids = {
    .name = "vids",
    .source = "Russo and Van Roy 2014",
    .summary = "information about which arm is best, by variances of draws",
    .costly = true,
    .settings = settings,
    .rule = &rule,
    TARRY__LINEAR_DIRECTED,
};
