/* absent.c - see absent.h.  What is taken out is filled from behind, so that
 * no place between an entry and its home is free. */
#include "service/absent.h"

#include "base/base.h"

static size_t home(size_t room, uint64_t round)
{
    return (size_t)((round * 0x9e3779b97f4a7c15u) >> 20) & (room - 1);
}

/* Where a round stands, or the free place where it would. */
static size_t place_of(const tarry__absent *w, uint64_t round)
{
    size_t i = home(w->room, round);
    while (w->place[i].round != 0 && w->place[i].round != round)
        i = (i + 1) & (w->room - 1);
    return i;
}

static bool grow(tarry__absent *w)
{
    tarry__absent bigger = {.room = w->room > 0 ? 2 * w->room : 64,
                            .count = w->count};
    bigger.place = tarry__base_zalloc(bigger.room, sizeof *bigger.place);
    if (bigger.place == NULL)
        return false;
    for (size_t i = 0; i < w->room; i++)
        if (w->place[i].round != 0)
            bigger.place[place_of(&bigger, w->place[i].round)] = w->place[i];
    tarry__base_free(w->place);
    *w = bigger;
    return true;
}

bool tarry__absent_add(tarry__absent *w, tarry__absent_one one)
{
    if (2 * w->count >= w->room && !grow(w))
        return false;
    w->place[place_of(w, one.round)] = one;
    w->count++;
    return true;
}

tarry__absent_one *tarry__absent_find(const tarry__absent *w, uint64_t round)
{
    if (w->room == 0 || round == 0)
        return NULL;
    tarry__absent_one *one = &w->place[place_of(w, round)];
    return one->round == round ? one : NULL;
}

void tarry__absent_remove(tarry__absent *w, tarry__absent_one *one)
{
    const size_t mask = w->room - 1;
    size_t hole = (size_t)(one - w->place);
    for (size_t i = (hole + 1) & mask; w->place[i].round != 0;
         i = (i + 1) & mask) {
        const size_t from_home = (i - home(w->room, w->place[i].round)) & mask;
        if (from_home >= ((i - hole) & mask)) { /* it may stand in the hole */
            w->place[hole] = w->place[i];
            hole = i;
        }
    }
    w->place[hole].round = 0;
    w->count--;
}

void tarry__absent_clear(tarry__absent *w)
{
    tarry__base_free(w->place);
    *w = (tarry__absent){0};
}
