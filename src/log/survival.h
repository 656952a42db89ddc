/* survival.h - how long feedback is out, when some of it still is.
 *
 * A decision without its outcome has waited for its age and will wait longer:
 * its delay is censored, not missing.  The curve S(t), the share of decisions
 * still without an outcome t after them, is that of Kaplan and Meier (1958):
 * the product over delays s <= t of 1 - d/n, with d outcomes at s among the n
 * decisions that have been out for s.  Its variance is Greenwood's,
 * S^2 g with g = sum of d / (n (n - d)).
 *
 * Intervals at one point are made on the scale log(-log S); the band holds for
 * the whole curve at once (Hall and Wellner 1980, with the critical value of
 * the whole line, which is on the safe side). */
#ifndef TARRY_SURVIVAL_H
#define TARRY_SURVIVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At `time` the curve falls to `out`; `variance` is g, `events` is d and
 * `at_risk` is n. */
typedef struct {
    double time, out, variance;
    uint32_t events, at_risk;
} tarry__survival_step;

typedef struct {
    size_t count, events; /* decisions; those with an outcome */
    size_t n_steps;
    tarry__survival_step *step; /* by time */
    double last;                /* the longest time that anything was out */
} tarry__survival;

/* Makes the curve of `count` decisions: time[i] is the delay if seen[i], else
 * the age.  hazard[i], unless NULL, becomes the sum of hazards up to time[i]:
 * what such a decision was expected to count for in outcomes.  End the curve
 * with tarry__survival_clear.  False: out of memory. */
bool tarry__survival_make(tarry__survival *curve, const double *time,
                          const bool *seen, size_t count, double *hazard);
void tarry__survival_clear(tarry__survival *curve);

/* A number with its 95 % interval; NaN where there is none. */
typedef struct {
    double value, low, high;
} tarry__log_interval;

/* S at a time, with the interval for this point. */
tarry__log_interval tarry__survival_at(const tarry__survival *curve,
                                       double time);

/* The band of the whole curve at a step. */
tarry__log_interval tarry__survival_band(const tarry__survival *curve,
                                         const tarry__survival_step *step);

/* When a share q of all decisions has its outcome; infinite: not in sight. */
tarry__log_interval tarry__survival_quantile(const tarry__survival *curve,
                                             double q);

/* The mean of the delays that come, as far as the curve goes: that of S above
 * its last value. */
tarry__log_interval tarry__survival_mean(const tarry__survival *curve);

#endif
