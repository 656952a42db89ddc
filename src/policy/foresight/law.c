/* law.c - see law.h.
 *
 * Learnt by steps of EM: the class of a play that waits is split between high,
 * low and lost as the law has it, and hazards and ratios are counts over
 * counts at risk, each with a prior whose strength is learnt by the method of
 * moments.
 *
 * EM stays where it began if what it has put down to lost plays could as well
 * be low ones, however unlikely: with nothing but high losses seen, "all low
 * ones are late" may be a million times more likely than "half of all plays
 * are lost", and one does not lead to the other.  So from time to time the law
 * is begun anew from three places, and the likelihood decides.  The means that
 * belong to each beginning come with it: with those of another law, which may
 * rest on nothing but the losses that come early, it would not last. */
#include "policy/foresight/law.h"

#include <math.h>
#include "base/elementary.h"
#include "policy/foresight/view.h"
#include "policy/foresight/waiting.h"

enum { BINS = TARRY__FORESIGHT_BINS };

static const double PI = 3.14159265358979323846;

/* Of the belief that a ratio is 1, in losses; the first is worth so much. */
static const double LEAST_PRIOR = 2, MOST_PRIOR = 50;
static const double FIRST_PRIOR = 10, FIRST_SQUARES = 100;

/* The same of the belief that arms are alike in a bin; it gives way slowly, so
 * that means, which explain the same counts, have the first word. */
static const double LEAST_ALIKE = 1, MOST_ALIKE = 300, ALIKE_SQUARES = 30;
static const double YIELDING = 0.1;

static const double PRIOR_LOST = 0.1, PRIOR_PLAYS = 25; /* so many of these */

/* Whether what waits for long is lost or low, data often cannot tell, and EM
 * would stay where it began: each step leans towards lost a little. */
static const double LEAN = 1.1;
static const double MOST_HAZARD = 0.98;

/* Other beginnings: tried when there are so many times more rounds, with so
 * many steps, on so many arms, and taken if they explain so much more. */
static const double TRY_AGAIN = 1.1, BETTER = 5;
static const double FIRST_LOST = 0.02, FIRST_RATIO = 1.8;
enum { TRIAL_STEPS = 4, TRIAL_SEATS = 256 };

/* A law in which high losses come `ratio` times as fast as on average. */
static tarry__foresight_law beginning(double ratio, double lost)
{
    tarry__foresight_law law = {.lost = lost};
    for (size_t j = 0; j < BINS; j++) {
        law.ratio[0][j] = ratio;
        law.ratio[1][j] = 2 - ratio;
        law.pooled[j] = 0.5;
        law.alike[j] = MOST_ALIKE;
    }
    return law;
}

static bool is_declared(const tarry__waiting *w)
{
    return w->problem->default_outcome.declared;
}

void tarry__law_start(tarry__waiting *w)
{
    w->law = beginning(1, PRIOR_LOST);
    if (is_declared(w)) { /* a default comes by its rule, and nothing is lost */
        w->law = beginning(0, 0);
        for (size_t j = 0; j < BINS; j++)
            w->law.ratio[1][j] = 1;
    }
    for (size_t i = 0; i < w->room * BINS; i++)
        w->hazard[i] = 0.5;
}

/* A play is old if so few of the arrivals came later; an arm's own arrivals
 * count, and the others' as so many. */
static const double OLD_TAIL = 0.05, POOLED_ARRIVALS = 20;

/* ---- what is expected -----------------------------------------------------*/

/* The probability that a play that has lasted to bin j lasts longer. */
static double lasts(double ratio, double hazard)
{
    const double ends = ratio * hazard;
    return 1 - (ends < MOST_HAZARD ? ends : MOST_HAZARD);
}

/* Of all plays of an arm, the shares that reach a bin: those that will come and
 * are high or low, and the lost; and at the end those that never come. */
typedef struct {
    double high[BINS + 1], low[BINS + 1], lost, never;
} course;

static void follow(const tarry__waiting *w, const tarry__foresight_law *law,
                   const double *hazard, double p, course *c)
{
    c->high[0] = (1 - law->lost) * p;
    c->low[0] = (1 - law->lost) * (1 - p);
    for (size_t j = 0; j < w->used; j++) {
        c->high[j + 1] = c->high[j] * lasts(law->ratio[0][j], hazard[j]);
        c->low[j + 1] = c->low[j] * lasts(law->ratio[1][j], hazard[j]);
    }
    c->lost = LEAN * law->lost;
    /* of what lasts longer than anything so far, half will never come */
    c->never = law->lost + (c->high[w->used] + c->low[w->used]) *
                               (w->used < BINS ? 0.5 : 1);
}

tarry__foresight_hint tarry__law_hint(const tarry__waiting *w, size_t seat,
                                      double p)
{
    tarry__foresight_hint hint = {0, 0, 0, 0, 0};
    const double *ended = w->ended + seat * 2 * BINS;
    double pool = 0, own = 0, all = 0, total = 0;
    course c;
    if (seat >= w->room)
        return hint;
    follow(w, &w->law, w->hazard + seat * BINS, p, &c);
    hint.coming = (double)w->held[seat];
    for (size_t j = 0; j < w->used; j++) {
        pool += w->ended_in[j];
        own += ended[j] + ended[BINS + j];
    }
    all = pool;
    total = own;
    for (size_t j = 0; j < w->used; j++) {
        const double count = (double)w->waiting[seat * BINS + j];
        pool -= w->ended_in[j];
        own -= ended[j] + ended[BINS + j];
        const double tail = (own + POOLED_ARRIVALS * pool / fmax(all, 1)) /
                            (total + POOLED_ARRIVALS);
        const double old = tarry__foresight_clamp(1 - tail / OLD_TAIL, 0, 1);
        hint.answers += old * ((double)w->made[seat * BINS + j] - count);
        if (count == 0)
            continue;
        const double reach = c.high[j] + c.low[j] + c.lost;
        const double q = (c.high[j] + c.lost * p) / reach;
        const double share =
            tarry__foresight_clamp(1 - q * (1 - q) / (p * (1 - p)), 0, 1);
        const double comes = 1 - c.never / reach;
        hint.surplus += count * (q - p);
        hint.known += count * share;
        hint.coming += count * (1 - share) * comes;
        hint.silent += old * count * (1 - share);
    }
    return hint;
}

/* ---- a step of EM ---------------------------------------------------------*/

/* How far counts are from what was expected of them: `excess` sums the squares
 * of the distances less what chance alone gives, `squares` those of what was
 * expected. */
typedef struct {
    double excess, squares;
} scatter;

static void scatter_add(scatter *s, double count, double expected)
{
    s->excess += (count - expected) * (count - expected) - expected;
    s->squares += expected * expected;
}

/* 1 / variance of the factors between counts and expectations: of a count with
 * mean E factor the square of its distance to E is on average
 * E + E^2 variance.  `first` is believed with the weight of `weight` squares.
 */
static double likeness(const scatter *s, double first, double weight)
{
    return (s->squares + weight) /
           ((s->excess > 0 ? s->excess : 0) + weight / first);
}

/* Over all arms: plays that ended in a bin, that were at risk there, and those
 * weighted with their hazards, by class; how much arms differ. */
typedef struct {
    double ended[2][BINS], risk[2][BINS], expected[2][BINS];
    double plays, lost; /* that come, or have; that do not */
    scatter arms[BINS];
} totals;

/* One arm's part of the totals, and its own hazards, unless NULL. */
static void learn_arm(const tarry__waiting *w, const tarry__foresight_law *law,
                      size_t seat, double p, double *own, totals *t)
{
    const double *ended = w->ended + seat * 2 * BINS;
    const double *hazard = own != NULL ? own : law->pooled;
    const double lean = is_declared(w) ? LEAN : 1;
    double later[2] = {0, 0};
    course c;
    follow(w, law, hazard, p, &c);
    for (size_t j = 0; j <= w->used; j++)
        c.high[j] *= lean;
    for (size_t j = w->used; j-- > 0;) {
        const double here = (double)w->waiting[seat * BINS + j];
        const double each = here / (c.high[j] + c.low[j] + c.lost);
        const double still[2] = {each * c.high[j], each * c.low[j]};
        double alike = 0; /* endings, were this arm like the others */
        for (int s = 0; s < 2; s++) {
            const double e = ended[(size_t)s * BINS + j];
            /* those who wait in this bin have passed half of it */
            const double risk = later[s] + e + 0.5 * still[s];
            t->ended[s][j] += e;
            t->risk[s][j] += risk;
            t->expected[s][j] += risk * hazard[j];
            alike += risk * law->ratio[s][j] * law->pooled[j];
            later[s] += e + still[s];
            t->plays += e + still[s];
        }
        t->lost += each * c.lost;
        const double both = ended[j] + ended[BINS + j];
        scatter_add(&t->arms[j], both, alike);
        if (own != NULL)
            own[j] = law->pooled[j] * (both + law->alike[j]) /
                     (alike + law->alike[j]);
    }
}

/* The law that the totals speak for. */
static void conclude(const tarry__waiting *w, const totals *t,
                     tarry__foresight_law *law)
{
    scatter ratios = {0, 0};
    for (size_t j = 0; j < w->used; j++)
        for (int s = 0; s < 2; s++)
            scatter_add(&ratios, t->ended[s][j], t->expected[s][j]);
    const double prior = tarry__foresight_clamp(
        likeness(&ratios, FIRST_PRIOR, FIRST_SQUARES), LEAST_PRIOR, MOST_PRIOR);
    law->lost = (t->lost + PRIOR_LOST * PRIOR_PLAYS) /
                (t->lost + t->plays + PRIOR_PLAYS);
    for (size_t j = 0; j < w->used; j++) {
        law->pooled[j] = (t->ended[0][j] + t->ended[1][j] + 0.5) /
                         (t->risk[0][j] + t->risk[1][j] + 1);
        for (int s = 0; s < 2; s++)
            law->ratio[s][j] =
                (t->ended[s][j] + prior) / (t->expected[s][j] + prior);
    }
}

/* The same with a declared default: hazards are those of reported outcomes, and
 * the default has ended when it did; before its time it never has. */
static void conclude_declared(const tarry__waiting *w, const totals *t,
                              tarry__foresight_law *law)
{
    for (size_t j = 0; j < w->used; j++) {
        const double own = (t->ended[1][j] + 0.5) / (t->risk[1][j] + 1);
        const double due =
            t->ended[0][j] > 0 ? t->ended[0][j] / t->risk[0][j] : 0;
        law->pooled[j] = own;
        law->ratio[0][j] = due / own;
    }
}

static void yield_to_arms(const tarry__waiting *w, const totals *t,
                          tarry__foresight_law *law)
{
    for (size_t j = 0; j < w->used; j++) {
        const double alike = tarry__foresight_clamp(
            likeness(&t->arms[j], MOST_ALIKE, ALIKE_SQUARES), LEAST_ALIKE,
            MOST_ALIKE);
        law->alike[j] *= tarry__pow(alike / law->alike[j], YIELDING);
    }
}

/* ---- other beginnings -----------------------------------------------------*/

typedef enum { EVEN, MISSING_LOW, MISSING_HIGH, N_BEGINNINGS } begun;

/* The probability of a high loss of an arm, if what is missing is like what has
 * come, or all low, or all high. */
static double presumed(const tarry__waiting *w, begun from, size_t seat)
{
    const double *ended = w->ended + seat * 2 * BINS;
    double high = 1, plays = 2;
    for (size_t j = 0; j < w->used; j++) {
        const double out = (double)w->waiting[seat * BINS + j];
        high += ended[j] + (from == MISSING_HIGH ? out : 0);
        plays += ended[j] + ended[BINS + j] + (from == EVEN ? 0 : out);
    }
    return high / plays;
}

/* The logarithm of the share of all p that explain `plays` losses about as
 * well as this one, the best of them (Laplace): a law that needs each arm to
 * lose nothing but high or nothing but low ones pays for it. */
static double leeway(double p, double plays)
{
    const double least = 1 / (plays + 2);
    const double q = tarry__foresight_clamp(p, least, 1 - least);
    return 0.5 * tarry__ln(2 * PI * q * (1 - q) / (plays + 1));
}

/* The logarithm of the likelihood of what one arm's plays did. */
static double likelihood_of(const tarry__waiting *w,
                            const tarry__foresight_law *law,
                            const double *hazard, size_t seat, double p)
{
    const double *ended = w->ended + seat * 2 * BINS;
    double sum = 0, plays = 0;
    course c;
    follow(w, law, hazard, p, &c);
    for (size_t j = 0; j < w->used; j++) {
        const double waiting = (double)w->waiting[seat * BINS + j];
        plays += ended[j] + ended[BINS + j];
        if (ended[j] > 0)
            sum += ended[j] * tarry__ln(c.high[j] - c.high[j + 1]);
        if (ended[BINS + j] > 0)
            sum += ended[BINS + j] * tarry__ln(c.low[j] - c.low[j + 1]);
        if (waiting > 0)
            sum += waiting *
                   tarry__ln(law->lost + 0.5 * (c.high[j] + c.high[j + 1] +
                                                c.low[j] + c.low[j + 1]));
    }
    return sum + leeway(p, plays);
}

/* Where a few steps lead from a beginning, with arms that are alike: how likely
 * that makes what was seen. */
static double try(const tarry__waiting *w, begun from, size_t seats,
                  tarry__foresight_law *law)
{
    static const totals none;
    static const double ratios[] = {1, FIRST_RATIO, 2 - FIRST_RATIO};
    double guess[TRIAL_SEATS], sum = 0;
    *law = beginning(ratios[from], FIRST_LOST);
    for (size_t i = 0; i < seats; i++)
        guess[i] = presumed(w, from, i);
    for (int step = 0; step < TRIAL_STEPS; step++) {
        totals t = none;
        for (size_t i = 0; i < seats; i++)
            learn_arm(w, law, i, guess[i], NULL, &t);
        conclude(w, &t, law);
    }
    for (size_t i = 0; i < seats; i++)
        sum += likelihood_of(w, law, law->pooled, i, guess[i]);
    return sum;
}

static void take(tarry__waiting *w, const tarry__foresight_law *law)
{
    w->law = *law;
    for (size_t i = 0; i < w->room * BINS; i++)
        w->hazard[i] = law->pooled[i % BINS];
}

/* Takes another law if it explains more, with the p that belong to it for all
 * `seats`, the first `tried` of which are looked at. */
static bool try_others(tarry__waiting *w, size_t tried, size_t seats, double *p)
{
    tarry__foresight_law trial, best;
    begun chosen = N_BEGINNINGS;
    double most = BETTER;
    for (size_t i = 0; i < tried; i++)
        most += likelihood_of(w, &w->law, w->hazard + i * BINS, i, p[i]);
    for (begun from = EVEN; from < N_BEGINNINGS; from++) {
        const double found = try(w, from, tried, &trial);
        if (found > most) {
            most = found;
            best = trial;
            chosen = from;
        }
    }
    if (chosen == N_BEGINNINGS)
        return false;
    take(w, &best);
    for (size_t i = 0; i < seats; i++)
        p[i] = presumed(w, chosen, i);
    return true;
}

double tarry__law_surprise(const tarry__waiting *w, size_t seats,
                           const double *p, uint64_t pause)
{
    const size_t n = seats < w->room ? seats : w->room;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        course c;
        follow(w, &w->law, w->hazard + i * BINS, p[i], &c);
        for (size_t j = 0; j < w->used; j++) {
            const uint64_t age = tarry__waiting_bin_start(j);
            const size_t k =
                age > pause ? tarry__waiting_bin_of(age - pause) : 0;
            sum += (double)w->waiting[i * BINS + j] *
                   tarry__ln((c.high[k] + c.low[k] + c.lost) /
                             (c.high[j] + c.low[j] + c.lost));
        }
    }
    return sum;
}

double tarry__law_unlike(const tarry__waiting *w)
{
    double count = 0, sum = 0, squares = 0, between = 0, arms = 0;
    for (size_t j = 0; j < w->used; j++) {
        const double x = (double)j;
        count += w->ended_in[j];
        sum += w->ended_in[j] * x;
        squares += w->ended_in[j] * x * x;
    }
    const double mean = sum / count, variance = squares / count - mean * mean;
    if (!(count > 1) || !(variance > 0))
        return 0;
    for (size_t i = 0; i < w->room; i++) {
        const double *ended = w->ended + i * 2 * BINS;
        double n = 0, own = 0;
        for (size_t j = 0; j < w->used; j++) {
            n += ended[j] + ended[BINS + j];
            own += (ended[j] + ended[BINS + j]) * ((double)j - mean);
        }
        between += n > 1 ? own * own / n / variance : 0;
        arms += n > 1;
    }
    return arms > 1 ? between / (arms - 1) : 0;
}

bool tarry__law_learn(tarry__waiting *w, size_t seats, double *p)
{
    static const totals none;
    totals t = none;
    const size_t n = seats < w->room ? seats : w->room;
    if (w->now >= w->try_at && !is_declared(w)) {
        w->try_at = (uint64_t)(TRY_AGAIN * (double)w->now) + 1;
        if (try_others(w, n < TRIAL_SEATS ? n : TRIAL_SEATS, n, p))
            return true;
    }
    for (size_t i = 0; i < n; i++)
        learn_arm(w, &w->law, i, p[i], w->hazard + i * BINS, &t);
    yield_to_arms(w, &t, &w->law);
    if (is_declared(w))
        conclude_declared(w, &t, &w->law);
    else
        conclude(w, &t, &w->law);
    return false;
}
