/* shrink.h - how much of what the arms of a log showed is chance.
 *
 * Arm k had n_k outcomes of mean y_k.  The model: the arms' means are
 * m + <a_k - c, theta>, theta has components of mean 0 and variance b, and
 * outcomes scatter about their arm's mean with variance s.  Without features
 * a_k is the k-th unit vector: each arm's mean is drawn by itself.
 *
 * All of it is estimated from the log (empirical Bayes): m and c are the
 * averages of outcomes and of features over all outcomes, s is pooled within
 * arms, and b solves the equation of the first moment (as DerSimonian and Laird
 * 1986),
 *     sum n_k (y_k - m)^2 = sum s_k (1 - n_k / N) + b sum n_k |a_k - c|^2,
 * over arms with at least two outcomes, s_k being their own variances, but is
 * not negative.  With a common s rare clicks that happen to fall on arms with
 * few outcomes would look like differences of arms: there they are missing
 * from s.  Predictions are those of ridge regression with
 * strength s / b: an arm without features is predicted at
 *     (n_k y_k + strength m) / (n_k + strength).
 * Where the arms differ no more than chance makes them differ, the strength is
 * infinite and every arm is predicted at m. */
#ifndef TARRY_LOG_SHRINK_H
#define TARRY_LOG_SHRINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the arms showed, per arm; means and squares of losses in [-1, 1]. */
typedef struct {
    size_t n_arms, dim;
    const double *features; /* arm k at features + k * dim; NULL: none */
    const double *count, *mean;
    const double *squares; /* sum of (outcome - mean)^2 */
} tarry__shrink_arms;

typedef struct {
    double mean;     /* m; 0 if there are no outcomes */
    double within;   /* s */
    double strength; /* s / b, at least 0.001; INFINITY */
    double *centre;  /* c, dim numbers; NULL without features */
    double *slope;   /* theta; NULL without features */
} tarry__shrink;

/* Fits the model; end it with tarry__shrink_clear, also after a failure.
 * False: out of memory. */
bool tarry__shrink_fit(const tarry__shrink_arms *arms, tarry__shrink *shrink);
void tarry__shrink_clear(tarry__shrink *shrink);

/* The predicted mean of an arm, in [-1, 1], and how many outcomes the model is
 * worth for it before its own. */
double tarry__shrink_mean(const tarry__shrink *shrink,
                          const tarry__shrink_arms *arms, size_t arm);
double tarry__shrink_prior(const tarry__shrink *shrink,
                           const tarry__shrink_arms *arms, size_t arm);

/* The share of logs whose arms would differ as much in their means, or more,
 * if outcomes had been dealt to decisions at random: of at most 200 000
 * outcomes (NaN: none), by up to 399 permutations.  1 if there is nothing to
 * compare, negative if out of memory. */
double tarry__shrink_chance(const uint32_t *arm, const double *loss,
                            size_t count, size_t n_arms, uint64_t seed);

#endif
