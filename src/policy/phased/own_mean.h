/* own_mean.h - what an arm's own losses say of its mean, at all times at once.
 *
 * Of n losses in [low, 1] with the same mean m, given the past of each, let h =
 * (sum - n low)/(1 - low) be their high share.  With probability 1 - delta, for
 * all n,
 *     log B(h + 1/2, n - h + 1/2) - log B(1/2, 1/2)
 *         <= h log p + (n - h) log(1 - p) + log(1 / delta),
 *     p = (m - low)/(1 - low),
 * with the beta function B; docs/algorithms.md has the proof.  The interval
 * knows the variance: near low and 1 it is narrow. */
#ifndef TARRY_POLICY_PHASED_OWN_MEAN_H
#define TARRY_POLICY_PHASED_OWN_MEAN_H

/* The largest and the smallest mean that this allows. */
double tarry__own_mean_upper(double n, double sum, double low, double delta);
double tarry__own_mean_lower(double n, double sum, double low, double delta);

#endif
