/* wheel.c - see wheel.h. */
#include "wheel.h"

#include <string.h>
#include "base/base.h"

enum { DIGIT = 10, CHUNK = 10, FIRST_ROOM = 64 };

struct tarry__chunk {
    uint32_t next, count;
    tarry__event event[CHUNK]; /* 256 bytes in all, less a little */
};

tarry_status tarry__wheel_create(tarry__wheel *wheel)
{
    memset(wheel, 0, sizeof *wheel);
    wheel->pool = tarry__alloc(FIRST_ROOM, sizeof *wheel->pool);
    wheel->room = FIRST_ROOM;
    wheel->next = 1;
    return wheel->pool != NULL ? TARRY_OK : TARRY_NO_MEMORY;
}

void tarry__wheel_clear(tarry__wheel *wheel)
{
    tarry__free(wheel->pool);
    wheel->pool = NULL;
}

size_t tarry__wheel_bytes(const tarry__wheel *wheel)
{
    return sizeof *wheel + wheel->room * sizeof *wheel->pool;
}

static tarry_status grow(tarry__wheel *wheel)
{
    const size_t room = wheel->room + wheel->room / 2;
    tarry__chunk *bigger =
        room < UINT32_MAX
            ? tarry__grow(wheel->pool, wheel->room, room, sizeof *bigger)
            : NULL;
    if (bigger == NULL)
        return TARRY_NO_MEMORY;
    wheel->pool = bigger;
    wheel->room = room;
    return TARRY_OK;
}

/* An empty chunk in front of a slot's list. */
static tarry_status open_chunk(tarry__wheel *wheel, uint32_t *slot)
{
    uint32_t at = wheel->unused;
    if (at != 0) {
        wheel->unused = wheel->pool[at].next;
    } else {
        if (wheel->next == wheel->room && grow(wheel) != TARRY_OK)
            return TARRY_NO_MEMORY;
        at = wheel->next++;
    }
    wheel->pool[at].next = *slot;
    wheel->pool[at].count = 0;
    *slot = at;
    return TARRY_OK;
}

static void close_chunk(tarry__wheel *wheel, uint32_t at)
{
    wheel->pool[at].next = wheel->unused;
    wheel->unused = at;
}

/* The level of the highest digit in which two times differ. */
static int level_of(uint64_t due, uint64_t now)
{
    return (63 - __builtin_clzll(due ^ now)) / DIGIT;
}

static uint32_t *slot_of(tarry__wheel *wheel, int level, uint64_t time)
{
    return &wheel->slot[level][time >> (DIGIT * level) &
                               (TARRY__WHEEL_SLOTS - 1)];
}

static tarry_status place(tarry__wheel *wheel, uint32_t *slot,
                          const tarry__event *event)
{
    if (*slot == 0 || wheel->pool[*slot].count == CHUNK) {
        if (open_chunk(wheel, slot) != TARRY_OK)
            return TARRY_NO_MEMORY;
    }
    tarry__chunk *chunk = &wheel->pool[*slot];
    chunk->event[chunk->count++] = *event;
    return TARRY_OK;
}

tarry_status tarry__wheel_add(tarry__wheel *wheel, tarry__event event)
{
    const int level = level_of(event.due, wheel->now);
    wheel->count++;
    return place(wheel, slot_of(wheel, level, event.due), &event);
}

/* Moves the events of a slot, whose digit has been reached, to lower levels;
 * those due now go to level 0. */
static tarry_status cascade(tarry__wheel *wheel, int level)
{
    uint32_t *slot = slot_of(wheel, level, wheel->now);
    uint32_t at = *slot;
    *slot = 0;
    while (at != 0) {
        const tarry__chunk chunk = wheel->pool[at]; /* the pool may move */
        close_chunk(wheel, at);
        at = chunk.next;
        for (uint32_t i = 0; i < chunk.count; i++) {
            const uint64_t due = chunk.event[i].due;
            const int below = due == wheel->now ? 0 : level_of(due, wheel->now);
            if (place(wheel, slot_of(wheel, below, due), &chunk.event[i]) !=
                TARRY_OK)
                return TARRY_NO_MEMORY;
        }
    }
    return TARRY_OK;
}

tarry_status tarry__wheel_step(tarry__wheel *wheel, tarry__take *take,
                               void *context)
{
    wheel->now++;
    for (int level = TARRY__WHEEL_LEVELS - 1; level > 0; level--)
        if ((wheel->now & ((1ull << (DIGIT * level)) - 1)) == 0 &&
            cascade(wheel, level) != TARRY_OK)
            return TARRY_NO_MEMORY;
    uint32_t *slot = slot_of(wheel, 0, wheel->now);
    uint32_t at = *slot;
    *slot = 0;
    while (at != 0) {
        tarry__chunk *chunk = &wheel->pool[at];
        const uint32_t next = chunk->next;
        wheel->count -= chunk->count;
        take(context, chunk->event, chunk->count);
        close_chunk(wheel, at);
        at = next;
    }
    return TARRY_OK;
}
