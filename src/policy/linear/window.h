/* window.h - the last m plays, for policies that give a loss m rounds to come.
 *
 * Of each play the window keeps how little its arm was known: the sum bounds
 * how far losses that have not come can move the estimate (Vernade et al. 2020,
 * see otf_linucb.c).  With `width=printed` a play stays in the sum for m
 * rounds; with `width=outstanding` it leaves when its loss comes.  A loss that
 * comes after m rounds either counts or not, by the setting `late`. */
#ifndef TARRY_POLICY_LINEAR_WINDOW_H
#define TARRY_POLICY_LINEAR_WINDOW_H

#include "policy/policy_type.h"

typedef struct {
    uint64_t size; /* m, in rounds */
    uint64_t now;  /* the last round played */
    double *terms; /* of round t at t % m */
    double sum;
    uint32_t outstanding; /* 1: a loss that comes ends its play's term */
    uint32_t ignores_late;
} tarry__window;

#define TARRY__WINDOW_SETTINGS                                                 \
    TARRY__SPEC_COUNT("window", "500", 1, 1e8, "rounds m a loss has to come"), \
        TARRY__SPEC_CHOICE("width", "printed", "printed|outstanding",          \
                           "sum over all plays of the window, as published, "  \
                           "or over those whose loss has not come"),           \
        TARRY__SPEC_CHOICE("late", "count", "count|ignore",                    \
                           "a loss after them: count or ignore")

tarry_status tarry__window_init(tarry__window *w,
                                const tarry__policy_problem *problem,
                                const tarry__spec *spec, tarry_error *error);
void tarry__window_clear(tarry__window *w);
void tarry__window_archive(tarry__window *w,
                           const tarry__policy_problem *problem,
                           tarry__archive *a);

/* The next round's play enters, that of m rounds ago leaves. */
void tarry__window_add(tarry__window *w, uint64_t round, double term);

/* The play of a round no longer counts: it was called off. */
static inline void tarry__window_close(tarry__window *w, uint64_t round)
{
    if (w->now - round < w->size) { /* at exactly m it has left by itself */
        w->sum -= w->terms[round % w->size];
        w->terms[round % w->size] = 0;
    }
}

/* The loss of a round has come. */
static inline void tarry__window_arrive(tarry__window *w, uint64_t round)
{
    if (w->outstanding)
        tarry__window_close(w, round);
}

/* Whether a loss of this round, arriving now, counts. */
static inline bool tarry__window_takes(const tarry__window *w, uint64_t round)
{
    return !w->ignores_late || w->now - round <= w->size;
}

#endif
