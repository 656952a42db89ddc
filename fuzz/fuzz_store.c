/* fuzz_store.c - stores of a stranger: rows are changed, and then all digests
 * made to fit, so that what lies behind them is reached.
 *
 * The input is a list of changes of 12 bytes: what to do, which column, which
 * row, how many; and 8 bytes, the new value. */
#define _GNU_SOURCE
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "fuzz.h"
#include "session/session.h"
#include "store/kind.h"

enum { CHANGE = 12, MOST_CHANGES = 40, N_ARMS = 3, DIM = 2 };

static char folder[40], path[60];

/* ---- the store to begin with ----------------------------------------------*/

static void remove_all(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-lock"};
    for (size_t i = 0; i < 4; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static void remove_folder(void)
{
    remove_all();
    rmdir(folder);
}

static void play(tarry__session *s, const char *id)
{
    tarry__session_choice_made made;
    tarry__session_result result;
    char name[TARRY__SESSION_ID_ROOM];
    for (int i = 0; i < 6; i++) {
        must(tarry__session_choose(s, i == 2 ? id : NULL, 10 + i, &made,
                                   NULL) == TARRY_OK);
        tarry__session_id(s, made.round, name);
        if (i % 3 == 0)
            tarry__session_observe(s, name, 0.5, 20 + i, &result, NULL);
        if (i == 4)
            tarry__session_cancel(s, name, 30, NULL);
        if (i == 5)
            tarry__session_expire(s, name, 30, NULL);
    }
    must(tarry__session_commit(&s, 1, NULL) == TARRY_OK);
}

static void make_experiment(tarry__store *store, const char *name,
                            const char *policy, const char *id)
{
    static const double arms[] = {1, 0, 0, 1, 0.6, 0.8};
    static const char *const names[] = {"red", "green", "blue"};
    static const double added[] = {0.8, 0.6};
    const tarry__store_experiment e = {.name = name,
                                       .prefix = name,
                                       .policy = policy,
                                       .expire_after = "1000rounds",
                                       .n_arms = N_ARMS,
                                       .dim = DIM,
                                       .low = -1,
                                       .high = 1,
                                       .horizon = 1000,
                                       .created_at = 1};
    tarry__session *s;
    must(tarry__session_create(store, &e, arms, names, &s, NULL) == TARRY_OK);
    play(s, id);
    tarry__session_admit(s, "new", added, DIM, 40, NULL);
    tarry__session_withdraw(s, "red", 41, NULL);
    must(tarry__session_commit(&s, 1, NULL) == TARRY_OK);
    tarry__session_close(s); /* leaves a snapshot */
    must(tarry__session_open(store, tarry__store_find(store, name), false, &s,
                             NULL) == TARRY_OK);
    play(s, NULL);
    tarry__session_close(s);
}

/* Made once; then its bytes are written anew each time. */
static void write_template(void)
{
    static char *bytes;
    static size_t size;
    if (bytes == NULL) {
        tarry__store *store;
        strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/tarry-XXXXXX"
                                                     : "/tmp/tarry-XXXXXX");
        must(mkdtemp(folder) != NULL);
        snprintf(path, sizeof path, "%s/s.db", folder);
        atexit(remove_folder);
        must(tarry__store_open(path, true, &store, NULL) == TARRY_OK);
        make_experiment(store, "a:", "lints", "mine");
        make_experiment(store, "b:", "phased-mab", "yours");
        tarry__store_close(store);
        FILE *file = fopen(path, "rb");
        bytes = malloc(1 << 22);
        must(file != NULL && bytes != NULL);
        size = fread(bytes, 1, 1 << 22, file);
        fclose(file);
    }
    remove_all();
    FILE *file = fopen(path, "wb");
    must(file != NULL && fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

/* ---- changes --------------------------------------------------------------*/

static const char *const columns[][3] = {
    /* table, its key, column */
    {"experiments", "number", "number"},
    {"experiments", "number", "name"},
    {"experiments", "number", "prefix"},
    {"experiments", "number", "policy"},
    {"experiments", "number", "objective"},
    {"experiments", "number", "low"},
    {"experiments", "number", "high"},
    {"experiments", "number", "horizon"},
    {"experiments", "number", "confidence"},
    {"experiments", "number", "beyond_horizon"},
    {"experiments", "number", "seed"},
    {"experiments", "number", "expire_after"},
    {"experiments", "number", "n_arms"},
    {"experiments", "number", "dim"},
    {"experiments", "number", "created_at"},
    {"choices", "experiment,round", "experiment"},
    {"choices", "experiment,round", "round"},
    {"choices", "experiment,round", "seq"},
    {"choices", "experiment,round", "arm"},
    {"choices", "experiment,round", "probability"},
    {"choices", "experiment,round", "at"},
    {"choices", "experiment,round", "id"},
    {"reports", "experiment,seq", "experiment"},
    {"reports", "experiment,seq", "seq"},
    {"reports", "experiment,seq", "kind"},
    {"reports", "experiment,seq", "item"},
    {"reports", "experiment,seq", "value"},
    {"reports", "experiment,seq", "at"},
    {"reports", "experiment,seq", "name"},
    {"reports", "experiment,seq", "features"},
    {"snapshots", "experiment,seq,part", "experiment"},
    {"snapshots", "experiment,seq,part", "seq"},
    {"snapshots", "experiment,seq,part", "part"},
    {"snapshots", "experiment,seq,part", "state"},
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static const char *const texts[] = {
    "",
    "lints",
    "phased-mab",
    "recommended",
    "uniform",
    "observe",
    "cancel",
    "expire",
    "admit",
    "withdraw",
    "choose",
    "maximize",
    "minimize",
    "3d",
    "1rounds",
    "a:",
    "b:",
    "mine",
    "7",
    "a:7",
    "oracle",
    "greedy",
    "\x1b[2J",
    "\xff\xfe",
    "lints:v=1e308",
    "phased-stochastic:guide=lints,guide_share=9,constants=tight"};
enum { N_TEXTS = sizeof texts / sizeof *texts };

/* Binds the new value in the way that byte 3 says. */
static void bind(sqlite3_stmt *q, const uint8_t *change)
{
    double real;
    int64_t number;
    memcpy(&real, change + 4, sizeof real);
    memcpy(&number, change + 4, sizeof number);
    switch (change[3] % 8) {
    case 0:
        sqlite3_bind_int64(q, 1, number);
        break;
    case 1:
        sqlite3_bind_int64(q, 1, (signed char)change[4]);
        break;
    case 2:
        sqlite3_bind_double(q, 1, real);
        break;
    case 3:
        sqlite3_bind_double(q, 1, (signed char)change[4] / 16.0);
        break;
    case 4:
        sqlite3_bind_text(q, 1, (const char *)change + 4,
                          (int)strnlen((const char *)change + 4, 8),
                          SQLITE_STATIC);
        break;
    case 5:
        sqlite3_bind_text(q, 1, texts[change[4] % N_TEXTS], -1, SQLITE_STATIC);
        break;
    case 6:
        sqlite3_bind_blob(q, 1, change + 4, change[4] % 9, SQLITE_STATIC);
        break;
    default:
        sqlite3_bind_null(q, 1);
    }
}

static const char *expression(const uint8_t *change, const char *column)
{
    static char text[300];
    unsigned at;
    memcpy(&at, change + 8, sizeof at);
    if (change[0] % 4 != 2)
        return "?1";
    snprintf(text, sizeof text, /* some bytes of a blob */
             "CAST(substr(%s,1,%u) || ?1 || substr(%s,%u) AS BLOB)", column,
             at % 4000, column, at % 4000 + 2);
    return text;
}

static void apply(sqlite3 *db, const uint8_t *change)
{
    const char *const *c = columns[change[1] % N_COLUMNS];
    char sql[900];
    sqlite3_stmt *q;
    if (change[0] % 4 == 3)
        snprintf(sql, sizeof sql,
                 "DELETE FROM %s WHERE (%s) IN (SELECT %s FROM %s LIMIT 1 "
                 "OFFSET %d)",
                 c[0], c[1], c[1], c[0], change[2] % 40);
    else
        snprintf(sql, sizeof sql,
                 "UPDATE %s SET %s = %s WHERE (%s) IN (SELECT %s FROM %s "
                 "LIMIT 1 OFFSET %d)",
                 c[0], c[2], expression(change, c[2]), c[1], c[1], c[0],
                 change[2] % 40);
    must(sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK);
    if (change[0] % 4 != 3)
        bind(q, change);
    sqlite3_step(q); /* may be against a rule of the table */
    sqlite3_finalize(q);
}

/* ---- digests --------------------------------------------------------------*/

static const char *text_at(sqlite3_stmt *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q, column);
    return text != NULL ? text : "";
}

static void set_sum(sqlite3 *db, const char *sql, int64_t experiment,
                    int64_t key, uint64_t sum)
{
    sqlite3_stmt *q;
    must(sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK);
    sqlite3_bind_int64(q, 1, (int64_t)sum);
    sqlite3_bind_int64(q, 2, experiment);
    sqlite3_bind_int64(q, 3, key);
    sqlite3_step(q);
    sqlite3_finalize(q);
}

/* seq, kind, round or item, arm, value, at, text, features; false: what the
 * store will not read anyway. */
static bool read_event(sqlite3_stmt *q, uint64_t dim, tarry__store_event *e)
{
    const uint64_t item = (uint64_t)sqlite3_column_int64(q, 2);
    *e = (tarry__store_event){.seq = (uint64_t)sqlite3_column_int64(q, 0),
                              .arm = (uint64_t)sqlite3_column_int64(q, 3),
                              .value = sqlite3_column_double(q, 4),
                              .at = sqlite3_column_int64(q, 5),
                              .text = (const char *)sqlite3_column_text(q, 6)};
    if (!tarry__store_event_kind_of(text_at(q, 1), &e->kind))
        return false;
    if (e->kind < TARRY__STORE_ADMIT)
        e->round = item;
    else
        e->arm = item;
    if (e->kind != TARRY__STORE_ADMIT)
        return true;
    static double features[DIM];
    const void *blob = sqlite3_column_blob(q, 7);
    if (dim > DIM || blob == NULL ||
        (size_t)sqlite3_column_bytes(q, 7) != dim * sizeof(double))
        return false;
    memcpy(features, blob, dim * sizeof(double));
    e->features = features;
    return true;
}

static void sum_events(sqlite3 *db, int64_t experiment, uint64_t dim,
                       uint64_t sum)
{
    sqlite3_stmt *q;
    tarry__store_event e;
    must(sqlite3_prepare_v2(
             db,
             "SELECT seq, 'choose', round, arm, probability, at, id, NULL FROM "
             "choices WHERE experiment = ?1 UNION ALL SELECT seq, kind, item, "
             "0, value, at, name, features FROM reports WHERE experiment = ?1 "
             "ORDER BY seq",
             -1, &q, NULL) == SQLITE_OK);
    sqlite3_bind_int64(q, 1, experiment);
    while (sqlite3_step(q) == SQLITE_ROW && read_event(q, dim, &e)) {
        sum = tarry__store_event_digest(sum, &e, dim);
        if (e.kind == TARRY__STORE_CHOOSE)
            set_sum(db,
                    "UPDATE choices SET sum = ?1 WHERE experiment = ?2 AND "
                    "round = ?3",
                    experiment, (int64_t)e.round, sum);
        else
            set_sum(db,
                    "UPDATE reports SET sum = ?1 WHERE experiment = ?2 AND "
                    "seq = ?3",
                    experiment, (int64_t)e.seq, sum);
    }
    sqlite3_finalize(q);
}

static void sum_experiments(sqlite3 *db)
{
    sqlite3_stmt *q;
    must(sqlite3_prepare_v2(
             db,
             "SELECT number, name, prefix, policy, objective, low, high, "
             "horizon, confidence, beyond_horizon, seed, expire_after, n_arms, "
             "dim, created_at FROM experiments",
             -1, &q, NULL) == SQLITE_OK);
    while (sqlite3_step(q) == SQLITE_ROW) {
        const tarry__store_experiment e = {
            .name = text_at(q, 1),
            .prefix = text_at(q, 2),
            .policy = text_at(q, 3),
            .maximize = strcmp(text_at(q, 4), "maximize") == 0,
            .low = sqlite3_column_double(q, 5),
            .high = sqlite3_column_double(q, 6),
            .horizon = (uint64_t)sqlite3_column_int64(q, 7),
            .confidence = sqlite3_column_double(q, 8),
            .beyond_horizon = sqlite3_column_int64(q, 9) != 0,
            .seed = (uint64_t)sqlite3_column_int64(q, 10),
            .expire_after = text_at(q, 11),
            .n_arms = (uint64_t)sqlite3_column_int64(q, 12),
            .dim = (uint64_t)sqlite3_column_int64(q, 13),
            .created_at = sqlite3_column_int64(q, 14)};
        sum_events(db, sqlite3_column_int64(q, 0), e.dim,
                   tarry__store_experiment_digest(&e));
    }
    sqlite3_finalize(q);
}

/* A snapshot is one archive behind another, each with a digest of its own
 * behind its first 8 bytes, version and size; see fuzz_state.c. */
static void mend_state(unsigned char *state, size_t size)
{
    while (size >= 32) {
        uint64_t version = state[8], length;
        memcpy(&length, state + 16, sizeof length);
        if (length > size - 32)
            length = size - 32;
        const uint64_t start =
            tarry__base_digest(TARRY__BASE_DIGEST, &version, sizeof version);
        const uint64_t numbers[] = {
            version, length, tarry__base_digest(start, state + 32, length)};
        memcpy(state + 8, numbers, sizeof numbers);
        state += 32 + length;
        size -= 32 + length;
    }
}

static void sum_snapshots(sqlite3 *db)
{
    sqlite3_stmt *q, *put;
    must(sqlite3_prepare_v2(db,
                            "SELECT experiment, seq, part, state FROM "
                            "snapshots",
                            -1, &q, NULL) == SQLITE_OK);
    must(sqlite3_prepare_v2(db,
                            "UPDATE snapshots SET state = ?1, sum = ?2 WHERE "
                            "experiment = ?3 AND seq = ?4 AND part = ?5",
                            -1, &put, NULL) == SQLITE_OK);
    while (sqlite3_step(q) == SQLITE_ROW) {
        const size_t size = (size_t)sqlite3_column_bytes(q, 3);
        unsigned char *state = malloc(size + 1);
        uint64_t place[3];
        must(state != NULL);
        if (size > 0)
            memcpy(state, sqlite3_column_blob(q, 3), size);
        mend_state(state, size);
        for (int i = 0; i < 3; i++)
            sqlite3_bind_int64(
                put, 3 + i,
                (int64_t)(place[i] = (uint64_t)sqlite3_column_int64(q, i)));
        sqlite3_bind_blob(put, 1, state, (int)size, SQLITE_TRANSIENT);
        sqlite3_bind_int64(
            put, 2,
            (int64_t)tarry__base_digest(
                tarry__base_digest(TARRY__BASE_DIGEST, place, sizeof place),
                state, size));
        sqlite3_step(put);
        sqlite3_reset(put);
        free(state);
    }
    sqlite3_finalize(q);
    sqlite3_finalize(put);
}

static void change_store(const uint8_t *data, size_t size)
{
    sqlite3 *db;
    must(sqlite3_open(path, &db) == SQLITE_OK);
    sqlite3_exec(db, "PRAGMA synchronous = OFF; BEGIN", NULL, NULL, NULL);
    for (size_t i = 0; i < size / CHANGE && i < MOST_CHANGES; i++)
        apply(db, data + i * CHANGE);
    sum_experiments(db);
    sum_snapshots(db);
    must(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
    must(sqlite3_close(db) == SQLITE_OK);
}

/* ---- use ------------------------------------------------------------------*/

static void use(tarry__store *store, uint64_t number, bool from_start)
{
    tarry__session *s;
    tarry__session_choice_made made;
    tarry__session_result result;
    tarry__session_description d;
    tarry_error error = {""};
    char id[TARRY__SESSION_ID_ROOM];
    const tarry_status status =
        tarry__session_open(store, number, from_start, &s, &error);
    must(status == TARRY_OK || error.text[0] != '\0');
    if (status != TARRY_OK)
        return;
    for (int i = 0; i < 8; i++)
        if (tarry__session_choose(s, i == 1 ? "mine" : NULL, 50, &made,
                                  &error) == TARRY_OK) {
            tarry__session_id(s, made.round, id);
            tarry__session_observe(s, id, 0.25, 51, &result, &error);
            tarry__session_describe(s, made.round, 60, &d, &error);
        }
    tarry__session_observe(s, "yours", 0.5, 51, &result, &error);
    json_decref(tarry__session_arm_json(s, 0, false));
    tarry__session_commit(&s, 1, &error);
    tarry__session_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarry__store *store;
    tarry_error error = {""};
    write_template();
    change_store(data, size);
    const tarry_status status = tarry__store_open(path, false, &store, &error);
    must((status == TARRY_OK) == (store != NULL));
    must(status == TARRY_OK || error.text[0] != '\0');
    for (uint64_t i = 1; store != NULL && i <= tarry__store_count(store); i++) {
        use(store, i, true);
        use(store, i, false);
    }
    tarry__store_close(store);
    return 0;
}
