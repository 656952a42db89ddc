/* horizon.c - the smallest T0 so that a bound is at most 2T at every T >= T0.
 *
 * The bound over T is not monotone: it leaps up where T lets another phase
 * begin, where N is rounded up, where a quantile of the delays or ceil(log2 T)
 * grows.  But the bound B itself does not fall when T rises by itself: log T,
 * the number of phases, their N and the quantiles only grow with T, a minimum
 * over q of such bounds is one, and where phases are longer each round is in no
 * later phase and so at no smaller a gap.  So B(T) <= 2T gives
 *     B(t) <= B(T) <= 2t   for every whole t from B(T)/2 to T,
 * and the search jumps from 2^39, which no game reaches, down to the first of
 * these t, and on from the one before it, until B is above 2T there.  Every T
 * above the answer is proved so, not tried; each B is of a whole T.
 *
 * Two things keep the bounds of constants=tight from growing with T.  Where
 * ceil(log2 T) grows, so does N, and fewer phases may begin: no jump passes
 * such a T.  And where phases get longer, fewer may be reached, each of which
 * costs something with a guide.  They are longest at the end of a jump: if
 * those of its beginning let no more phases begin until its end, none in
 * between has more to pay for; else it may be `spare` more, and the jump is
 * shorter. */
#include "bound/horizon.h"

#include <math.h>
#include "base/elementary.h"

static const double beyond = 0x1p39; /* above the longest horizon */

static double upper_at(tarry__bound_question *s, tarry__bound *b, double T)
{
    s->T = T;
    s->log_kt = tarry__ln(s->K * T);
    tarry__bound_find_upper(s, b);
    return b->upper;
}

/* How many phases begin within T rounds if each lasts as long as it may;
 * SIZE_MAX if those that are listed end before. */
static size_t phases_begun(const tarry__bound *b, double T)
{
    size_t count = 0;
    for (; T > 0 && count < b->n_phases; count++)
        T -= fmin(b->phase[count].longest, T);
    return T > 0 ? SIZE_MAX : count;
}

/* The smallest horizon with the same ceil(log2 T). */
static double first_of_same_log(double T)
{
    return ldexp(1, ilogb(T - 1)) + 1;
}

/* The first T up to `last` from which on what is known of the bound at `last`,
 * b, proves it to be at most 2T. */
static double proved_from(tarry__bound_question *s, const tarry__bound *b,
                          double last)
{
    const double first = first_of_same_log(last);
    const double low = fmax(ceil(b->upper / 2), first);
    if (b->spare == 0)
        return low;
    tarry__bound at_low = *b;
    upper_at(s, &at_low, low);
    if (phases_begun(&at_low, last) <= phases_begun(b, last))
        return low; /* as few at every T between the two */
    return fmin(fmax(ceil((b->upper + b->spare) / 2), first), last);
}

/* Whether a bound that grows with T is at most 2T at any T: if not at this one,
 * then at none before half of it. */
static bool is_ever_useful(tarry__bound_question *s, tarry__bound *b)
{
    double T = 2, upper;
    while (T < beyond && !((upper = upper_at(s, b, T)) <= 2 * T))
        T = ceil(upper / 2);
    return T < beyond;
}

double tarry__bound_useful_from(const tarry__bound_question *question,
                                const tarry__bound *bound)
{
    tarry__bound_question s = *question;
    tarry__bound b = *bound;
    double from = beyond;
    while (from > 2 && upper_at(&s, &b, from - 1) <= 2 * (from - 1))
        from = proved_from(&s, &b, from - 1);
    if (from < beyond)
        return from;
    return s.tight || is_ever_useful(&s, &b) ? NAN : INFINITY;
}
