/* wheel.h - feedback on its way: a timing wheel.
 *
 * Level 0 is a ring of 4096 lists, one per round to come.  Level l > 0 is a ring
 * of lists of which each spans 2048 times the rounds of one a level lower; it
 * is emptied into the lower level when the span that it stands for comes into
 * that level's reach.  So an event is touched once per level whatever the
 * spread of delays, most of them once, and taking what is due is a walk
 * through one list.  (Varghese and Lauck, "Hashed and hierarchical timing
 * wheels", 1987.)
 *
 * Events are nodes of one pool, and freed ones are used again first: memory is
 * that of what is outstanding at most, and short delays stay in the cache. */
#ifndef TARRY_WHEEL_H
#define TARRY_WHEEL_H

#include <stddef.h>
#include <stdint.h>
#include "tarry/status.h"

enum {
    TARRY__WHEEL_LEVELS = 4,
    TARRY__WHEEL_SLOTS = 4096,
    TARRY__WHEEL_BITS = 11 /* 2048: half a ring */
};

typedef struct {
    uint64_t due;   /* the round at whose end the loss is seen */
    uint64_t round; /* of the choice; the arm may stand above bit 40 */
    double loss;
    uint32_t next; /* in its list; 0 ends it */
} tarry__event;

typedef struct {
    uint64_t now;   /* the round whose events are being taken */
    uint64_t count; /* events on their way */
    tarry__event *pool; /* node 0 is not used */
    uint32_t unused, fresh; /* list of freed nodes; first never used */
    size_t room;
    uint32_t slot[TARRY__WHEEL_LEVELS][TARRY__WHEEL_SLOTS];
} tarry__wheel;

tarry_status tarry__wheel_create(tarry__wheel *wheel);
void tarry__wheel_clear(tarry__wheel *wheel);

/* Makes room for more nodes. */
tarry_status tarry__wheel_grow(tarry__wheel *wheel);

/* The list on `level` for a time, and the level for a due time. */
static inline uint32_t *tarry__wheel_slot(tarry__wheel *wheel, int level,
                                          uint64_t time)
{
    return &wheel->slot[level][time >> (TARRY__WHEEL_BITS * level) &
                               (TARRY__WHEEL_SLOTS - 1)];
}

static inline int tarry__wheel_level(const tarry__wheel *wheel, uint64_t due)
{
    int level = 0;
    while ((due >> (TARRY__WHEEL_BITS * level)) -
               (wheel->now >> (TARRY__WHEEL_BITS * level)) >=
           TARRY__WHEEL_SLOTS)
        level++;
    return level;
}

/* Adds an event with now < due < 2^40. */
static inline tarry_status tarry__wheel_add(tarry__wheel *wheel, uint64_t due,
                                            uint64_t round, double loss)
{
    uint32_t node = wheel->unused;
    if (node != 0) {
        wheel->unused = wheel->pool[node].next;
    } else {
        if (wheel->fresh == wheel->room &&
            tarry__wheel_grow(wheel) != TARRY_OK)
            return TARRY_NO_MEMORY;
        node = wheel->fresh++;
    }
    uint32_t *slot =
        tarry__wheel_slot(wheel, tarry__wheel_level(wheel, due), due);
    wheel->pool[node] = (tarry__event){due, round, loss, *slot};
    *slot = node;
    wheel->count++;
    return TARRY_OK;
}

/* Brings the lists into reach that begin to be at now, a multiple of 2048. */
void tarry__wheel_turn(tarry__wheel *wheel);

/* Goes on to round now + 1.  Answers the first of the events due then, 0 for
 * none; the others follow by `next`.  Give them all back with the call below
 * before the next step. */
static inline uint32_t tarry__wheel_step(tarry__wheel *wheel)
{
    wheel->now++;
    if ((wheel->now & ((1u << TARRY__WHEEL_BITS) - 1)) == 0)
        tarry__wheel_turn(wheel);
    __builtin_prefetch(
        &wheel->pool[*tarry__wheel_slot(wheel, 0, wheel->now + 8)]);
    return *tarry__wheel_slot(wheel, 0, wheel->now);
}

/* Frees the `count` > 0 events of the last step, the last of them `last`. */
static inline void tarry__wheel_done(tarry__wheel *wheel, uint32_t last,
                                     uint64_t count)
{
    uint32_t *slot = tarry__wheel_slot(wheel, 0, wheel->now);
    wheel->pool[last].next = wheel->unused;
    wheel->unused = *slot;
    *slot = 0;
    wheel->count -= count;
}

/* Memory taken. */
size_t tarry__wheel_bytes(const tarry__wheel *wheel);

#endif
