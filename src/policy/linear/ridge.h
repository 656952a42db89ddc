/* ridge.h - ridge regression that learns one loss at a time.
 *
 *   V = lambda I + sum a a',  b = sum loss a,  theta = V^-1 b.
 *
 * V^-1 is kept as S S'.  With p = S' a, x = |p|^2 and r = sqrt(1 + x), adding
 * a a' to V is S <- S (I - p p' / (r (r + 1))): the bracket is the square root
 * of I - p p' / (1 + x).  So S costs n^2 per loss, V^-1 stays positive, and S
 * turns standard normals into draws of the posterior.
 *
 * Rounding errors do not pile up: after 1, 2, 4, ..., 512 additions and then
 * every 1024 (more in high dimension) S and theta are computed afresh from V,
 * b.  These are sums of so many terms that even they need care: terms are
 * gathered apart and join V and b only then, with what the sum rounds away
 * carried along (Kahan 1965). */
#ifndef TARRY_POLICY_LINEAR_RIDGE_H
#define TARRY_POLICY_LINEAR_RIDGE_H

#include "policy/linear/arms_kernel.h"
#include "policy/policy_type.h"

typedef struct {
    const tarry__arms_kernels *kernels;
    size_t n;
    double lambda;
    double *memory;              /* of all that follows */
    double *V, *b;               /* n by n; n: without recent terms */
    double *recent_V, *recent_b; /* n by n; n: the recent terms */
    double *carry;         /* what rounding took from sums of recent terms */
    double *S, *theta;     /* n rows of a stride; n */
    double *u, *p;         /* of the last change: V^-1 a and S' a */
    double *L;             /* n by n, for computing afresh */
    double log_det;        /* log(det V / lambda^n) */
    uint64_t added, since; /* terms of V; those since S was fresh */
} tarry__ridge;

/* What a call below has done: theta += c u, V^-1 -= d u u'.  If `fresh`, theta
 * and S have been computed anew besides. */
typedef struct {
    double c, d;
    bool fresh;
} tarry__ridge_change;

tarry_status tarry__ridge_init(tarry__ridge *ridge, size_t n, double lambda);
void tarry__ridge_clear(tarry__ridge *ridge);

/* The same for n features, those that are new being 0 in all terms so far.  On
 * failure *wider is clear. */
tarry_status tarry__ridge_widen(const tarry__ridge *ridge, size_t n,
                                tarry__ridge *wider);
void tarry__ridge_archive(tarry__ridge *ridge, size_t n, tarry__archive *a);

/* V += a a' and b += loss a; or only one of them. */
tarry__ridge_change tarry__ridge_learn(tarry__ridge *ridge, const double *a,
                                       double loss);
tarry__ridge_change tarry__ridge_count(tarry__ridge *ridge, const double *a);
/* Takes one term a a' out of V again and computes everything afresh. */
void tarry__ridge_uncount(tarry__ridge *ridge, const double *a);
tarry__ridge_change tarry__ridge_credit(tarry__ridge *ridge, const double *a,
                                        double loss);

/* x' V x. */
double tarry__ridge_square(const tarry__ridge *ridge, const double *x);

/* a' V^-1 a. */
double tarry__ridge_variance(const tarry__ridge *ridge, const double *a);

/* Within this of theta, in the norm of V, lies the unknown vector of length at
 * most 1 with probability 1 - delta, at all times (Abbasi-Yadkori, Pal and
 * Szepesvari 2011, Theorem 2, with noise of proxy 1). */
double tarry__ridge_radius(const tarry__ridge *ridge, double delta);

/* The arm with the smallest <a, theta>, the first of them. */
size_t tarry__ridge_best(const tarry__ridge *ridge,
                         const tarry__policy_problem *problem);

/* Settings that every user of a ridge has. */
#define TARRY__RIDGE_SETTING                                                   \
    TARRY__SPEC_REAL("lambda", "1", 1e-12, 1e12, "weight of the regulariser")
tarry_status tarry__ridge_init_by(tarry__ridge *ridge, size_t n,
                                  const tarry__spec *spec, tarry_error *error);

#endif
