/* worth.h - what a play that still waits is worth where the wait is the loss.
 *
 * If a loss takes the longer the higher it is, as a latency does, a play that
 * has reached an age has outlasted all lower losses.  The estimate of Kaplan
 * and Meier (1958), over the plays of all arms, says when such plays end, and
 * the losses that came at those ages what they will then have cost.  What has
 * lasted longer than anything before is taken as the highest possible loss:
 * until a loss other than the lowest comes, its height is unknown, but it is
 * the same for all arms, and so their order is right. */
#ifndef TARRY_POLICY_FORESIGHT_WORTH_H
#define TARRY_POLICY_FORESIGHT_WORTH_H

#include "policy/foresight/waiting.h"

/* Of a play that reaches bin j: the share of its loss that is high, on
 * average, and the average of its square. */
typedef struct {
    double mean[TARRY__FORESIGHT_BINS + 1], square[TARRY__FORESIGHT_BINS + 1];
} tarry__foresight_worth;

void tarry__worth_learn(tarry__foresight_worth *worth, const tarry__waiting *w,
                        size_t seats);

/* Of the arm with this seat; p is the probability of a high loss. */
tarry__foresight_hint tarry__worth_hint(const tarry__foresight_worth *worth,
                                        const tarry__waiting *w, size_t seat,
                                        double p);

#endif
