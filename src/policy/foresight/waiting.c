/* waiting.c - see waiting.h. */
#include "policy/foresight/waiting.h"

#include <string.h>
#include "base/base.h"
#include "policy/foresight/view.h"

enum { BINS = TARRY__FORESIGHT_BINS, MOST_SEATS = 4096 };

/* Of the belief that a ratio is 1, in losses; the first is worth so much. */
static const double LEAST_PRIOR = 2, MOST_PRIOR = 50;
static const double FIRST_PRIOR = 10, FIRST_SQUARES = 100;
static const double PRIOR_ARM = 2; /* plays, for an arm's own hazards */
static const double PRIOR_LOST = 0.1, PRIOR_PLAYS = 25; /* so many of these */

/* Whether what waits for long is lost or low, data often cannot tell, and EM
 * would stay where it began: each step leans towards lost a little. */
static const double LEAN = 1.1;
static const double MOST_HAZARD = 0.98;

/* Bins start at ages 0, 1, 2, 3, 4, 6, 8, 12, 16, ... */
static uint64_t bin_start(size_t j)
{
    return j < 2 ? j : (uint64_t)(2 + (j & 1)) << (j / 2 - 1);
}

static size_t bin_of(uint64_t age)
{
    if (age < 2)
        return (size_t)age;
    const size_t octave = 63 - (size_t)__builtin_clzll(age);
    const size_t j = 2 * octave + ((age >> (octave - 1)) & 1);
    return j < BINS ? j : BINS - 1;
}

static tarry_status open_memory(tarry__waiting *w)
{
    w->waiting = tarry__base_zalloc(w->room * BINS, sizeof *w->waiting);
    w->ended = tarry__base_zalloc(w->room * 2 * BINS, sizeof *w->ended);
    w->hazard = tarry__base_zalloc(w->room * BINS, sizeof *w->hazard);
    w->ring = tarry__base_zalloc(w->ring_size, sizeof *w->ring);
    return w->waiting != NULL && w->ended != NULL && w->hazard != NULL &&
                   w->ring != NULL
               ? TARRY_OK
               : TARRY_NO_MEMORY;
}

tarry_status tarry__waiting_open(tarry__waiting *w,
                                 const tarry__policy_problem *problem)
{
    w->problem = problem;
    w->room = problem->n_arms < MOST_SEATS ? problem->n_arms : MOST_SEATS;
    for (w->ring_size = 2; w->ring_size <= bin_start(BINS - 1) &&
                           w->ring_size <= problem->horizon;)
        w->ring_size *= 2;
    for (size_t j = 0; j < BINS; j++) {
        w->ratio[0][j] = w->ratio[1][j] = 1;
        w->pooled[j] = 0.5;
    }
    w->lost = PRIOR_LOST;
    const tarry_status status = open_memory(w);
    for (size_t i = 0; status == TARRY_OK && i < w->room * BINS; i++)
        w->hazard[i] = 0.5;
    return status;
}

void tarry__waiting_clear(tarry__waiting *w)
{
    tarry__base_free(w->ring);
    tarry__base_free(w->waiting);
    tarry__base_free(w->ended);
    tarry__base_free(w->hazard);
}

bool tarry__waiting_any(const tarry__waiting *w)
{
    uint64_t sum = 0;
    for (size_t j = 0; j < w->used; j++)
        sum += w->per_bin[j];
    return sum > 0;
}

/* ---- plays age ------------------------------------------------------------*/

static void shift(tarry__waiting *w, size_t seat, size_t j, int by)
{
    w->waiting[seat * BINS + j] += (uint32_t)by;
    w->per_bin[j] += (uint64_t)(int64_t)by;
    if (j >= w->used)
        w->used = j + 1;
}

/* One round later: the play that has just reached the start of a bin moves. */
static void age(tarry__waiting *w)
{
    w->now++;
    for (size_t j = w->used < BINS ? w->used : BINS - 1; j > 0; j--) {
        if (w->per_bin[j - 1] == 0 || w->now <= bin_start(j))
            continue;
        const uint32_t seat =
            w->ring[(w->now - bin_start(j)) & (w->ring_size - 1)];
        if (seat == 0)
            continue;
        shift(w, seat - 1, j - 1, -1);
        shift(w, seat - 1, j, 1);
    }
}

void tarry__waiting_play(tarry__waiting *w, uint64_t round, size_t seat)
{
    while (w->now < round)
        age(w);
    w->ring[round & (w->ring_size - 1)] = 0;
    if (seat >= w->room)
        return;
    w->ring[round & (w->ring_size - 1)] = (uint32_t)seat + 1;
    shift(w, seat, 0, 1);
}

void tarry__waiting_end(tarry__waiting *w, uint64_t round, size_t seat,
                        double high_share)
{
    const size_t j = bin_of(w->now - round);
    if (seat >= w->room)
        return;
    if (w->now - round < w->ring_size)
        w->ring[round & (w->ring_size - 1)] = 0;
    shift(w, seat, j, -1);
    w->ended[seat * 2 * BINS + j] += high_share;
    w->ended[seat * 2 * BINS + BINS + j] += 1 - high_share;
}

void tarry__waiting_cancel(tarry__waiting *w, uint64_t round, size_t seat)
{
    if (seat >= w->room)
        return;
    if (w->now - round < w->ring_size)
        w->ring[round & (w->ring_size - 1)] = 0;
    shift(w, seat, bin_of(w->now - round), -1);
}

void tarry__waiting_copy(tarry__waiting *w, const tarry__waiting *from)
{
    const size_t size = from->room * BINS;
    memcpy(w->ring, from->ring, from->ring_size * sizeof *w->ring);
    memcpy(w->waiting, from->waiting, size * sizeof *w->waiting);
    memcpy(w->ended, from->ended, 2 * size * sizeof *w->ended);
    memcpy(w->hazard, from->hazard, size * sizeof *w->hazard);
    memcpy(w->per_bin, from->per_bin, sizeof w->per_bin);
    memcpy(w->ratio, from->ratio, sizeof w->ratio);
    memcpy(w->pooled, from->pooled, sizeof w->pooled);
    w->lost = from->lost;
    w->used = from->used;
    w->now = from->now;
}

/* ---- the law --------------------------------------------------------------*/

/* The probability that a play that has lasted to bin j lasts longer. */
static double lasts(double ratio, double hazard)
{
    const double ends = ratio * hazard;
    return 1 - (ends < MOST_HAZARD ? ends : MOST_HAZARD);
}

/* Of all plays of a seat, the shares that reach a bin: those that will come and
 * are high or low, and the lost; and at the end those that never come. */
typedef struct {
    double high[BINS], low[BINS], lost, never;
} course;

static void follow(const tarry__waiting *w, size_t seat, double p, course *c)
{
    const double *hazard = w->hazard + seat * BINS;
    double high = (1 - w->lost) * p, low = (1 - w->lost) * (1 - p);
    for (size_t j = 0; j < w->used; j++) {
        c->high[j] = high;
        c->low[j] = low;
        high *= lasts(w->ratio[0][j], hazard[j]);
        low *= lasts(w->ratio[1][j], hazard[j]);
    }
    c->lost = LEAN * w->lost;
    /* of what lasts longer than anything so far, half will never come */
    c->never = w->lost + (high + low) * (w->used < BINS ? 0.5 : 1);
}

tarry__foresight_hint tarry__waiting_hint(const tarry__waiting *w, size_t seat,
                                          double p)
{
    tarry__foresight_hint hint = {0, 0, 0};
    course c;
    if (seat >= w->room)
        return hint;
    follow(w, seat, p, &c);
    for (size_t j = 0; j < w->used; j++) {
        const double count = (double)w->waiting[seat * BINS + j];
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
    }
    return hint;
}

/* ---- learning -------------------------------------------------------------*/

/* Over all seats: plays that ended in a bin, that were at risk there, and
 * those weighted with their hazards; by class. */
typedef struct {
    double ended[2][BINS], risk[2][BINS], expected[2][BINS];
    double plays, lost; /* that come, or have; that do not */
} totals;

static void learn_seat(tarry__waiting *w, size_t seat, double p, totals *t)
{
    const double *ended = w->ended + seat * 2 * BINS;
    double *hazard = w->hazard + seat * BINS;
    double later[2] = {0, 0};
    course c;
    follow(w, seat, p, &c);
    for (size_t j = w->used; j-- > 0;) {
        const double here = (double)w->waiting[seat * BINS + j];
        const double each = here / (c.high[j] + c.low[j] + c.lost);
        const double still[2] = {each * c.high[j], each * c.low[j]};
        double expected = 0;
        for (int s = 0; s < 2; s++) {
            const double e = ended[(size_t)s * BINS + j];
            /* those who wait in this bin have passed half of it */
            const double risk = later[s] + e + 0.5 * still[s];
            t->ended[s][j] += e;
            t->risk[s][j] += risk;
            t->expected[s][j] += risk * hazard[j];
            expected += risk * w->ratio[s][j];
            later[s] += e + still[s];
            t->plays += e + still[s];
        }
        t->lost += each * c.lost;
        hazard[j] = (ended[j] + ended[BINS + j] + PRIOR_ARM * w->pooled[j]) /
                    (expected + PRIOR_ARM);
    }
}

/* How many losses' worth a ratio of 1 is believed: 1 / variance of the ratios,
 * by the method of moments.  Of a count with mean E ratio the square of its
 * distance to E is on average E + E^2 variance. */
static double ratio_prior(const tarry__waiting *w, const totals *t)
{
    double excess = 0, squares = 0;
    for (size_t j = 0; j < w->used; j++)
        for (int s = 0; s < 2; s++) {
            const double E = t->expected[s][j], off = t->ended[s][j] - E;
            excess += off * off - E;
            squares += E * E;
        }
    return tarry__foresight_clamp(
        (squares + FIRST_SQUARES) /
            ((excess > 0 ? excess : 0) + FIRST_SQUARES / FIRST_PRIOR),
        LEAST_PRIOR, MOST_PRIOR);
}

void tarry__waiting_learn(tarry__waiting *w, size_t seats, const double *p)
{
    static const totals none;
    totals t = none;
    for (size_t i = 0; i < seats && i < w->room; i++)
        learn_seat(w, i, p[i], &t);
    w->lost =
        (t.lost + PRIOR_LOST * PRIOR_PLAYS) / (t.lost + t.plays + PRIOR_PLAYS);
    const double prior = ratio_prior(w, &t);
    for (size_t j = 0; j < w->used; j++) {
        w->pooled[j] = (t.ended[0][j] + t.ended[1][j] + 0.5) /
                       (t.risk[0][j] + t.risk[1][j] + 1);
        for (int s = 0; s < 2; s++)
            w->ratio[s][j] =
                (t.ended[s][j] + prior) / (t.expected[s][j] + prior);
    }
}

/* ---- saving ---------------------------------------------------------------*/

void tarry__waiting_archive(tarry__waiting *w,
                            const tarry__policy_problem *problem,
                            tarry__archive *a)
{
    w->problem = problem;
    if (a->loading && a->status == TARRY_OK)
        a->status = tarry__waiting_open(w, problem);
    if (a->status != TARRY_OK)
        return;
    tarry__archive_field(a, w->now);
    tarry__archive_field(a, w->per_bin);
    tarry__archive_field(a, w->ratio);
    tarry__archive_field(a, w->pooled);
    tarry__archive_field(a, w->lost);
    tarry__archive_field(a, w->used);
    tarry__archive_bytes(a, w->ring, w->ring_size * sizeof *w->ring);
    tarry__archive_bytes(a, w->waiting, w->room * BINS * sizeof *w->waiting);
    tarry__archive_bytes(a, w->ended, w->room * 2 * BINS * sizeof *w->ended);
    tarry__archive_bytes(a, w->hazard, w->room * BINS * sizeof *w->hazard);
    tarry__archive_require(a, w->now <= problem->horizon && w->used <= BINS);
    bool sound = true;
    for (size_t i = 0; i < w->ring_size; i++)
        sound &= w->ring[i] <= w->room;
    tarry__archive_require(a, sound);
}
