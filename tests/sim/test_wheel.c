/* The timing wheel against a plain list. */
#include "check.h"
#include <stdlib.h>
#include "base/base.h"
#include "sim/wheel.h"

typedef struct {
    uint64_t seen, together;  /* those that did not come alone */
    unsigned char *delivered; /* by round */
} watcher;

/* Takes what is due next; `w` may be NULL. */
static void take(tarry__wheel *wheel, watcher *w)
{
    uint32_t i, last = 0;
    uint64_t count = 0, before = 0;
    assert_int_equal(tarry__wheel_step(wheel, &i), TARRY_OK);
    for (; i != 0; count++) {
        const tarry__wheel_event *e = &tarry__wheel_at(wheel, i)->event;
        assert_int_equal(e->due, wheel->now);
        if (w != NULL) {
            assert_int_equal(w->delivered[e->round]++, 0);
            assert_true(count == 0 || e->round > before);
            CHECK_NEAR(e->loss, (double)e->round * 2.385, 0);
            before = e->round;
            w->together += count > 0;
            w->seen++;
        }
        last = i;
        i = tarry__wheel_at(wheel, i)->next;
    }
    if (count > 0)
        tarry__wheel_done(wheel, last, count);
}

/* One event per round with delays of all sizes from 1 to about `spread`;
 * answers how many came together with an earlier one. */
static uint64_t play(uint64_t rounds, double spread, uint64_t start)
{
    tarry__wheel wheel;
    uint64_t seed = 1, added = 0;
    assert_int_equal(tarry__wheel_create(&wheel), TARRY_OK);
    wheel.now = start;
    watcher w = {.delivered = calloc(rounds, 1)};
    uint64_t last = start;
    for (uint64_t t = 0; wheel.now < last || t < rounds; t++) {
        if (t < rounds) {
            const double delay = exp(log(spread) * test_uniform(&seed));
            const uint64_t due = wheel.now + (uint64_t)ceil(delay);
            assert_int_equal(
                tarry__wheel_add(
                    &wheel, (tarry__wheel_event){due, t, (double)t * 2.385}),
                TARRY_OK);
            added++;
            last = due > last ? due : last;
        }
        take(&wheel, &w);
        assert_int_equal(wheel.count, added - w.seen);
    }
    assert_int_equal(w.seen, rounds);
    assert_int_equal(wheel.count, 0);
    free(w.delivered);
    tarry__wheel_clear(&wheel);
    return w.together;
}

static void every_event_arrives_once_at_its_time_in_order(void **state)
{
    (void)state;
    assert_int_equal(play(20000, 1.5, 0), 0);
    assert_true(play(9000, 4096 * 1.2, 4095) > 1000);
    assert_true(play(20000, 900, 5) > 1000);
    assert_true(play(20000, 5e4, 1023) > 1000);
    assert_true(play(20000, 3e6, (1u << 20) - 7) > 1000);
    play(500, 2e6, (1ull << 30) - 1000); /* the third digit turns over */
    play(3000, 1.4e7, 3 << 21); /* up to four spans of the second far level */
}

static void memory_follows_what_is_outstanding(void **state)
{
    (void)state;
    tarry__wheel wheel;
    uint64_t seed = 1;
    assert_int_equal(tarry__wheel_create(&wheel), TARRY_OK);
    for (uint64_t t = 0; t < 1000000; t++) { /* 2000 outstanding, for long */
        const uint64_t delay = 1 + (uint64_t)(4000 * test_uniform(&seed));
        tarry__wheel_add(&wheel, (tarry__wheel_event){wheel.now + delay, t, 0});
        take(&wheel, NULL);
    }
    CHECK_AT_MOST((double)tarry__wheel_bytes(&wheel), 4e5);
    tarry__wheel_clear(&wheel);
}

static void out_of_memory_is_told(void **state)
{
    (void)state;
    tarry__wheel wheel;
    for (uint64_t k = 1; k <= 2; k++) {
        tarry__base_fail_alloc(k);
        assert_int_equal(tarry__wheel_create(&wheel), TARRY_NO_MEMORY);
        tarry__wheel_clear(&wheel);
    }
    assert_int_equal(tarry__wheel_create(&wheel), TARRY_OK);
    tarry__base_fail_alloc(1);
    tarry_status status = TARRY_OK;
    for (uint64_t t = 1; status == TARRY_OK; t++)
        status = tarry__wheel_add(&wheel, (tarry__wheel_event){t, t, 0});
    assert_int_equal(status, TARRY_NO_MEMORY);
    tarry__base_fail_alloc(0);
    tarry__wheel_clear(&wheel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_arrives_once_at_its_time_in_order),
        cmocka_unit_test(memory_follows_what_is_outstanding),
        cmocka_unit_test(out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
