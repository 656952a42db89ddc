/* Status list and allocation. */
#include "check.h"
#include <string.h>
#include "base/base.h"

static void every_status_has_a_name_and_a_text(void **state)
{
    (void)state;
    assert_string_equal(tarry_status_name(TARRY_OK), "OK");
    assert_string_equal(tarry_status_name(TARRY_CANCELLED), "CANCELLED");
    assert_string_equal(tarry_status_text(TARRY_NO_MEMORY), "out of memory");
}

static void any_number_gets_an_answer(void **state)
{
    (void)state;
    assert_string_equal(tarry_status_name((tarry_status)-7), "UNKNOWN");
    assert_string_equal(tarry_status_text((tarry_status)12345),
                        "unknown status");
}

static void the_kth_allocation_can_be_made_to_fail(void **state)
{
    (void)state;
    tarry__base_fail_alloc(2);
    void *first = tarry__base_alloc(3, 8), *second = tarry__base_zalloc(3, 8),
         *third = tarry__base_alloc(3, 8);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    assert_int_equal(tarry__base_fail_alloc(0), 3);
    tarry__base_free(first);
    tarry__base_free(third);
}

static void a_size_that_overflows_is_out_of_memory(void **state)
{
    (void)state;
    assert_null(tarry__base_alloc(SIZE_MAX / 4, 8));
    assert_null(tarry__base_alloc(SIZE_MAX - 3, 1));
}

static void growing_keeps_what_was_there(void **state)
{
    (void)state;
    int *block = tarry__base_alloc(3, sizeof *block);
    memcpy(block, (int[]){2, 3, 85}, 3 * sizeof *block);
    block = tarry__base_grow(block, 3, 300, sizeof *block);
    assert_memory_equal(block, ((int[]){2, 3, 85}), 3 * sizeof *block);
    assert_int_equal((uintptr_t)block % 64, 0);
    tarry__base_free(block);
}

static void an_error_line_is_cut_not_overrun(void **state)
{
    (void)state;
    tarry_error error;
    char long_text[2000];
    memset(long_text, 'x', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    assert_int_equal(tarry__base_fail(&error, TARRY_BAD_INPUT, "%s", long_text),
                     TARRY_BAD_INPUT);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_int_equal(tarry__base_fail(NULL, TARRY_IO_ERROR, "x"),
                     TARRY_IO_ERROR);
}

/* Zeros at the end count too: every length of them has a digest of its own. */
static void digests_tell_all_bits_and_lengths_apart(void **state)
{
    (void)state;
    enum { MOST = 40 };
    unsigned char bytes[MOST] = {0};
    uint64_t seen[MOST + 1], seed = 2385;
    for (size_t size = 0; size <= MOST; size++) {
        seen[size] = tarry__base_digest(TARRY__BASE_DIGEST, bytes, size);
        for (size_t i = 0; i < size; i++)
            assert_int_not_equal(seen[i], seen[size]);
    }
    for (size_t size = 1; size <= MOST; size++) {
        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)test_bits(&seed);
        const uint64_t whole =
            tarry__base_digest(TARRY__BASE_DIGEST, bytes, size);
        assert_int_not_equal(
            whole, tarry__base_digest(TARRY__BASE_DIGEST + 1, bytes, size));
        for (size_t bit = 0; bit < 8 * size; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            assert_int_not_equal(
                whole, tarry__base_digest(TARRY__BASE_DIGEST, bytes, size));
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_and_a_text),
        cmocka_unit_test(any_number_gets_an_answer),
        cmocka_unit_test(the_kth_allocation_can_be_made_to_fail),
        cmocka_unit_test(a_size_that_overflows_is_out_of_memory),
        cmocka_unit_test(growing_keeps_what_was_there),
        cmocka_unit_test(an_error_line_is_cut_not_overrun),
        cmocka_unit_test(digests_tell_all_bits_and_lengths_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
