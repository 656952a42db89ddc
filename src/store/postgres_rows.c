/* postgres_rows.c - events to rows and back, in PostgreSQL's binary formats.
 *
 * A batch is one statement with an array for each column.  Rows come back one
 * at a time as the server sends them, and each must be what was written. */
#include <string.h>
#include "base/base.h"
#include "store/postgres_store.h"

/* Types of the columns, by PostgreSQL's numbers. */
enum { INT8 = 20, TEXT = 25, FLOAT8 = 701, BYTEA = 17 };
enum { SEQ, KIND, ITEM, ARM, VALUE, AT, NAME, FEATURES, SUM };
static const int types[TARRY__POSTGRES_COLUMNS] = {
    INT8, TEXT, INT8, INT8, FLOAT8, INT8, TEXT, BYTEA, INT8};

/* ---- to rows --------------------------------------------------------------*/

static bool reserve(tarry__postgres_buffer *b, size_t more)
{
    if (b->used + more <= b->room)
        return true;
    const size_t room = 2 * (b->used + more);
    unsigned char *bigger = tarry__base_grow(b->bytes, b->used, room, 1);
    if (bigger == NULL)
        return false;
    b->bytes = bigger;
    b->room = room;
    return true;
}

/* Dimensions, whether there are NULLs, type, length, first index. */
static bool begin_array(tarry__postgres_buffer *b, int type, size_t count)
{
    const uint64_t head[] = {1, 1, (uint64_t)type, count, 1};
    if (!reserve(b, 20 + 12 * count))
        return false;
    for (int i = 0; i < 5; i++)
        tarry__postgres_put(b->bytes + 4 * i, head[i], 4);
    b->used = 20;
    return true;
}

/* An element: its length (-1 for NULL) and its bytes. */
static bool add_bytes(tarry__postgres_buffer *b, const void *bytes, size_t size)
{
    if (!reserve(b, 4 + size))
        return false;
    tarry__postgres_put(b->bytes + b->used, bytes != NULL ? size : (uint64_t)-1,
                        4);
    if (bytes != NULL)
        memcpy(b->bytes + b->used + 4, bytes, size);
    b->used += 4 + (bytes != NULL ? size : 0);
    return true;
}

static bool add_number(tarry__postgres_buffer *b, uint64_t number)
{
    unsigned char bytes[8];
    tarry__postgres_put(bytes, number, 8);
    return add_bytes(b, bytes, 8);
}

static bool add_text(tarry__postgres_buffer *b, const char *text)
{
    return add_bytes(b, text, text != NULL ? strlen(text) : 0);
}

static bool add_event(tarry__postgres_columns *c, const tarry__store_event *e,
                      uint64_t dim, uint64_t sum)
{
    const bool is_choice = e->kind == TARRY__STORE_CHOOSE;
    tarry__postgres_buffer *column = c->column;
    uint64_t value;
    memcpy(&value, &e->value, sizeof value);
    return add_number(&column[SEQ], e->seq) &&
           add_text(&column[KIND], tarry__store_event_name(e->kind)) &&
           add_number(&column[ITEM],
                      tarry__store_is_of_round(e->kind) ? e->round : e->arm) &&
           add_number(&column[ARM], is_choice ? e->arm : 0) &&
           add_number(&column[VALUE], value) &&
           add_number(&column[AT], (uint64_t)e->at) &&
           add_text(&column[NAME], e->text) &&
           add_bytes(&column[FEATURES], e->features, dim * sizeof(double)) &&
           add_number(&column[SUM], sum);
}

bool tarry__postgres_columns_fill(tarry__postgres_columns *c,
                                  const tarry__store_batch *batch, uint64_t dim,
                                  const uint64_t *sums)
{
    bool done = true;
    for (int i = 0; done && i < TARRY__POSTGRES_COLUMNS; i++)
        done = begin_array(&c->column[i], types[i], batch->count);
    for (size_t i = 0; done && i < batch->count; i++)
        done = add_event(c, &batch->events[i], dim, sums[i]);
    return done;
}

void tarry__postgres_columns_free(tarry__postgres_columns *c)
{
    for (int i = 0; i < TARRY__POSTGRES_COLUMNS; i++)
        tarry__base_free(c->column[i].bytes);
}

/* ---- and back -------------------------------------------------------------*/

typedef struct {
    tarry__store_event event;
    uint64_t sum;
    double *features; /* room for one per dimension */
    uint64_t dim;
} row_read;

/* Only an admitted arm has features, one per dimension, or none.  They are
 * copied, as bytes in a result need not be aligned. */
static bool read_features(const PGresult *r, row_read *out)
{
    const bool is_null = PQgetisnull(r, 0, FEATURES) != 0;
    if (out->event.kind != TARRY__STORE_ADMIT || is_null)
        return is_null;
    const size_t size = (size_t)PQgetlength(r, 0, FEATURES);
    if (size != out->dim * sizeof(double))
        return false;
    memcpy(out->features, PQgetvalue(r, 0, FEATURES), size);
    out->event.features = out->features;
    return true;
}

static bool read_row(const PGresult *r, row_read *out)
{
    tarry__store_event *e = &out->event;
    *e = (tarry__store_event){
        .seq = tarry__postgres_count_of(r, 0, SEQ),
        .value = tarry__postgres_real(PQgetvalue(r, 0, VALUE)),
        .at = (int64_t)tarry__postgres_count_of(r, 0, AT),
        .text = PQgetisnull(r, 0, NAME) ? NULL : PQgetvalue(r, 0, NAME)};
    out->sum = tarry__postgres_count_of(r, 0, SUM);
    if (!tarry__store_event_kind_of(PQgetvalue(r, 0, KIND), &e->kind))
        return false;
    const uint64_t item = tarry__postgres_count_of(r, 0, ITEM);
    const uint64_t arm = tarry__postgres_count_of(r, 0, ARM);
    e->round = tarry__store_is_of_round(e->kind) ? item : 0;
    e->arm = tarry__store_is_of_round(e->kind) ? arm : item;
    return read_features(r, out);
}

/* Takes rows until the sync; the first failure stands. */
static tarry_status take_rows(
    tarry__postgres *s, uint64_t experiment, row_read *row,
    tarry_status (*take)(void *, const tarry__store_event *, uint64_t sum),
    void *context, tarry_error *error)
{
    tarry_status status = TARRY_OK;
    bool is_over = false;
    while (!is_over && s->link != NULL) {
        PGresult *r = tarry__postgres_next(s);
        const ExecStatusType what = PQresultStatus(r);
        is_over = r != NULL && what == PGRES_PIPELINE_SYNC;
        if (r != NULL && status == TARRY_OK && what == PGRES_SINGLE_TUPLE)
            status =
                read_row(r, row)
                    ? take(context, &row->event, row->sum)
                    : tarry__base_fail(error, TARRY_BAD_STATE,
                                       "%s: damaged: experiment %ju, event %ju",
                                       s->shown, (uintmax_t)experiment,
                                       (uintmax_t)row->event.seq);
        else if (r != NULL && status == TARRY_OK && what == PGRES_FATAL_ERROR)
            status = tarry__base_fail(
                error, TARRY_IO_ERROR, "%s: %s", s->shown,
                PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY)
                    ? PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY)
                    : "it cannot be read");
        PQclear(r);
    }
    return status == TARRY_OK && s->link == NULL
               ? tarry__postgres_fail(s, error)
               : status;
}

tarry_status tarry__postgres_scan(
    tarry__postgres *s, tarry__postgres_sql which, uint64_t experiment,
    uint64_t after, uint64_t to,
    tarry_status (*take)(void *, const tarry__store_event *, uint64_t sum),
    void *context, tarry_error *error)
{
    const uint64_t dim = s->heads->head[experiment - 1]->made.dim;
    row_read row = {.dim = dim};
    tarry__postgres_params p = {0};
    row.features = tarry__base_alloc(dim, sizeof(double));
    if (row.features == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    tarry__postgres_add_count(&p, experiment);
    tarry__postgres_add_count(&p, after);
    tarry__postgres_add_count(&p, to);
    tarry__postgres_send(s, which, &p);
    tarry__postgres_sync(s);
    if (s->link != NULL && PQsetSingleRowMode(s->link) == 0)
        tarry__postgres_lose(s, "rows do not come one by one");
    const tarry_status status =
        take_rows(s, experiment, &row, take, context, error);
    tarry__base_free(row.features);
    return status;
}
