/* wheel.c - the rarer half of wheel.h. */
#include "sim/wheel.h"

#include <string.h>
#include "base/base.h"

enum { FIRST_ROOM = 256, PER_CHUNK = 10 };

struct tarry__wheel_chunk {
    uint32_t next, count;
    tarry__wheel_event event[PER_CHUNK];
};

/* ---- pools ----------------------------------------------------------------*/

static tarry_status create_pool(tarry__wheel_pool *pool, size_t size)
{
    *pool = (tarry__wheel_pool){.pieces = tarry__base_zalloc(FIRST_ROOM, size),
                                .size = size,
                                .room = FIRST_ROOM,
                                .fresh = 1};
    return pool->pieces != NULL ? TARRY_OK : TARRY_NO_MEMORY;
}

static tarry_status grow_pool(tarry__wheel_pool *pool)
{
    const size_t room = pool->room + pool->room / 2;
    void *bigger =
        room < UINT32_MAX
            ? tarry__base_grow(pool->pieces, pool->room, room, pool->size)
            : NULL;
    if (bigger == NULL)
        return TARRY_NO_MEMORY;
    pool->pieces = bigger;
    pool->room = room;
    return TARRY_OK;
}

tarry_status tarry__wheel_create(tarry__wheel *wheel)
{
    memset(wheel, 0, sizeof *wheel);
    const tarry_status status =
        create_pool(&wheel->nodes, sizeof(tarry__wheel_node));
    return status == TARRY_OK
               ? create_pool(&wheel->chunks, sizeof(tarry__wheel_chunk))
               : status;
}

void tarry__wheel_clear(tarry__wheel *wheel)
{
    tarry__base_free(wheel->nodes.pieces);
    tarry__base_free(wheel->chunks.pieces);
    wheel->nodes.pieces = wheel->chunks.pieces = NULL;
}

size_t tarry__wheel_bytes(const tarry__wheel *wheel)
{
    return sizeof *wheel + wheel->nodes.room * wheel->nodes.size +
           wheel->chunks.room * wheel->chunks.size;
}

tarry_status tarry__wheel_grow(tarry__wheel *wheel)
{
    return grow_pool(&wheel->nodes);
}

/* ---- far events -----------------------------------------------------------*/

static tarry__wheel_chunk *chunk_at(const tarry__wheel *wheel, uint32_t i)
{
    return (tarry__wheel_chunk *)wheel->chunks.pieces + i;
}

/* Far level 0 has lists of 2048 rounds each, and so on. */
static uint32_t *far_slot(tarry__wheel *wheel, int level, uint64_t time)
{
    return &wheel->far[level][(time >> (TARRY__WHEEL_BITS * (level + 1))) %
                              TARRY__WHEEL_SLOTS];
}

/* A new chunk at the end of a list.  The slot of a list has its last chunk,
 * whose next is the first. */
static tarry_status open_chunk(tarry__wheel *wheel, uint32_t *slot)
{
    tarry__wheel_pool *pool = &wheel->chunks;
    uint32_t i = pool->unused;
    if (i != 0) {
        pool->unused = chunk_at(wheel, i)->next;
    } else {
        if (pool->fresh == pool->room && grow_pool(pool) != TARRY_OK)
            return TARRY_NO_MEMORY;
        i = pool->fresh++;
    }
    tarry__wheel_chunk *chunk = chunk_at(wheel, i);
    tarry__wheel_chunk *last = *slot != 0 ? chunk_at(wheel, *slot) : chunk;
    chunk->next = last == chunk ? i : last->next;
    last->next = i;
    chunk->count = 0;
    *slot = i;
    return TARRY_OK;
}

static tarry_status append(tarry__wheel *wheel, uint32_t *slot,
                           const tarry__wheel_event *event)
{
    if ((*slot == 0 || chunk_at(wheel, *slot)->count == PER_CHUNK) &&
        open_chunk(wheel, slot) != TARRY_OK)
        return TARRY_NO_MEMORY;
    tarry__wheel_chunk *chunk = chunk_at(wheel, *slot);
    chunk->event[chunk->count++] = *event;
    return TARRY_OK;
}

tarry_status tarry__wheel_add_far(tarry__wheel *wheel,
                                  const tarry__wheel_event *event)
{
    int level = 0;
    while ((event->due >> (TARRY__WHEEL_BITS * (level + 2))) -
               (wheel->now >> (TARRY__WHEEL_BITS * (level + 2))) >=
           2)
        level++;
    return append(wheel, far_slot(wheel, level, event->due), event);
}

/* At now = 2048^(l+1) k the list k + 1 of far level l comes into reach of the
 * level below, which then spans the times up to 2048^(l+1) (k + 2). */
static tarry_status lower(tarry__wheel *wheel, int level)
{
    const uint64_t span = 1ull << (TARRY__WHEEL_BITS * (level + 1));
    uint32_t *slot = far_slot(wheel, level, wheel->now + span);
    const uint32_t last = *slot;
    uint32_t i = last != 0 ? chunk_at(wheel, last)->next : 0;
    *slot = 0;
    while (i != 0) {
        const tarry__wheel_chunk chunk =
            *chunk_at(wheel, i); /* the pool may move */
        chunk_at(wheel, i)->next = wheel->chunks.unused;
        wheel->chunks.unused = i;
        i = i != last ? chunk.next : 0;
        for (size_t byte = 0; byte < sizeof chunk; byte += 64)
            __builtin_prefetch((const char *)chunk_at(wheel, i) + byte);
        for (uint32_t k = 0; k < chunk.count; k++) {
            const tarry__wheel_event *event = &chunk.event[k];
            const tarry_status status =
                level == 0
                    ? tarry__wheel_add_near(wheel, event)
                    : append(wheel, far_slot(wheel, level - 1, event->due),
                             event);
            if (status != TARRY_OK)
                return status;
        }
    }
    return TARRY_OK;
}

tarry_status tarry__wheel_turn(tarry__wheel *wheel)
{
    for (int level = TARRY__WHEEL_FAR - 1; level >= 0; level--) {
        const uint64_t span = 1ull << (TARRY__WHEEL_BITS * (level + 1));
        if (wheel->now % span == 0 && lower(wheel, level) != TARRY_OK)
            return TARRY_NO_MEMORY;
    }
    return TARRY_OK;
}
