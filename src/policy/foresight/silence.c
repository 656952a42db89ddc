/* silence.c - see silence.h. */
#include "policy/foresight/silence.h"

#include <math.h>
#include "base/elementary.h"
#include "policy/foresight/view.h"

/* Of a log-likelihood: so much more is believed, twice as much wholly. */
static const double BETTER = 15;

/* x log y, 0 log 0 being 0. */
static double x_log(double x, double y)
{
    return x > 0 ? x * tarry__ln(y) : 0;
}

/* What a law makes of all arms: the logarithm of its likelihood, and the
 * squared distances of silence to what it leads one to expect. */
typedef struct {
    double likelihood, off;
} verdict;

/* Of one arm, if the share `lost` of `part` and `silent` together is silent. */
static void judge_silence(verdict *v, double silent, double part, double lost)
{
    const double n = silent + part, expected = lost * n;
    const double q = tarry__foresight_clamp(lost, 1e-9, 1 - 1e-9);
    const double variance = expected * (1 - q), off = silent - expected;
    v->likelihood += x_log(silent, q) + x_log(part, 1 - q);
    v->off += variance > 0.5 ? off * off / variance : 0;
}

/* The class of n losses, of which `part` are of one. */
static void judge_class(verdict *v, double part, double n)
{
    if (n > 0)
        v->likelihood += x_log(part, part / n) + x_log(n - part, 1 - part / n);
}

static double share(double silent, double part)
{
    return silent / (silent + part);
}

double tarry__silence_judge(const tarry__foresight_answers *answers,
                            size_t count)
{
    tarry__foresight_answers sum = {0, 0, 0};
    verdict chance = {0, 0}, high = {0, 0}, low = {0, 0};
    double arms = 0;
    for (size_t i = 0; i < count; i++) {
        sum.high += answers[i].high;
        sum.low += answers[i].low;
        sum.silent += answers[i].silent;
    }
    for (size_t i = 0; i < count && sum.silent > 1; i++) {
        const double h = answers[i].high, l = answers[i].low;
        const double s = answers[i].silent, n = h + l + s;
        if (!(n > 1))
            continue;
        judge_silence(&chance, s, h + l, share(sum.silent, sum.high + sum.low));
        judge_class(&chance, h, h + l);
        judge_silence(&high, s, h, share(sum.silent, sum.high));
        judge_class(&high, l, n);
        judge_silence(&low, s, l, share(sum.silent, sum.low));
        judge_class(&low, h, n);
        arms++;
    }
    const bool is_high = high.likelihood >= low.likelihood;
    const verdict *best = is_high ? &high : &low;
    if (arms < 2)
        return 0;
    const double more = (best->likelihood - chance.likelihood) /
                        fmax(1, best->off / (arms - 1));
    return (is_high ? 1 : -1) * tarry__foresight_clamp(more / BETTER - 1, 0, 1);
}
