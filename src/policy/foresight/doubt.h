/* doubt.h - which arm to ask next: information about the most doubtful
 * difference.
 *
 * b is the arm that looks best.  An arm k has a gap to it, g(k), and the
 * difference of both a variance w(k), outstanding plays counted as if they
 * were in: otherwise one would ask the same question until the first answer.
 * Its doubt is sqrt(L w(k)) - g(k) with L = 2 beta log(c R w(k) / s^2), s^2
 * being the noise of b: a difference that the next R rounds cannot repay is not
 * worth asking.  R is as many rounds as have passed, at most those that are
 * left: looking further ahead asks too much too early (docs/regret-lab.md), and
 * so no horizon need be known.  With z = g / sd, sd^2 = w, going wrong costs R
 * sd (phi(z) - z Phi(-z)) on average, and to ask as often again as so far costs
 * about z s^2 / sd: the unit of losses does not matter.
 *
 * The arm u of the largest doubt d > 0 sets the question.  Playing k removes
 * the share rho^2 of its variance, rho being the correlation of k's loss with
 * the difference of u and b.  Between b and another arm, with such a
 * probability, plays go where (expected gap + d)^2 / expected information is
 * least (Russo and Van Roy 2014, Kirschner and Krause 2018).  Without doubt b
 * is played.
 *
 * Between two estimates doubts only fall, as plays come in and rounds go by: so
 * once there is none, nothing need be computed until the next.  (R grows by one
 * a round in the first half; the next estimate is never far.) */
#ifndef TARRY_POLICY_FORESIGHT_DOUBT_H
#define TARRY_POLICY_FORESIGHT_DOUBT_H

#include "policy/foresight/fit.h"

typedef struct {
    const tarry__fit *fit;
    double beta, c;
    double *P, *R; /* rank by rank: inverse of the information, its root */
    double *mean, *gap, *w, *s, *t, *noise; /* per arm that may be chosen */
    double *y, *x;                          /* rank */
    size_t best, other; /* places of b and of the other arm of the mixture, */
    double share;       /*   and the probability of that, */
    uint64_t until;     /*   up to this round */
    uint64_t plays_best, plays_other; /* that P does not know yet */
    uint32_t calm;                    /* no doubt is left */
} tarry__doubt;

tarry_status tarry__doubt_open(tarry__doubt *doubt, const tarry__fit *fit);
void tarry__doubt_clear(tarry__doubt *doubt);
void tarry__doubt_archive(tarry__doubt *doubt, const tarry__fit *fit,
                          tarry__archive *a);

/* There is a new estimate. */
void tarry__doubt_renew(tarry__doubt *doubt);

/* The place of the arm to play, `coin` being uniform. */
size_t tarry__doubt_choose(tarry__doubt *doubt, uint64_t round, double coin);

/* An arm has been played, outstanding from now on. */
void tarry__doubt_play(tarry__doubt *doubt, size_t arm);

#endif
