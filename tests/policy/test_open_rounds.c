/* The table of open rounds beside a plain array, over long sequences of the
 * orders in which losses come back. */
#include "check.h"
#include <stdbool.h>
#include <stdlib.h>
#include "base/base.h"
#include "policy/open_rounds.h"

enum { MOST_BYTES = 24, FEW = 272 }; /* per open round, once there are FEW */

/* ---- a reference: the list of open rounds ---------------------------------*/

typedef struct {
    tarry__open_rounds table;
    uint64_t *round; /* open, in no order */
    uint32_t *value;
    size_t count, peak, room;
} pair;

static pair make_pair(size_t room)
{
    pair p = {.round = calloc(room, sizeof *p.round),
              .value = calloc(room, sizeof *p.value),
              .room = room};
    assert_true(p.round && p.value);
    return p;
}

static void end_pair(pair *p)
{
    tarry__open_clear(&p->table);
    free(p->round);
    free(p->value);
}

/* Counts the old table beside the new one while it grows. */
static void check_memory(const pair *p, size_t old_room)
{
    const size_t room = p->table.room;
    const size_t held = room != old_room ? room + old_room : room;
    if (p->peak >= FEW)
        CHECK_AT_MOST((double)(held * sizeof *p->table.slot),
                      (double)(MOST_BYTES * p->peak));
}

static void add(pair *p, uint64_t round)
{
    const uint32_t value =
        (uint32_t)(round * 2385 % (1u << TARRY__OPEN_VALUE_BITS));
    const size_t old_room = p->table.room;
    assert_true(p->count < p->room);
    assert_int_equal(tarry__open_reserve(&p->table), TARRY_OK);
    check_memory(p, old_room);
    tarry__open_add(&p->table, round, value);
    p->round[p->count] = round;
    p->value[p->count++] = value;
    p->peak = p->count > p->peak ? p->count : p->peak;
}

static void check_open(const pair *p, size_t i)
{
    uint32_t value;
    assert_true(tarry__open_find(&p->table, p->round[i], &value));
    assert_int_equal(value, p->value[i]);
}

static void check_gone(const pair *p, uint64_t round)
{
    uint32_t value;
    assert_false(tarry__open_find(&p->table, round, &value));
}

/* Removes the i-th of the list; the last takes its place. */
static void remove_at(pair *p, size_t i)
{
    const uint64_t round = p->round[i];
    check_open(p, i);
    tarry__open_remove(&p->table, round);
    check_gone(p, round);
    p->round[i] = p->round[--p->count];
    p->value[i] = p->value[p->count];
}

static void check_all(const pair *p)
{
    size_t filled = 0;
    for (size_t i = 0; i < p->table.room; i++)
        filled += p->table.slot[i] != 0;
    assert_int_equal(filled, p->count);
    assert_int_equal(p->table.count, p->count);
    for (size_t i = 0; i < p->count; i++)
        check_open(p, i);
}

static size_t below(uint64_t *seed, size_t n)
{
    return (size_t)(test_bits(seed) % n);
}

/* ---- orders ---------------------------------------------------------------*/

/* Which of the open rounds comes back next, of those in the list. */
typedef size_t picker(const pair *p, uint64_t *seed);

static size_t oldest(const pair *p, uint64_t *seed)
{
    size_t at = 0;
    (void)seed;
    for (size_t i = 1; i < p->count; i++)
        at = p->round[i] < p->round[at] ? i : at;
    return at;
}

static size_t newest(const pair *p, uint64_t *seed)
{
    size_t at = 0;
    (void)seed;
    for (size_t i = 1; i < p->count; i++)
        at = p->round[i] > p->round[at] ? i : at;
    return at;
}

static size_t any(const pair *p, uint64_t *seed)
{
    return below(seed, p->count);
}

/* One in 50 stays as long as others are there. */
static size_t but_stragglers(const pair *p, uint64_t *seed)
{
    for (int tries = 0; tries < 20; tries++) {
        const size_t i = below(seed, p->count);
        if (p->round[i] % 50 != 0)
            return i;
    }
    return below(seed, p->count);
}

/* Rounds as they are played: 1, 2, 3, ... */
static uint64_t one_by_one(uint64_t i)
{
    return i + 1;
}

/* Neighbours of 8 far apart, such that many share home lines. */
static uint64_t clustered(uint64_t i)
{
    return (i / 8 % 4096 + 1) * (1u << 24) + i / 32768 * 8 + i % 8;
}

/* The largest rounds there are. */
static uint64_t from_the_top(uint64_t i)
{
    return (1ull << TARRY__OPEN_ROUND_BITS) - 1 - i;
}

typedef struct {
    const char *name;
    uint64_t (*round)(uint64_t i);
    picker *pick;
    size_t least, most, steps; /* fills to most, empties to least, ... */
} order;

static const order orders[] = {
    {"a window, in order", one_by_one, oldest, 39, 40, 20000},
    {"a small window, wide swings", one_by_one, oldest, 0, 120, 20000},
    {"newest first", one_by_one, newest, 0, 600, 20000},
    {"any order", one_by_one, any, 2999, 3000, 300000},
    {"any order, bursts", one_by_one, any, 0, 40000, 400000},
    {"stragglers", one_by_one, but_stragglers, 1500, 2500, 300000},
    {"clustered", clustered, any, 0, 10000, 200000},
    {"clustered, newest first", clustered, newest, 100, 500, 20000},
    {"largest rounds", from_the_top, any, 0, 3000, 100000},
};

static void follow(const order *o)
{
    uint64_t seed = o->steps, next = 0;
    pair p = make_pair(o->most);
    bool filling = true;
    for (size_t step = 0; step < o->steps; step++) {
        filling = filling ? p.count < o->most : p.count <= o->least;
        if (filling)
            add(&p, o->round(next++));
        else
            remove_at(&p, o->pick(&p, &seed));
        check_gone(&p, o->round(next));
        if (step % (o->steps / 16) == 0)
            check_all(&p);
    }
    check_all(&p);
    while (p.count > 0)
        remove_at(&p, p.count - 1);
    check_all(&p);
    end_pair(&p);
}

static void it_agrees_with_a_plain_list(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        print_message("    %s\n", orders[i].name);
        follow(&orders[i]);
    }
}

static void a_million_open_rounds_take_at_most_24_bytes_each(void **state)
{
    (void)state;
    enum { MANY = 1000000 };
    pair p = make_pair(MANY);
    for (uint64_t round = 1; round <= MANY; round++)
        add(&p, round);
    check_all(&p);
    end_pair(&p);
}

/* ---- the end of the table -------------------------------------------------*/

static size_t home_of(uint64_t round)
{
    tarry__open_rounds t = {0};
    assert_int_equal(tarry__open_reserve(&t), TARRY_OK);
    tarry__open_add(&t, round, 1);
    size_t at = 0;
    while (t.slot[at] == 0)
        at++;
    tarry__open_clear(&t);
    return at;
}

/* `count` rounds that all want one of the last two slots of a new table. */
static void find_last_homes(uint64_t *rounds, size_t count)
{
    size_t found = 0;
    for (uint64_t round = 1; found < count; round++)
        if (home_of(round) >= 62)
            rounds[found++] = round;
}

static void swap(uint64_t *a, uint64_t *b)
{
    const uint64_t c = *a;
    *a = *b;
    *b = c;
}

static void remove_in_this_order(const uint64_t *added, const uint64_t *removed,
                                 size_t count)
{
    pair p = make_pair(count);
    for (size_t i = 0; i < count; i++)
        add(&p, added[i]);
    assert_true(p.table.slot[0] != 0 && p.table.room == 64);
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (p.round[at] != removed[i])
            at++;
        remove_at(&p, at);
        check_all(&p);
    }
    end_pair(&p);
}

/* All orders of the first `left`, the others being in place (Heap). */
static void remove_in_every_order(const uint64_t *added, uint64_t *removed,
                                  size_t left, size_t count)
{
    if (left <= 1) {
        remove_in_this_order(added, removed, count);
        return;
    }
    for (size_t i = 0; i < left; i++) {
        remove_in_every_order(added, removed, left - 1, count);
        swap(&removed[left % 2 == 0 ? i : 0], &removed[left - 1]);
    }
}

static void probing_goes_round_the_end(void **state)
{
    (void)state;
    enum { COUNT = 6 };
    uint64_t added[COUNT], removed[COUNT];
    find_last_homes(added, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        removed[i] = added[i];
    remove_in_every_order(added, removed, COUNT, COUNT);
}

/* ---- refusals -------------------------------------------------------------*/

static void an_empty_table_has_no_rounds(void **state)
{
    (void)state;
    pair p = make_pair(1);
    check_gone(&p, 1);
    check_gone(&p, (1ull << TARRY__OPEN_ROUND_BITS) - 1);
    tarry__open_clear(&p.table);
    check_gone(&p, 1);
    end_pair(&p);
}

static void a_failed_allocation_leaves_it_usable(void **state)
{
    (void)state;
    uint64_t seed = 5, round = 0;
    pair p = make_pair(3000);
    while (p.count < 2500) {
        tarry__base_fail_alloc(1);
        const tarry_status status = tarry__open_reserve(&p.table);
        const bool asked = tarry__base_fail_alloc(0) > 0;
        assert_int_equal(status, asked ? TARRY_NO_MEMORY : TARRY_OK);
        if (asked) {
            check_all(&p);
            check_gone(&p, round + 1);
            if (p.count > 0)
                remove_at(&p, below(&seed, p.count));
            add(&p, ++round);
        }
        add(&p, ++round);
    }
    check_all(&p);
    end_pair(&p);
}

/* Odd rounds of a thousand are taken out; the rest comes oldest first. */
static void the_oldest_come_in_order(void **state)
{
    (void)state;
    pair p = make_pair(1000);
    tarry_pending out[1000];
    for (uint64_t round = 1; round <= 1000; round++)
        add(&p, round);
    for (uint64_t round = 1; round <= 1000; round += 2)
        tarry__open_remove(&p.table, round);
    const size_t most[] = {0, 1, 2, 7, 499, 500, 501, 1000};
    for (size_t m = 0; m < sizeof most / sizeof *most; m++) {
        const size_t count = tarry__open_oldest(&p.table, 0, out, most[m]);
        assert_int_equal(count, most[m] < 500 ? most[m] : 500);
        for (size_t i = 0; i < count; i++) {
            uint32_t value;
            assert_int_equal(out[i].round, 2 * (i + 1));
            assert_true(tarry__open_find(&p.table, out[i].round, &value));
            assert_int_equal(out[i].arm, value);
        }
    }
    end_pair(&p);
}

/* Counted and found by hand; those with a low bit in their value are skipped.
 * `oldest` is what the last call has found. */
static void check_counts(pair *p, uint64_t last, uint64_t *oldest)
{
    size_t count = 0;
    uint64_t first = 0;
    for (size_t i = 0; i < p->count; i++) {
        count += p->round[i] <= last;
        if ((p->value[i] & 1) == 0 && (first == 0 || p->round[i] < first))
            first = p->round[i];
    }
    assert_int_equal(tarry__open_count(&p->table, last), count);
    const uint64_t found = tarry__open_first(&p->table, 1, *oldest);
    assert_int_equal(found, first);
    *oldest = first > 0 ? first : *oldest;
}

/* The mark goes on and back by small steps and large ones, while rounds come
 * and go on both of its sides. */
static void counts_and_the_oldest_are_kept_up_to_date(void **state)
{
    (void)state;
    uint64_t seed = 2385, round = 0, oldest = 0;
    pair p = make_pair(3000);
    check_counts(&p, 0, &oldest);
    for (int i = 0; i < 4000; i++) {
        if (p.count < 2000 && below(&seed, 3) > 0)
            add(&p, ++round);
        else if (p.count > 0)
            remove_at(&p, i % 2 == 0 ? below(&seed, p.count)
                                     : (size_t)(p.count > 40) * 40);
        const uint64_t step = below(&seed, i % 50 == 0 ? 2000 : 5);
        const uint64_t last = round > step ? round - step : 0;
        check_counts(&p, last, &oldest);
    }
    while (p.count > 0) {
        remove_at(&p, below(&seed, p.count));
        check_counts(&p, round / 2, &oldest);
    }
    end_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_agrees_with_a_plain_list),
        cmocka_unit_test(a_million_open_rounds_take_at_most_24_bytes_each),
        cmocka_unit_test(probing_goes_round_the_end),
        cmocka_unit_test(the_oldest_come_in_order),
        cmocka_unit_test(counts_and_the_oldest_are_kept_up_to_date),
        cmocka_unit_test(an_empty_table_has_no_rounds),
        cmocka_unit_test(a_failed_allocation_leaves_it_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
