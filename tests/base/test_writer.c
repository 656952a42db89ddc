/* Text that grows: what is written reads back, and no memory is no text. */
#include "check.h"
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/base.h"
#include "base/writer.h"

static void numbers_read_back_as_the_same_bits(void **state)
{
    (void)state;
    uint64_t seed = 2385;
    for (int i = 0; i < 20000; i++) {
        tarry__writer t = {0};
        const uint64_t bits = test_bits(&seed);
        double x = i % 2 ? test_uniform(&seed) : (double)(i % 101) / 101;
        if (i % 5 == 0)
            memcpy(&x, &bits, sizeof x);
        if (!isfinite(x))
            continue;
        tarry__writer_real(&t, x);
        assert_true(strtod(t.bytes, NULL) == x);
        assert_non_null(strpbrk(t.bytes, ".e"));
        tarry__writer_clear(&t);
    }
}

/* Whatever neighbour was written before. */
static void neighbours_are_not_mistaken_for_each_other(void **state)
{
    (void)state;
    uint64_t seed = 2385;
    for (int i = 0; i < 50000; i++) {
        tarry__writer t = {0};
        const double x = 2.385 + (double)(test_bits(&seed) % 3000) * 0x1p-51;
        tarry__writer_real(&t, x);
        assert_true(strtod(t.bytes, NULL) == x);
        tarry__writer_clear(&t);
    }
}

/* No more digits than it takes. */
static void numbers_are_short(void **state)
{
    (void)state;
    for (int i = -3000; i <= 3000; i++) {
        tarry__writer t = {0};
        char wanted[40];
        sprintf(wanted, "%s%d.%02d", i < 0 ? "-" : "", abs(i) / 100,
                abs(i) % 100);
        if (wanted[strlen(wanted) - 1] == '0')
            wanted[strlen(wanted) - 1] = '\0';
        tarry__writer_real(&t, i / 100.0);
        assert_string_equal(t.bytes, wanted);
        tarry__writer_clear(&t);
    }
}

static void digits_and_times(void **state)
{
    (void)state;
    tarry__writer t = {0};
    tarry__writer_count(&t, 0);
    tarry__writer_put(&t, " ");
    tarry__writer_count(&t, UINT64_MAX);
    tarry__writer_put(&t, " ");
    for (int i = 0; i < 2; i++)
        tarry__writer_time(&t, 1700000000007 + i * 986400123);
    tarry__writer_quote(&t, "a\"b\\c\n\x1f\xc3\xa9");
    assert_string_equal(t.bytes,
                        "0 18446744073709551615 \"2023-11-14T22:13:20.007Z\""
                        "\"2023-11-26T08:13:20.130Z\""
                        "\"a\\\"b\\\\c\\u000a\\u001f\xc3\xa9\"");
    tarry__writer_clear(&t);
}

/* A text that was cut within a character, say. */
static void what_is_no_text_is_replaced(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"ab\xc3", "\"ab\\ufffd\""},
        {"\xe2\x82", "\"\\ufffd\\ufffd\""},
        {"\xff\"\xc3\xa9", "\"\\ufffd\\\"\xc3\xa9\""},
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
        {"\xc0\x80", "\"\\ufffd\\ufffd\""},
        {"\x7f\xf0\x9f\x98\x80\x80", "\"\x7f\xf0\x9f\x98\x80\\ufffd\""}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        tarry__writer t = {0};
        tarry__writer_quote(&t, pairs[i][0]);
        assert_string_equal(t.bytes, pairs[i][1]);
        tarry__writer_clear(&t);
    }
}

/* Whatever was written before: as the C library has it. */
static void times_come_in_any_order(void **state)
{
    (void)state;
    uint64_t seed = 2385;
    for (int i = 0; i < 2000; i++) {
        tarry__writer t = {0};
        char wanted[64];
        const long long ms =
            1700000000000 +
            (long long)(test_bits(&seed) % (i % 2 ? 5000 : 1u << 31));
        const time_t seconds = (time_t)(ms / 1000);
        const size_t used = strftime(wanted, sizeof wanted,
                                     "\"%Y-%m-%dT%H:%M:%S", gmtime(&seconds));
        snprintf(wanted + used, sizeof wanted - used, ".%03dZ\"",
                 (int)(ms % 1000));
        tarry__writer_time(&t, ms);
        assert_string_equal(t.bytes, wanted);
        tarry__writer_clear(&t);
    }
}

static void no_memory_is_remembered(void **state)
{
    (void)state;
    tarry__writer t = {0};
    tarry__base_fail_alloc(1);
    tarry__writer_put(&t, "lost");
    tarry__base_fail_alloc(0);
    tarry__writer_put(&t, "too late");
    assert_true(t.failed);
    assert_int_equal(t.size, 0);
    tarry__writer_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_read_back_as_the_same_bits),
        cmocka_unit_test(neighbours_are_not_mistaken_for_each_other),
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(digits_and_times),
        cmocka_unit_test(what_is_no_text_is_replaced),
        cmocka_unit_test(times_come_in_any_order),
        cmocka_unit_test(no_memory_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
