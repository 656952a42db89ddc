/* view.h - the arms in coordinates of their own spread.
 *
 * With M the mean of a a' over all arms, of rank r, z = L^-1 a / sqrt(r) for a
 * root L of M on r independent features.  Then the mean of z z' is 1/r times
 * the identity, as for unit vectors in all directions: what follows depends
 * neither on the features' units, nor on features that are copies or mixtures
 * of others. */
#ifndef TARRY_POLICY_FORESIGHT_VIEW_H
#define TARRY_POLICY_FORESIGHT_VIEW_H

#include "policy/policy_type.h"

typedef struct {
    const tarry__policy_problem *problem;
    size_t rank;
    double *Z;       /* rank per arm, all arms */
    size_t count;    /* arms that may be chosen */
    double *columns; /* Z of the arms that may be chosen, by columns: entry j of
                        all of them, one after another */
} tarry__view;

tarry_status tarry__view_open(tarry__view *view,
                              const tarry__policy_problem *problem);
void tarry__view_clear(tarry__view *view);

/* The arms that may be chosen are fewer now. */
void tarry__view_narrow(tarry__view *view);

/* out(i) = <z(i), x> for the arms that may be chosen. */
void tarry__view_times(const tarry__view *view, const double *x, double *out);

/* s(i) = |R' z(i)|^2 and w(i) = |R' z(i) - origin|^2 for them; R is rank by
 * rank. */
void tarry__view_squares(const tarry__view *view, const double *R,
                         const double *origin, double *s, double *w);

static inline double tarry__foresight_clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static inline const double *tarry__view_arm(const tarry__view *v, size_t arm)
{
    return v->Z + arm * v->rank;
}

#endif
