/* law.h - the law of delays that outstanding plays and arrivals follow.
 *
 * A play of arm k that has lasted to bin j of ages ends in it with probability
 * ratio(j, class) * hazard(k, j).  The ratios say how delays depend on losses,
 * the hazards how they depend on arms; with one of them alone the other's
 * effect would be blamed on it.  Some plays are lost: they never end, whatever
 * their loss.  Without them in the law, what never comes could be put down to
 * low losses alone, and the data would not object.
 *
 * Arms are alike, bin by bin, until the data say how far they are not: where
 * few losses of an arm have come, its mean may be the reason, and an arm whose
 * hazards are free to follow its own count would never be suspected of it. */
#ifndef TARRY_POLICY_FORESIGHT_LAW_H
#define TARRY_POLICY_FORESIGHT_LAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TARRY__FORESIGHT_BINS = 36 };

typedef struct {
    double ratio[2][TARRY__FORESIGHT_BINS]; /* of high losses, of low ones */
    double pooled[TARRY__FORESIGHT_BINS];   /* hazards over all arms */
    double lost;                            /* share of plays that never end */
    double alike[TARRY__FORESIGHT_BINS];    /* losses' worth of belief that an
                                               arm's hazard is the pooled one */
} tarry__foresight_law;

struct tarry__waiting;

/* What outstanding plays of an arm say, given its mean. */
typedef struct {
    double surplus; /* sum of (expected loss - mean) */
    double known;   /* plays' worth of information already there */
    double coming;  /* plays' worth of information still to come */
    double silent;  /* old plays without a loss, of which nothing is known */
    double answers; /* plays as old whose loss has come */
} tarry__foresight_hint;

/* Nothing is known of delays yet. */
void tarry__law_start(struct tarry__waiting *w);

/* Of the arm with this seat; p is the probability of a high loss. */
tarry__foresight_hint tarry__law_hint(const struct tarry__waiting *w,
                                      size_t seat, double p);

/* How much the ages at which losses come differ between arms: the mean square
 * of their distances, in deviations; about 1 if they are alike. */
double tarry__law_unlike(const struct tarry__waiting *w);

/* -log of the probability that nothing ended in the last `pause` rounds. */
double tarry__law_surprise(const struct tarry__waiting *w, size_t seats,
                           const double *p, uint64_t pause);

/* Learns the law anew, p(seat) being the probability of a high loss.  True: it
 * is another law than before, and p now holds the probabilities that belong to
 * it. */
bool tarry__law_learn(struct tarry__waiting *w, size_t seats, double *p);

#endif
