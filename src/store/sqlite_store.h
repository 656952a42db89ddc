/* sqlite_store.h - what the files of the SQLite store share. */
#ifndef TARRY_STORE_SQLITE_STORE_H
#define TARRY_STORE_SQLITE_STORE_H

#include <sqlite3.h>
#include <sys/stat.h>
#include "store/kind.h"
#include "store/lock.h"

typedef enum {
    TARRY__SQLITE_BEGIN,
    TARRY__SQLITE_COMMIT,
    TARRY__SQLITE_ROLLBACK,
    TARRY__SQLITE_PROBE,
    TARRY__SQLITE_ADD_EXPERIMENT,
    TARRY__SQLITE_ADD_CHOICE,
    TARRY__SQLITE_ADD_CHOICES, /* many */
    TARRY__SQLITE_ADD_REPORT,
    TARRY__SQLITE_ADD_REPORTS,
    TARRY__SQLITE_LOOK_CHOICE,
    TARRY__SQLITE_LOOK_REPORT,
    TARRY__SQLITE_LOOK_ID,
    TARRY__SQLITE_LAST_ROUND,
    TARRY__SQLITE_ADD_SNAPSHOT,
    TARRY__SQLITE_DROP_SNAPSHOTS,
    TARRY__SQLITE_SNAPSHOT,
    TARRY__SQLITE_SCAN_CHOICES,
    TARRY__SQLITE_SCAN_REPORTS,
    TARRY__SQLITE_SCAN_ARMS,
    TARRY__SQLITE_COUNT
} tarry__sqlite_sql;

enum {
    TARRY__SQLITE_VERSION = 1,
    TARRY__SQLITE_MARK = 1 << 16 /* in the version: see sqlite_mark.c */
};

typedef struct {
    char *path; /* through symbolic links */
    tarry__lock lock;
    bool has_mark;  /* the file says that its log belongs to it */
    bool lacks_log; /* so it does, and there is none */
    sqlite3 *db;
    struct stat log; /* the file that SQLite has as its log */
    sqlite3_stmt *statement[TARRY__SQLITE_COUNT];
} tarry__sqlite;

/* Makes a new, empty store at s->path: first beside it, then moved there. */
tarry_status tarry__sqlite_create(const tarry__sqlite *s, tarry_error *error);

/* Looks at the first bytes of the file: a store of this version?  Sets
 * s->has_mark. */
tarry_status tarry__sqlite_check_header(tarry__sqlite *s, tarry_error *error);

/* Refuses a file with the mark whose log is missing, unless that is_forced. */
tarry_status tarry__sqlite_check_mark(tarry__sqlite *s, bool is_forced,
                                      tarry_error *error);

/* Inside of each transaction that writes, and after its commit: sees to it that
 * the file has the mark.  begin: false if SQLite fails. */
bool tarry__sqlite_begin_mark(tarry__sqlite *s);
void tarry__sqlite_end_mark(tarry__sqlite *s);

/* Whether tables, indexes and views are as they were made. */
tarry_status tarry__sqlite_check_schema(tarry__sqlite *s, tarry_error *error);

/* Verifies all experiments, events and indexes, and fills the list. */
tarry_status tarry__sqlite_verify(tarry__sqlite *s, tarry__store_heads *heads,
                                  tarry_error *error);

/* Prepares a statement, or says why not.  The caller finalizes it. */
tarry_status tarry__sqlite_prepare(tarry__sqlite *s, const char *sql,
                                   sqlite3_stmt **out, tarry_error *error);

/* What SQLite says is wrong; damage is TARRY_BAD_STATE. */
tarry_status tarry__sqlite_fail(const tarry__sqlite *s, tarry_error *error);

/* ---- scanning: choices and reports, merged by seq -------------------------*/

typedef struct {
    tarry__store_event event;
    uint64_t sum; /* as stored */
    int code;     /* SQLITE_ROW: there is an event */
} tarry__sqlite_row;

typedef struct {
    tarry__sqlite *store;
    uint64_t experiment, dim;
    sqlite3_stmt *choices, *reports;
    double *features; /* of the report at hand */
    tarry__sqlite_row choice, report;
} tarry__sqlite_scan;

/* From the events after `seq`; to be ended also after a failure.  next: *row is
 * the one with the smaller seq, until the next call; NULL at the end.  A row
 * that is none of ours is TARRY_BAD_STATE. */
tarry_status tarry__sqlite_scan_begin(tarry__sqlite_scan *scan,
                                      tarry__sqlite *s, uint64_t experiment,
                                      uint64_t dim, uint64_t seq,
                                      tarry_error *error);
/* The same with the events that admit arms only. */
tarry_status tarry__sqlite_scan_arms(tarry__sqlite_scan *scan, tarry__sqlite *s,
                                     uint64_t experiment, uint64_t dim,
                                     tarry_error *error);
tarry_status tarry__sqlite_scan_next(tarry__sqlite_scan *scan,
                                     const tarry__sqlite_row **row,
                                     tarry_error *error);
void tarry__sqlite_scan_end(tarry__sqlite_scan *scan);

#endif
