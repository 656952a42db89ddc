/* held.c - see held.h. */
#include "policy/held.h"

#include <math.h>
#include <stdlib.h>
#include "base/base.h"

tarry_status tarry__held_reserve(tarry__held *h)
{
    if (h->count < h->room)
        return TARRY_OK;
    const size_t room = 2 * h->room + 8;
    tarry__held_loss *bigger =
        tarry__base_grow(h->loss, h->count, room, sizeof *bigger);
    if (bigger == NULL)
        return TARRY_NO_MEMORY;
    h->loss = bigger;
    h->room = room;
    return TARRY_OK;
}

void tarry__held_add(tarry__held *h, tarry__held_loss loss)
{
    h->loss[h->count++] = loss;
}

static int by_round(const void *a, const void *b)
{
    const tarry__held_loss *x = a, *y = b;
    return x->round != y->round ? (x->round > y->round) - (x->round < y->round)
                                : (x->kind > y->kind) - (x->kind < y->kind);
}

void tarry__held_sort(tarry__held *h)
{
    for (size_t i = 1; i < h->count; i++)
        if (h->loss[i].round < h->loss[i - 1].round) {
            qsort(h->loss, h->count, sizeof *h->loss, by_round);
            return;
        }
}

void tarry__held_archive(tarry__held *h, uint64_t last, size_t n_arms,
                         tarry__archive *a)
{
    tarry__archive_array(a, &h->loss, &h->count, sizeof *h->loss, SIZE_MAX);
    if (!a->loading || a->status != TARRY_OK)
        return;
    h->room = h->count;
    for (size_t i = 0; i < h->count; i++)
        tarry__archive_require(
            a, h->loss[i].round > 0 && h->loss[i].round <= last &&
                   h->loss[i].arm < n_arms && isfinite(h->loss[i].loss) &&
                   h->loss[i].kind <= TARRY__HELD_CORRECTION);
}

void tarry__held_clear(tarry__held *h)
{
    tarry__base_free(h->loss);
    *h = (tarry__held){0};
}
