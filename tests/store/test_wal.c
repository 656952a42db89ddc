/* The log of a store, looked at before SQLite does, which would take damage in
 * the middle for the end, and drop what was committed behind it. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "store/experiment.h"
#include "store/store.h"
#include "store/wal.h"

enum { COMMITS = 6, ROOM = 1 << 20, HEADER = 32, FRAME = 24 + 4096 };

static char folder[] = "/tmp/tarry-wal-XXXXXX";
static unsigned char *bytes; /* of the log */
static size_t size, end_of[COMMITS];

static const char *in_folder(const char *name)
{
    static char path[2][100];
    static int i;
    i = !i;
    snprintf(path[i], sizeof path[i], "%s/%s", folder, name);
    return path[i];
}

static size_t log_size(void)
{
    FILE *file = fopen(in_folder("s.db-wal"), "rb");
    assert_non_null(file);
    const size_t got = fread(bytes, 1, ROOM, file);
    fclose(file);
    return got;
}

static void add(tarry__store *store, int i)
{
    static const double features[] = {1};
    char name[20];
    snprintf(name, sizeof name, "e%d", i);
    tarry__store_experiment e = small_experiment(name, "uniform", 1, 1);
    e.prefix = name;
    tarry__store_event arm = {.kind = TARRY__STORE_ADMIT, .features = features};
    uint64_t number;
    assert_int_equal(tarry__store_add(store, &e, &arm, &number, NULL),
                     TARRY_OK);
}

/* Takes the log of a store that is still open. */
static int make_log(void **state)
{
    (void)state;
    tarry__store *store;
    bytes = malloc(ROOM);
    if (bytes == NULL || mkdtemp(folder) == NULL ||
        tarry__store_open(in_folder("s.db"), true, &store, NULL) != TARRY_OK)
        return -1;
    for (int i = 0; i < COMMITS; i++) {
        add(store, i);
        end_of[i] = size = log_size();
    }
    tarry__store_close(store);
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    static const char *const names[] = {"s.db", "s.db-lock", "s.db-wal",
                                        "s.db-shm"};
    for (size_t i = 0; i < 4; i++)
        unlink(in_folder(names[i]));
    free(bytes);
    return rmdir(folder);
}

static void put(size_t length)
{
    FILE *file = fopen(in_folder("s.db-wal"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static tarry_status check(size_t length)
{
    put(length);
    return tarry__wal_check(in_folder("s.db"), true, NULL);
}

/* Where nothing is known about crashes. */
static tarry_status check_strictly(size_t length)
{
    put(length);
    return tarry__wal_check(in_folder("s.db"), false, NULL);
}

static void a_whole_log_is_sound(void **state)
{
    (void)state;
    assert_true(size == end_of[COMMITS - 1] && (size - HEADER) % FRAME == 0);
    assert_int_equal(check(size), TARRY_OK);
    assert_int_equal(check(0), TARRY_OK);
}

/* A crash may leave any beginning. */
static void a_log_cut_anywhere_is_sound(void **state)
{
    (void)state;
    for (size_t length = 0; length < size; length += 211)
        assert_int_equal(check(length), TARRY_OK);
}

/* What ends a transaction may itself be damaged, so that the next one seems to
 * belong to it: two transactions must lie behind. */
static void damage_with_commits_behind_it_is_told(void **state)
{
    (void)state;
    uint64_t seed = 2385;
    for (size_t at = 0; at < end_of[COMMITS - 3]; at += 97) {
        const unsigned char old = bytes[at];
        bytes[at] ^= (unsigned char)(1u << test_bits(&seed) % 8);
        if (check(size) != TARRY_BAD_STATE)
            fail_msg("byte %zu of %zu", at, size);
        bytes[at] = old;
    }
}

/* Where the frames themselves say what belongs to what, one is enough. */
static void damage_of_a_page_with_one_commit_behind_it_is_told(void **state)
{
    (void)state;
    for (size_t at = end_of[COMMITS - 3]; at < end_of[COMMITS - 2]; at += 97) {
        if ((at - HEADER) % FRAME < 24)
            continue;
        bytes[at] ^= 1;
        if (check(size) != TARRY_BAD_STATE)
            fail_msg("byte %zu of %zu", at, size);
        bytes[at] ^= 1;
    }
}

/* The last transaction may be torn in any place. */
static void damage_at_the_end_is_a_crash(void **state)
{
    (void)state;
    for (size_t at = end_of[COMMITS - 2]; at < size; at += 97) {
        bytes[at] ^= 1;
        assert_int_equal(check(size), TARRY_OK);
        bytes[at] ^= 1;
    }
}

/* But only where a lock file tells how much was committed: every byte of what
 * stands before a page, and some of the pages. */
static void damage_anywhere_is_told_if_it_cannot_be_a_crash(void **state)
{
    (void)state;
    uint64_t seed = 2385;
    assert_int_equal(check_strictly(size), TARRY_OK);
    for (size_t at = 0; at < size; at++) {
        const unsigned char old = bytes[at];
        if (at > HEADER && (at - HEADER) % FRAME >= 24 && at % 97 != 0)
            continue;
        bytes[at] ^= (unsigned char)(1u << test_bits(&seed) % 8);
        if (check_strictly(size) != TARRY_BAD_STATE)
            fail_msg("byte %zu of %zu", at, size);
        bytes[at] = old;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_log_is_sound),
        cmocka_unit_test(a_log_cut_anywhere_is_sound),
        cmocka_unit_test(damage_with_commits_behind_it_is_told),
        cmocka_unit_test(damage_of_a_page_with_one_commit_behind_it_is_told),
        cmocka_unit_test(damage_at_the_end_is_a_crash),
        cmocka_unit_test(damage_anywhere_is_told_if_it_cannot_be_a_crash),
    };
    return cmocka_run_group_tests(tests, make_log, remove_all);
}
