/* worth.c - see worth.h. */
#include "policy/foresight/worth.h"

#include "policy/foresight/view.h"

enum { BINS = TARRY__FORESIGHT_BINS };

void tarry__worth_learn(tarry__foresight_worth *worth, const tarry__waiting *w,
                        size_t seats)
{
    const size_t n = seats < w->room ? seats : w->room;
    double later = 0;
    worth->mean[w->used] = worth->square[w->used] = 1;
    for (size_t j = w->used; j-- > 0;) {
        double high = 0, ended = 0;
        for (size_t i = 0; i < n; i++) {
            high += w->ended[i * 2 * BINS + j];
            ended +=
                w->ended[i * 2 * BINS + j] + w->ended[i * 2 * BINS + BINS + j];
        }
        const double waiting = (double)w->per_bin[j];
        const double risk = later + ended + 0.5 * waiting;
        const double ends = ended > 0 ? ended / risk : 0;
        const double share = ended > 0 ? high / ended : 0;
        worth->mean[j] = ends * share + (1 - ends) * worth->mean[j + 1];
        worth->square[j] =
            ends * share * share + (1 - ends) * worth->square[j + 1];
        later += ended + waiting;
    }
}

tarry__foresight_hint tarry__worth_hint(const tarry__foresight_worth *worth,
                                        const tarry__waiting *w, size_t seat,
                                        double p)
{
    tarry__foresight_hint hint = {0, 0, 0, 0, 0};
    for (size_t j = 0; j < w->used; j++) {
        const double count = (double)w->waiting[seat * BINS + j];
        const double mean = worth->mean[j + 1];
        const double rest = worth->square[j + 1] - mean * mean;
        const double share =
            tarry__foresight_clamp(1 - rest / (p * (1 - p)), 0, 1);
        hint.surplus += count * share * (mean - p);
        hint.known += count * share;
        hint.coming += count * (1 - share);
    }
    return hint;
}
