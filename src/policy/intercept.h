/* intercept.h - whether the model of the means needs a constant.
 *
 * Losses in [low, high] are moved to [-1, 1].  Means that are linear in the
 * features are then affine, so a policy needs a feature that is the same for
 * all arms: the arms' own columns give one, or it is added as a last feature.
 * A range around 0 is not moved and needs none. */
#ifndef TARRY_POLICY_INTERCEPT_H
#define TARRY_POLICY_INTERCEPT_H

#include <stddef.h>
#include "tarry/status.h"

/* The value of the feature to add to the arms; 0: no feature is needed, as
 * there is a vector x, which is filled, with <a, x> = 1, up to 1e-9, for every
 * arm a.
 * TARRY_NO_MEMORY, TARRY_TARGET_NOT_MET (numbers failed). */
tarry_status tarry__intercept_find(const double *arms, size_t n_arms,
                                   size_t dim, double *constant, double *x);

/* 1 - <a, x>, 0 if that is rounding: the feature of an arm in place of a
 * constant.  It is 0 for the arms that x was found for. */
double tarry__intercept_rest(const double *a, const double *x, size_t dim);

/* Copies arms with `constant` added as a last feature, or without the last
 * one; `out` has room for n_arms (dim + 1) or n_arms dim numbers. */
void tarry__intercept_add(const double *arms, size_t n_arms, size_t dim,
                          double constant, double *out);
void tarry__intercept_drop(const double *arms, size_t n_arms, size_t dim,
                           double *out);

#endif
