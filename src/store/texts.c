/* texts.c - linear probing; at most half full. */
#include "store/texts.h"

#include <string.h>
#include "base/base.h"

/* The slot of a text, or the empty one where it would go. */
static size_t locate(const tarry__texts *t, const char *text)
{
    const size_t mask = t->room - 1; /* a power of two */
    size_t at =
        tarry__base_digest(TARRY__BASE_DIGEST, text, strlen(text)) & mask;
    while (t->slot[at].text != NULL && strcmp(t->slot[at].text, text) != 0)
        at = (at + 1) & mask;
    return at;
}

static tarry_status grow(tarry__texts *t)
{
    const size_t room = t->room > 0 ? 2 * t->room : 64;
    tarry__texts bigger = {tarry__base_zalloc(room, sizeof *t->slot), t->count,
                           room};
    if (bigger.slot == NULL)
        return TARRY_NO_MEMORY;
    for (size_t i = 0; i < t->room; i++)
        if (t->slot[i].text != NULL)
            bigger.slot[locate(&bigger, t->slot[i].text)] = t->slot[i];
    tarry__base_free(t->slot);
    *t = bigger;
    return TARRY_OK;
}

tarry_status tarry__texts_add(tarry__texts *t, const char *text, uint64_t value,
                              const char **kept)
{
    if (2 * (t->count + 1) > t->room && grow(t) != TARRY_OK)
        return TARRY_NO_MEMORY;
    tarry__texts_entry *s = &t->slot[locate(t, text)];
    if (s->text == NULL) {
        const size_t length = strlen(text) + 1;
        s->text = tarry__base_alloc(length, 1);
        if (s->text == NULL)
            return TARRY_NO_MEMORY;
        memcpy(s->text, text, length);
        t->count++;
    }
    s->value = value;
    if (kept != NULL)
        *kept = s->text;
    return TARRY_OK;
}

bool tarry__texts_find(const tarry__texts *t, const char *text, uint64_t *value)
{
    if (t->room == 0)
        return false;
    const tarry__texts_entry *s = &t->slot[locate(t, text)];
    *value = s->value;
    return s->text != NULL;
}

/* Those behind it in the run are put in again. */
void tarry__texts_remove(tarry__texts *t, const char *text)
{
    size_t at = locate(t, text);
    tarry__base_free(t->slot[at].text);
    t->slot[at].text = NULL;
    t->count--;
    while (t->slot[at = (at + 1) & (t->room - 1)].text != NULL) {
        const tarry__texts_entry moved = t->slot[at];
        t->slot[at].text = NULL;
        t->slot[locate(t, moved.text)] = moved;
    }
}

void tarry__texts_clear(tarry__texts *t)
{
    for (size_t i = 0; i < t->room; i++)
        tarry__base_free(t->slot[i].text);
    tarry__base_free(t->slot);
    *t = (tarry__texts){0};
}
