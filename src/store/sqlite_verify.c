/* sqlite_verify.c - everything a store holds is looked at before it is used.
 *
 * SQLite looks after its pages and the order of their rows (integrity_check: a
 * quick one lets rows pass that a look-up would miss).  The running
 * digests say that no event was changed, lost, swapped or put in, from the
 * experiment's own row to its last event.  Of what people or this program look
 * up by index, a sum over the index must be that over the table. */
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "store/sqlite_store.h"

static tarry_status damaged(const tarry__sqlite *s, uint64_t experiment,
                            const char *what, uint64_t seq, tarry_error *error)
{
    return tarry__base_fail(error, TARRY_BAD_STATE,
                            "%s: damaged: experiment %ju, %s %ju", s->path,
                            (uintmax_t)experiment, what, (uintmax_t)seq);
}

/* ---- pages ----------------------------------------------------------------*/

static tarry_status check_pages(tarry__sqlite *s, tarry_error *error)
{
    sqlite3_stmt *check;
    tarry_status status =
        tarry__sqlite_prepare(s, "PRAGMA integrity_check(1)", &check, error);
    if (status != TARRY_OK)
        return status;
    if (sqlite3_step(check) != SQLITE_ROW) {
        status = tarry__sqlite_fail(s, error);
    } else {
        const char *text = (const char *)sqlite3_column_text(check, 0);
        if (text == NULL || strcmp(text, "ok") != 0)
            status =
                tarry__base_fail(error, TARRY_BAD_STATE, "%s: damaged: %.200s",
                                 s->path, text != NULL ? text : "");
    }
    sqlite3_finalize(check);
    for (char *c = error != NULL ? error->text : (char[]){""}; *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
    return status;
}

/* ---- experiments ----------------------------------------------------------*/

/* As the statement below selects them: their types, one letter each. */
static bool has_types(sqlite3_stmt *row, const char *types)
{
    for (int i = 0; types[i] != '\0'; i++) {
        const int type = sqlite3_column_type(row, i);
        if (type != (types[i] == 't'   ? SQLITE_TEXT
                     : types[i] == 'r' ? SQLITE_FLOAT
                                       : SQLITE_INTEGER))
            return false;
    }
    return true;
}

static const char *text_of(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text != NULL ? text : "";
}

static uint64_t count_of(sqlite3_stmt *row, int column)
{
    return (uint64_t)sqlite3_column_int64(row, column);
}

static tarry_status read_experiment(tarry__sqlite *s, sqlite3_stmt *row,
                                    tarry__store_heads *heads,
                                    tarry_error *error)
{
    const char *objective = text_of(row, 4);
    const tarry__store_experiment e = {
        .name = text_of(row, 1),
        .prefix = text_of(row, 2),
        .policy = text_of(row, 3),
        .maximize = strcmp(objective, "maximize") == 0,
        .low = sqlite3_column_double(row, 5),
        .high = sqlite3_column_double(row, 6),
        .horizon = count_of(row, 7),
        .confidence = sqlite3_column_double(row, 8),
        .beyond_horizon = count_of(row, 9) != 0,
        .seed = count_of(row, 10),
        .expire_after = text_of(row, 11),
        .n_arms = count_of(row, 12),
        .dim = count_of(row, 13),
        .created_at = sqlite3_column_int64(row, 14)};
    if (!has_types(row, "ittttrririitiii") ||
        (!e.maximize && strcmp(objective, "minimize") != 0) ||
        count_of(row, 9) > 1 || count_of(row, 0) != heads->count + 1 ||
        !tarry__store_experiment_fits(&e))
        return damaged(s, heads->count + 1, "its settings, row",
                       count_of(row, 0), error);
    return tarry__store_heads_add(heads, &e) == TARRY_OK
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

static tarry_status read_experiments(tarry__sqlite *s,
                                     tarry__store_heads *heads,
                                     tarry_error *error)
{
    sqlite3_stmt *rows;
    tarry_status status = tarry__sqlite_prepare(
        s,
        "SELECT number, name, prefix, policy, objective, low, high, horizon, "
        "confidence, beyond_horizon, seed, expire_after, n_arms, dim, "
        "created_at FROM experiments ORDER BY number",
        &rows, error);
    if (status != TARRY_OK)
        return status;
    int code;
    while (status == TARRY_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        status = read_experiment(s, rows, heads, error);
    if (status == TARRY_OK && code != SQLITE_DONE)
        status = tarry__sqlite_fail(s, error);
    sqlite3_finalize(rows);
    return status;
}

/* ---- events ---------------------------------------------------------------*/

/* What an index says of a row: added up, order does not matter. */
typedef struct {
    uint64_t items, ids;
} tally;

static uint64_t item_share(uint64_t experiment, uint64_t item, const char *kind,
                           uint64_t seq)
{
    const uint64_t parts[] = {experiment, item, seq};
    return tarry__base_digest(
        tarry__base_digest(TARRY__BASE_DIGEST, parts, sizeof parts), kind,
        strlen(kind));
}

static uint64_t id_share(uint64_t experiment, const char *id, uint64_t round)
{
    return item_share(experiment, round, id, 0);
}

static void count_event(tally *t, uint64_t experiment,
                        const tarry__store_event *e)
{
    if (e->kind != TARRY__STORE_CHOOSE)
        t->items += item_share(experiment, e->round != 0 ? e->round : e->arm,
                               tarry__store_event_name(e->kind), e->seq);
    else if (e->text != NULL)
        t->ids += id_share(experiment, e->text, e->round);
}

static tarry_status check_event(tarry__sqlite *s, uint64_t number,
                                tarry__store_head *h,
                                const tarry__sqlite_row *row,
                                tarry_error *error)
{
    if (row->event.seq != h->end.events + 1)
        return damaged(s, number, "there is no event", h->end.events + 1,
                       error);
    if (!tarry__store_event_fits(h, &row->event))
        return damaged(s, number, "there can be no such event", row->event.seq,
                       error);
    tarry__store_head_pass(h, &row->event);
    return h->end.sum == row->sum
               ? TARRY_OK
               : damaged(s, number, "the digest is wrong at event",
                         h->end.events, error);
}

static tarry_status check_experiment(tarry__sqlite *s, uint64_t number,
                                     tarry__store_head *h, tally *t,
                                     tarry_error *error)
{
    tarry__sqlite_scan scan;
    const tarry__sqlite_row *row;
    tarry_status status =
        tarry__sqlite_scan_begin(&scan, s, number, h->made.dim, 0, error);
    while (status == TARRY_OK &&
           (status = tarry__sqlite_scan_next(&scan, &row, error)) == TARRY_OK &&
           row != NULL) {
        status = check_event(s, number, h, row, error);
        count_event(t, number, &row->event);
    }
    tarry__sqlite_scan_end(&scan);
    if (status == TARRY_OK && h->end.events < h->made.n_arms)
        status =
            damaged(s, number, "there is no event", h->end.events + 1, error);
    return status;
}

/* ---- indexes and what belongs to no experiment ----------------------------*/

/* Adds up an index: experiment, item, text, seq. */
static tarry_status add_index(tarry__sqlite *s, const char *sql, uint64_t *sum,
                              tarry_error *error)
{
    sqlite3_stmt *rows;
    tarry_status status = tarry__sqlite_prepare(s, sql, &rows, error);
    if (status != TARRY_OK)
        return status;
    int code;
    while ((code = sqlite3_step(rows)) == SQLITE_ROW && has_types(rows, "iiti"))
        *sum += item_share(count_of(rows, 0), count_of(rows, 1),
                           text_of(rows, 2), count_of(rows, 3));
    if (code == SQLITE_ROW)
        status = tarry__base_fail(error, TARRY_BAD_STATE,
                                  "%s: damaged: a type in an index", s->path);
    else if (code != SQLITE_DONE)
        status = tarry__sqlite_fail(s, error);
    sqlite3_finalize(rows);
    return status;
}

static tarry_status check_indexes(tarry__sqlite *s, const tally *t,
                                  tarry_error *error)
{
    tally found = {0};
    tarry_status status =
        add_index(s,
                  "SELECT experiment, item, kind, seq FROM reports INDEXED BY "
                  "by_item ORDER BY experiment, kind, item",
                  &found.items, error);
    if (status == TARRY_OK)
        status = add_index(s,
                           "SELECT experiment, round, id, 0 FROM choices "
                           "INDEXED BY own_ids WHERE id IS NOT NULL "
                           "ORDER BY id",
                           &found.ids, error);
    if (status == TARRY_OK && (found.items != t->items || found.ids != t->ids))
        status = tarry__base_fail(
            error, TARRY_BAD_STATE,
            "%s: damaged: index %s does not fit its "
            "table",
            s->path, found.items != t->items ? "by_item" : "own_ids");
    return status;
}

/* Rows of experiments that are not there, and snapshots of what is yet to
 * happen. */
static tarry_status check_strays(tarry__sqlite *s,
                                 const tarry__store_heads *heads,
                                 tarry_error *error)
{
    static const char *const questions[] = {
        "SELECT experiment, 0 FROM choices ORDER BY experiment DESC LIMIT 1",
        "SELECT experiment, 0 FROM reports ORDER BY experiment DESC LIMIT 1",
        "SELECT experiment, 0 FROM choices ORDER BY experiment LIMIT 1",
        "SELECT experiment, 0 FROM reports ORDER BY experiment LIMIT 1",
        "SELECT experiment, seq FROM snapshots WHERE part = 0"};
    tarry_status status = TARRY_OK;
    for (size_t i = 0;
         status == TARRY_OK && i < sizeof questions / sizeof *questions; i++) {
        sqlite3_stmt *rows;
        status = tarry__sqlite_prepare(s, questions[i], &rows, error);
        while (status == TARRY_OK && sqlite3_step(rows) == SQLITE_ROW) {
            const uint64_t number = count_of(rows, 0);
            if (number == 0 || number > heads->count)
                status =
                    damaged(s, number, "it is not there, but events", 1, error);
            else if (count_of(rows, 1) > heads->head[number - 1]->end.events)
                status = damaged(s, number, "a snapshot, but no event",
                                 count_of(rows, 1), error);
        }
        sqlite3_finalize(rows);
    }
    return status;
}

tarry_status tarry__sqlite_verify(tarry__sqlite *s, tarry__store_heads *heads,
                                  tarry_error *error)
{
    tally t = {0};
    tarry_status status = check_pages(s, error);
    if (status == TARRY_OK)
        status = read_experiments(s, heads, error);
    for (size_t i = 0; status == TARRY_OK && i < heads->count; i++)
        status = check_experiment(s, i + 1, heads->head[i], &t, error);
    if (status == TARRY_OK)
        status = check_indexes(s, &t, error);
    if (status == TARRY_OK)
        status = check_strays(s, heads, error);
    return status;
}
