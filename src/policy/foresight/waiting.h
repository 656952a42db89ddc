/* waiting.h - plays whose loss is outstanding, by arm and age, and those that
 * have ended.
 *
 * Ages fall into bins of growing width, two to each doubling.  A loss counts
 * in two classes, high and low, with shares that keep its mean: of a loss l
 * in [low, high] the share (l - low)/(high - low) is high.  For losses of two
 * values that is what they are; for others the mean of what is missing is
 * still right, which is all that is asked. */
#ifndef TARRY_POLICY_FORESIGHT_WAITING_H
#define TARRY_POLICY_FORESIGHT_WAITING_H

#include "policy/foresight/law.h"
#include "policy/policy_type.h"

typedef struct tarry__waiting {
    const tarry__policy_problem *problem;
    uint64_t now;      /* the last round played */
    size_t ring_size;  /* a power of two */
    uint32_t *ring;    /* of round t at t % size: seat + 1 while it waits */
    size_t room;       /* seats: arms that have been played, in order */
    uint32_t *waiting; /* BINS per seat */
    double *ended;     /* 2 BINS per seat: high, then low */
    double *hazard;    /* BINS per seat */
    uint64_t per_bin[TARRY__FORESIGHT_BINS]; /* waiting, over all seats */
    size_t used;                             /* bins that were reached */
    uint64_t try_at; /* the round from which other laws are tried again */
    tarry__foresight_law law;
} tarry__waiting;

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

/* Its loss is another than what it ended with: one class gives way to another,
 * in the last bin that can give it up, or `now` in that of the play's age. */
void tarry__waiting_revise(tarry__waiting *w, uint64_t round, size_t seat,
                           double old_share, double share, bool now);

/* The play of a round was never made. */
void tarry__waiting_cancel(tarry__waiting *w, uint64_t round, size_t seat);

/* The same for more arms; `w` has been opened for them. */
void tarry__waiting_copy(tarry__waiting *w, const tarry__waiting *from);

/* Whether any loss is outstanding. */
bool tarry__waiting_any(const tarry__waiting *w);

#endif
