/* waiting.c - see waiting.h. */
#include "policy/foresight/waiting.h"

#include <string.h>
#include "base/base.h"

enum { BINS = TARRY__FORESIGHT_BINS, MOST_SEATS = 4096 };

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
    const tarry_status status = open_memory(w);
    if (status == TARRY_OK)
        tarry__law_start(w);
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

static void take_back(double *ended, double share)
{
    ended[0] = ended[0] > share ? ended[0] - share : 0;
    ended[BINS] = ended[BINS] > 1 - share ? ended[BINS] - (1 - share) : 0;
}

void tarry__waiting_revise(tarry__waiting *w, uint64_t round, size_t seat,
                           double old_share, double share, bool now)
{
    if (seat >= w->room)
        return;
    double *ended = w->ended + seat * 2 * BINS;
    size_t j = bin_of(w->now - round);
    const size_t last = j;
    while (j > 0 && (ended[j] < old_share || ended[BINS + j] < 1 - old_share))
        j--;
    take_back(ended + j, old_share);
    j = now ? last : j;
    ended[j] += share;
    ended[BINS + j] += 1 - share;
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
    w->law = from->law;
    w->try_at = from->try_at;
    w->used = from->used;
    w->now = from->now;
}

/* ---- saving ---------------------------------------------------------------*/

/* Each bin holds what its seats do, and no more than was played. */
static bool is_sound(const tarry__waiting *w)
{
    bool sound = true;
    for (size_t i = 0; i < w->ring_size; i++)
        sound &= w->ring[i] <= w->room;
    for (size_t j = 0; j < BINS; j++) {
        uint64_t sum = 0;
        for (size_t seat = 0; seat < w->room; seat++)
            sum += w->waiting[seat * BINS + j];
        sound &= sum == w->per_bin[j] && sum <= w->now;
    }
    return sound;
}

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
    tarry__archive_field(a, w->law.ratio);
    tarry__archive_field(a, w->law.pooled);
    tarry__archive_field(a, w->law.lost);
    tarry__archive_field(a, w->used);
    if (!tarry__archive_is_before(a, 4)) {
        tarry__archive_field(a, w->law.alike);
        tarry__archive_field(a, w->try_at);
    }
    tarry__archive_bytes(a, w->ring, w->ring_size * sizeof *w->ring);
    tarry__archive_bytes(a, w->waiting, w->room * BINS * sizeof *w->waiting);
    tarry__archive_bytes(a, w->ended, w->room * 2 * BINS * sizeof *w->ended);
    tarry__archive_bytes(a, w->hazard, w->room * BINS * sizeof *w->hazard);
    /* every round up to the horizon is told, whoever chose its arm */
    const uint64_t last =
        a->round < problem->horizon ? a->round : problem->horizon;
    tarry__archive_require(a, a->status == TARRY_OK && w->now == last &&
                                  w->used <= BINS && is_sound(w));
}
