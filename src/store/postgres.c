/* postgres.c - a store in a PostgreSQL database, which processes share.
 *
 * A commit is one transaction in one round trip: for each experiment the fence
 * (see postgres_schema.c), then its events in one statement.  When the link is
 * lost before the answer has come, nobody knows yet whether it was committed:
 * over a new link we wait for what may still be under way, and look for the
 * last event's digest.  It is there: committed.  It is not, and we still own
 * everything: it is sent again.  When there is no new link in time, the caller
 * is told of a failure, and the next link finds out, as the log has moved. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/base.h"
#include "store/postgres_store.h"

enum {
    PART_BYTES = 1 << 23, /* of a snapshot, per row */
    LINK_SECONDS = 6,     /* for a new link, after a commit without an answer */
    PAUSE_MS = 50,        /* between two tries */
    FIRST_PART = 1000,    /* events of a scan */
    FOLLOWED = 50000      /* events of others that are read at a time */
};

/* ---- open and close -------------------------------------------------------*/

/* Others need not wait until the server has seen the end of the link. */
static void close_postgres(void *state)
{
    tarry__postgres *s = state;
    if (s->link != NULL && s->is_open)
        tarry__postgres_ask_once(s, TARRY__POSTGRES_UNLOCK_ALL, NULL, NULL,
                                 NULL);
    PQfinish(s->link);
    free(s->url);
    free(s->shown);
    free(s->address);
    tarry__base_free(s);
}

/* Until a better one is published. */
static char *own_address(void)
{
    char host[200] = "", *address;
    gethostname(host, sizeof host - 1);
    return asprintf(&address, "process %ld on %s", (long)getpid(), host) >= 0
               ? address
               : NULL;
}

static tarry__postgres *make(const char *url)
{
    tarry__postgres *s = tarry__base_zalloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->url = strdup(url);
    s->shown = strdup(url);
    s->address = own_address();
    if (s->url != NULL && s->shown != NULL && s->address != NULL) {
        tarry__store_show(url, s->shown);
        return s;
    }
    close_postgres(s);
    return NULL;
}

/* What libpq says of a text that it cannot read may hold a password. */
static tarry_status check_url(const tarry__postgres *s, tarry_error *error)
{
    PQconninfoOption *parts = PQconninfoParse(s->url, NULL);
    PQconninfoFree(parts);
    return parts != NULL
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                  "%s: not a URL of PostgreSQL", s->shown);
}

static tarry_status open_postgres(const char *url, bool create,
                                  tarry__store_heads *heads, void **state,
                                  tarry_error *error)
{
    tarry__postgres *s = make(url);
    if (s == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    s->heads = heads;
    s->creates = create;
    tarry_status status = check_url(s, error);
    if (status == TARRY_OK)
        status = tarry__postgres_refresh(s, error);
    for (size_t i = 0; status == TARRY_OK && i < heads->count; i++)
        status = tarry__postgres_catch_up(s, i + 1, UINT64_MAX, error);
    s->creates = false;
    s->is_open = true;
    if (status == TARRY_OK)
        *state = s;
    else
        close_postgres(s);
    return status;
}

/* ---- appending ------------------------------------------------------------*/

/* Its number may be another's by now: the lock comes after the row. */
static void send_experiment(tarry__postgres *s, uint64_t number,
                            const tarry__store_experiment *e)
{
    tarry__postgres_params lock = {0}, p = {0};
    tarry__postgres_send(s, TARRY__POSTGRES_ADDING, NULL);
    tarry__postgres_add_count(&p, number);
    tarry__postgres_add_text(&p, e->name);
    tarry__postgres_add_text(&p, e->prefix);
    tarry__postgres_add_text(&p, e->policy);
    tarry__postgres_add_text(&p, e->maximize ? "maximize" : "minimize");
    tarry__postgres_add_real(&p, e->low);
    tarry__postgres_add_real(&p, e->high);
    tarry__postgres_add_count(&p, e->horizon);
    tarry__postgres_add_real(&p, e->confidence);
    tarry__postgres_add_count(&p, e->beyond_horizon);
    tarry__postgres_add_count(&p, e->seed);
    tarry__postgres_add_text(&p, e->expire_after);
    tarry__postgres_add_count(&p, e->n_arms);
    tarry__postgres_add_count(&p, e->dim);
    tarry__postgres_add_count(&p, (uint64_t)e->created_at);
    tarry__postgres_send(s, TARRY__POSTGRES_ADD_EXPERIMENT, &p);
    tarry__postgres_add_count(&lock, number);
    tarry__postgres_send(s, TARRY__POSTGRES_LOCK_NEW, &lock);
}

/* The experiment's row moves on from where the batch begins; that of a new
 * experiment is made. */
static void send_fence(tarry__postgres *s, const tarry__store_batch *b,
                       bool is_new)
{
    const tarry__store_head *h = s->heads->head[b->experiment - 1];
    tarry__postgres_params p = {0};
    tarry__postgres_add_count(&p, b->experiment);
    if (!is_new) {
        tarry__postgres_add_count(&p, h->epoch);
        tarry__postgres_add_count(&p, h->end.events - b->count);
    }
    tarry__postgres_add_count(&p, h->end.events);
    tarry__postgres_add_count(&p, h->end.sum);
    if (is_new)
        tarry__postgres_add_text(&p, s->address);
    tarry__postgres_send(
        s, is_new ? TARRY__POSTGRES_ADD_OWNER : TARRY__POSTGRES_FENCE, &p);
}

static bool send_events(tarry__postgres *s, const tarry__store_batch *b,
                        const uint64_t *sums)
{
    tarry__postgres_columns c = {0};
    tarry__postgres_params p = {0};
    const tarry__store_head *h = s->heads->head[b->experiment - 1];
    const bool done = tarry__postgres_columns_fill(&c, b, h->made.dim, sums);
    tarry__postgres_add_count(&p, b->experiment);
    tarry__postgres_add_count(&p, h->epoch);
    for (int i = 0; i < TARRY__POSTGRES_COLUMNS; i++)
        tarry__postgres_add_bytes(&p, c.column[i].bytes, c.column[i].used);
    if (done)
        tarry__postgres_send(s, TARRY__POSTGRES_ADD_EVENTS, &p);
    tarry__postgres_columns_free(&c);
    return done;
}

/* The whole transaction is queued; only memory can be short. */
static bool send_all(tarry__postgres *s, const tarry__store_experiment *added,
                     const uint64_t *sums)
{
    bool done = true;
    tarry__postgres_send(s, TARRY__POSTGRES_BEGIN, NULL);
    if (added != NULL)
        send_experiment(s, s->heads->count, added);
    for (size_t i = 0; done && i < s->n_batches; i++) {
        const tarry__store_batch *b = &s->batches[i];
        send_fence(s, b, added != NULL);
        done = b->count == 0 || send_events(s, b, sums);
        sums += b->count;
    }
    tarry__postgres_send(
        s, done ? TARRY__POSTGRES_COMMIT : TARRY__POSTGRES_ROLLBACK, NULL);
    tarry__postgres_sync(s);
    return done;
}

/* Ends a transaction that was refused, so that the link can be used again. */
static void roll_back(tarry__postgres *s)
{
    char state[sizeof s->state], why[sizeof s->why];
    memcpy(state, s->state, sizeof state);
    memcpy(why, s->why, sizeof why);
    if (s->link != NULL && PQtransactionStatus(s->link) != PQTRANS_IDLE)
        tarry__postgres_ask_once(s, TARRY__POSTGRES_ROLLBACK, NULL, NULL, NULL);
    memcpy(s->state, state, sizeof state);
    memcpy(s->why, why, sizeof why);
}

static void pause_ms(long ms)
{
    const struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}

/* After a lost answer: whether the last event of the first batch is there, and
 * with it all others. */
static tarry_status look_for_commit(tarry__postgres *s, uint64_t epoch,
                                    bool *there, tarry_error *error)
{
    const uint64_t number = s->batches[0].experiment;
    const tarry__store_head *h = s->heads->head[number - 1];
    tarry__postgres_params p = {0};
    PGresult *rows;
    tarry__postgres_add_count(&p, number);
    tarry_status status =
        tarry__postgres_ask_once(s, TARRY__POSTGRES_WAIT, &p, NULL, error);
    tarry__postgres_add_count(&p, h->end.events);
    if (status != TARRY_OK)
        return status;
    status = tarry__postgres_ask_once(s, TARRY__POSTGRES_SUM, &p, &rows, error);
    *there = rows != NULL && PQntuples(rows) == 1 &&
             tarry__postgres_count_of(rows, 0, 0) == h->end.sum &&
             tarry__postgres_count_of(rows, 0, 1) == epoch;
    PQclear(rows);
    return status;
}

/* The same, with a new link if there is one in time. */
static tarry_status find_commit(tarry__postgres *s, uint64_t epoch, bool *there,
                                tarry_error *error)
{
    const double end = tarry__base_seconds() + LINK_SECONDS;
    for (;;) {
        tarry_status status = tarry__postgres_link(s, error);
        if (status == TARRY_OK)
            status = look_for_commit(s, epoch, there, error);
        if (status != TARRY_IO_ERROR || tarry__base_seconds() > end)
            return status;
        pause_ms(PAUSE_MS);
    }
}

/* Whether this process owns all that is to be appended to, as far as it
 * knows. */
static tarry_status check_owned(const tarry__postgres *s, tarry_error *error)
{
    for (size_t i = 0; i < s->n_batches; i++) {
        const tarry__store_head *h =
            s->heads->head[s->batches[i].experiment - 1];
        if (h->epoch == 0)
            return tarry__base_fail(error, TARRY_CANCELLED,
                                    "%s: experiment '%s' is not owned by this "
                                    "process any more",
                                    s->shown, h->made.name);
    }
    return TARRY_OK;
}

/* The fence stopped us (division by zero), or another process added an
 * experiment first (a unique key). */
static tarry_status refused(tarry__postgres *s, bool is_new, tarry_error *error)
{
    roll_back(s);
    if (is_new && s->link != NULL)
        tarry__postgres_disown(s, s->heads->count);
    const bool is_fenced = strcmp(s->state, "22012") == 0;
    for (size_t i = 0; is_fenced && i < s->n_batches; i++)
        if (s->link != NULL)
            tarry__postgres_disown(s, s->batches[i].experiment);
    if (is_fenced || (is_new && strcmp(s->state, "23505") == 0))
        return tarry__base_fail(error, TARRY_CANCELLED,
                                "%s: another process was faster", s->shown);
    return tarry__postgres_fail(s, error);
}

static tarry_status commit(tarry__postgres *s,
                           const tarry__store_experiment *added,
                           const uint64_t *sums, bool again, tarry_error *error)
{
    bool there = false;
    tarry_status status = check_owned(s, error);
    if (status != TARRY_OK)
        return status;
    const uint64_t epoch = s->heads->head[s->batches[0].experiment - 1]->epoch;
    if (!send_all(s, added, sums)) {
        tarry__postgres_settle(s, NULL);
        roll_back(s);
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    }
    const tarry__postgres_end end = tarry__postgres_settle(s, NULL);
    if (end == TARRY__POSTGRES_DONE)
        return TARRY_OK;
    if (end == TARRY__POSTGRES_REFUSED)
        return refused(s, added != NULL, error);
    status = find_commit(s, epoch, &there, error);
    if (status != TARRY_OK || there)
        return status;
    return again && added == NULL ? commit(s, added, sums, false, error)
                                  : tarry__postgres_fail(s, error);
}

static tarry_status append(void *state, const tarry__store_heads *heads,
                           const tarry__store_experiment *added,
                           const tarry__store_batch *batches, size_t n,
                           const uint64_t *sums, tarry_error *error)
{
    tarry__postgres *s = state;
    (void)heads;
    s->batches = batches;
    s->n_batches = n;
    tarry_status status = tarry__postgres_link(s, error);
    if (status == TARRY_OK)
        status = commit(s, added, sums, true, error);
    s->n_batches = 0;
    return status;
}

static tarry_status probe(void *state, tarry_error *error)
{
    return tarry__postgres_ask(state, TARRY__POSTGRES_PROBE, NULL, NULL, error);
}

/* ---- asking ---------------------------------------------------------------*/

typedef struct {
    tarry_status (*take)(void *, const tarry__store_event *);
    void *context;
    uint64_t taken;
} taking;

static tarry_status pass_on(void *context, const tarry__store_event *e,
                            uint64_t sum)
{
    taking *t = context;
    (void)sum;
    t->taken++;
    return t->take(t->context, e);
}

/* A link that turns out to be lost before the first event is made again. */
static tarry_status scan_part(tarry__postgres *s, tarry__postgres_sql which,
                              uint64_t experiment, uint64_t seq, uint64_t to,
                              taking *t, tarry_error *error)
{
    tarry_status status = tarry__postgres_link(s, error);
    if (status != TARRY_OK)
        return status;
    status =
        tarry__postgres_scan(s, which, experiment, seq, to, pass_on, t, error);
    if (s->link != NULL || t->taken > 0)
        return status;
    status = tarry__postgres_link(s, error);
    return status == TARRY_OK ? tarry__postgres_scan(s, which, experiment, seq,
                                                     to, pass_on, t, error)
                              : status;
}

/* Up to the head that we know, whatever an owner elsewhere adds meanwhile.  In
 * parts that grow, as `take` may soon have had enough. */
static tarry_status
scan(void *state, const tarry__store_heads *heads, uint64_t experiment,
     uint64_t seq, tarry_status (*take)(void *, const tarry__store_event *),
     void *context, tarry_error *error)
{
    taking t = {take, context, 0};
    const uint64_t end = heads->head[experiment - 1]->end.events;
    tarry_status status = TARRY_OK;
    for (uint64_t part = FIRST_PART; status == TARRY_OK && seq < end;
         part *= 4) {
        const uint64_t to = end - seq > part ? seq + part : end;
        status = scan_part(state, TARRY__POSTGRES_SCAN, experiment, seq, to, &t,
                           error);
        seq = to;
    }
    return status;
}

static tarry_status
scan_arms(void *state, const tarry__store_heads *heads, uint64_t experiment,
          tarry_status (*take)(void *, const tarry__store_event *),
          void *context, tarry_error *error)
{
    taking t = {take, context, 0};
    return scan_part(state, TARRY__POSTGRES_SCAN_ARMS, experiment, 0,
                     heads->head[experiment - 1]->end.events, &t, error);
}

static tarry_status look(void *state, uint64_t experiment,
                         tarry__store_event_kind kind, uint64_t round,
                         tarry__store_event *event, char *id, bool *found,
                         tarry_error *error)
{
    PGresult *rows;
    tarry__postgres_params p = {0};
    tarry__postgres_add_count(&p, experiment);
    tarry__postgres_add_text(&p, tarry__store_event_name(kind));
    tarry__postgres_add_count(&p, round);
    const tarry_status status =
        tarry__postgres_ask(state, TARRY__POSTGRES_LOOK, &p, &rows, error);
    *found = rows != NULL && PQntuples(rows) > 0;
    *event = (tarry__store_event){.kind = kind, .round = round};
    if (*found) {
        event->seq = tarry__postgres_count_of(rows, 0, 0);
        event->arm = tarry__postgres_count_of(rows, 0, 1);
        event->value = tarry__postgres_real(PQgetvalue(rows, 0, 2));
        event->at = (int64_t)tarry__postgres_count_of(rows, 0, 3);
    }
    if (*found && id != NULL)
        snprintf(id, TARRY__STORE_ID_ROOM, "%s",
                 tarry__postgres_text_of(rows, 0, 4));
    PQclear(rows);
    return status;
}

static tarry_status look_id(void *state, const char *id, uint64_t *experiment,
                            uint64_t *round, bool *found, tarry_error *error)
{
    PGresult *rows;
    tarry__postgres_params p = {0};
    tarry__postgres_add_text(&p, id);
    tarry_status status =
        tarry__postgres_ask(state, TARRY__POSTGRES_LOOK_ID, &p, &rows, error);
    *found = rows != NULL && PQntuples(rows) > 0;
    if (*found) {
        *experiment = tarry__postgres_count_of(rows, 0, 0);
        *round = tarry__postgres_count_of(rows, 0, 1);
    }
    PQclear(rows);
    const tarry__postgres *s = state;
    if (*found && *experiment > s->heads->count)
        status = tarry__postgres_refresh(state, error);
    return status;
}

static tarry_status round_at(void *state, uint64_t experiment, int64_t at,
                             uint64_t *round, tarry_error *error)
{
    PGresult *rows;
    tarry__postgres_params p = {0};
    tarry__postgres_add_count(&p, experiment);
    tarry__postgres_add_count(&p, (uint64_t)at);
    const tarry_status status =
        tarry__postgres_ask(state, TARRY__POSTGRES_ROUND_AT, &p, &rows, error);
    *round = rows != NULL && PQntuples(rows) > 0
                 ? tarry__postgres_count_of(rows, 0, 0)
                 : 0;
    PQclear(rows);
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

static void send_part(tarry__postgres *s, uint64_t experiment, uint64_t seq,
                      uint64_t part, const void *bytes, size_t size)
{
    tarry__postgres_params p = {0};
    tarry__postgres_add_count(&p, experiment);
    tarry__postgres_add_count(&p, seq);
    tarry__postgres_add_count(&p, part);
    tarry__postgres_add_bytes(&p, bytes, size);
    tarry__postgres_add_count(&p,
                              part_digest(experiment, seq, part, bytes, size));
    tarry__postgres_send(s, TARRY__POSTGRES_ADD_SNAPSHOT, &p);
}

/* Only the owner may, as for events. */
static tarry_status save(void *state, uint64_t experiment, uint64_t seq,
                         const void *bytes, size_t size, tarry_error *error)
{
    tarry__postgres *s = state;
    tarry__postgres_params p = {0};
    tarry_status status = tarry__postgres_link(s, error);
    if (status != TARRY_OK)
        return status;
    tarry__postgres_send(s, TARRY__POSTGRES_BEGIN, NULL);
    tarry__postgres_add_count(&p, experiment);
    tarry__postgres_add_count(&p, s->heads->head[experiment - 1]->epoch);
    tarry__postgres_send(s, TARRY__POSTGRES_KEEP, &p);
    p.count = 1;
    tarry__postgres_send(s, TARRY__POSTGRES_DROP_SNAPSHOTS, &p);
    for (size_t at = 0; at < size; at += PART_BYTES)
        send_part(s, experiment, seq, at / PART_BYTES, (const char *)bytes + at,
                  size - at < PART_BYTES ? size - at : PART_BYTES);
    tarry__postgres_send(s, TARRY__POSTGRES_COMMIT, NULL);
    tarry__postgres_sync(s);
    if (tarry__postgres_settle(s, NULL) == TARRY__POSTGRES_DONE)
        return TARRY_OK;
    roll_back(s);
    return tarry__postgres_fail(s, error);
}

/* Whether the row is the next part and has the digest it was stored with. */
static bool is_part(const PGresult *r, int row, uint64_t experiment)
{
    const uint64_t seq = tarry__postgres_count_of(r, row, 0);
    const uint64_t part = tarry__postgres_count_of(r, row, 1);
    return seq == tarry__postgres_count_of(r, 0, 0) && part == (uint64_t)row &&
           part_digest(experiment, seq, part, PQgetvalue(r, row, 2),
                       (size_t)PQgetlength(r, row, 2)) ==
               tarry__postgres_count_of(r, row, 3);
}

static tarry_status join_parts(const tarry__postgres *s, const PGresult *r,
                               uint64_t experiment, char **bytes, size_t *size,
                               tarry_error *error)
{
    size_t total = 0;
    for (int i = 0; i < PQntuples(r); i++) {
        if (!is_part(r, i, experiment))
            return tarry__base_fail(
                error, TARRY_BAD_STATE,
                "%s: damaged: experiment %ju, snapshot of event %ju", s->shown,
                (uintmax_t)experiment,
                (uintmax_t)tarry__postgres_count_of(r, 0, 0));
        total += (size_t)PQgetlength(r, i, 2);
    }
    *bytes = tarry__base_alloc(total, 1);
    if (*bytes == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    for (int i = 0; i < PQntuples(r); i++) {
        const size_t part = (size_t)PQgetlength(r, i, 2);
        memcpy(*bytes + *size, PQgetvalue(r, i, 2), part);
        *size += part;
    }
    return TARRY_OK;
}

static tarry_status load(void *state, uint64_t experiment, uint64_t *seq,
                         void **bytes, size_t *size, tarry_error *error)
{
    PGresult *rows;
    tarry__postgres_params p = {0};
    char *joined = NULL;
    *seq = *size = 0;
    *bytes = NULL;
    tarry__postgres_add_count(&p, experiment);
    tarry_status status =
        tarry__postgres_ask(state, TARRY__POSTGRES_SNAPSHOT, &p, &rows, error);
    if (status == TARRY_OK && PQntuples(rows) > 0) {
        status = join_parts(state, rows, experiment, &joined, size, error);
        *seq = tarry__postgres_count_of(rows, 0, 0);
    }
    *bytes = joined;
    PQclear(rows);
    return status;
}

/* ---- owners ---------------------------------------------------------------*/

static tarry_status refresh(void *state, tarry_error *error)
{
    return tarry__postgres_refresh(state, error);
}

static tarry_status own(void *state, uint64_t number,
                        char owner[TARRY__STORE_OWNER_ROOM], tarry_error *error)
{
    return tarry__postgres_own(state, number, owner, error);
}

static tarry_status follow(void *state, uint64_t number, tarry_error *error)
{
    tarry__postgres *s = state;
    const tarry_status status = tarry__postgres_link(s, error);
    return status == TARRY_OK && s->heads->head[number - 1]->epoch == 0
               ? tarry__postgres_catch_up(s, number, FOLLOWED, error)
               : status;
}

static tarry_status publish(void *state, const char *address)
{
    tarry__postgres *s = state;
    char *copy = strdup(address);
    if (copy == NULL)
        return TARRY_NO_MEMORY;
    free(s->address);
    s->address = copy;
    return TARRY_OK;
}

static tarry_status mark(void *state, bool ready, tarry_error *error)
{
    tarry__postgres_params p = {0};
    tarry__postgres_add_text(&p, ready ? "ready" : "copying");
    return tarry__postgres_ask(state, TARRY__POSTGRES_MARK, &p, NULL, error);
}

const tarry__store_kind tarry__store_postgres = {.open = open_postgres,
                                                 .close = close_postgres,
                                                 .append = append,
                                                 .probe = probe,
                                                 .scan = scan,
                                                 .scan_arms = scan_arms,
                                                 .look = look,
                                                 .look_id = look_id,
                                                 .round_at = round_at,
                                                 .save = save,
                                                 .load = load,
                                                 .refresh = refresh,
                                                 .own = own,
                                                 .follow = follow,
                                                 .publish = publish,
                                                 .mark = mark};
