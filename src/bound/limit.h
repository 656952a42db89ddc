/* limit.h - what no policy can do better than: the smallest regret per log T
 * from which the best arm of an instance can be told.
 *
 * c(A, theta) is the least sum of N(a) gap(a) such that, with V = sum N(a) a a'
 * and arms of gap 0 played for nothing, |a - a*|^2 in the norm of V^-1 is at
 * most gap(a)^2 / (2 R^2) for every other arm.  Every policy that is consistent
 * on all theta has a regret of c log T or more as T grows, with or without
 * delay (Graves and Lai 1997; Lattimore and Szepesvari 2017, "The end of
 * optimism?").  It is for Gaussian losses of deviation R, the hardest that
 * R-sub-Gaussian losses can be; for +/-1 and {0, 1} losses the law's own
 * information gives a constant too, proved from below only. */
#ifndef TARRY_BOUND_LIMIT_H
#define TARRY_BOUND_LIMIT_H

#include "env/world.h"

typedef struct {
    double R;         /* proxy of the world's losses */
    double constant;  /* a plan that costs this fulfils all conditions */
    double certified; /* no plan costs less than this */
    double by_law;    /* no plan costs less than this under the losses' own
                         law; NaN where that is not known */
    size_t support;   /* arms that the plan plays */
} tarry__bound_limit;

enum { TARRY__LIMIT_MOST_DIM = 128 };

/* TARRY_BAD_INPUT: the arms span more than MOST_DIM dimensions, or rounding
 * spoils the answer.  Instances where all arms are best have constant 0. */
tarry_status tarry__bound_limit_find(const tarry__world *world,
                                     tarry__bound_limit *limit,
                                     tarry_error *error);

/* ---- between its files ----------------------------------------------------*/

/* Minimise sum p over p > 0 such that y' (sum_j p_j x_j x_j')^-1 y <= 1 for all
 * y: r by w matrices, points of either side as columns. */
typedef struct {
    size_t r, w;
    double *X, *Y;
    double *p, *dual; /* w each: the answer and the price of each condition */
    double *V;        /* r by r: (sum p x x')^-1 at the end */
} tarry__limit_problem;

/* By a barrier method, to a relative 1e-4.  TARRY_TARGET_NOT_MET: the x do not
 * span, or steps have stopped short. */
tarry_status tarry__limit_solve(tarry__limit_problem *problem);

/* Alternatives for tarry__limit_by_law: under number i arm a's loss has mean
 * mean[a] + shift[i * n_arms + a]; `price` is a first guess. */
typedef struct {
    size_t count;
    double *shift, *price;
} tarry__limit_alternatives;

/* c from below: arms' gaps and Kullback-Leibler divergences of the loss law. */
tarry_status tarry__limit_by_law(const tarry__world *world,
                                 const tarry__limit_alternatives *others,
                                 double *constant);

#endif
