/* open_rounds.c - linear probing, with the entries of a run in the order of
 * their homes.
 *
 * Eight neighbouring rounds share a home line of the cache: choices are made
 * in order and losses often come nearly in order, so most operations find
 * their line warm.  An entry makes room for one that has come farther (Celis's
 * "Robin Hood hashing"), which keeps that order; so removal moves entries up
 * only until the next one that is at home, and leaves the rest of the run
 * alone. */
#include "policy/open_rounds.h"

#include <string.h>
#include "base/base.h"

enum {
    LINE = 8,
    LEAST_ROOM = 64,
    SEARCH = 8 /* slots that are looked at one after another, in the time in
                  which one round is found */
};

static uint64_t round_of(uint64_t entry)
{
    return entry >> TARRY__OPEN_VALUE_BITS;
}

/* The slot where a round would like to be: its line by multiplicative hashing
 * and the high half of a product, its place in the line by its low bits. */
static size_t home(const tarry__open_rounds *open, uint64_t round)
{
    const uint64_t hash = (round / LINE) * 0x9e3779b97f4a7c15u;
    const uint64_t lines = open->room / LINE;
    const size_t line = (size_t)(((unsigned __int128)hash * lines) >> 64);
    return line * LINE + round % LINE;
}

static size_t next(const tarry__open_rounds *open, size_t at)
{
    return at + 1 < open->room ? at + 1 : 0;
}

void tarry__open_clear(tarry__open_rounds *open)
{
    tarry__base_free(open->slot);
    memset(open, 0, sizeof *open);
}

/* How far the entry at `at` is from its home, going round the end. */
static size_t way(const tarry__open_rounds *open, size_t at)
{
    const size_t from = home(open, round_of(open->slot[at]));
    return at >= from ? at - from : at + open->room - from;
}

static void insert(tarry__open_rounds *open, uint64_t entry)
{
    size_t at = home(open, round_of(entry));
    for (size_t gone = 0; open->slot[at] != 0; gone++, at = next(open, at)) {
        const size_t other_gone = way(open, at);
        if (other_gone < gone) {
            const uint64_t other = open->slot[at];
            open->slot[at] = entry;
            entry = other;
            gone = other_gone;
        }
    }
    open->slot[at] = entry;
}

tarry_status tarry__open_reserve(tarry__open_rounds *open)
{
    if (open->count + 1 <= open->room / 20 * 17)
        return TARRY_OK;
    const size_t room = open->room < LEAST_ROOM
                            ? LEAST_ROOM
                            : (open->room + open->room / 2) / LINE * LINE;
    tarry__open_rounds bigger = *open;
    bigger.slot = tarry__base_zalloc(room, sizeof(uint64_t));
    bigger.room = room;
    if (bigger.slot == NULL)
        return TARRY_NO_MEMORY;
    for (size_t i = 0; i < open->room; i++)
        if (open->slot[i] != 0)
            insert(&bigger, open->slot[i]);
    tarry__base_free(open->slot);
    *open = bigger;
    return TARRY_OK;
}

void tarry__open_add(tarry__open_rounds *open, uint64_t round, uint32_t value)
{
    insert(open, round << TARRY__OPEN_VALUE_BITS | value);
    open->count++;
    open->marked += round <= open->mark;
}

/* The slot of a round, or the empty slot where the search ended. */
static size_t locate(const tarry__open_rounds *open, uint64_t round)
{
    size_t at = home(open, round);
    while (open->slot[at] != 0 && round_of(open->slot[at]) != round)
        at = next(open, at);
    return at;
}

bool tarry__open_find(const tarry__open_rounds *open, uint64_t round,
                      uint32_t *value)
{
    if (open->room == 0)
        return false;
    const uint64_t entry = open->slot[locate(open, round)];
    *value = (uint32_t)(entry & ((1u << TARRY__OPEN_VALUE_BITS) - 1));
    return entry != 0;
}

bool tarry__open_is_sound(const tarry__open_rounds *open)
{
    for (size_t i = 0; i < open->room; i++)
        if (open->slot[i] != 0 && (round_of(open->slot[i]) == 0 ||
                                   locate(open, round_of(open->slot[i])) != i))
            return false;
    return true;
}

static size_t count_all(const tarry__open_rounds *open, uint64_t last)
{
    size_t count = 0;
    for (size_t i = 0; i < open->room; i++)
        count += open->slot[i] != 0 && round_of(open->slot[i]) <= last;
    return count;
}

size_t tarry__open_count(tarry__open_rounds *open, uint64_t last)
{
    uint32_t value;
    const uint64_t steps =
        last > open->mark ? last - open->mark : open->mark - last;
    if (steps > open->room / SEARCH) {
        open->marked = count_all(open, last);
        open->mark = last;
    }
    while (open->mark < last)
        open->marked += tarry__open_find(open, ++open->mark, &value);
    while (open->mark > last)
        open->marked -= tarry__open_find(open, open->mark--, &value);
    return open->marked;
}

void tarry__open_remove(tarry__open_rounds *open, uint64_t round)
{
    size_t hole = locate(open, round);
    for (size_t at = next(open, hole); open->slot[at] != 0 && way(open, at) > 0;
         at = next(open, at)) {
        open->slot[hole] = open->slot[at];
        hole = at;
    }
    open->slot[hole] = 0;
    open->count--;
    open->marked -= round <= open->mark;
}

/* ---- the oldest ------------------------------------------------------------
 * The youngest of those kept is on top of a heap, and gives way to an older
 * one; at the end the heap is taken down into order. */

static void sink(tarry_pending *heap, size_t count, size_t at)
{
    const tarry_pending moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1].round > heap[child].round)
            child++;
        if (heap[child].round <= moved.round)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static void make_heap(tarry_pending *heap, size_t count)
{
    for (size_t k = count / 2; k-- > 0;)
        sink(heap, count, k);
}

static void sort_heap(tarry_pending *heap, size_t count)
{
    while (count > 1) {
        const tarry_pending last = heap[--count];
        heap[count] = heap[0];
        heap[0] = last;
        sink(heap, count, 0);
    }
}

size_t tarry__open_oldest(const tarry__open_rounds *open, uint32_t skip,
                          tarry_pending *out, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < open->room && most > 0; i++) {
        const tarry_pending p = {round_of(open->slot[i]),
                                 open->slot[i] &
                                     ((1u << TARRY__OPEN_VALUE_BITS) - 1)};
        if (p.round == 0 || (p.arm & skip) != 0)
            continue;
        if (count < most) {
            out[count++] = p;
            if (count == most)
                make_heap(out, count);
        } else if (p.round < out[0].round) {
            out[0] = p;
            sink(out, count, 0);
        }
    }
    if (count < most)
        make_heap(out, count);
    sort_heap(out, count);
    return count;
}

uint64_t tarry__open_first(const tarry__open_rounds *open, uint32_t skip,
                           uint64_t from)
{
    tarry_pending first = {0};
    uint32_t value;
    for (size_t i = 0; i < open->room / SEARCH; i++, from++)
        if (tarry__open_find(open, from, &value) && (value & skip) == 0)
            return from;
    tarry__open_oldest(open, skip, &first, 1);
    return first.round;
}
