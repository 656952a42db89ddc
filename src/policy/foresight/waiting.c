/* waiting.c - see waiting.h. */
#include "policy/foresight/waiting.h"

#include <string.h>
#include "base/base.h"

enum { BINS = TARRY__FORESIGHT_BINS, MOST_SEATS = 4096 };

static const double SURPRISE = 10;
static const uint64_t LONGER = 2, LEAST_REPORTS = 10, LEAST_PAUSE = 20;

static uint64_t bin_start(size_t j)
{
    return tarry__waiting_bin_start(j);
}

static const uint32_t ENDED = 1u << 31; /* in the ring, beside a seat */

static size_t bin_of(uint64_t age)
{
    return tarry__waiting_bin_of(age);
}

/* The seat + 1 of a play, also when it has ended; and only while it waits. */
static uint32_t made_at(const tarry__waiting *w, size_t at)
{
    return w->ring[at] & ~ENDED;
}

static uint32_t waiting_at(const tarry__waiting *w, size_t at)
{
    return (w->ring[at] & ENDED) != 0 ? 0 : w->ring[at];
}

static tarry_status open_memory(tarry__waiting *w)
{
    w->waiting = tarry__base_zalloc(2 * w->room * BINS, sizeof *w->waiting);
    w->made = w->waiting + w->room * BINS;
    w->ended = tarry__base_zalloc(w->room * 2 * BINS, sizeof *w->ended);
    w->hazard = tarry__base_zalloc(w->room * BINS, sizeof *w->hazard);
    w->ring = tarry__base_zalloc(w->ring_size, sizeof *w->ring);
    w->masked = tarry__base_zalloc(2 * w->room, sizeof *w->masked);
    w->held = w->masked + w->room;
    return w->masked != NULL && w->waiting != NULL && w->ended != NULL &&
                   w->hazard != NULL && w->ring != NULL
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
    tarry__base_free(w->masked);
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
    for (size_t j = 1; j < BINS && w->now > bin_start(j); j++) {
        const size_t at = (w->now - bin_start(j)) & (w->ring_size - 1);
        const uint32_t made = made_at(w, at), seat = waiting_at(w, at);
        if (made != 0) {
            w->made[(made - 1) * BINS + j - 1]--;
            w->made[(made - 1) * BINS + j]++;
        }
        if (seat == 0)
            continue;
        shift(w, seat - 1, j - 1, -1);
        shift(w, seat - 1, j, 1);
    }
}

/* A round without the silences before it; 0: it was in one. */
static uint64_t heard_round(const tarry__waiting *w, uint64_t round)
{
    uint64_t left = round;
    if (w->silent && round > w->heard)
        return 0;
    for (size_t i = w->n_silences; i-- > 0;) {
        const tarry__foresight_silence *s = &w->silence[i];
        if (round > s->start + s->length)
            left -= s->length;
        else if (round > s->start)
            return 0;
    }
    return left;
}

static void mask(tarry__waiting *w, size_t seat, int by)
{
    w->masked[seat] += (uint32_t)by;
    w->n_masked += (uint64_t)(int64_t)by;
}

static void play_in_silence(tarry__waiting *w, size_t seat)
{
    if (seat >= w->room)
        return;
    mask(w, seat, 1);
    w->held[seat]++;
}

void tarry__waiting_play(tarry__waiting *w, uint64_t round, size_t seat)
{
    const uint64_t rounds = round - w->round;
    w->round = round;
    if (w->silent) {
        play_in_silence(w, seat);
        return;
    }
    for (uint64_t i = 0; i < rounds; i++)
        age(w);
    const size_t at = w->now & (w->ring_size - 1);
    w->ring[at] = 0;
    if (seat >= w->room)
        return;
    w->ring[at] = (uint32_t)seat + 1;
    w->made[seat * BINS]++;
    shift(w, seat, 0, 1);
}

/* The oldest two silences become one if there is no room for another. */
static void note_silence(tarry__waiting *w, uint64_t length)
{
    if (w->n_silences == TARRY__FORESIGHT_SILENCES) {
        tarry__foresight_silence *first = w->silence, *second = first + 1;
        second->start -= first->length;
        second->length += first->length;
        memmove(first, second, --w->n_silences * sizeof *first);
    }
    w->silence[w->n_silences++] = (tarry__foresight_silence){w->heard, length};
}

/* A report has come. */
static void hear(tarry__waiting *w)
{
    const uint64_t pause = w->round - w->heard;
    if (w->silent) {
        note_silence(w, pause);
        w->silent = 0;
        memset(w->held, 0, w->room * sizeof *w->held);
    } else if (pause > w->longest) {
        w->longest = pause;
    }
    w->heard = w->round;
    w->reports++;
}

void tarry__waiting_end(tarry__waiting *w, uint64_t round, size_t seat,
                        double high_share)
{
    hear(w);
    const uint64_t t = heard_round(w, round);
    if (seat >= w->room)
        return;
    if (t == 0) {
        if (w->masked[seat] > 0)
            mask(w, seat, -1);
        return;
    }
    const size_t j = bin_of(w->now - t);
    if (w->now - t < w->ring_size)
        w->ring[t & (w->ring_size - 1)] |= ENDED;
    shift(w, seat, j, -1);
    w->ended_in[j]++;
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
    const uint64_t t = heard_round(w, round);
    if (seat >= w->room || t == 0)
        return;
    double *ended = w->ended + seat * 2 * BINS;
    size_t j = bin_of(w->now - t);
    const size_t last = j;
    while (j > 0 && (ended[j] < old_share || ended[BINS + j] < 1 - old_share))
        j--;
    take_back(ended + j, old_share);
    w->ended_in[j]--;
    j = now ? last : j;
    w->ended_in[j]++;
    ended[j] += share;
    ended[BINS + j] += 1 - share;
}

void tarry__waiting_cancel(tarry__waiting *w, uint64_t round, size_t seat)
{
    const uint64_t t = heard_round(w, round);
    if (seat >= w->room)
        return;
    if (t == 0) {
        if (w->silent && round > w->heard && w->held[seat] > 0)
            w->held[seat]--;
        if (w->masked[seat] > 0)
            mask(w, seat, -1);
        return;
    }
    const size_t at = t & (w->ring_size - 1);
    if (w->now - t < w->ring_size)
        w->ring[at] = 0;
    shift(w, seat, bin_of(w->now - t), -1);
    w->made[seat * BINS + bin_of(w->now - t)]--;
}

/* ---- silence --------------------------------------------------------------*/

/* Adds to the counts of bins what the ring has of rounds up to `last`, ages
 * being those at `now`, `sign` times. */
static void count_ring(tarry__waiting *w, uint64_t last, uint64_t now, int sign)
{
    const uint64_t kept = w->ring_size - 1;
    for (uint64_t t = w->now > kept ? w->now - kept : 1; t <= last; t++) {
        const size_t at = t & kept, j = bin_of(now - t);
        if (made_at(w, at) != 0)
            w->made[(made_at(w, at) - 1) * BINS + j] += (uint32_t)sign;
        if (waiting_at(w, at) != 0)
            shift(w, waiting_at(w, at) - 1, j, sign);
    }
}

/* Takes the time since the last report back. */
static void begin_silence(tarry__waiting *w)
{
    const uint64_t pause = w->round - w->heard, last = w->now - pause;
    count_ring(w, w->now, w->now, -1);
    for (uint64_t t = last + 1; t <= w->now; t++) {
        const size_t at = t & (w->ring_size - 1);
        if (waiting_at(w, at) != 0)
            play_in_silence(w, waiting_at(w, at) - 1);
        w->ring[at] = 0;
    }
    count_ring(w, last, last, 1);
    w->now = last;
    w->silent = 1;
}

void tarry__waiting_listen(tarry__waiting *w, size_t seats, const double *p)
{
    const uint64_t pause = w->round - w->heard;
    if (!w->silent && w->reports >= LEAST_REPORTS &&
        pause > LONGER * w->longest + LEAST_PAUSE && pause < w->ring_size &&
        pause < w->now && tarry__law_surprise(w, seats, p, pause) > SURPRISE)
        begin_silence(w);
}

/* ---- another size ---------------------------------------------------------*/

void tarry__waiting_copy(tarry__waiting *w, const tarry__waiting *from)
{
    const size_t size = from->room * BINS;
    memcpy(w->ring, from->ring, from->ring_size * sizeof *w->ring);
    memcpy(w->waiting, from->waiting, size * sizeof *w->waiting);
    memcpy(w->made, from->made, size * sizeof *w->made);
    memcpy(w->ended, from->ended, 2 * size * sizeof *w->ended);
    memcpy(w->hazard, from->hazard, size * sizeof *w->hazard);
    memcpy(w->per_bin, from->per_bin, sizeof w->per_bin);
    memcpy(w->ended_in, from->ended_in, sizeof w->ended_in);
    w->law = from->law;
    w->try_at = from->try_at;
    w->used = from->used;
    w->now = from->now;
    w->round = from->round;
    w->heard = from->heard;
    w->reports = from->reports;
    w->longest = from->longest;
    w->silent = from->silent;
    w->n_silences = from->n_silences;
    w->n_masked = from->n_masked;
    memcpy(w->silence, from->silence, sizeof w->silence);
    memcpy(w->masked, from->masked, from->room * sizeof *w->masked);
    memcpy(w->held, from->held, from->room * sizeof *w->held);
}

/* ---- saving ---------------------------------------------------------------*/

/* Each bin holds what its seats do, and no more than was played. */
static bool is_sound(const tarry__waiting *w)
{
    bool sound = true;
    for (size_t i = 0; i < w->ring_size; i++)
        sound &= made_at(w, i) <= w->room;
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
    tarry__archive_field(a, w->ended_in);
    tarry__archive_field(a, w->law.ratio);
    tarry__archive_field(a, w->law.pooled);
    tarry__archive_field(a, w->law.lost);
    tarry__archive_field(a, w->used);
    tarry__archive_field(a, w->round);
    tarry__archive_field(a, w->heard);
    tarry__archive_field(a, w->reports);
    tarry__archive_field(a, w->longest);
    tarry__archive_field(a, w->silent);
    tarry__archive_field(a, w->n_silences);
    tarry__archive_field(a, w->silence);
    tarry__archive_field(a, w->n_masked);
    tarry__archive_bytes(a, w->masked, 2 * w->room * sizeof *w->masked);
    tarry__archive_field(a, w->law.alike);
    tarry__archive_field(a, w->try_at);
    tarry__archive_bytes(a, w->ring, w->ring_size * sizeof *w->ring);
    tarry__archive_bytes(a, w->waiting,
                         2 * w->room * BINS * sizeof *w->waiting);
    tarry__archive_bytes(a, w->ended, w->room * 2 * BINS * sizeof *w->ended);
    tarry__archive_bytes(a, w->hazard, w->room * BINS * sizeof *w->hazard);
    /* every round up to the horizon is told, whoever chose its arm */
    const uint64_t last =
        a->round < problem->horizon ? a->round : problem->horizon;
    tarry__archive_require(a, a->status == TARRY_OK && w->round == last &&
                                  w->now <= w->round && w->heard <= w->round &&
                                  w->n_silences <= TARRY__FORESIGHT_SILENCES &&
                                  w->used <= BINS && is_sound(w));
}
