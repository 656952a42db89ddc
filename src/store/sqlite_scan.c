/* sqlite_scan.c - rows to events, choices and reports merged by seq.
 *
 * A column must have the type it was written with: a flipped bit can make a
 * number a text that looks the same. */
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "store/sqlite_store.h"

static bool is_integer(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_INTEGER;
}

static bool is_real(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_FLOAT;
}

/* A text, or NULL. */
static bool read_text(sqlite3_stmt *row, int column, const char **text)
{
    const int type = sqlite3_column_type(row, column);
    *text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(row, column)
                                : NULL;
    return type == SQLITE_NULL ||
           (*text != NULL &&
            strlen(*text) == (size_t)sqlite3_column_bytes(row, column));
}

/* round, seq, arm, probability, at, id, sum */
static bool read_choice(sqlite3_stmt *row, tarry__sqlite_row *out)
{
    out->event = (tarry__store_event){
        .kind = TARRY__STORE_CHOOSE,
        .round = (uint64_t)sqlite3_column_int64(row, 0),
        .seq = (uint64_t)sqlite3_column_int64(row, 1),
        .arm = (uint64_t)sqlite3_column_int64(row, 2),
        .value = sqlite3_column_double(row, 3),
        .at = sqlite3_column_int64(row, 4),
    };
    out->sum = (uint64_t)sqlite3_column_int64(row, 6);
    return is_integer(row, 0) && is_integer(row, 1) && is_integer(row, 2) &&
           is_real(row, 3) && is_integer(row, 4) &&
           read_text(row, 5, &out->event.text) && is_integer(row, 6);
}

/* Only an admitted arm has features, one per dimension, or none.  They are
 * copied, as a blob need not be aligned. */
static bool read_features(sqlite3_stmt *row, int column, uint64_t dim,
                          double *features, tarry__store_event *e)
{
    const int type = sqlite3_column_type(row, column);
    if (e->kind != TARRY__STORE_ADMIT || type == SQLITE_NULL)
        return type == SQLITE_NULL;
    const void *blob = sqlite3_column_blob(row, column);
    const size_t size = (size_t)sqlite3_column_bytes(row, column);
    if (type != SQLITE_BLOB || blob == NULL || size != dim * sizeof(double))
        return false;
    memcpy(features, blob, size);
    e->features = features;
    return true;
}

/* seq, kind, item, value, at, name, features, sum */
static bool read_report(const tarry__sqlite_scan *scan, tarry__sqlite_row *out)
{
    sqlite3_stmt *row = scan->reports;
    const char *kind;
    tarry__store_event *e = &out->event;
    *e = (tarry__store_event){.seq = (uint64_t)sqlite3_column_int64(row, 0),
                              .value = sqlite3_column_double(row, 3),
                              .at = sqlite3_column_int64(row, 4)};
    out->sum = (uint64_t)sqlite3_column_int64(row, 7);
    if (!is_integer(row, 0) || !read_text(row, 1, &kind) || kind == NULL ||
        !tarry__store_event_kind_of(kind, &e->kind) ||
        e->kind == TARRY__STORE_CHOOSE || !is_integer(row, 2))
        return false;
    const uint64_t item = (uint64_t)sqlite3_column_int64(row, 2);
    if (tarry__store_is_of_round(e->kind))
        e->round = item;
    else
        e->arm = item;
    return is_real(row, 3) && is_integer(row, 4) &&
           read_text(row, 5, &e->text) &&
           read_features(row, 6, scan->dim, scan->features, e) &&
           is_integer(row, 7);
}

/* ---- merging --------------------------------------------------------------*/

static tarry_status bad_row(const tarry__sqlite_scan *scan, const char *table,
                            sqlite3_stmt *row, const char *key,
                            tarry_error *error)
{
    return tarry__base_fail(
        error, TARRY_BAD_STATE, "%s: damaged: experiment %ju, %s, %s %ju",
        scan->store->path, (uintmax_t)scan->experiment, table, key,
        (uintmax_t)sqlite3_column_int64(row, 0));
}

static tarry_status step(tarry__sqlite_scan *scan, bool is_choice,
                         tarry_error *error)
{
    sqlite3_stmt *rows = is_choice ? scan->choices : scan->reports;
    tarry__sqlite_row *row = is_choice ? &scan->choice : &scan->report;
    row->code = sqlite3_step(rows);
    if (row->code == SQLITE_DONE)
        return TARRY_OK;
    if (row->code != SQLITE_ROW)
        return tarry__sqlite_fail(scan->store, error);
    if (is_choice ? read_choice(rows, row) : read_report(scan, row))
        return TARRY_OK;
    return bad_row(scan, is_choice ? "choices" : "reports", rows,
                   is_choice ? "round" : "seq", error);
}

/* The first round whose choice comes after `seq`; rounds and seqs grow
 * together. */
static tarry_status first_after(tarry__sqlite *s, uint64_t experiment,
                                uint64_t seq, uint64_t *round,
                                tarry_error *error)
{
    sqlite3_stmt *last = s->statement[TARRY__SQLITE_LAST_ROUND];
    sqlite3_stmt *look = s->statement[TARRY__SQLITE_LOOK_CHOICE];
    sqlite3_bind_int64(last, 1, (sqlite3_int64)experiment);
    int code = sqlite3_step(last);
    uint64_t low = 1, high = 1;
    if (code == SQLITE_ROW)
        high = (uint64_t)sqlite3_column_int64(last, 0) + 1;
    sqlite3_reset(last);
    while ((code == SQLITE_ROW || code == SQLITE_DONE) && low < high) {
        const uint64_t middle = low + (high - low) / 2;
        sqlite3_bind_int64(look, 1, (sqlite3_int64)experiment);
        sqlite3_bind_int64(look, 2, (sqlite3_int64)middle);
        code = sqlite3_step(look);
        if (code == SQLITE_DONE || /* one before the first */
            (code == SQLITE_ROW &&
             (uint64_t)sqlite3_column_int64(look, 1) <= seq))
            low = middle + 1;
        else
            high = middle;
        sqlite3_reset(look);
    }
    *round = low;
    return code == SQLITE_ROW || code == SQLITE_DONE
               ? TARRY_OK
               : tarry__sqlite_fail(s, error);
}

tarry_status tarry__sqlite_scan_begin(tarry__sqlite_scan *scan,
                                      tarry__sqlite *s, uint64_t experiment,
                                      uint64_t dim, uint64_t seq,
                                      tarry_error *error)
{
    *scan = (tarry__sqlite_scan){
        .store = s,
        .experiment = experiment,
        .dim = dim,
        .choices = s->statement[TARRY__SQLITE_SCAN_CHOICES],
        .reports = s->statement[TARRY__SQLITE_SCAN_REPORTS]};
    uint64_t round = 0;
    scan->features = tarry__base_alloc(dim, sizeof(double));
    tarry_status status =
        scan->features != NULL
            ? TARRY_OK
            : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    if (status == TARRY_OK && seq > 0)
        status = first_after(s, experiment, seq, &round, error);
    sqlite3_bind_int64(scan->choices, 1, (sqlite3_int64)experiment);
    sqlite3_bind_int64(scan->choices, 2, (sqlite3_int64)round);
    sqlite3_bind_int64(scan->reports, 1, (sqlite3_int64)experiment);
    sqlite3_bind_int64(scan->reports, 2, (sqlite3_int64)seq);
    scan->choice.code = scan->report.code = SQLITE_OK; /* to be stepped */
    return status;
}

tarry_status tarry__sqlite_scan_arms(tarry__sqlite_scan *scan, tarry__sqlite *s,
                                     uint64_t experiment, uint64_t dim,
                                     tarry_error *error)
{
    const tarry_status status =
        tarry__sqlite_scan_begin(scan, s, experiment, dim, 0, error);
    scan->reports = s->statement[TARRY__SQLITE_SCAN_ARMS];
    scan->choice.code = SQLITE_DONE;
    sqlite3_bind_int64(scan->reports, 1, (sqlite3_int64)experiment);
    return status;
}

tarry_status tarry__sqlite_scan_next(tarry__sqlite_scan *scan,
                                     const tarry__sqlite_row **row,
                                     tarry_error *error)
{
    tarry_status status = TARRY_OK;
    if (scan->choice.code == SQLITE_OK)
        status = step(scan, true, error);
    if (status == TARRY_OK && scan->report.code == SQLITE_OK)
        status = step(scan, false, error);
    *row = NULL;
    if (status != TARRY_OK)
        return status;
    tarry__sqlite_row *c = &scan->choice, *r = &scan->report;
    if (c->code != SQLITE_ROW && r->code != SQLITE_ROW)
        return TARRY_OK;
    tarry__sqlite_row *first =
        r->code != SQLITE_ROW ||
                (c->code == SQLITE_ROW && c->event.seq < r->event.seq)
            ? c
            : r;
    first->code = SQLITE_OK; /* used up: the next call steps on */
    *row = first;
    return TARRY_OK;
}

void tarry__sqlite_scan_end(tarry__sqlite_scan *scan)
{
    sqlite3_reset(scan->choices);
    sqlite3_reset(scan->reports);
    tarry__base_free(scan->features);
}
