/* wheel.h - feedback on its way: a timing wheel.
 *
 * Level 0 is a ring of 4096 lists, one per round to come.  Level l > 0 is a
 * ring of lists of which each spans 2048 times the rounds of one a level lower;
 * it is emptied into the lower level when the span that it stands for comes
 * into that level's reach: this span and the next.  So an event is touched once
 * per level whatever the spread of delays, most of them once, and taking what
 * is due is a walk through one list.  (Varghese and Lauck, "Hashed and
 * hierarchical timing wheels", 1987.)
 *
 * Near events are nodes of a pool in which freed ones are used again first: it
 * stays small, and in the cache.  Far ones are packed into chunks, which are
 * written and read in order.  Memory follows what is outstanding.
 *
 * What is due together comes in the order in which it was added: a level takes
 * new events of a span only after it has taken those of the level above, and
 * every list is read from its oldest event on. */
#ifndef TARRY_SIM_WHEEL_H
#define TARRY_SIM_WHEEL_H

#include <stddef.h>
#include <stdint.h>
#include "tarry/status.h"

enum {
    TARRY__WHEEL_FAR = 3, /* levels above 0 */
    TARRY__WHEEL_SLOTS = 4096,
    TARRY__WHEEL_BITS = 11 /* 2048: half a ring */
};

typedef struct {
    uint64_t due;   /* the round at whose end the loss is seen */
    uint64_t round; /* of the choice; the arm may stand above bit 40 */
    double loss;
} tarry__wheel_event;

typedef struct {
    tarry__wheel_event event;
    uint32_t next; /* in its list; 0 ends it */
} tarry__wheel_node;

typedef struct tarry__wheel_chunk tarry__wheel_chunk;

/* Equal pieces of memory by number; 0 is none. */
typedef struct {
    void *pieces;
    size_t size, room;
    uint32_t unused, fresh; /* list of freed ones; first never used */
} tarry__wheel_pool;

typedef struct {
    uint64_t now;   /* the round whose events are being taken */
    uint64_t count; /* events on their way */
    tarry__wheel_pool nodes, chunks;
    uint32_t near[TARRY__WHEEL_SLOTS];
    uint32_t far[TARRY__WHEEL_FAR][TARRY__WHEEL_SLOTS];
} tarry__wheel;

tarry_status tarry__wheel_create(tarry__wheel *wheel);
void tarry__wheel_clear(tarry__wheel *wheel);

/* Makes room for another node. */
tarry_status tarry__wheel_grow(tarry__wheel *wheel);

static inline tarry__wheel_node *tarry__wheel_at(const tarry__wheel *wheel,
                                                 uint32_t i)
{
    return (tarry__wheel_node *)wheel->nodes.pieces + i;
}

static inline tarry_status
tarry__wheel_add_near(tarry__wheel *wheel, const tarry__wheel_event *event)
{
    tarry__wheel_pool *pool = &wheel->nodes;
    uint32_t i = pool->unused;
    if (i != 0) {
        pool->unused = tarry__wheel_at(wheel, i)->next;
    } else {
        if (pool->fresh == pool->room && tarry__wheel_grow(wheel) != TARRY_OK)
            return TARRY_NO_MEMORY;
        i = pool->fresh++;
    }
    uint32_t *slot = &wheel->near[event->due % TARRY__WHEEL_SLOTS];
    *tarry__wheel_at(wheel, i) = (tarry__wheel_node){*event, *slot};
    *slot = i;
    return TARRY_OK;
}

tarry_status tarry__wheel_add_far(tarry__wheel *wheel,
                                  const tarry__wheel_event *event);

/* Adds an event with now < due < 2^40. */
static inline tarry_status tarry__wheel_add(tarry__wheel *wheel,
                                            tarry__wheel_event event)
{
    wheel->count++;
    return (event.due >> TARRY__WHEEL_BITS) -
                       (wheel->now >> TARRY__WHEEL_BITS) <
                   2
               ? tarry__wheel_add_near(wheel, &event)
               : tarry__wheel_add_far(wheel, &event);
}

/* Brings the lists into reach that begin to be at now, a multiple of 2048. */
tarry_status tarry__wheel_turn(tarry__wheel *wheel);

/* Turns the list of the round `now` round. */
static inline void tarry__wheel_reverse(tarry__wheel *wheel)
{
    uint32_t *slot = &wheel->near[wheel->now % TARRY__WHEEL_SLOTS];
    uint32_t turned = 0;
    for (uint32_t i = *slot; i != 0;) {
        uint32_t *next = &tarry__wheel_at(wheel, i)->next;
        const uint32_t rest = *next;
        *next = turned;
        turned = i;
        i = rest;
    }
    *slot = turned;
}

/* Goes on to round now + 1.  *first is the first node of the events due then, 0
 * for none; the others follow by `next`.  Give them all back with the call
 * below before the next step. */
static inline tarry_status tarry__wheel_step(tarry__wheel *wheel,
                                             uint32_t *first)
{
    tarry_status status = TARRY_OK;
    wheel->now++;
    if (wheel->now % (1u << TARRY__WHEEL_BITS) == 0)
        status = tarry__wheel_turn(wheel);
    tarry__wheel_reverse(wheel); /* it was filled from the front */
    *first = wheel->near[wheel->now % TARRY__WHEEL_SLOTS];
    return status;
}

/* Frees the `count` > 0 events of the last step, the last of them `last`. */
static inline void tarry__wheel_done(tarry__wheel *wheel, uint32_t last,
                                     uint64_t count)
{
    uint32_t *slot = &wheel->near[wheel->now % TARRY__WHEEL_SLOTS];
    tarry__wheel_at(wheel, last)->next = wheel->nodes.unused;
    wheel->nodes.unused = *slot;
    *slot = 0;
    wheel->count -= count;
}

/* Memory taken. */
size_t tarry__wheel_bytes(const tarry__wheel *wheel);

#endif
