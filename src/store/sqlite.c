/* sqlite.c - a store in one file that any program for SQLite can read.
 *
 * The file is in WAL mode with synchronous = FULL: a commit is on the disk when
 * it returns.  Opening goes: take the lock, look at the header and the log
 * before SQLite does, verify all, compare with what the lock file knows to be
 * committed.  Until then SQLite may not tidy up its log, which would destroy
 * what there is to see of a damage. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"
#include "store/sqlite_store.h"
#include "store/wal.h"

enum {
    BUSY_MS = 5000,       /* for others who write to the file */
    LOG_PAGES = 4000,     /* then the log is moved into the file: 16 MB */
    PART_BYTES = 1 << 23, /* of a snapshot, per row */
    MANY = 32,            /* rows that one statement adds */
    CHOICE_COLUMNS = 8,
    REPORT_COLUMNS = 9
};

/* A row of parameters per column, many times: one statement for many rows
 * takes half the time of a statement for each. */
#define CHOICE "(?,?,?,?,?,?,?,?)"
#define REPORT "(?,?,?,?,?,?,?,?,?)"
#define FOUR(x) x "," x "," x "," x
#define THIRTY_TWO(x) FOUR(FOUR(x)) "," FOUR(FOUR(x))

/* ---- talking to SQLite ----------------------------------------------------*/

tarry_status tarry__sqlite_fail(const tarry__sqlite *s, tarry_error *error)
{
    const int code =
        s->db != NULL ? sqlite3_errcode(s->db) & 255 : SQLITE_NOMEM;
    const tarry_status status = code == SQLITE_CORRUPT || code == SQLITE_NOTADB
                                    ? TARRY_BAD_STATE
                                : code == SQLITE_NOMEM ? TARRY_NO_MEMORY
                                                       : TARRY_IO_ERROR;
    return tarry__base_fail(error, status, "%s: %s%s", s->path,
                            status == TARRY_BAD_STATE ? "damaged: " : "",
                            s->db != NULL ? sqlite3_errmsg(s->db)
                                          : "out of memory");
}

tarry_status tarry__sqlite_prepare(tarry__sqlite *s, const char *sql,
                                   sqlite3_stmt **out, tarry_error *error)
{
    const int code = sqlite3_prepare_v3(s->db, sql, -1,
                                        SQLITE_PREPARE_PERSISTENT, out, NULL);
    return code == SQLITE_OK ? TARRY_OK : tarry__sqlite_fail(s, error);
}

static const char *const texts[TARRY__SQLITE_COUNT] = {
    [TARRY__SQLITE_BEGIN] = "BEGIN IMMEDIATE",
    [TARRY__SQLITE_COMMIT] = "COMMIT",
    [TARRY__SQLITE_ROLLBACK] = "ROLLBACK",
    [TARRY__SQLITE_PROBE] =
        "UPDATE experiments SET created_at = ~created_at WHERE number = 1",
    [TARRY__SQLITE_ADD_EXPERIMENT] =
        "INSERT INTO experiments VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [TARRY__SQLITE_ADD_CHOICE] = "INSERT INTO choices VALUES" CHOICE,
    [TARRY__SQLITE_ADD_CHOICES] =
        "INSERT INTO choices VALUES" THIRTY_TWO(CHOICE),
    [TARRY__SQLITE_ADD_REPORT] = "INSERT INTO reports VALUES" REPORT,
    [TARRY__SQLITE_ADD_REPORTS] =
        "INSERT INTO reports VALUES" THIRTY_TWO(REPORT),
    [TARRY__SQLITE_LOOK_CHOICE] =
        "SELECT round, seq, arm, probability, at, id FROM "
        "choices WHERE experiment = ? AND round = ?",
    [TARRY__SQLITE_LOOK_REPORT] =
        "SELECT seq, value, at FROM reports INDEXED BY by_item "
        "WHERE experiment = ? AND item = ? AND kind = ?",
    [TARRY__SQLITE_LOOK_ID] = "SELECT experiment, round FROM choices "
                              "INDEXED BY own_ids WHERE id = ?",
    [TARRY__SQLITE_LAST_ROUND] =
        "SELECT round FROM choices WHERE experiment = ? "
        "ORDER BY round DESC LIMIT 1",
    [TARRY__SQLITE_ADD_SNAPSHOT] = "INSERT INTO snapshots VALUES(?,?,?,?,?)",
    [TARRY__SQLITE_DROP_SNAPSHOTS] =
        "DELETE FROM snapshots WHERE experiment = ?",
    [TARRY__SQLITE_SNAPSHOT] = "SELECT seq, part, state, sum FROM snapshots "
                               "WHERE experiment = ? ORDER BY seq, part",
    [TARRY__SQLITE_SCAN_CHOICES] =
        "SELECT round, seq, arm, probability, at, id, sum FROM choices "
        "WHERE experiment = ? AND round >= ? ORDER BY round",
    [TARRY__SQLITE_SCAN_REPORTS] =
        "SELECT seq, kind, item, value, at, name, features, sum FROM reports "
        "WHERE experiment = ? AND seq > ? ORDER BY seq",
    [TARRY__SQLITE_SCAN_ARMS] =
        "SELECT seq, kind, item, value, at, name, features, sum FROM reports "
        "INDEXED BY by_item WHERE experiment = ? AND kind = 'admit' "
        "ORDER BY item"};

static tarry_status prepare_all(tarry__sqlite *s, tarry_error *error)
{
    tarry_status status = TARRY_OK;
    for (int i = 0; status == TARRY_OK && i < TARRY__SQLITE_COUNT; i++)
        status = tarry__sqlite_prepare(s, texts[i], &s->statement[i], error);
    return status;
}

/* Runs a statement that gives no rows. */
static bool run(tarry__sqlite *s, tarry__sqlite_sql which)
{
    sqlite3_stmt *statement = s->statement[which];
    const int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE;
}

/* ---- open and close -------------------------------------------------------*/

/* The path through symbolic links; of a file that is not there, its folder's
 * path and its name. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);
    if (real != NULL)
        return real;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char *folder = strndup(slash != NULL ? path : ".",
                           slash != NULL ? (size_t)(slash - path) + 1 : 1);
    char *real_folder = folder != NULL ? realpath(folder, NULL) : NULL;
    if (real_folder == NULL || *name == '\0' ||
        asprintf(&real, "%s/%s", real_folder, name) < 0)
        real = NULL;
    free(real_folder);
    free(folder);
    return real;
}

static void close_sqlite(void *state)
{
    tarry__sqlite *s = state;
    for (int i = 0; i < TARRY__SQLITE_COUNT; i++)
        sqlite3_finalize(s->statement[i]);
    sqlite3_close(s->db);
    tarry__lock_give(&s->lock);
    free(s->path);
    tarry__base_free(s);
}

static bool set(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool keep_log(sqlite3 *db, int keep)
{
    return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep,
                             NULL) == SQLITE_OK;
}

/* After a commit.  Moving the log into the file takes the file's mark away. */
static int tend_log(void *context, sqlite3 *db, const char *name, int pages)
{
    tarry__sqlite *s = context;
    if (pages >= LOG_PAGES) {
        sqlite3_wal_checkpoint(db, name);
        s->has_mark = false;
    } else {
        tarry__sqlite_end_mark(s);
    }
    return SQLITE_OK;
}

static tarry_status connect(tarry__sqlite *s, tarry_error *error)
{
    if (sqlite3_open_v2(s->path, &s->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK ||
        !keep_log(s->db, 1) ||
        sqlite3_busy_timeout(s->db, BUSY_MS) != SQLITE_OK ||
        !set(s->db, "PRAGMA synchronous = FULL") ||
        !set(s->db, "PRAGMA cell_size_check = ON"))
        return tarry__sqlite_fail(s, error);
    sqlite3_wal_hook(s->db, tend_log, s);
    return TARRY_OK;
}

/* All experiments' events and digests in two numbers. */
static void total(const tarry__store_heads *heads, uint64_t *events,
                  uint64_t *sum)
{
    *events = *sum = 0;
    for (size_t i = 0; i < heads->count; i++) {
        *events += heads->head[i]->end.events;
        *sum ^= heads->head[i]->end.sum;
    }
}

static tarry_status compare_with_lock(tarry__sqlite *s,
                                      const tarry__store_heads *heads,
                                      tarry_error *error)
{
    uint64_t events, sum;
    total(heads, &events, &sum);
    if (s->lock.is_known && (events < s->lock.events ||
                             (events == s->lock.events && sum != s->lock.sum)))
        return tarry__base_fail(
            error, TARRY_BAD_STATE,
            "%s: holds %ju events, but %ju (with another digest) were "
            "committed, as %s-lock knows: damaged at the end, or another file",
            s->path, (uintmax_t)events, (uintmax_t)s->lock.events, s->path);
    tarry__lock_note(&s->lock, events, sum);
    return TARRY_OK;
}

static const char *log_of(const tarry__sqlite *s)
{
    return sqlite3_filename_wal(sqlite3_db_filename(s->db, "main"));
}

static tarry_status remember_log(tarry__sqlite *s, tarry_error *error)
{
    return stat(log_of(s), &s->log) == 0
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", log_of(s),
                                  strerror(errno));
}

/* The file is taken as whole: its mark is to go with the new log. */
static tarry_status begin_log(tarry__sqlite *s, tarry_error *error)
{
    s->has_mark = false;
    return tarry__sqlite_begin_mark(s) ? TARRY_OK
                                       : tarry__sqlite_fail(s, error);
}

static tarry_status open_locked(tarry__sqlite *s, tarry__store_heads *heads,
                                tarry_error *error)
{
    tarry_status status = TARRY_OK;
    if (access(s->path, F_OK) != 0)
        status = tarry__sqlite_create(s, error);
    if (status == TARRY_OK)
        status = tarry__sqlite_check_header(s, error);
    if (status == TARRY_OK)
        status = tarry__lock_hold(&s->lock, s->path, error);
    if (status == TARRY_OK)
        status = tarry__sqlite_check_mark(
            s, !s->lock.is_new && !s->lock.is_known, error);
    if (status == TARRY_OK)
        status = tarry__wal_check(s->path, !s->lock.is_new, error);
    if (status == TARRY_OK)
        status = connect(s, error);
    if (status == TARRY_OK)
        status = tarry__sqlite_check_schema(s, error);
    if (status == TARRY_OK)
        status = prepare_all(s, error);
    if (status == TARRY_OK)
        status = tarry__sqlite_verify(s, heads, error);
    if (status == TARRY_OK)
        status = compare_with_lock(s, heads, error);
    if (status == TARRY_OK)
        status = remember_log(s, error);
    if (status == TARRY_OK && s->lacks_log)
        status = begin_log(s, error);
    if (status == TARRY_OK && !keep_log(s->db, 0))
        status = tarry__sqlite_fail(s, error);
    return status;
}

static tarry_status open_sqlite(const char *path, bool create,
                                tarry__store_heads *heads, void **state,
                                tarry_error *error)
{
    if (!create && access(path, F_OK) != 0)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", path,
                                strerror(errno));
    tarry__sqlite *s = tarry__base_zalloc(1, sizeof *s);
    if (s == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    s->lock.fd = s->lock.store = -1;
    s->path = resolve(path);
    tarry_status status =
        s->path != NULL ? tarry__lock_take(&s->lock, s->path, error)
                        : tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s",
                                           path, strerror(errno));
    if (status == TARRY_OK)
        status = open_locked(s, heads, error);
    if (status == TARRY_OK)
        *state = s;
    else
        close_sqlite(s);
    return status;
}

/* One transaction from the first row to the last: all of one moment.  Who uses
 * the store goes on; its log grows until this ends, and stays. */
static tarry_status read_used(tarry__sqlite *s, tarry__store_heads *heads,
                              tarry_error *error)
{
    tarry_status status = tarry__sqlite_check_header(s, error);
    if (status == TARRY_OK)
        status = tarry__sqlite_check_mark(s, false, error);
    if (status == TARRY_OK)
        status = connect(s, error);
    if (status == TARRY_OK && !set(s->db, "PRAGMA query_only = ON; BEGIN"))
        status = tarry__sqlite_fail(s, error);
    if (status == TARRY_OK)
        status = tarry__sqlite_check_schema(s, error);
    if (status == TARRY_OK)
        status = prepare_all(s, error);
    return status == TARRY_OK ? tarry__sqlite_verify(s, heads, error) : status;
}

static tarry_status open_used(const char *path, tarry__store_heads *heads,
                              void **state, tarry_error *error)
{
    tarry__sqlite *s = tarry__base_zalloc(1, sizeof *s);
    if (s == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    s->lock.fd = s->lock.store = -1;
    s->path = resolve(path);
    const tarry_status status =
        s->path != NULL ? read_used(s, heads, error)
                        : tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s",
                                           path, strerror(errno));
    if (status == TARRY_OK)
        *state = s;
    else
        close_sqlite(s);
    return status;
}

/* ---- appending ------------------------------------------------------------*/

static void bind_text(sqlite3_stmt *q, int at, const char *text)
{
    if (text != NULL)
        sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(q, at);
}

static void bind_count(sqlite3_stmt *q, int at, uint64_t count)
{
    sqlite3_bind_int64(q, at, (sqlite3_int64)count);
}

static bool add_experiment(tarry__sqlite *s, uint64_t number,
                           const tarry__store_experiment *e)
{
    sqlite3_stmt *q = s->statement[TARRY__SQLITE_ADD_EXPERIMENT];
    bind_count(q, 1, number);
    bind_text(q, 2, e->name);
    bind_text(q, 3, e->prefix);
    bind_text(q, 4, e->policy);
    bind_text(q, 5, e->maximize ? "maximize" : "minimize");
    sqlite3_bind_double(q, 6, e->low);
    sqlite3_bind_double(q, 7, e->high);
    bind_count(q, 8, e->horizon);
    sqlite3_bind_double(q, 9, e->confidence);
    bind_count(q, 10, e->beyond_horizon);
    bind_count(q, 11, e->seed);
    bind_text(q, 12, e->expire_after);
    bind_count(q, 13, e->n_arms);
    bind_count(q, 14, e->dim);
    sqlite3_bind_int64(q, 15, e->created_at);
    return run(s, TARRY__SQLITE_ADD_EXPERIMENT);
}

/* Into the columns behind `from`. */
static void bind_choice(sqlite3_stmt *q, int from, uint64_t experiment,
                        const tarry__store_event *e, uint64_t sum)
{
    bind_count(q, from + 1, experiment);
    bind_count(q, from + 2, e->round);
    bind_count(q, from + 3, e->seq);
    bind_count(q, from + 4, e->arm);
    sqlite3_bind_double(q, from + 5, e->value);
    sqlite3_bind_int64(q, from + 6, e->at);
    bind_text(q, from + 7, e->text);
    bind_count(q, from + 8, sum);
}

static void bind_report(sqlite3_stmt *q, int from, uint64_t experiment,
                        const tarry__store_event *e, uint64_t dim, uint64_t sum)
{
    bind_count(q, from + 1, experiment);
    bind_count(q, from + 2, e->seq);
    bind_text(q, from + 3, tarry__store_event_name(e->kind));
    bind_count(q, from + 4,
               tarry__store_is_of_round(e->kind) ? e->round : e->arm);
    sqlite3_bind_double(q, from + 5, e->value);
    sqlite3_bind_int64(q, from + 6, e->at);
    bind_text(q, from + 7, e->text);
    if (e->features != NULL)
        sqlite3_bind_blob64(q, from + 8, e->features, dim * sizeof(double),
                            SQLITE_STATIC);
    else
        sqlite3_bind_null(q, from + 8);
    bind_count(q, from + 9, sum);
}

static bool is_choice(const tarry__store_event *e)
{
    return e->kind == TARRY__STORE_CHOOSE;
}

/* How many rows the next statement adds: MANY if they go into one table. */
static size_t next_rows(const tarry__store_event *e, size_t count)
{
    if (count < MANY)
        return 1;
    for (size_t i = 1; i < MANY; i++)
        if (is_choice(&e[i]) != is_choice(&e[0]))
            return 1;
    return MANY;
}

/* Adds events that go into one table, 1 or MANY. */
static bool add_rows(tarry__sqlite *s, uint64_t experiment,
                     const tarry__store_event *e, size_t count, uint64_t dim,
                     const uint64_t *sums)
{
    const bool are_choices = is_choice(e);
    const tarry__sqlite_sql which =
        are_choices
            ? (count > 1 ? TARRY__SQLITE_ADD_CHOICES : TARRY__SQLITE_ADD_CHOICE)
            : (count > 1 ? TARRY__SQLITE_ADD_REPORTS
                         : TARRY__SQLITE_ADD_REPORT);
    sqlite3_stmt *q = s->statement[which];
    for (size_t i = 0; i < count; i++)
        if (are_choices)
            bind_choice(q, (int)i * CHOICE_COLUMNS, experiment, &e[i], sums[i]);
        else
            bind_report(q, (int)i * REPORT_COLUMNS, experiment, &e[i], dim,
                        sums[i]);
    return run(s, which);
}

static bool add_batch(tarry__sqlite *s, const tarry__store_batch *b,
                      uint64_t dim, const uint64_t *sums)
{
    bool done = true;
    for (size_t i = 0, n; done && i < b->count; i += n) {
        n = next_rows(&b->events[i], b->count - i);
        done = add_rows(s, b->experiment, &b->events[i], n, dim, &sums[i]);
    }
    return done;
}

static bool are_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static bool is_log_there(const tarry__sqlite *s)
{
    struct stat now;
    return stat(log_of(s), &now) == 0 && are_same(&now, &s->log);
}

/* Commits if all went well, else goes back; the error is that of the first
 * thing that went wrong. */
static tarry_status finish(tarry__sqlite *s, bool done, tarry_error *error)
{
    if (done && run(s, TARRY__SQLITE_COMMIT))
        return TARRY_OK;
    const tarry_status status = tarry__sqlite_fail(s, error);
    if (!sqlite3_get_autocommit(s->db))
        run(s, TARRY__SQLITE_ROLLBACK);
    return status;
}

/* What is written to files that were removed, moved away or replaced goes with
 * this process: nobody would find it at the next start. */
static tarry_status begin(tarry__sqlite *s, tarry_error *error)
{
    int has_moved = 0;
    sqlite3_file_control(s->db, NULL, SQLITE_FCNTL_HAS_MOVED, &has_moved);
    if (has_moved != 0 || !is_log_there(s))
        return tarry__base_fail(error, TARRY_IO_ERROR,
                                "%s, or %s, was moved, removed or replaced",
                                s->path, log_of(s));
    if (!run(s, TARRY__SQLITE_BEGIN))
        return tarry__sqlite_fail(s, error);
    return tarry__sqlite_begin_mark(s) ? TARRY_OK : finish(s, false, error);
}

static tarry_status append(void *state, const tarry__store_heads *heads,
                           const tarry__store_experiment *added,
                           const tarry__store_batch *batches, size_t n,
                           const uint64_t *sums, tarry_error *error)
{
    tarry__sqlite *s = state;
    tarry_status status = begin(s, error);
    if (status != TARRY_OK)
        return status;
    bool done = added == NULL || add_experiment(s, heads->count, added);
    for (size_t i = 0; done && i < n; i++) {
        const tarry__store_head *h = heads->head[batches[i].experiment - 1];
        done = add_batch(s, &batches[i], h->made.dim, sums);
        sums += batches[i].count;
    }
    status = finish(s, done, error);
    if (status == TARRY_OK) {
        uint64_t events, sum;
        total(heads, &events, &sum);
        tarry__lock_note(&s->lock, events, sum);
    }
    return status;
}

/* Fills the log up with zeros to the size at which it begins again.  A flush of
 * a file that does not grow need not wait for the file system's own journal.
 * Page by page, since the kernel keeps what is written at once in one piece,
 * and a commit that writes into a large piece goes through all of it.  Zeros
 * are no frames: recovery stops there. */
void tarry__store_sqlite_reserve(void *state)
{
    enum { PAGE = 4096, FRAME = PAGE + 24 };
    static const char zeros[PAGE];
    tarry__sqlite *s = state;
    struct stat file;
    const int fd = open(log_of(s), O_WRONLY | O_CLOEXEC);
    const off_t wanted = (off_t)LOG_PAGES * FRAME;
    bool goes_on = fd >= 0 && fstat(fd, &file) == 0;
    for (off_t at = goes_on ? file.st_size : 0; goes_on && at < wanted;) {
        const ssize_t size = pwrite(fd, zeros, PAGE - at % PAGE, at);
        goes_on = size > 0;
        at += goes_on ? size : 0;
    }
    if (fd >= 0) {
        (void)!fdatasync(fd);
        close(fd);
    }
}

/* There and back: SQLite does not write a row that stays as it is. */
static tarry_status probe(void *state, tarry_error *error)
{
    tarry__sqlite *s = state;
    const tarry_status status = begin(s, error);
    if (status != TARRY_OK)
        return status;
    const bool is_there = run(s, TARRY__SQLITE_PROBE);
    return finish(s, is_there && run(s, TARRY__SQLITE_PROBE), error);
}

/* ---- asking ---------------------------------------------------------------*/

/* Goes through a scan that was begun, and ends it. */
static tarry_status go_through(tarry__sqlite_scan *rows, tarry_status status,
                               tarry_status (*take)(void *,
                                                    const tarry__store_event *),
                               void *context, tarry_error *error)
{
    const tarry__sqlite_row *row;
    while (status == TARRY_OK &&
           (status = tarry__sqlite_scan_next(rows, &row, error)) == TARRY_OK &&
           row != NULL)
        status = take(context, &row->event);
    tarry__sqlite_scan_end(rows);
    return status;
}

static tarry_status
scan(void *state, const tarry__store_heads *heads, uint64_t experiment,
     uint64_t seq, tarry_status (*take)(void *, const tarry__store_event *),
     void *context, tarry_error *error)
{
    tarry__sqlite_scan rows;
    const uint64_t dim = heads->head[experiment - 1]->made.dim;
    const tarry_status status =
        tarry__sqlite_scan_begin(&rows, state, experiment, dim, seq, error);
    return go_through(&rows, status, take, context, error);
}

static tarry_status
scan_arms(void *state, const tarry__store_heads *heads, uint64_t experiment,
          tarry_status (*take)(void *, const tarry__store_event *),
          void *context, tarry_error *error)
{
    tarry__sqlite_scan rows;
    const uint64_t dim = heads->head[experiment - 1]->made.dim;
    const tarry_status status =
        tarry__sqlite_scan_arms(&rows, state, experiment, dim, error);
    return go_through(&rows, status, take, context, error);
}

/* Steps a statement that gives at most one row, which `read` takes. */
static tarry_status look_up(tarry__sqlite *s, tarry__sqlite_sql which,
                            void (*read)(sqlite3_stmt *, void *), void *out,
                            bool *found, tarry_error *error)
{
    sqlite3_stmt *q = s->statement[which];
    const int code = sqlite3_step(q);
    *found = code == SQLITE_ROW;
    if (*found)
        read(q, out);
    const tarry_status status =
        *found || code == SQLITE_DONE ? TARRY_OK : tarry__sqlite_fail(s, error);
    sqlite3_reset(q);
    return status;
}

typedef struct {
    tarry__store_event *event;
    char *id; /* or NULL */
} looked;

static void take_choice(sqlite3_stmt *q, void *out)
{
    const looked *l = out;
    const char *id = (const char *)sqlite3_column_text(q, 5);
    *l->event =
        (tarry__store_event){.kind = TARRY__STORE_CHOOSE,
                             .round = (uint64_t)sqlite3_column_int64(q, 0),
                             .seq = (uint64_t)sqlite3_column_int64(q, 1),
                             .arm = (uint64_t)sqlite3_column_int64(q, 2),
                             .value = sqlite3_column_double(q, 3),
                             .at = sqlite3_column_int64(q, 4)};
    if (l->id != NULL) {
        l->id[0] = '\0';
        strncat(l->id, id != NULL ? id : "", TARRY__STORE_ID_ROOM - 1);
    }
}

static void take_report(sqlite3_stmt *q, void *out)
{
    tarry__store_event *e = ((const looked *)out)->event;
    e->seq = (uint64_t)sqlite3_column_int64(q, 0);
    e->value = sqlite3_column_double(q, 1);
    e->at = sqlite3_column_int64(q, 2);
}

static tarry_status look(void *state, uint64_t experiment,
                         tarry__store_event_kind kind, uint64_t round,
                         tarry__store_event *event, char *id, bool *found,
                         tarry_error *error)
{
    tarry__sqlite *s = state;
    const bool is_choice = kind == TARRY__STORE_CHOOSE;
    const tarry__sqlite_sql which =
        is_choice ? TARRY__SQLITE_LOOK_CHOICE : TARRY__SQLITE_LOOK_REPORT;
    bind_count(s->statement[which], 1, experiment);
    bind_count(s->statement[which], 2, round);
    if (!is_choice)
        bind_text(s->statement[which], 3, tarry__store_event_name(kind));
    *event = (tarry__store_event){.kind = kind, .round = round};
    looked out = {event, id};
    return look_up(s, which, is_choice ? take_choice : take_report, &out, found,
                   error);
}

static void take_pair(sqlite3_stmt *q, void *out)
{
    uint64_t *pair = out;
    pair[0] = (uint64_t)sqlite3_column_int64(q, 0);
    pair[1] = (uint64_t)sqlite3_column_int64(q, 1);
}

static tarry_status look_id(void *state, const char *id, uint64_t *experiment,
                            uint64_t *round, bool *found, tarry_error *error)
{
    tarry__sqlite *s = state;
    uint64_t pair[2] = {0};
    bind_text(s->statement[TARRY__SQLITE_LOOK_ID], 1, id);
    const tarry_status status =
        look_up(s, TARRY__SQLITE_LOOK_ID, take_pair, pair, found, error);
    *experiment = pair[0];
    *round = pair[1];
    return status;
}

static void take_count(sqlite3_stmt *q, void *out)
{
    *(uint64_t *)out = (uint64_t)sqlite3_column_int64(q, 0);
}

/* Times of choices do not go back. */
static tarry_status round_at(void *state, uint64_t experiment, int64_t at,
                             uint64_t *round, tarry_error *error)
{
    tarry__sqlite *s = state;
    uint64_t low = 0, high = 0; /* the answer is one of low, ..., high */
    bool found;
    bind_count(s->statement[TARRY__SQLITE_LAST_ROUND], 1, experiment);
    tarry_status status =
        look_up(s, TARRY__SQLITE_LAST_ROUND, take_count, &high, &found, error);
    while (status == TARRY_OK && low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        tarry__store_event e;
        status = look(s, experiment, TARRY__STORE_CHOOSE, middle, &e, NULL,
                      &found, error);
        if (!found || e.at <= at) /* it may be one before the first */
            low = middle;
        else
            high = middle - 1;
    }
    if (status == TARRY_OK && low > 0) {
        tarry__store_event e;
        status = look(s, experiment, TARRY__STORE_CHOOSE, low, &e, NULL, &found,
                      error);
        low = found ? low : 0;
    }
    *round = low;
    return status;
}

/* ---- snapshots ------------------------------------------------------------*/

static uint64_t part_digest(uint64_t experiment, uint64_t seq, uint64_t part,
                            const void *bytes, size_t size)
{
    const uint64_t place[] = {experiment, seq, part};
    return tarry__base_digest(
        tarry__base_digest(TARRY__BASE_DIGEST, place, sizeof place), bytes,
        size);
}

static bool add_part(tarry__sqlite *s, uint64_t experiment, uint64_t seq,
                     uint64_t part, const void *bytes, size_t size)
{
    sqlite3_stmt *q = s->statement[TARRY__SQLITE_ADD_SNAPSHOT];
    bind_count(q, 1, experiment);
    bind_count(q, 2, seq);
    bind_count(q, 3, part);
    sqlite3_bind_blob64(q, 4, bytes, size, SQLITE_STATIC);
    bind_count(q, 5, part_digest(experiment, seq, part, bytes, size));
    return run(s, TARRY__SQLITE_ADD_SNAPSHOT);
}

static tarry_status save(void *state, uint64_t experiment, uint64_t seq,
                         const void *bytes, size_t size, tarry_error *error)
{
    tarry__sqlite *s = state;
    const tarry_status status = begin(s, error);
    if (status != TARRY_OK)
        return status;
    bind_count(s->statement[TARRY__SQLITE_DROP_SNAPSHOTS], 1, experiment);
    bool done = run(s, TARRY__SQLITE_DROP_SNAPSHOTS);
    for (size_t at = 0; done && at < size; at += PART_BYTES) {
        const size_t left = size - at;
        done = add_part(s, experiment, seq, at / PART_BYTES,
                        (const char *)bytes + at,
                        left < PART_BYTES ? left : PART_BYTES);
    }
    return finish(s, done, error);
}

typedef struct {
    uint64_t experiment, seq, parts;
    char *bytes;
    size_t size, room;
} snapshot;

static bool take_part(sqlite3_stmt *q, snapshot *out)
{
    const size_t size = (size_t)sqlite3_column_bytes(q, 2);
    if (size > out->room - out->size) {
        const size_t room = 2 * out->room + size;
        char *bigger = tarry__base_grow(out->bytes, out->size, room, 1);
        if (bigger == NULL)
            return false;
        out->bytes = bigger;
        out->room = room;
    }
    memcpy(out->bytes + out->size, sqlite3_column_blob(q, 2), size);
    out->size += size;
    return true;
}

/* Whether the row is the next part and has the digest it was stored with. */
static bool is_next_part(sqlite3_stmt *q, snapshot *out)
{
    const uint64_t seq = (uint64_t)sqlite3_column_int64(q, 0);
    const uint64_t part = (uint64_t)sqlite3_column_int64(q, 1);
    const void *blob = sqlite3_column_blob(q, 2);
    if (out->parts == 0)
        out->seq = seq;
    return blob != NULL && seq == out->seq && part == out->parts++ &&
           part_digest(out->experiment, seq, part, blob,
                       (size_t)sqlite3_column_bytes(q, 2)) ==
               (uint64_t)sqlite3_column_int64(q, 3);
}

static tarry_status load(void *state, uint64_t experiment, uint64_t *seq,
                         void **bytes, size_t *size, tarry_error *error)
{
    tarry__sqlite *s = state;
    sqlite3_stmt *q = s->statement[TARRY__SQLITE_SNAPSHOT];
    snapshot found = {.experiment = experiment};
    tarry_status status = TARRY_OK;
    int code = SQLITE_ROW;
    bind_count(q, 1, experiment);
    while (status == TARRY_OK && (code = sqlite3_step(q)) == SQLITE_ROW) {
        if (!is_next_part(q, &found))
            status = tarry__base_fail(error, TARRY_BAD_STATE,
                                      "%s: damaged: experiment %ju, snapshot "
                                      "of event %ju",
                                      s->path, (uintmax_t)experiment,
                                      (uintmax_t)found.seq);
        else if (!take_part(q, &found))
            status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    }
    if (status == TARRY_OK && code != SQLITE_DONE)
        status = tarry__sqlite_fail(s, error);
    sqlite3_reset(q);
    if (status != TARRY_OK) {
        tarry__base_free(found.bytes);
        found = (snapshot){0};
    }
    *seq = found.seq;
    *bytes = found.bytes;
    *size = found.size;
    return status;
}

/* But for FILE-shm, which SQLite makes again. */
static bool has_file(void *state, const struct stat *file)
{
    const tarry__sqlite *s = state;
    struct stat own;
    return are_same(file, &s->log) ||
           (fstat(s->lock.fd, &own) == 0 && are_same(file, &own)) ||
           (stat(s->path, &own) == 0 && are_same(file, &own));
}

const tarry__store_kind tarry__store_sqlite = {.open = open_sqlite,
                                               .open_used = open_used,
                                               .close = close_sqlite,
                                               .append = append,
                                               .probe = probe,
                                               .scan = scan,
                                               .scan_arms = scan_arms,
                                               .look = look,
                                               .look_id = look_id,
                                               .round_at = round_at,
                                               .save = save,
                                               .load = load,
                                               .has_file = has_file};
