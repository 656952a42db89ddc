/* The file beside a store: its bytes, which other versions read too, and what
 * is left of it when it cannot be written. */
#include "check.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"
#include "store/lock.h"

static char folder[] = "/tmp/tarry-lock-XXXXXX", store[60], file[70];

static int begin(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_non_null(mkdtemp(folder));
    snprintf(store, sizeof store, "%s/s", folder);
    snprintf(file, sizeof file, "%s-lock", store);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(file);
    return rmdir(folder);
}

static tarry__lock taken(void)
{
    tarry__lock lock;
    assert_int_equal(tarry__lock_take(&lock, store, NULL), TARRY_OK);
    return lock;
}

static size_t contents(char bytes[200])
{
    FILE *opened = fopen(file, "rb");
    assert_non_null(opened);
    const size_t size = fread(bytes, 1, 199, opened);
    bytes[size] = '\0';
    fclose(opened);
    return size;
}

/* As printf has it, with the digest of what stands before. */
static void expected(uint64_t events, uint64_t sum, char bytes[200])
{
    const int size =
        snprintf(bytes, 200,
                 "tarry store\nprocess   %16d\nevents    %16" PRIu64
                 "\nsum       %016" PRIx64 "\n",
                 (int)getpid(), events, sum);
    snprintf(bytes + size, 200 - (size_t)size, "check     %016" PRIx64 "\n",
             tarry__base_digest(TARRY__BASE_DIGEST, bytes, (size_t)size));
}

static void it_tells_who_and_how_much(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {
        0,    1,        9,           10,         0xf,       0x10,
        2385, 1u << 31, 99999999999, UINT64_MAX, 1ull << 63};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const uint64_t events = numbers[i] % 10000000000000000u;
        char found[200], wanted[200];
        tarry__lock lock = taken();
        assert_true(lock.is_new == (i == 0) && lock.is_known == (i > 0));
        tarry__lock_note(&lock, events, numbers[i]);
        contents(found);
        expected(events, numbers[i], wanted);
        assert_string_equal(found, wanted);
        tarry__lock_give(&lock);
        lock = taken();
        assert_true(lock.is_known && lock.events == events &&
                    lock.sum == numbers[i]);
        tarry__lock_give(&lock);
    }
    unlink(file);
}

/* What is written while files may have so many bytes. */
static void note_within(tarry__lock *lock, rlim_t bytes, uint64_t events)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit low = {bytes, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &low);
    tarry__lock_note(lock, events, 7);
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void what_is_cut_short_is_as_it_was(void **state)
{
    (void)state;
    for (rlim_t limit = 0; limit < 120; limit++) {
        char found[200], wanted[200];
        tarry__lock lock = taken();
        note_within(&lock, limit, 5); /* nothing was told before */
        assert_int_equal(contents(found), 0);
        tarry__lock_note(&lock, 3, 4);
        note_within(&lock, limit, 5);
        assert_true(lock.events == 3 && lock.sum == 4);
        contents(found);
        expected(3, 4, wanted);
        assert_string_equal(found, wanted);
        tarry__lock_give(&lock);
        unlink(file);
    }
}

static void it_goes_if_it_has_never_told(void **state)
{
    (void)state;
    tarry__lock lock = taken();
    assert_int_equal(access(file, F_OK), 0);
    tarry__lock_give(&lock);
    assert_int_equal(access(file, F_OK), -1);
}

static void every_changed_byte_is_damage(void **state)
{
    (void)state;
    tarry_error error = {""};
    tarry__lock lock = taken();
    tarry__lock_note(&lock, 2385, 99);
    tarry__lock_give(&lock);
    char bytes[200];
    const size_t size = contents(bytes);
    for (size_t i = 0; i <= size; i++) {
        FILE *opened = fopen(file, "wb");
        assert_non_null(opened);
        bytes[i] ^= i < size;
        fwrite(bytes, 1, size + (i == size), opened); /* or one too many */
        bytes[i] ^= i < size;
        fclose(opened);
        assert_int_equal(tarry__lock_take(&lock, store, &error),
                         TARRY_BAD_STATE);
        assert_non_null(strstr(error.text, "-lock: damaged"));
        assert_int_equal(access(file, F_OK), 0); /* to be looked at */
    }
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_tells_who_and_how_much),
        cmocka_unit_test(what_is_cut_short_is_as_it_was),
        cmocka_unit_test(it_goes_if_it_has_never_told),
        cmocka_unit_test(every_changed_byte_is_damage),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
