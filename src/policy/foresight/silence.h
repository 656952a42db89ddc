/* silence.h - what it means that old plays have no loss.
 *
 * Three laws may explain how silence is spread over the arms: losses get lost,
 * the same share of all; or a share of the high losses is never reported, as of
 * shops that report sales only; or a share of the low ones.  Each leaves the
 * probability of a high loss free for every arm, so that their likelihoods
 * compare as they are.  Where arms differ by more than the better one of the
 * last two allows, the difference of the likelihoods is divided by how much. */
#ifndef TARRY_POLICY_FORESIGHT_SILENCE_H
#define TARRY_POLICY_FORESIGHT_SILENCE_H

#include <stddef.h>

/* Of an arm's plays that are old: losses that came, in shares that are high and
 * low, and plays without a loss. */
typedef struct {
    double high, low, silent;
} tarry__foresight_answers;

/* From -1, silence means low losses, by 0, it means nothing, to 1, it means
 * high losses. */
double tarry__silence_judge(const tarry__foresight_answers *answers,
                            size_t count);

#endif
