/* open_rounds.h - the choices whose loss is outstanding: round -> arm.
 *
 * An open-addressing hash table with 8-byte entries, 39 bits of round and 25
 * of value.  At its peak it is 57 to 85 per cent full: 9.4 to 14.1 bytes per
 * open round, under 24 also while it grows.  It never shrinks.  A round that
 * was chosen and is not here has been reported: no other memory of past rounds
 * is needed. */
#ifndef TARRY_POLICY_OPEN_ROUNDS_H
#define TARRY_POLICY_OPEN_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tarry/policy.h"

enum { TARRY__OPEN_ROUND_BITS = 39, TARRY__OPEN_VALUE_BITS = 25 };

typedef struct {
    uint64_t *slot; /* 0: empty; else round << TARRY__OPEN_VALUE_BITS | value */
    size_t room, count;
    uint64_t mark; /* up to this round ... */
    size_t marked; /* ... so many are in it */
} tarry__open_rounds;

void tarry__open_clear(tarry__open_rounds *open);

/* Makes sure that the next add needs no memory. */
tarry_status tarry__open_reserve(tarry__open_rounds *open);

/* Adds a round from 1 to 2^39 - 1 that is not in the table, after reserve. */
void tarry__open_add(tarry__open_rounds *open, uint64_t round, uint32_t value);

/* Finds a round's value. */
bool tarry__open_find(const tarry__open_rounds *open, uint64_t round,
                      uint32_t *value);

/* Whether every entry is where a search for it ends; for tables that were
 * read.  At least one slot must be empty. */
bool tarry__open_is_sound(const tarry__open_rounds *open);

/* The oldest rounds in it whose values have none of the bits `skip`, oldest
 * first, at most `most`; answers how many. */
size_t tarry__open_oldest(const tarry__open_rounds *open, uint32_t skip,
                          tarry_pending *out, size_t most);

/* The oldest of those; 0: none.  It is not before `from`, and quickly found if
 * it is not far behind. */
uint64_t tarry__open_first(const tarry__open_rounds *open, uint32_t skip,
                           uint64_t from);

/* How many rounds up to `last` are in it; quickly, if `last` is near that of
 * the call before. */
size_t tarry__open_count(tarry__open_rounds *open, uint64_t last);

/* Removes a round that is in the table. */
void tarry__open_remove(tarry__open_rounds *open, uint64_t round);

#endif
