/* laws.h - which of our laws of delay fits a log best.
 *
 * Each law is fitted by maximum likelihood together with a share that never
 * comes, which is at most what the curve leaves at its end.  Delays are taken
 * in up to 256 classes between neighbouring edges, so a delay counts as what it
 * is, a number that was rounded or not; what is out counts as longer than its
 * age.  Laws are ranked by Akaike's criterion, AIC = 2 (parameters) - 2
 * log-likelihood. */
#ifndef TARRY_LOG_LAWS_H
#define TARRY_LOG_LAWS_H

#include "log/survival.h"

enum { TARRY__LAWS_MOST = 10 };

typedef struct {
    const char *name;      /* as `tarry list` has it */
    char description[128]; /* for --delay, in the unit of the times given */
    double parameter[3], never;
    double aic, weight; /* weight: of the evidence, over all laws, sum 1 */
} tarry__laws_fit;

typedef struct {
    size_t count;
    tarry__laws_fit fit[TARRY__LAWS_MOST]; /* the best first */
} tarry__laws;

/* Fits all laws to a curve; `whole`: its times are whole numbers that stand for
 * everything up to the next.  False: out of memory.  Without outcomes there
 * are no fits. */
bool tarry__laws_rank(const tarry__survival *curve, bool whole,
                      tarry__laws *laws);

/* P(delay >= t) under a fit, never included; and the delay at which this has
 * fallen to `share`, infinite if it never does. */
double tarry__laws_tail(const tarry__laws_fit *fit, double t);
double tarry__laws_until(const tarry__laws_fit *fit, double share);

#endif
