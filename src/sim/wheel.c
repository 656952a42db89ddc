/* wheel.c - the rarer half of wheel.h. */
#include "wheel.h"

#include <string.h>
#include "base/base.h"

enum { FIRST_ROOM = 256 };

tarry_status tarry__wheel_create(tarry__wheel *wheel)
{
    memset(wheel, 0, sizeof *wheel);
    wheel->pool = tarry__zalloc(FIRST_ROOM, sizeof *wheel->pool);
    wheel->room = FIRST_ROOM;
    wheel->fresh = 1;
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

tarry_status tarry__wheel_grow(tarry__wheel *wheel)
{
    const size_t room = wheel->room + wheel->room / 2;
    tarry__event *bigger =
        room < UINT32_MAX
            ? tarry__grow(wheel->pool, wheel->room, room, sizeof *bigger)
            : NULL;
    if (bigger == NULL)
        return TARRY_NO_MEMORY;
    wheel->pool = bigger;
    wheel->room = room;
    return TARRY_OK;
}

/* At now = 2048^l k the list k + 1 of level l comes into reach of level l - 1,
 * which then spans the times up to 2048^l (k + 2). */
static void lower(tarry__wheel *wheel, int level)
{
    const uint64_t span = 1ull << (TARRY__WHEEL_BITS * level);
    uint32_t *slot = tarry__wheel_slot(wheel, level, wheel->now + span);
    uint32_t node = *slot;
    *slot = 0;
    while (node != 0) {
        tarry__event *event = &wheel->pool[node];
        const uint32_t next = event->next;
        __builtin_prefetch(&wheel->pool[next]);
        uint32_t *below = tarry__wheel_slot(wheel, level - 1, event->due);
        event->next = *below;
        *below = node;
        node = next;
    }
}

void tarry__wheel_turn(tarry__wheel *wheel)
{
    for (int level = TARRY__WHEEL_LEVELS - 1; level > 0; level--) {
        const uint64_t span = 1ull << (TARRY__WHEEL_BITS * level);
        if ((wheel->now & (span - 1)) == 0)
            lower(wheel, level);
    }
}
