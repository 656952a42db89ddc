/* lower_payoff.c - the hard instance of the delay-as-payoff lower bound.
 *
 * Theorem lowerPayoff: arms 1_S / sqrt(n) for K <= exp(n / 100) sets S of n/2
 * coordinates with |S_i \ S_j| >= n/20 for all ordered pairs, theta = 1 on the
 * complement of S_i*, over sqrt(n), i* uniform, no noise.  Then arm i* loses 0
 * and every other |S_i \ S_i*| / n >= 1/20.  Sets of equal size have
 * |S_i \ S_j| = n/2 - |S_i and S_j|, the same both ways, so the check is on the
 * products of the 0-1 vectors, which are exact.  The arms are those of run 0
 * in every run, i* is drawn per run. */
#include "env/instance.h"

#include <math.h>
#include "base/base.h"
#include "base/elementary.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_COUNT("dim", "500", 24, TARRY__INSTANCE_MOST_DIM,
                      "dimension n, even, at least 24"),
    TARRY__SPEC_COUNT("arms", "100", 1, 100000,
                      "number of arms K, at most exp(n / 100)"),
    TARRY__INSTANCE_FIXED_SETTING,
    TARRY__SPEC_END,
};

/* A uniform set of half the coordinates as a 0-1 vector: coordinate i is taken
 * with probability (still to take) / (coordinates left). */
static void half_subset(tarry_random at, size_t index, size_t dim, double *out)
{
    size_t missing = dim / 2;
    for (size_t i = 0; i < dim; i++) {
        at.round = (uint64_t)index * dim + i;
        const double left = (double)(dim - i);
        const int taken = tarry_random_uniform(&at) * left < (double)missing;
        out[i] = taken;
        missing -= (size_t)taken;
    }
}

static tarry_status read(const tarry__spec *spec, size_t *dim, size_t *n_arms,
                         tarry_error *error)
{
    tarry_status status;
    if ((status = tarry__instance_size(spec, "dim", dim, error)) ||
        (status = tarry__instance_size(spec, "arms", n_arms, error)))
        return status;
    if (*dim % 2 != 0)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "lower-payoff: dim must be even: '%zu'", *dim);
    if ((double)*n_arms > tarry__exp((double)*dim / 100))
        return tarry__base_fail(
            error, TARRY_BAD_INPUT,
            "lower-payoff: arms <= exp(dim / 100) = %.1f is "
            "needed: '%zu'",
            tarry__exp((double)*dim / 100), *n_arms);
    return TARRY_OK;
}

static tarry_status make(const tarry__spec *spec, tarry__instance_place place,
                         tarry__instance *out, tarry_error *error)
{
    size_t n, K;
    tarry_status status;
    if ((status = read(spec, &n, &K, error)) ||
        (status = tarry__instance_place_fix(spec, &place, error)) ||
        (status = tarry__instance_reserve(out, K, n, error)))
        return status;
    const tarry_random at = {.seed = place.seed,
                             .stream = TARRY__ENV_STREAM_ARMS};
    const double most_shared = floor((double)n * 9 / 20); /* n/2 - n/20 */
    status =
        tarry__instance_separate(out, at, half_subset, 0, most_shared, error);
    if (status != TARRY_OK)
        return status;
    const double *best = out->arms + tarry__instance_drawn_arm(place, K) * n;
    const double length = sqrt((double)n);
    for (size_t i = 0; i < n; i++)
        out->theta[i] = (1 - best[i]) / length;
    for (size_t i = 0; i < K * n; i++)
        out->arms[i] /= length;
    return TARRY_OK;
}

const tarry__instance_type tarry__instance_lower_payoff = {
    {"lower-payoff",
     "hard for delay-as-payoff (lower bound); use the loss\n"
     "`none` and the delay `payoff`",
     settings},
    make};
