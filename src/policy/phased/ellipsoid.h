/* ellipsoid.h - where the unknown vector lies, from all losses together.
 *
 * In coordinates in which it has at most length 1, with M = lambda I + sum of
 * counts z z' and theta = M^-1 sum of losses z, for noise of proxy 1,
 *     |theta - unknown|_M^2 <= 2 log(1/delta) + log det(M / lambda) + lambda
 * at all times at once with probability 1 - delta, for plays chosen by anybody
 * who knows no more than what came before (docs/algorithms.md).  A large
 * lambda suits directions that are hardly played, a small one those that are
 * played much: several are kept, each with its share of delta, and the
 * smallest bound counts. */
#ifndef TARRY_POLICY_PHASED_ELLIPSOID_H
#define TARRY_POLICY_PHASED_ELLIPSOID_H

#include <stddef.h>
#include <stdint.h>

/* What is known; z(k) = Z + k rank. */
typedef struct {
    size_t rank, n_arms;
    const double *Z;
    const uint64_t *counts; /* per arm: losses that M counts, and */
    const uint64_t *seen;   /*   those of them that are there */
    const double *sums;     /* per arm, of those */
    double width;           /* factor of the radius; the bounds hold with 1 */
} tarry__ellipsoid_data;

/* bound(i): on <unknown, z(arm) - z(among(i))>, the missing losses completed
 * the worst way; *own: on <unknown, z(arm)>.  Infinity where the numbers do not
 * allow for a bound.  `lacking` has room for all arms, `work` for rank (rank +
 * 3) doubles. */
void tarry__ellipsoid_bound(const tarry__ellipsoid_data *data, double delta,
                            size_t arm, const uint32_t *among, size_t count,
                            double *bound, double *own, uint32_t *lacking,
                            double *work);

#endif
