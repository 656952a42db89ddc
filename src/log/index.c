/* index.c - open addressing, at most half full. */
#include "log/index.h"

#include <string.h>
#include "base/base.h"

enum { FIRST_ROOM = 64 };

static uint64_t key_of(tarry__text t)
{
    const uint64_t key =
        tarry__base_digest(TARRY__BASE_DIGEST, t.begin, tarry__text_size(t));
    return key != 0 ? key : 1;
}

/* Where a key is, or would be. */
static size_t place_of(const tarry__index *x, uint64_t key)
{
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (x->room - 1);
    while (x->key[at] != 0 && x->key[at] != key)
        at = (at + 1) & (x->room - 1);
    return at;
}

void tarry__index_clear(tarry__index *x)
{
    tarry__base_free(x->key);
    tarry__base_free(x->number);
    memset(x, 0, sizeof *x);
}

uint32_t tarry__index_find(const tarry__index *x, tarry__text text)
{
    if (x->room == 0)
        return TARRY__INDEX_NONE;
    const size_t at = place_of(x, key_of(text));
    return x->key[at] != 0 ? x->number[at] : TARRY__INDEX_NONE;
}

static bool grow(tarry__index *x)
{
    const size_t room = x->room > 0 ? 2 * x->room : FIRST_ROOM;
    tarry__index larger = {.room = room, .count = x->count};
    larger.key = tarry__base_zalloc(room, sizeof *larger.key);
    larger.number = tarry__base_alloc(room, sizeof *larger.number);
    if (larger.key == NULL || larger.number == NULL) {
        tarry__index_clear(&larger);
        return false;
    }
    for (size_t i = 0; i < x->room; i++) {
        if (x->key[i] == 0)
            continue;
        const size_t at = place_of(&larger, x->key[i]);
        larger.key[at] = x->key[i];
        larger.number[at] = x->number[i];
    }
    tarry__index_clear(x);
    *x = larger;
    return true;
}

bool tarry__index_add(tarry__index *x, tarry__text text, uint32_t *number)
{
    if (2 * x->count >= x->room && !grow(x))
        return false;
    const uint64_t key = key_of(text);
    const size_t at = place_of(x, key);
    if (x->key[at] == 0) {
        x->key[at] = key;
        x->number[at] = *number;
        x->count++;
    }
    *number = x->number[at];
    return true;
}
