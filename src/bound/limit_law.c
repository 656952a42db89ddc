/* limit_law.c - the limit for losses with two values, from below.
 *
 * Under theta' arm a would be as good as the best, and arms of gap 0 have the
 * same means as under theta; so a consistent policy must tell the two apart by
 * plays of the others: sum_b N(b) KL_b(theta, theta') >= log T.  For any
 * theta'_1, theta'_2, .. and prices z_i >= 0 with sum_i z_i KL_b(i) <= gap(b)
 * for all b, therefore sum_b N(b) gap(b) >= log T sum_i z_i: a certificate,
 * however the prices were found.  Here: those of the Gaussian problem, scaled
 * until they fit, then each raised as far as it goes.  A theta' under which a
 * loss would leave its range is no loss law's and is left out. */
#include "bound/limit.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"

enum { PASSES = 4 };

/* KL of two-valued laws; p and s are probabilities of the higher value. */
static double divergence(double p, double s)
{
    const double up = p > 0 ? p * tarry__ln(p / s) : 0;
    const double down = p < 1 ? (1 - p) * tarry__ln((1 - p) / (1 - s)) : 0;
    return fmax(up + down, 0);
}

/* The probability of the higher value, or NaN. */
static double probability(const tarry__world *w, double mean)
{
    const double lower = w->loss.type->lower;
    const double p = (mean - lower) / (1 - lower);
    return p >= 0 && p <= 1 ? p : NAN;
}

/* Only one value, but for rounding in the shift that led to it: laws of two
 * values are infinitely far from that. */
static bool is_certain(double p)
{
    return p < 1e-12 || p > 1 - 1e-12;
}

/* Divergences in place of shifts; false: no such law. */
static bool diverge(const tarry__world *w, double *shift)
{
    for (size_t a = 0; a < w->instance.n_arms; a++) {
        const double mean = w->instance.mean[a];
        const double p = probability(w, mean);
        const double s = probability(w, mean + shift[a]);
        if (shift[a] == 0)
            continue;
        shift[a] = divergence(p, s);
        if (!isfinite(shift[a]) || (is_certain(s) && !is_certain(p)))
            return false;
    }
    return true;
}

/* How much more of alternative i fits, given what is left of each gap. */
static double fits(const double *divergence, const double *left, size_t n)
{
    double most = INFINITY;
    for (size_t a = 0; a < n; a++)
        if (divergence[a] > 0)
            most = fmin(most, fmax(left[a], 0) / divergence[a]);
    return most;
}

static void take(const double *divergence, double price, double *left, size_t n)
{
    for (size_t a = 0; a < n; a++)
        left[a] -= price * divergence[a];
}

static double sum_of_prices(const tarry__limit_alternatives *o, double *left,
                            const double *gap, size_t n)
{
    double sum = 0, share = INFINITY;
    memset(left, 0, n * sizeof *left);
    for (size_t i = 0; i < o->count; i++)
        take(o->shift + i * n, -o->price[i], left, n);
    for (size_t a = 0; a < n; a++)
        if (left[a] > 0)
            share = fmin(share, gap[a] / left[a]);
    for (size_t a = 0; a < n; a++)
        left[a] = gap[a] - (isfinite(share) ? share * left[a] : 0);
    for (size_t i = 0; isfinite(share) && i < o->count; i++)
        sum += share * o->price[i];
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t i = 0; i < o->count; i++) {
            const double more = fits(o->shift + i * n, left, n);
            if (!isfinite(more))
                continue;
            take(o->shift + i * n, more, left, n);
            sum += more;
        }
    return sum;
}

tarry_status tarry__limit_by_law(const tarry__world *w,
                                 const tarry__limit_alternatives *others,
                                 double *constant)
{
    const size_t n = w->instance.n_arms;
    tarry__limit_alternatives kept = {0, others->shift, others->price};
    *constant = NAN;
    if (!w->loss.type->two_valued)
        return TARRY_OK;
    double *left = tarry__base_alloc(2 * n, sizeof *left);
    if (left == NULL)
        return TARRY_NO_MEMORY;
    double *gap = left + n;
    for (size_t a = 0; a < n; a++)
        gap[a] = w->instance.mean[a] - w->instance.best_mean;
    for (size_t i = 0; i < others->count; i++)
        if (diverge(w, others->shift + i * n)) {
            memmove(kept.shift + kept.count * n, others->shift + i * n,
                    n * sizeof *kept.shift);
            kept.price[kept.count++] = others->price[i];
        }
    *constant = sum_of_prices(&kept, left, gap, n);
    tarry__base_free(left);
    return TARRY_OK;
}
