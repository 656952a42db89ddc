/* sqlite_schema.c - the tables, and views of them for people.
 *
 * Truth is in four tables that only grow: experiments, choices, reports and,
 * to save time, snapshots.  `seq` numbers the events of an experiment across
 * choices and reports, and `sum` is the running digest of all its events up to
 * this one.  `item` is the round that a report is about, or the arm that is
 * admitted or withdrawn.  Times are milliseconds since 1970.  The views show
 * names and readable times. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"
#include "store/sqlite_store.h"

enum {
    APPLICATION = 0x74617272 /* "tarr": tells a store from other databases */
};

/* As SQLite keeps them: name, then text. */
static const char *const schema[][2] = {
    {"experiments",
     "CREATE TABLE experiments(number INTEGER PRIMARY KEY, "
     "name TEXT NOT NULL, prefix TEXT NOT NULL, policy TEXT NOT NULL, "
     "objective TEXT NOT NULL, low REAL NOT NULL, high REAL NOT NULL, "
     "horizon INTEGER NOT NULL, confidence REAL NOT NULL, "
     "beyond_horizon INTEGER NOT NULL, seed INTEGER NOT NULL, "
     "expire_after TEXT NOT NULL, n_arms INTEGER NOT NULL, "
     "dim INTEGER NOT NULL, created_at INTEGER NOT NULL)"},
    {"choices",
     "CREATE TABLE choices(experiment INTEGER NOT NULL, "
     "round INTEGER NOT NULL, seq INTEGER NOT NULL, arm INTEGER NOT NULL, "
     "probability REAL NOT NULL, at INTEGER NOT NULL, id TEXT, "
     "sum INTEGER NOT NULL, PRIMARY KEY (experiment, round)) WITHOUT ROWID"},
    {"reports",
     "CREATE TABLE reports(experiment INTEGER NOT NULL, "
     "seq INTEGER NOT NULL, kind TEXT NOT NULL, item INTEGER NOT NULL, "
     "value REAL NOT NULL, at INTEGER NOT NULL, name TEXT, features BLOB, "
     "sum INTEGER NOT NULL, PRIMARY KEY (experiment, seq)) WITHOUT ROWID"},
    {"snapshots",
     "CREATE TABLE snapshots(experiment INTEGER NOT NULL, "
     "seq INTEGER NOT NULL, part INTEGER NOT NULL, state BLOB NOT NULL, "
     "sum INTEGER NOT NULL, PRIMARY KEY (experiment, seq, part)) "
     "WITHOUT ROWID"},
    {"own_ids",
     "CREATE UNIQUE INDEX own_ids ON choices(id) WHERE id IS NOT NULL"},
    {"by_item",
     "CREATE UNIQUE INDEX by_item ON reports(experiment, kind, item)"},
    {"arms",
     "CREATE VIEW arms AS SELECT e.name AS experiment, "
     "coalesce(a.name, a.item) AS name, a.item AS number, "
     "strftime('%Y-%m-%dT%H:%M:%fZ', a.at / 1000.0, 'unixepoch') "
     "AS admitted_at, "
     "strftime('%Y-%m-%dT%H:%M:%fZ', w.at / 1000.0, 'unixepoch') "
     "AS withdrawn_at "
     "FROM reports a JOIN experiments e ON e.number = a.experiment "
     "LEFT JOIN reports w ON w.experiment = a.experiment "
     "AND w.item = a.item AND w.kind = 'withdraw' WHERE a.kind = 'admit'"},
    {"decisions",
     "CREATE VIEW decisions AS SELECT coalesce(c.id, e.prefix || c.round) "
     "AS id, e.name AS experiment, c.round AS round, "
     "coalesce(a.name, c.arm) AS arm, c.probability AS probability, "
     "strftime('%Y-%m-%dT%H:%M:%fZ', c.at / 1000.0, 'unixepoch') "
     "AS decided_at, CASE "
     "WHEN EXISTS (SELECT 1 FROM reports r WHERE "
     "r.experiment = c.experiment AND r.item = c.round "
     "AND r.kind = 'observe') THEN 'observed' "
     "WHEN EXISTS (SELECT 1 FROM reports r WHERE "
     "r.experiment = c.experiment AND r.item = c.round "
     "AND r.kind = 'cancel') THEN 'cancelled' "
     "WHEN EXISTS (SELECT 1 FROM reports r WHERE "
     "r.experiment = c.experiment AND r.item = c.round "
     "AND r.kind = 'expire') THEN 'expired' "
     "WHEN EXISTS (SELECT 1 FROM reports r WHERE "
     "r.experiment = c.experiment AND r.item = c.round "
     "AND r.kind = 'default') THEN 'defaulted' ELSE 'pending' END AS state "
     "FROM choices c JOIN experiments e ON e.number = c.experiment "
     "LEFT JOIN reports a ON a.experiment = c.experiment "
     "AND a.item = c.arm AND a.kind = 'admit'"},
    {"outcomes",
     "CREATE VIEW outcomes AS SELECT coalesce(c.id, e.prefix || r.item) "
     "AS id, e.name AS experiment, r.item AS round, r.value AS loss, "
     "strftime('%Y-%m-%dT%H:%M:%fZ', r.at / 1000.0, 'unixepoch') "
     "AS reported_at "
     "FROM reports r JOIN experiments e ON e.number = r.experiment "
     "JOIN choices c ON c.experiment = r.experiment AND c.round = r.item "
     "WHERE r.kind = 'observe'"},
};
enum { N_SCHEMA = sizeof schema / sizeof *schema };

/* ---- creating -------------------------------------------------------------*/

static bool run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* All of it in one transaction with a rollback journal; then the mode is
 * changed, so that the header of the finished file says everything. */
static bool fill(sqlite3 *db)
{
    char numbers[100];
    snprintf(numbers, sizeof numbers,
             "PRAGMA application_id = %d; PRAGMA user_version = %d",
             APPLICATION, TARRY__SQLITE_VERSION);
    bool done = run(db, "PRAGMA synchronous = FULL") &&
                run(db, "BEGIN IMMEDIATE") && run(db, numbers);
    for (size_t i = 0; done && i < N_SCHEMA; i++)
        done = run(db, schema[i][1]);
    return done && run(db, "COMMIT") && run(db, "PRAGMA journal_mode = WAL");
}

static int sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/'); /* the path begins with one */
    char *folder = tarry__base_alloc((size_t)(slash - path) + 2, 1);
    if (folder == NULL)
        return ENOMEM;
    memcpy(folder, path, (size_t)(slash - path) + 1);
    folder[slash - path + 1] = '\0';
    const int fd =
        TEMP_FAILURE_RETRY(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    tarry__base_free(folder);
    if (fd < 0)
        return errno;
    const int code = fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
    close(fd);
    return code;
}

static tarry_status create_beside(const char *path, const char *beside,
                                  tarry_error *error)
{
    sqlite3 *db;
    unlink(beside); /* of somebody who was interrupted; we have the lock */
    const bool filled =
        sqlite3_open_v2(beside, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                        NULL) == SQLITE_OK &&
        fill(db);
    if (!filled)
        tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", path,
                         db != NULL ? sqlite3_errmsg(db) : "out of memory");
    const bool closed = sqlite3_close(db) == SQLITE_OK;
    if (filled && closed && rename(beside, path) == 0 && sync_folder(path) == 0)
        return TARRY_OK;
    if (filled)
        tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", path,
                         strerror(errno));
    unlink(beside);
    return TARRY_IO_ERROR;
}

tarry_status tarry__sqlite_create(const tarry__sqlite *s, tarry_error *error)
{
    const size_t length = strlen(s->path);
    char *beside = tarry__base_alloc(length + 5, 1);
    if (beside == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    memcpy(beside, s->path, length);
    memcpy(beside + length, "-new", 5);
    const tarry_status status = create_beside(s->path, beside, error);
    tarry__base_free(beside);
    return status;
}

/* ---- checking -------------------------------------------------------------*/

static uint32_t big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 |
           b[3];
}

tarry_status tarry__sqlite_check_header(tarry__sqlite *s, tarry_error *error)
{
    unsigned char b[100];
    struct stat what;
    if (stat(s->path, &what) == 0 && !S_ISREG(what.st_mode) &&
        !S_ISDIR(what.st_mode)) /* nobody may ever write to a pipe */
        return tarry__base_fail(error, TARRY_BAD_STATE,
                                "%s: not a store of tarry", s->path);
    FILE *file = fopen(s->path, "rb");
    if (file == NULL)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", s->path,
                                strerror(errno));
    const bool is_whole = fread(b, 1, sizeof b, file) == sizeof b;
    const int why = ferror(file) ? errno : 0; /* it may be a directory */
    fclose(file);
    if (why != 0)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", s->path,
                                strerror(why));
    if (!is_whole || memcmp(b, "SQLite format 3", 16) != 0 ||
        big_endian(b + 68) != APPLICATION)
        return tarry__base_fail(error, TARRY_BAD_STATE,
                                "%s: not a store of tarry", s->path);
    const uint32_t version = big_endian(b + 60) & ~(uint32_t)TARRY__SQLITE_MARK;
    if (version != TARRY__SQLITE_VERSION)
        return tarry__base_fail(error, TARRY_BAD_STATE,
                                "%s: a store of version %u, not %d", s->path,
                                (unsigned)version, TARRY__SQLITE_VERSION);
    s->has_mark = version != big_endian(b + 60);
    if (b[18] != 2 || b[19] != 2) /* its log would not be looked at */
        return tarry__base_fail(error, TARRY_BAD_STATE,
                                "%s: damaged in its header, or changed to "
                                "another journal mode",
                                s->path);
    return TARRY_OK;
}

static bool is_ours(sqlite3_stmt *row, bool seen[N_SCHEMA])
{
    const char *name = (const char *)sqlite3_column_text(row, 0);
    const char *text = (const char *)sqlite3_column_text(row, 1);
    for (size_t i = 0; name != NULL && text != NULL && i < N_SCHEMA; i++)
        if (!seen[i] && strcmp(name, schema[i][0]) == 0 &&
            strcmp(text, schema[i][1]) == 0)
            return seen[i] = true;
    return false;
}

tarry_status tarry__sqlite_check_schema(tarry__sqlite *s, tarry_error *error)
{
    bool seen[N_SCHEMA] = {false};
    size_t count = 0;
    sqlite3_stmt *rows;
    tarry_status status = tarry__sqlite_prepare(
        s, "SELECT name, sql FROM sqlite_schema", &rows, error);
    if (status != TARRY_OK)
        return status;
    int code;
    bool sound = true;
    while (sound && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        sound = is_ours(rows, seen);
        count++;
    }
    if (sound && code != SQLITE_DONE)
        status = tarry__sqlite_fail(s, error);
    else if (!sound || count != N_SCHEMA)
        status = tarry__base_fail(error, TARRY_BAD_STATE,
                                  "%s: tables, indexes or views are not those "
                                  "of a store: damaged or changed",
                                  s->path);
    sqlite3_finalize(rows);
    return status;
}
