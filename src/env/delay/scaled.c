/* scaled.c - what laws of the form floor(scale * x) share. */
#include "env/delay.h"

#include "random/rounds.h"

void tarry__prepare_log(const void *state, double *u, size_t count)
{
    (void)state;
    tarry__minus_log(u, count);
}

uint64_t tarry__finish_scaled(const void *state, const tarry__play *play)
{
    (void)state;
    return tarry__whole_rounds(play->scale * play->x);
}

/* The first terms are added up; from d = N on, where the tail is smooth at the
 * scale of one round, the midpoint rule with its first correction takes over:
 *     sum = integral from N - 1/2 + tail'(N - 1/2) / 24 - ... */
double tarry__sum_tail(double from,
                       double (*tail)(const void *, size_t, double, double),
                       double (*beyond)(const void *, double, double),
                       const void *state, double scale)
{
    enum { TERMS = 4096 };
    const double N = from + TERMS;
    double sum = 0, last = 1;
    for (double d = from; d < N && last > 0; d++)
        sum += last = tail(state, 0, scale, d);
    if (last == 0)
        return sum;
    return sum + beyond(state, scale, N - 0.5) +
           (tail(state, 0, scale, N) - last) / 24;
}
