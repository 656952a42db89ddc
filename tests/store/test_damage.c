/* Stores in which something was changed: a bit of the file, or a value or a row
 * by way of SQL.  Each is refused, or everything that can be asked of it has
 * the same answer.  Of bits nothing beside the file tells; of rows the lock
 * does, which knows the last ones.
 *
 * Some thousand changes; TARRY_CAMPAIGN=1: a bit of every byte; TARRY_SEED=n
 * for others. */
#define _GNU_SOURCE
#include "check.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "base/json.h"
#include "base/writer.h"
#include "policy/policy_type.h"
#include "session/session.h"
#include "store/experiment.h"
#include "store/store.h"

enum { N_ARMS = 3, DIM = 2, ROUNDS = 40, ROOM = 1 << 22 };
static const double arms[N_ARMS * DIM] = {1, 0, 0, 1, 0.6, 0.8};
static const char *const names[] = {"a:", "b:"};

enum { BITS = BRIEF ? 60 : 500, EVERY = BRIEF ? 30 : 4 };

static char folder[] = "/dev/shm/tarry-damage-XXXXXX", path[100];

static void remove_store(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-lock"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char name[120];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

/* ---- a store ----------------------------------------------------------------
 * With ids of users, all kinds of ends, arms that come and go, a pause, and a
 * snapshot that is older than the last events. */

static void own_id(uint64_t round, const char *name, char *id)
{
    snprintf(id, 64, "%s%ju-own", name, (uintmax_t)round);
}

static void play(tarry__session *s, const char *name, uint64_t count)
{
    tarry__session_choice_made made;
    tarry__session_result result;
    char id[TARRY__SESSION_ID_ROOM];
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t next = 1 + tarry__policy_round(tarry__session_policy(s));
        own_id(next, name, id);
        const char *own = next % 3 == 0 ? id : NULL;
        assert_int_equal(
            tarry__session_choose(s, own, 1000 * (int64_t)next, &made, NULL),
            TARRY_OK);
        if (own == NULL)
            tarry__session_id(s, made.round, id);
        const int64_t later = 1000 * (int64_t)next + 500;
        if (next % 5 == 1)
            tarry__session_cancel(s, id, later, NULL);
        else if (next % 5 == 2)
            tarry__session_expire(s, id, later, NULL);
        else if (next % 5 != 3)
            tarry__session_observe(s, id, 0.25, later, &result, NULL);
    }
    assert_int_equal(tarry__session_commit(&s, 1, NULL), TARRY_OK);
}

static void make_store(void)
{
    tarry__store *store;
    tarry__session *s;
    assert_int_equal(tarry__store_open(path, true, &store, NULL), TARRY_OK);
    for (size_t i = 0; i < 2; i++) {
        tarry__store_experiment e =
            small_experiment(names[i], "lints", N_ARMS, DIM);
        e.prefix = names[i];
        assert_int_equal(tarry__session_create(store, &e, arms, NULL, &s, NULL),
                         TARRY_OK);
        play(s, names[i], ROUNDS / 2);
        tarry__session_admit(s, "new", arms + 4, DIM, 90000, NULL);
        tarry__session_withdraw(s, "1", 90000, NULL);
        tarry__session_close(s); /* takes a snapshot */
        assert_int_equal(tarry__session_open(store, i + 1, true, &s, NULL),
                         TARRY_OK);
        play(s, names[i], ROUNDS / 2);
        assert_int_equal(tarry__session_pause(s, true, 99000, NULL), TARRY_OK);
        assert_int_equal(tarry__session_commit(&s, 1, NULL), TARRY_OK);
        tarry__session_close(s); /* opened from the start: takes none */
    }
    tarry__store_close(store);
}

/* ---- all that can be asked of it ------------------------------------------*/

static bool tell_rounds(tarry__store *store, uint64_t number, tarry__writer *t)
{
    for (uint64_t round = 1; round <= ROUNDS + 1; round++)
        for (int kind = 0; kind <= TARRY__STORE_RESUME; kind++) {
            tarry__store_event e = {0};
            char id[TARRY__STORE_ID_ROOM] = "";
            bool found;
            if (tarry__store_look(store, number, (tarry__store_event_kind)kind,
                                  round, &e, id, &found, NULL) != TARRY_OK)
                return false;
            if (found)
                tarry__writer_print(t, "%d %ju %ju %.17g %jd %s\n", kind,
                                    (uintmax_t)round, (uintmax_t)e.arm, e.value,
                                    (intmax_t)e.at, id);
        }
    return true;
}

static bool tell_ids(tarry__store *store, const char *name, tarry__writer *t)
{
    for (uint64_t round = 1; round <= ROUNDS + 1; round++) {
        uint64_t experiment = 0, at = 0;
        char id[64];
        bool found;
        own_id(round, name, id);
        if (tarry__store_look_id(store, id, &experiment, &at, &found, NULL) !=
            TARRY_OK)
            return false;
        if (found)
            tarry__writer_print(t, "%s %ju %ju\n", id, (uintmax_t)experiment,
                                (uintmax_t)at);
    }
    return true;
}

static bool tell_session(tarry__store *store, uint64_t number, tarry__writer *t)
{
    tarry__session *s;
    void *bytes;
    size_t size;
    if (tarry__session_open(store, number, false, &s, NULL) != TARRY_OK)
        return false;
    json_t *status = tarry__session_status(s, false);
    char *text = tarry__json_text(status, JSON_REAL_PRECISION(17));
    assert_non_null(text);
    assert_int_equal(tarry_policy_pack(tarry__session_policy(s), &bytes, &size),
                     TARRY_OK);
    tarry__writer_print(
        t, "%s %d %016jx\n", text, tarry__session_is_paused(s),
        (uintmax_t)tarry__base_digest(TARRY__BASE_DIGEST, bytes, size));
    tarry_policy_pack_free(bytes);
    tarry__base_free(text);
    json_decref(status);
    tarry__session_close(s);
    return true;
}

/* Ended with base.h; NULL: it is refused somewhere. */
static char *tell_all(void)
{
    tarry__store *store;
    tarry__writer t = {0};
    if (tarry__store_open(path, false, &store, NULL) != TARRY_OK)
        return NULL;
    bool whole = tarry__store_count(store) <= 2;
    for (uint64_t i = 1; whole && i <= tarry__store_count(store); i++) {
        uint64_t sum;
        tarry__writer_print(&t, "%s %ju\n", tarry__store_get(store, i)->name,
                            (uintmax_t)tarry__store_events(store, i, &sum));
        whole = tell_rounds(store, i, &t) &&
                tell_ids(store, names[i - 1], &t) && tell_session(store, i, &t);
    }
    tarry__store_close(store);
    if (!whole)
        tarry__writer_clear(&t);
    return t.bytes;
}

/* ---- changes --------------------------------------------------------------*/

static unsigned char *good;
static char lock[1000]; /* beside it */
static size_t good_size, lock_size;
static char *wanted;

static void write_file(const char *end, const void *bytes, size_t size)
{
    char name[120];
    snprintf(name, sizeof name, "%s%s", path, end);
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void put_store(bool with_lock)
{
    remove_store();
    write_file("", good, good_size);
    if (with_lock)
        write_file("-lock", lock, lock_size);
}

/* Answers whether it was refused. */
static bool expect_refused_or_same(const char *what, size_t where)
{
    char *told = tell_all();
    if (told != NULL && strcmp(told, wanted) != 0) {
        size_t i = 0;
        while (told[i] == wanted[i])
            i++;
        fail_msg("%s %zu: told '%.60s', not '%.60s'", what, where, told + i,
                 wanted + i);
    }
    tarry__base_free(told);
    return told == NULL;
}

static uint64_t first_seed(void)
{
    const char *seed = getenv("TARRY_SEED");
    return seed != NULL ? strtoull(seed, NULL, 10) : 2385;
}

static void bits_are_noticed(void **state)
{
    (void)state;
    const bool all = getenv("TARRY_CAMPAIGN") != NULL;
    const size_t count = all ? good_size : BITS;
    uint64_t seed = first_seed();
    size_t refused = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t at = all ? i : test_bits(&seed) % good_size;
        const unsigned char bit = (unsigned char)(1 << test_bits(&seed) % 8);
        good[at] ^= bit;
        put_store(false);
        good[at] ^= bit;
        refused += expect_refused_or_same("bit of byte", at);
    }
    print_message("%zu bits, %zu refused\n", count, refused);
    assert_true(refused > count / 10);
}

/* One change of one row, as anybody can make it who opens the file. */
static void change(const char *table, const char *column, const char *set,
                   int row)
{
    char sql[1000];
    sqlite3 *db;
    put_store(true);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (set == NULL)
        snprintf(
            sql, sizeof sql,
            "DELETE FROM %.20s WHERE %.40s = (SELECT %.40s FROM %.20s LIMIT 1 "
            "OFFSET %d)",
            table, column, column, table, row);
    else
        snprintf(sql, sizeof sql,
                 "UPDATE %.20s SET %.40s = %.90s WHERE %.40s = (SELECT %.40s "
                 "FROM %.20s LIMIT 1 "
                 "OFFSET %d)",
                 table, column, set, column, column, table, row);
    sqlite3_exec(db, sql, NULL, NULL, NULL); /* may not be possible */
    sqlite3_close(db);
    expect_refused_or_same(sql, 0);
}

static void values_are_noticed(void **state)
{
    (void)state;
    static const char *const tables[] = {"experiments", "choices", "reports",
                                         "snapshots"};
    static const char *const sets[] = {
        NULL, "%s + 1", "%s - 1", "%s || 'x'", "NULL", "0", "CAST(%s AS TEXT)"};
    size_t count = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        char sql[100], columns[30][40];
        int n = 0;
        sqlite3 *db;
        sqlite3_stmt *row;
        put_store(true);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        snprintf(sql, sizeof sql, "PRAGMA table_info(%s)", tables[t]);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL),
                         SQLITE_OK);
        while (sqlite3_step(row) == SQLITE_ROW)
            snprintf(columns[n++], sizeof *columns, "%s",
                     (const char *)sqlite3_column_text(row, 1));
        sqlite3_finalize(row);
        sqlite3_close(db);
        assert_true(n > 3);
        for (int c = 0; c < n; c++)
            for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
                for (int at = 0; at < 60; at += 7)
                    if (count++ % EVERY == 0) {
                        snprintf(sql, sizeof sql,
                                 sets[i] != NULL ? sets[i] : "", columns[c]);
                        change(tables[t], columns[c],
                               sets[i] != NULL ? sql : NULL, at);
                    }
    }
    print_message("%zu changes\n", count);
}

/* ---- main -----------------------------------------------------------------*/

static size_t read_file(const char *end, void *bytes, size_t room)
{
    char name[120];
    snprintf(name, sizeof name, "%s%s", path, end);
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

static int begin(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/s.db", folder);
    make_store();
    good = malloc(ROOM);
    if (good == NULL)
        return -1;
    good_size = read_file("", good, ROOM);
    lock_size = read_file("-lock", lock, sizeof lock);
    put_store(false);
    wanted = tell_all();
    return wanted != NULL ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    free(good);
    tarry__base_free(wanted);
    remove_store();
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_noticed),
        cmocka_unit_test(values_are_noticed),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
