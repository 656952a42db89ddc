/* names.c - see names.h. */
#include "session/names.h"

#include <string.h>
#include "base/base.h"

bool tarry__names_is_number(const char *text, uint64_t *number)
{
    const size_t length = strspn(text, "0123456789");
    *number = 0;
    if (length == 0 || length > 15 || text[length] != '\0' ||
        (length > 1 && text[0] == '0'))
        return false;
    for (size_t i = 0; i < length; i++)
        *number = 10 * *number + (uint64_t)(text[i] - '0');
    return true;
}

tarry_status tarry__names_add(tarry__names *n, const char *name)
{
    if (n->count == n->room) {
        const size_t room = 2 * n->room + 16;
        const char **bigger =
            tarry__base_grow((void *)n->name, n->count, room, sizeof *n->name);
        if (bigger == NULL)
            return TARRY_NO_MEMORY;
        n->name = bigger;
        n->room = room;
    }
    const char *kept = NULL;
    if (name != NULL &&
        tarry__texts_add(&n->arms, name, n->count, &kept) != TARRY_OK)
        return TARRY_NO_MEMORY;
    n->name[n->count++] = kept;
    return TARRY_OK;
}

/* An older arm of that name gets it back. */
void tarry__names_drop_last(tarry__names *n)
{
    const char *name = n->name[--n->count];
    size_t older = n->count;
    while (name != NULL && older > 0 && n->name[older - 1] != name)
        older--;
    if (name != NULL && older > 0)
        tarry__texts_add(&n->arms, name, older - 1, NULL); /* it is there */
    else if (name != NULL)
        tarry__texts_remove(&n->arms, name);
}

bool tarry__names_find(const tarry__names *n, const char *name, size_t *arm)
{
    uint64_t value;
    if (tarry__texts_find(&n->arms, name, &value)) {
        *arm = value;
        return true;
    }
    if (!tarry__names_is_number(name, &value) || value >= n->count ||
        n->name[value] != NULL)
        return false;
    *arm = value;
    return true;
}

void tarry__names_clear(tarry__names *n)
{
    tarry__base_free((void *)n->name);
    tarry__texts_clear(&n->arms);
    *n = (tarry__names){0};
}
