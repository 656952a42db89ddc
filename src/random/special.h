/* special.h - distribution functions that laws of losses and delays need. */
#ifndef TARRY_RANDOM_SPECIAL_H
#define TARRY_RANDOM_SPECIAL_H

/* P(Z > z) for a standard normal Z, good to the rounding of z in both tails. */
double tarry__random_normal_tail(double z);

/* The z with P(Z <= z) = p, for 0 < p < 1; relative error about 1e-15. */
double tarry__random_normal_quantile(double p);

/* Upper regularised incomplete gamma function Q(s, x) = Gamma(s, x)/Gamma(s)
 * for s > 0 and x >= 0; and P = 1 - Q.  Relative error about 1e-14 for s up to
 * 1000, growing with s; it takes some 1000 terms at most. */
double tarry__random_gamma_upper(double s, double x);
double tarry__random_gamma_lower(double s, double x);

#endif
