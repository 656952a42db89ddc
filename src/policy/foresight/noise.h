/* noise.h - how noisy the losses of an arm may be: an upper bound on their
 * variance that the losses which speak for this arm support.
 *
 * With N = I + sum z z' over the losses there are, the losses speak for an arm
 * z as much as n = 1 / (z' N^-1 z) losses of its own would: for arms without
 * features n is the count of its own, plus 1.  Their residuals have the mean
 * square s^2 = z' N^-1 Q N^-1 z / (z' N^-1 z), Q = I + sum r^2 z z'.  An event
 * that may have a probability of KAPPA / n without having been seen in n losses
 * adds up to KAPPA / n of the squared range, 4.  And a loss in [-1, 1] with
 * mean m has variance at most 1 - m^2 (Bhatia and Davis 2000), m being known up
 * to 1 / sqrt(n), and up to the share o of plays whose loss is out.  So the
 * bound is
 *
 *     min( s^2 + 4 KAPPA / n,
 *          1 - max(0, (1 - o) |m| - o - 1 / sqrt(n))^2 + misfit ).
 *
 * misfit is what residuals of an arm that do not average out add to Q, as of
 * means that are not linear, per loss.  An estimate in place of the bound, or
 * one pooled over arms, takes an arm that has paid nothing in ten plays for one
 * that never will. */
#ifndef TARRY_POLICY_FORESIGHT_NOISE_H
#define TARRY_POLICY_FORESIGHT_NOISE_H

#include "policy/foresight/view.h"

typedef struct {
    double *N, *Q, *P, *R, *T;  /* rank by rank; P = N^-1, scratch */
    double *y;                  /* rank */
    double *variance;           /* per arm: the bound */
    double *h, *square, *spare; /* per arm that may be chosen, scratch */
} tarry__noise;

tarry_status tarry__noise_open(tarry__noise *noise, const tarry__view *view);
void tarry__noise_clear(tarry__noise *noise);

/* Starts anew; `count` losses of an arm, whose squared residuals have this sum;
 * the bounds of all arms, given theta. */
void tarry__noise_start(tarry__noise *noise, const tarry__view *view);
void tarry__noise_add(tarry__noise *noise, const tarry__view *view, size_t arm,
                      double count, double squares);
void tarry__noise_find(tarry__noise *noise, const tarry__view *view,
                       const double *theta, double out, double misfit);

#endif
