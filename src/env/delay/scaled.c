/* scaled.c - what laws of the form floor(scale * x) share. */
#include "env/delay.h"

#include "random/rounds.h"

void tarry__delay_prepare_log(const void *state, double *u, size_t count)
{
    (void)state;
    tarry__random_minus_log(u, count);
}

/* The first terms are added up; from d = N on, where the tail is smooth at the
 * scale of one round, the midpoint rule and its first two corrections take
 * over, with y = N - 1/2 and derivatives t1, t3 of the tail at y:
 *     sum = integral from y + t1 / 24 - 7 t3 / 5760 + ...
 * Differences stand for derivatives: diff = t1 + t3 / 24 + ... */
double tarry__delay_sum_tail(double from,
                             double (*tail)(const void *, size_t, double,
                                            double),
                             double (*beyond)(const void *, double, double),
                             const void *state, double scale)
{
    enum { TERMS = 4096 };
    const double N = from + TERMS;
    double sum = 0, last = 1, t[4];
    for (int i = 0; i < TERMS && last > 0; i++) /* from 2^53 on d + 1 is d */
        sum += last = tail(state, 0, scale, from + i);
    if (last == 0)
        return sum;
    for (int i = 0; i < 4; i++)
        t[i] = tail(state, 0, scale, N - 2 + i);
    const double diff = t[2] - t[1], diff3 = t[3] - 3 * diff - t[0];
    return sum + beyond(state, scale, N - 0.5) + diff / 24 - diff3 * 17 / 5760;
}
