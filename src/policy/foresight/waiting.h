/* waiting.h - plays whose loss is outstanding, by arm and age, and the law of
 * delays that they and the arrivals follow.
 *
 * Ages fall into bins of growing width, two to each doubling.  A loss counts
 * in two classes, high and low, with shares that keep its mean: of a loss l
 * in [low, high] the share (l - low)/(high - low) is high.  For losses of two
 * values that is what they are; for others the mean of what is missing is
 * still right, which is all that is asked.
 *
 * The law: a play of arm k that has lasted to bin j ends in it with
 * probability ratio(j, class) * hazard(k, j).  The ratios say how delays
 * depend on losses, the hazards how they depend on arms; with one of them
 * alone the other's effect would be blamed on it.  Some plays are lost: they
 * never end, whatever their loss.  Without them in the law, what never comes
 * could be put down to low losses alone, and the data would not object. */
#ifndef TARRY_POLICY_FORESIGHT_WAITING_H
#define TARRY_POLICY_FORESIGHT_WAITING_H

#include "policy/policy_type.h"

enum { TARRY__FORESIGHT_BINS = 36 };

typedef struct {
    const tarry__policy_problem *problem;
    uint64_t now;      /* the last round played */
    size_t ring_size;  /* a power of two */
    uint32_t *ring;    /* of round t at t % size: seat + 1 while it waits */
    size_t room;       /* seats: arms that have been played, in order */
    uint32_t *waiting; /* BINS per seat */
    double *ended;     /* 2 BINS per seat: high, then low */
    double *hazard;    /* BINS per seat */
    uint64_t per_bin[TARRY__FORESIGHT_BINS]; /* waiting, over all seats */
    double ratio[2][TARRY__FORESIGHT_BINS];
    double pooled[TARRY__FORESIGHT_BINS]; /* hazards over all arms */
    double lost; /* the share of plays that never end */
    size_t used; /* bins that were reached */
} tarry__waiting;

/* What outstanding plays of an arm say, given its mean. */
typedef struct {
    double surplus; /* sum of (expected loss - mean) */
    double known;   /* plays' worth of information already there */
    double coming;  /* plays' worth of information still to come */
} tarry__foresight_hint;

tarry_status tarry__waiting_open(tarry__waiting *w,
                                 const tarry__policy_problem *problem);
void tarry__waiting_clear(tarry__waiting *w);
void tarry__waiting_archive(tarry__waiting *w,
                            const tarry__policy_problem *problem,
                            tarry__archive *a);

/* A play in this round, of the arm with this seat; its loss. */
void tarry__waiting_play(tarry__waiting *w, uint64_t round, size_t seat);
void tarry__waiting_end(tarry__waiting *w, uint64_t round, size_t seat,
                        double high_share);

/* The play of a round was never made. */
void tarry__waiting_cancel(tarry__waiting *w, uint64_t round, size_t seat);

/* The same for more arms; `w` has been opened for them. */
void tarry__waiting_copy(tarry__waiting *w, const tarry__waiting *from);

/* Of the arm with this seat; p is the probability of a high loss. */
tarry__foresight_hint tarry__waiting_hint(const tarry__waiting *w, size_t seat,
                                          double p);

/* Learns the law anew, p(seat) being the probability of a high loss. */
void tarry__waiting_learn(tarry__waiting *w, size_t seats, const double *p);

/* Whether any loss is outstanding. */
bool tarry__waiting_any(const tarry__waiting *w);

#endif
