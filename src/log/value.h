/* value.h - what another policy would have earned, from a log with the
 * probabilities of its choices.
 *
 * The other policy plays arm a with probability pi(a), whatever happens.  With
 * w = pi(a_t) / p_t and v the value that came of a decision, in the log's own
 * unit, over the T decisions that are ripe,
 *     ips    sum w v / T
 *     snips  sum w v / sum w
 *     dr     sum (q(pi) + w (v - q(a_t))) / T,  q(pi) = sum_a pi(a) q(a),
 * where q is the model of shrink.h fitted to the other half of the decisions:
 * those with odd numbers for those with even ones and the other way round.
 * Decisions without a probability are left out of all of it.
 *
 * Ripe are decisions older than a window by which nearly all outcomes that come
 * have come.  A ripe decision without outcome counts as the mean of its arm in
 * the estimates; for the low end of the interval as the lowest value there can
 * be, for the high end as the highest.
 *
 * Intervals are those of predictable empirical Bernstein bounds (Waudby-Smith
 * and Ramdas 2024): for X_t >= 0 with mean V given the past, a guess m_t < 1
 * and bets b_t that look only at the past, V >= (sum b X - log(1/alpha) - sum
 * (X - m)^2 (-log(1 - b) - b)) / sum b with probability 1 - alpha.  The logging
 * policy may have learned meanwhile. Of ips and snips they need no bound on w:
 * both ends are low ends, of w u and of w (1 - u) with u in [0, 1].  For dr the
 * largest 1/p_t counts as the bound.  Intervals lie in the range of outcomes;
 * an estimate whose formula gives a number outside of its interval is the
 * nearest end of it, and says so.
 */
#ifndef TARRY_LOG_VALUE_H
#define TARRY_LOG_VALUE_H

#include "log/log.h"

enum {
    TARRY__VALUE_IPS,
    TARRY__VALUE_SNIPS,
    TARRY__VALUE_DR,
    TARRY__VALUE_METHODS
};

typedef struct {
    const tarry__log *log;
    size_t count;     /* ripe decisions: the first so many of the log, */
    size_t used;      /*   and those of them that have a probability */
    size_t missing;   /* used decisions without an outcome */
    double *arm_mean; /* loss, per arm; that of all where an arm has none */
    double *model[2]; /* q per arm as losses, for even and for odd decisions */
    double mean[2], strength[2]; /* of the models, as in shrink.h */
    double *promise; /* per arm a loss that it will hardly exceed: the model of
                        all decisions and 1.96 of its errors */
    double *worst;   /* the same by the arm's own outcomes only */
    double largest;  /* 1/p_t */
} tarry__value_basis;

/* Prepares; `window` is in the log's unit.  End it with tarry__value_clear.
 * False: out of memory. */
bool tarry__value_prepare(tarry__value_basis *basis, const tarry__log *log,
                          double window);
void tarry__value_clear(tarry__value_basis *basis);

typedef struct {
    double estimate, low, high; /* in the log's unit, 95 % */
    bool clipped;               /* the formula gave a number outside */
} tarry__value;

/* The value of playing arm a with probability pi[a], by each method. */
void tarry__value_of(const tarry__value_basis *basis, const double *pi,
                     tarry__value out[TARRY__VALUE_METHODS]);

/* The mean of what was decided, as if it were another policy. */
tarry__value tarry__value_logged(const tarry__value_basis *basis);

#endif
