/* held.h - losses that were reported since the last choice, and defaults that
 * stand in for reports.
 *
 * They are counted when the next arm is asked for, in the order of their plays:
 * so the order of the reports, which may go by what was reported, has no
 * effect. */
#ifndef TARRY_POLICY_HELD_H
#define TARRY_POLICY_HELD_H

#include "policy/archive.h"

enum {
    TARRY__HELD_LOSS,
    TARRY__HELD_EXPIRED,   /* its choice had been given up */
    TARRY__HELD_CORRECTION /* it replaces the default outcome */
};

typedef struct {
    uint64_t round; /* of the play */
    double loss;    /* as reported, in the user's unit */
    uint32_t arm;
    uint32_t kind; /* TARRY__HELD_... */
} tarry__held_loss;

typedef struct {
    tarry__held_loss *loss;
    size_t count, room; /* losses held, and room for how many */
} tarry__held;

/* Makes sure that the next add needs no memory. */
tarry_status tarry__held_reserve(tarry__held *held);
void tarry__held_add(tarry__held *held, tarry__held_loss loss);

/* Puts them in the order of play, a default before its correction. */
void tarry__held_sort(tarry__held *held);

/* `last`: the last round that was chosen. */
void tarry__held_archive(tarry__held *held, uint64_t last, size_t n_arms,
                         tarry__archive *a);
void tarry__held_clear(tarry__held *held);

#endif
