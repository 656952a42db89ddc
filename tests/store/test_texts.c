/* The table of texts does as a plain list does, in a random program. */
#include "check.h"
#include <stdio.h>
#include <string.h>
#include "store/texts.h"

enum { MOST = 200, STEPS = 20000 };

static void texts_are_found_until_they_are_removed(void **state)
{
    (void)state;
    tarry__texts texts = {0};
    uint64_t value[MOST] = {0}, seed = 2385, found; /* 0: not there */
    size_t count = 0;
    for (uint64_t step = 1; step <= STEPS; step++) {
        const size_t i = test_bits(&seed) % MOST;
        const bool adds = test_bits(&seed) % 2 == 0;
        char text[32];
        snprintf(text, sizeof text, "text %zu", i);
        assert_true(tarry__texts_find(&texts, text, &found) == (value[i] != 0));
        assert_true(value[i] == 0 || found == value[i]);
        if (adds) {
            const char *kept;
            assert_int_equal(tarry__texts_add(&texts, text, step, &kept),
                             TARRY_OK);
            assert_string_equal(kept, text);
            count += value[i] == 0;
            value[i] = step;
        } else if (value[i] != 0) {
            tarry__texts_remove(&texts, text);
            value[i] = 0;
            count--;
        }
        assert_int_equal(texts.count, count);
    }
    tarry__texts_clear(&texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_found_until_they_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
