/* optimist.h - the arm with the smallest optimistic index, found lazily.
 *
 * The index of arm a is <theta, a> - width |a|, where |a| = sqrt(a' V^-1 a).
 *
 * Hot arms are followed exactly: a change of the ridge (theta by c u, V^-1 by
 * -d u u') changes an arm's mean by c w and its variance by -d w^2 with
 * w = <a, u>, one product per arm.  With few arms all are hot.
 *
 * With many, the cold ones have only a mean m0 and norm r0 of some earlier
 * theta0.  V only grows, so |a| <= r0 now, and <theta - theta0, a> >=
 * -|theta - theta0|_V |a|, so the index is at least
 *     m0 - (width + move) r0,  move = |theta - theta0|_V.
 * An arm stays cold while this, for a width and move a little above today's,
 * exceeds a ceiling a little above the smallest hot index; only when one of the
 * three has been outgrown are the cold arms looked at, two numbers each.  When
 * the hot ones have cost as much as computing everything afresh would, that is
 * done, and few are hot again. */
#ifndef TARRY_POLICY_LINEAR_OPTIMIST_H
#define TARRY_POLICY_LINEAR_OPTIMIST_H

#include "policy/linear/ridge.h"

typedef struct {
    const tarry__policy_problem *problem;
    uint32_t squared; /* 1: index <theta, a> - width |a|^2; set after init */
    size_t n_hot;     /* arms that are looked at in every choice */
    uint32_t *hot;    /* numbers of the hot arms */
    double *tiles, *m, *q; /* per hot arm, in the order of `hot` */
    uint32_t stale;        /* m and q must be computed from the ridge */
    size_t n_changes;      /* of the ridge, that m and q do not have yet */
    double *u, c[TARRY__LINEAR_MOST_CHANGES], d[TARRY__LINEAR_MOST_CHANGES];
    double *m0, *r0; /* per arm; m0 infinite if hot; NULL: all are hot */
    double *theta0;  /* theta when m0 was computed; behind it dim more doubles,
                        for theta - theta0 */
    double reach_width, reach_move, ceiling;
    double work;      /* products <a, x> since all was fresh */
    uint32_t settled; /* 1: nothing has changed since the last choice */
    double width;     /* of the last choice */
    size_t last;      /* the arm of the last choice */
} tarry__optimist;

tarry_status tarry__optimist_init(tarry__optimist *o,
                                  const tarry__policy_problem *problem);
void tarry__optimist_clear(tarry__optimist *o);
void tarry__optimist_archive(tarry__optimist *o,
                             const tarry__policy_problem *problem,
                             const tarry__ridge *ridge, tarry__archive *a);

/* Makes room for so many arms; narrow follows, once they are there. */
tarry_status tarry__optimist_reserve(tarry__optimist *o, size_t n_arms);

/* problem->active has lost some arms, or otherwise changed. */
void tarry__optimist_narrow(tarry__optimist *o);

/* The ridge has changed so. */
void tarry__optimist_note(tarry__optimist *o, const tarry__ridge *ridge,
                          tarry__ridge_change change);

size_t tarry__optimist_choose(tarry__optimist *o, const tarry__ridge *ridge,
                              double width);

#endif
