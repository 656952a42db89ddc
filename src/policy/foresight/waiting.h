/* waiting.h - plays whose loss is outstanding, by arm and age, and those that
 * have ended.
 *
 * Ages fall into bins of growing width, two to each doubling.  A loss counts
 * in two classes, high and low, with shares that keep its mean: of a loss l
 * in [low, high] the share (l - low)/(high - low) is high.  For losses of two
 * values that is what they are; for others the mean of what is missing is
 * still right, which is all that is asked.
 *
 * When reports stop for all arms, what is outstanding says nothing about any of
 * them.  Ages are therefore counted in rounds without silences: what was
 * outstanding before a silence is as old after it as it was before, and plays
 * made in it are left out of all that is learnt of delays. */
#ifndef TARRY_POLICY_FORESIGHT_WAITING_H
#define TARRY_POLICY_FORESIGHT_WAITING_H

#include "policy/foresight/law.h"
#include "policy/policy_type.h"

enum { TARRY__FORESIGHT_SILENCES = 64 };

/* Rounds start + 1 .. start + length, in which no loss was reported. */
typedef struct {
    uint64_t start, length;
} tarry__foresight_silence;

typedef struct tarry__waiting {
    const tarry__policy_problem *problem;
    uint64_t now;      /* the last round played, silences left out */
    uint64_t round;    /* the last round played */
    size_t ring_size;  /* a power of two */
    uint32_t *ring;    /* of round t at t % size: seat + 1, and a bit that is
                          set when the play has ended */
    size_t room;       /* seats: arms that have been played, in order */
    uint32_t *waiting; /* BINS per seat */
    uint32_t *made;    /* BINS per seat: the same with those that have ended */
    double *ended;     /* 2 BINS per seat: high, then low */
    double *hazard;    /* BINS per seat */
    uint64_t per_bin[TARRY__FORESIGHT_BINS]; /* waiting, over all seats */
    double ended_in[TARRY__FORESIGHT_BINS];  /* ended, over all seats */
    size_t used;                             /* bins that were reached */
    uint64_t try_at; /* the round from which other laws are tried again */
    tarry__foresight_law law;
    /* Silence: plays since the last report, which say nothing. */
    uint64_t heard, reports; /* round of the last report; how many */
    uint64_t longest;        /* between two reports, silences left out */
    uint32_t silent;         /* 1: no reports come now, since `heard` */
    uint32_t n_silences;     /* that are over, oldest first */
    tarry__foresight_silence silence[TARRY__FORESIGHT_SILENCES];
    uint32_t *masked; /* per seat: plays of silences, outstanding */
    uint32_t *held;   /* per seat: those of the silence that lasts */
    uint64_t n_masked;
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

/* Recognises silence: reports have stopped for longer than twice the longest
 * pause so far, and the law of delays gives that a probability of e^-surprise,
 * surprise above 10.  From then on plays since the last report are left out. */
void tarry__waiting_listen(tarry__waiting *w, size_t seats, const double *p);

/* Bins start at ages 0, 1, 2, 3, 4, 6, 8, 12, 16, ... */
static inline uint64_t tarry__waiting_bin_start(size_t j)
{
    return j < 2 ? j : (uint64_t)(2 + (j & 1)) << (j / 2 - 1);
}

static inline size_t tarry__waiting_bin_of(uint64_t age)
{
    if (age < 2)
        return (size_t)age;
    const size_t octave = 63 - (size_t)__builtin_clzll(age);
    const size_t j = 2 * octave + ((age >> (octave - 1)) & 1);
    return j < TARRY__FORESIGHT_BINS ? j : TARRY__FORESIGHT_BINS - 1;
}

/* Whether any loss is outstanding. */
bool tarry__waiting_any(const tarry__waiting *w);

#endif
