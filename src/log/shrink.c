/* shrink.c - see shrink.h. */
#include "log/shrink.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"
#include "log/dependence.h"
#include "log/rebuild.h"

enum { MOST_OUTCOMES = 200000, PERMUTATIONS = 399, ENOUGH = 40 };
static const double least_strength = 1e-3; /* where outcomes do not scatter */

/* ---- moments --------------------------------------------------------------*/

/* Sums over arms, weighed by their outcomes. */
typedef struct {
    double outcomes, seen; /* all outcomes; arms that have any */
    double within;         /* sum of squares */
    /* Of arms with two outcomes and more: */
    double excess; /* sum of n_k (y_k - m)^2 - s_k (1 - n_k / N) */
    double spread; /* sum of n_k |a_k - c|^2 */
} sums;

static void set_means(const tarry__shrink_arms *a, sums *t, tarry__shrink *s)
{
    double sum = 0;
    for (size_t k = 0; k < a->n_arms; k++) {
        t->outcomes += a->count[k];
        t->seen += a->count[k] > 0;
        sum += a->count[k] * a->mean[k];
        for (size_t i = 0; a->features != NULL && i < a->dim; i++)
            s->centre[i] += a->count[k] * a->features[k * a->dim + i];
    }
    s->mean = t->outcomes > 0 ? sum / t->outcomes : 0;
    for (size_t i = 0; s->centre != NULL && t->outcomes > 0 && i < a->dim; i++)
        s->centre[i] /= t->outcomes;
}

/* |a_k - c|^2. */
static double distance(const tarry__shrink *s, const tarry__shrink_arms *a,
                       size_t k)
{
    double square = 0;
    for (size_t i = 0; i < a->dim; i++) {
        const double x = a->features[k * a->dim + i] - s->centre[i];
        square += x * x;
    }
    return square;
}

/* Of unit vectors |a_k - c|^2 is 1 - 2 n_k / N + sum of (n_j / N)^2, of which
 * the average is 1 less that sum. */
static void add_squares(const tarry__shrink_arms *a, const tarry__shrink *s,
                        sums *t)
{
    for (size_t k = 0; k < a->n_arms; k++) {
        const double n = a->count[k], off = a->mean[k] - s->mean;
        if (n > 0)
            t->within += a->squares[k];
        if (n < 2)
            continue;
        t->excess +=
            n * off * off - a->squares[k] / (n - 1) * (1 - n / t->outcomes);
        t->spread += a->features != NULL ? n * distance(s, a, k)
                                         : n * (1 - n / t->outcomes);
    }
}

static void set_strength(const sums *t, tarry__shrink *s)
{
    const double left = t->outcomes - t->seen;
    s->strength = INFINITY;
    if (!(left > 0 && t->spread > 0))
        return;
    s->within = t->within / left;
    if (t->excess > 1e-12 * t->outcomes)
        s->strength = fmax(least_strength, s->within * t->spread / t->excess);
}

/* ---- the model ------------------------------------------------------------*/

/* Ridge regression of what is left of the means, on features less c. */
static bool set_slope(const tarry__shrink_arms *a, tarry__shrink *s)
{
    const size_t K = a->n_arms, n = a->dim;
    if (isinf(s->strength))
        return true;
    double *centred = tarry__base_alloc(K * n + K, sizeof *centred);
    if (centred == NULL)
        return false;
    double *left = centred + K * n;
    for (size_t k = 0; k < K; k++) {
        left[k] = a->mean[k] - s->mean;
        for (size_t i = 0; i < n; i++)
            centred[k * n + i] = a->features[k * n + i] - s->centre[i];
    }
    const bool ok = tarry__rebuild_ridge(centred, K, n, a->count, left,
                                         s->strength, s->slope);
    tarry__base_free(centred);
    return ok;
}

bool tarry__shrink_fit(const tarry__shrink_arms *a, tarry__shrink *s)
{
    sums t = {0};
    *s = (tarry__shrink){.strength = INFINITY};
    if (a->features != NULL) {
        s->centre = tarry__base_zalloc(2 * a->dim, sizeof *s->centre);
        if (s->centre == NULL)
            return false;
        s->slope = s->centre + a->dim;
    }
    set_means(a, &t, s);
    add_squares(a, s, &t);
    set_strength(&t, s);
    return a->features == NULL || set_slope(a, s);
}

void tarry__shrink_clear(tarry__shrink *s)
{
    tarry__base_free(s->centre);
    memset(s, 0, sizeof *s);
}

double tarry__shrink_mean(const tarry__shrink *s, const tarry__shrink_arms *a,
                          size_t k)
{
    double mean = s->mean;
    if (a->features == NULL)
        return isinf(s->strength)
                   ? mean
                   : (a->count[k] * a->mean[k] + s->strength * mean) /
                         (a->count[k] + s->strength);
    for (size_t i = 0; i < a->dim; i++)
        mean += s->slope[i] * (a->features[k * a->dim + i] - s->centre[i]);
    return fmax(-1, fmin(1, mean));
}

double tarry__shrink_prior(const tarry__shrink *s, const tarry__shrink_arms *a,
                           size_t k)
{
    return a->features != NULL ? s->strength / distance(s, a, k) : s->strength;
}

/* ---- chance ---------------------------------------------------------------*/

typedef struct {
    size_t count, n_arms;
    uint32_t *arm;
    double *loss, *sum, *plays;
} deal;

static bool begin_deal(deal *d, const uint32_t *arm, const double *loss,
                       size_t count)
{
    size_t seen = 0, met = 0;
    for (size_t i = 0; i < count; i++)
        seen += !isnan(loss[i]);
    const size_t stride = seen / MOST_OUTCOMES + 1;
    d->arm = tarry__base_alloc(seen / stride + 1, sizeof *d->arm);
    d->loss = tarry__base_alloc(seen / stride + 1, sizeof *d->loss);
    d->sum = tarry__base_alloc(2 * d->n_arms, sizeof *d->sum);
    if (d->arm == NULL || d->loss == NULL || d->sum == NULL)
        return false;
    d->plays = d->sum + d->n_arms;
    memset(d->plays, 0, d->n_arms * sizeof *d->plays);
    for (size_t i = 0; i < count; i++) {
        if (isnan(loss[i]) || met++ % stride != 0)
            continue;
        d->arm[d->count] = arm[i];
        d->loss[d->count++] = loss[i];
        d->plays[arm[i]]++;
    }
    return true;
}

/* sum of n_k y_k^2: all that changes from deal to deal. */
static double between(const deal *d)
{
    double total = 0;
    memset(d->sum, 0, d->n_arms * sizeof *d->sum);
    for (size_t i = 0; i < d->count; i++)
        d->sum[d->arm[i]] += d->loss[i];
    for (size_t k = 0; k < d->n_arms; k++)
        if (d->plays[k] > 0)
            total += d->sum[k] * d->sum[k] / d->plays[k];
    return total;
}

static void centre_losses(deal *d)
{
    double sum = 0;
    for (size_t i = 0; i < d->count; i++)
        sum += d->loss[i];
    for (size_t i = 0; i < d->count; i++)
        d->loss[i] -= sum / (double)d->count;
}

/* Ends once so many deals differed as much that more would not matter (Besag
 * and Clifford 1991). */
double tarry__shrink_chance(const uint32_t *arm, const double *loss,
                            size_t count, size_t n_arms, uint64_t seed)
{
    deal d = {.n_arms = n_arms};
    double p = -1;
    if (begin_deal(&d, arm, loss, count)) {
        centre_losses(&d);
        const double found = between(&d) * (1 - 1e-9);
        int extreme = 0, n = 0;
        while (n < PERMUTATIONS && extreme < ENOUGH && found > 0) {
            tarry__dependence_shuffle(d.loss, d.count, &seed);
            extreme += between(&d) >= found;
            n++;
        }
        p = !(found > 0)        ? 1
            : extreme == ENOUGH ? (double)extreme / n
                                : (extreme + 1.0) / (n + 1);
    }
    tarry__base_free(d.arm);
    tarry__base_free(d.loss);
    tarry__base_free(d.sum);
    return p;
}
