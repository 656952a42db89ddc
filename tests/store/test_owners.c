/* Processes that share a store: one owner for each experiment.
 *
 * Each open store has a connection of its own, so two of them in this process
 * are two owners.  Needs TARRY_POSTGRES, as test_store.c does; its URLs
 * go on with "o1", "o2", ... */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "store/experiment.h"
#include "store/store.h"

enum { DIM = 2 };

static const double features[DIM] = {0.6, 0.8};
static char url[300];

static tarry__store *open_store(void)
{
    tarry__store *s;
    tarry_error error = {""};
    if (tarry__store_open(url, true, &s, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    return s;
}

/* The next empty place, opened; or the test is left out. */
static tarry__store *first_of(void)
{
    static int count;
    const char *begin = getenv("TARRY_POSTGRES");
    if (begin == NULL)
        skip();
    snprintf(url, sizeof url, "%so%d", begin, ++count);
    return open_store();
}

static tarry_status add(tarry__store *s, const char *name, uint64_t *number)
{
    tarry__store_event arm = {
        .kind = TARRY__STORE_ADMIT, .at = 1, .features = features};
    const tarry__store_experiment e = small_experiment(name, "uniform", 1, DIM);
    return tarry__store_add(s, &e, &arm, number, NULL);
}

static tarry_status choose(tarry__store *s, uint64_t number, uint64_t round)
{
    tarry__store_event e = {.kind = TARRY__STORE_CHOOSE,
                            .round = round,
                            .value = 1,
                            .at = (int64_t)round};
    const tarry__store_batch batch = {number, &e, 1, 0};
    return tarry__store_append(s, &batch, 1, NULL);
}

static tarry_status own(tarry__store *s, uint64_t number)
{
    char owner[TARRY__STORE_OWNER_ROOM];
    return tarry__store_own(s, number, owner, NULL);
}

/* What an administrator, or the end of a machine, does to connections. */
static void cut_connections(void)
{
    char command[500];
    snprintf(command, sizeof command,
             "psql -qAt '%s' -c \"SELECT pg_terminate_backend(pid, 5000) FROM "
             "pg_stat_activity WHERE pid <> pg_backend_pid() AND "
             "datname = current_database()\" >/dev/null",
             url);
    assert_int_equal(system(command), 0);
}

static void only_the_owner_appends(void **state)
{
    (void)state;
    uint64_t one;
    char owner[TARRY__STORE_OWNER_ROOM];
    tarry__store *a = first_of(), *b = open_store();
    tarry__store_publish(a, "http://a:1");
    assert_int_equal(add(a, "one", &one), TARRY_OK);
    assert_int_equal(tarry__store_find(b, "one"), 0);
    assert_int_equal(tarry__store_refresh(b, NULL), TARRY_OK);
    assert_int_equal(tarry__store_find(b, "one"), one);
    assert_int_equal(tarry__store_own(b, one, owner, NULL), TARRY_CANCELLED);
    assert_string_equal(owner, "http://a:1");
    assert_int_equal(*tarry__store_epoch(b, one), 0);
    assert_int_equal(choose(b, one, 1), TARRY_CANCELLED);
    assert_int_equal(choose(a, one, 1), TARRY_OK);
    tarry__store_close(a);
    assert_int_equal(tarry__store_own(b, one, owner, NULL), TARRY_OK);
    assert_int_equal(tarry__store_events(b, one, NULL), 2);
    assert_int_equal(choose(b, one, 2), TARRY_OK);
    tarry__store_close(b);
}

/* A new connection takes what it had; the same events go on. */
static void a_cut_connection_heals(void **state)
{
    (void)state;
    uint64_t one, two;
    tarry__store *a = first_of();
    assert_int_equal(add(a, "one", &one), TARRY_OK);
    for (uint64_t round = 1; round <= 5; round++) {
        cut_connections();
        assert_int_equal(choose(a, one, round), TARRY_OK);
    }
    assert_int_equal(*tarry__store_epoch(a, one), 1);
    cut_connections();
    assert_int_equal(add(a, "two", &two), TARRY_OK);
    tarry__store_close(a);
    a = open_store();
    assert_int_equal(tarry__store_events(a, one, NULL), 6);
    tarry__store_close(a);
}

static void an_owner_that_was_replaced_cannot_commit(void **state)
{
    (void)state;
    uint64_t one;
    tarry__store *a = first_of(), *b = open_store();
    assert_int_equal(add(a, "one", &one), TARRY_OK);
    assert_int_equal(choose(a, one, 1), TARRY_OK);
    cut_connections();
    assert_int_equal(tarry__store_refresh(b, NULL), TARRY_OK);
    assert_int_equal(own(b, one), TARRY_OK);
    assert_int_equal(choose(b, one, 2), TARRY_OK);
    assert_int_equal(*tarry__store_epoch(a, one), 1); /* it does not know */
    assert_int_equal(choose(a, one, 2), TARRY_CANCELLED);
    assert_int_equal(*tarry__store_epoch(a, one), 0);
    assert_int_equal(tarry__store_events(a, one, NULL), 2);
    tarry__store_close(b);
    assert_int_equal(own(a, one), TARRY_OK);
    assert_int_equal(*tarry__store_epoch(a, one), 3);
    assert_int_equal(tarry__store_events(a, one, NULL), 3);
    assert_int_equal(choose(a, one, 3), TARRY_OK);
    tarry__store_close(a);
}

/* A snapshot of an older log would lead elsewhere. */
static void an_owner_that_was_replaced_leaves_no_snapshot(void **state)
{
    static const char old[] = "of before", new[] = "of now";
    (void)state;
    uint64_t one, seq;
    void *bytes;
    size_t size;
    tarry__store *a = first_of(), *b = open_store();
    assert_int_equal(add(a, "one", &one), TARRY_OK);
    assert_int_equal(choose(a, one, 1), TARRY_OK);
    cut_connections();
    assert_int_equal(tarry__store_refresh(b, NULL), TARRY_OK);
    assert_int_equal(own(b, one), TARRY_OK);
    assert_int_equal(choose(b, one, 2), TARRY_OK);
    assert_int_equal(tarry__store_save(b, one, 3, new, sizeof new, NULL),
                     TARRY_OK);
    assert_int_equal(tarry__store_probe(a, NULL), TARRY_OK); /* a new link */
    assert_int_not_equal(tarry__store_save(a, one, 2, old, sizeof old, NULL),
                         TARRY_OK);
    assert_int_equal(tarry__store_load(b, one, &seq, &bytes, &size, NULL),
                     TARRY_OK);
    assert_int_equal(seq, 3);
    assert_int_equal(size, sizeof new);
    assert_memory_equal(bytes, new, size);
    tarry__base_free(bytes);
    tarry__store_close(a);
    tarry__store_close(b);
}

/* The fence alone, without the lock: the row is what counts. */
static void a_commit_of_an_older_epoch_fails_in_the_database(void **state)
{
    (void)state;
    uint64_t one;
    char command[500];
    tarry__store *a = first_of();
    assert_int_equal(add(a, "one", &one), TARRY_OK);
    snprintf(command, sizeof command,
             "psql -q '%s' -c 'UPDATE owners SET epoch = epoch + 1'", url);
    assert_int_equal(system(command), 0);
    assert_int_equal(choose(a, one, 1), TARRY_CANCELLED);
    assert_int_equal(own(a, one), TARRY_OK);
    assert_int_equal(tarry__store_events(a, one, NULL), 1);
    assert_int_equal(choose(a, one, 1), TARRY_OK);
    tarry__store_close(a);
}

static void batches_of_another_epoch_are_refused(void **state)
{
    (void)state;
    uint64_t one;
    tarry__store *a = first_of();
    assert_int_equal(add(a, "one", &one), TARRY_OK);
    tarry__store_event e = {.kind = TARRY__STORE_CHOOSE, .round = 1, .at = 1};
    const tarry__store_batch old = {one, &e, 1, 2}, now = {one, &e, 1, 1};
    assert_int_equal(tarry__store_append(a, &old, 1, NULL), TARRY_CANCELLED);
    assert_int_equal(tarry__store_append(a, &now, 1, NULL), TARRY_OK);
    tarry__store_close(a);
}

/* Both add; numbers do not collide, and a name is given once. */
static void two_may_add_at_a_time(void **state)
{
    (void)state;
    uint64_t number;
    tarry__store *a = first_of(), *b = open_store();
    assert_int_equal(add(a, "one", &number), TARRY_OK);
    assert_int_equal(add(b, "two", &number), TARRY_OK);
    assert_int_equal(number, 2);
    assert_int_equal(add(a, "two", &number), TARRY_BAD_ARGUMENT);
    assert_int_equal(add(a, "three", &number), TARRY_OK);
    assert_int_equal(number, 3);
    assert_int_equal(tarry__store_count(b), 2);
    assert_int_equal(choose(a, 1, 1), TARRY_OK);
    assert_int_equal(choose(b, 2, 1), TARRY_OK);
    tarry__store_close(a);
    tarry__store_close(b);
}

static void choose_as(tarry__store *s, uint64_t number, const char *id)
{
    tarry__store_event e = {
        .kind = TARRY__STORE_CHOOSE, .round = 1, .at = 1, .text = id};
    const tarry__store_batch batch = {number, &e, 1, 0};
    assert_int_equal(tarry__store_append(s, &batch, 1, NULL), TARRY_OK);
}

/* Whoever finds a number by asking can use it at once. */
static void an_id_leads_to_what_others_have_added(void **state)
{
    (void)state;
    static const char *const names[] = {"one", "two", "three"};
    tarry__store *a = first_of(), *b = open_store();
    for (size_t i = 0; i < 3; i++) {
        uint64_t number, experiment, round;
        bool found;
        assert_int_equal(add(a, names[i], &number), TARRY_OK);
        choose_as(a, number, names[i]);
        assert_int_equal(tarry__store_look_id(b, names[i], &experiment, &round,
                                              &found, NULL),
                         TARRY_OK);
        assert_true(found && experiment == number && round == 1);
        assert_int_equal(tarry__store_count(b), number);
        assert_string_equal(tarry__store_get(b, number)->name, names[i]);
    }
    tarry__store_close(a);
    tarry__store_close(b);
}

/* Turns a bit of the digest of an event, or turns it back. */
static void turn(uint64_t seq)
{
    char command[500];
    snprintf(command, sizeof command,
             "psql -qAt '%s' -c \"UPDATE events SET sum = sum # 1 WHERE "
             "experiment = 1 AND seq = %d\"",
             url, (int)seq);
    assert_int_equal(system(command), 0);
}

/* What could not be read is read again from where it was, by those who follow
 * and by those who take over. */
static void who_stumbles_begins_again(void **state)
{
    (void)state;
    uint64_t one;
    tarry__store *a = first_of(), *b = open_store();
    assert_int_equal(add(a, "one", &one), TARRY_OK);
    assert_int_equal(tarry__store_refresh(b, NULL), TARRY_OK);
    for (uint64_t round = 1; round <= 12; round++) {
        assert_int_equal(choose(a, one, round), TARRY_OK);
        if (round % 3 != 0)
            continue;
        for (uint64_t seq = round - 1; seq <= round + 1; seq++) {
            const uint64_t known = tarry__store_events(b, one, NULL);
            turn(seq);
            assert_int_equal(tarry__store_follow(b, one, NULL),
                             seq > known ? TARRY_BAD_STATE : TARRY_OK);
            turn(seq);
            if (seq > known)
                assert_int_equal(tarry__store_events(b, one, NULL), known);
        }
        if (round < 12)
            assert_int_equal(tarry__store_follow(b, one, NULL), TARRY_OK);
    }
    tarry__store_close(a);
    turn(12);
    assert_int_equal(own(b, one), TARRY_BAD_STATE);
    turn(12);
    assert_int_equal(own(b, one), TARRY_OK);
    assert_int_equal(tarry__store_events(b, one, NULL), 13);
    assert_int_equal(choose(b, one, 13), TARRY_OK);
    tarry__store_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_owner_appends),
        cmocka_unit_test(a_cut_connection_heals),
        cmocka_unit_test(an_owner_that_was_replaced_cannot_commit),
        cmocka_unit_test(an_owner_that_was_replaced_leaves_no_snapshot),
        cmocka_unit_test(a_commit_of_an_older_epoch_fails_in_the_database),
        cmocka_unit_test(batches_of_another_epoch_are_refused),
        cmocka_unit_test(two_may_add_at_a_time),
        cmocka_unit_test(an_id_leads_to_what_others_have_added),
        cmocka_unit_test(who_stumbles_begins_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
