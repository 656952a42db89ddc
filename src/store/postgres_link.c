/* postgres_link.c - one connection, always in pipeline mode.
 *
 * Statements are queued, a sync ends the group, and then all answers are read:
 * one round trip.  Every wait has an end; what takes longer counts as a lost
 * link.  A lost link is made again by the next call.  Before it is used, the
 * server is told to end what may be left of the old one, and what was owned
 * through it is locked again, unless somebody else has had it since. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "store/postgres_store.h"

enum {
    ANSWER_MS = 15000, /* the longest wait for the next answer */
    OLDEST = 140000    /* version of the server */
};

/* ---- numbers as they travel -----------------------------------------------*/

void tarry__postgres_put(unsigned char *at, uint64_t number, int bytes)
{
    for (int i = bytes; i-- > 0; number >>= 8)
        at[i] = (unsigned char)number;
}

uint64_t tarry__postgres_number(const char *at)
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number = number << 8 | (unsigned char)at[i];
    return number;
}

double tarry__postgres_real(const char *at)
{
    const uint64_t number = tarry__postgres_number(at);
    double real;
    memcpy(&real, &number, sizeof real);
    return real;
}

uint64_t tarry__postgres_count_of(const PGresult *r, int row, int column)
{
    return PQgetlength(r, row, column) == 8
               ? tarry__postgres_number(PQgetvalue(r, row, column))
               : 0;
}

const char *tarry__postgres_text_of(const PGresult *r, int row, int column)
{
    return PQgetvalue(r, row, column);
}

/* ---- parameters -----------------------------------------------------------*/

static void add(tarry__postgres_params *p, const void *value, size_t length,
                int format)
{
    p->value[p->count] = value;
    p->length[p->count] = (int)length;
    p->format[p->count++] = format;
}

void tarry__postgres_add_count(tarry__postgres_params *p, uint64_t count)
{
    unsigned char *at = p->number[p->count];
    tarry__postgres_put(at, count, 8);
    add(p, at, 8, 1);
}

void tarry__postgres_add_real(tarry__postgres_params *p, double real)
{
    uint64_t number;
    memcpy(&number, &real, sizeof number);
    tarry__postgres_add_count(p, number);
}

void tarry__postgres_add_text(tarry__postgres_params *p, const char *text)
{
    add(p, text, 0, 0); /* its end is its NUL */
}

void tarry__postgres_add_bytes(tarry__postgres_params *p, const void *bytes,
                               size_t size)
{
    add(p, bytes, size, 1);
}

/* ---- losing, sending, reading ---------------------------------------------*/

/* Copies a message as one line. */
static void note(tarry__postgres *s, const char *text)
{
    snprintf(s->why, sizeof s->why, "%s", text);
    for (char *c = s->why; *c != '\0'; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    size_t length = strlen(s->why);
    while (length > 0 && s->why[length - 1] == ' ')
        s->why[--length] = '\0';
}

void tarry__postgres_lose(tarry__postgres *s, const char *why)
{
    note(s, why);
    s->state[0] = '\0';
    PQfinish(s->link);
    s->link = NULL;
}

tarry_status tarry__postgres_fail(const tarry__postgres *s, tarry_error *error)
{
    return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", s->shown, s->why);
}

void tarry__postgres_send(tarry__postgres *s, tarry__postgres_sql which,
                          const tarry__postgres_params *p)
{
    static const tarry__postgres_params none;
    char name[16];
    snprintf(name, sizeof name, "s%d", (int)which);
    if (p == NULL)
        p = &none;
    if (s->link != NULL &&
        PQsendQueryPrepared(s->link, name, p->count, p->value, p->length,
                            p->format, 1) == 0)
        tarry__postgres_lose(s, PQerrorMessage(s->link));
}

void tarry__postgres_sync(tarry__postgres *s)
{
    if (s->link != NULL && PQpipelineSync(s->link) == 0)
        tarry__postgres_lose(s, PQerrorMessage(s->link));
}

/* Waits until there is something to read, sending what is queued meanwhile. */
static bool wait(PGconn *link)
{
    const int unsent = PQflush(link);
    struct pollfd fd = {.fd = PQsocket(link),
                        .events = (short)(POLLIN | (unsent > 0 ? POLLOUT : 0))};
    if (unsent < 0)
        return false;
    const int ready = poll(&fd, 1, ANSWER_MS);
    return (ready > 0 || (ready < 0 && fd.fd >= 0)) &&
           PQconsumeInput(link) != 0;
}

PGresult *tarry__postgres_next(tarry__postgres *s)
{
    if (s->link == NULL)
        return NULL;
    while (PQisBusy(s->link))
        if (!wait(s->link)) {
            const char *text = PQerrorMessage(s->link);
            tarry__postgres_lose(s, *text != '\0' ? text : "no answer");
            return NULL;
        }
    PGresult *r = PQgetResult(s->link);
    if (PQstatus(s->link) != CONNECTION_BAD)
        return r;
    tarry__postgres_lose(s, PQerrorMessage(s->link));
    PQclear(r);
    return NULL;
}

static void note_refusal(tarry__postgres *s, const PGresult *r)
{
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    snprintf(s->state, sizeof s->state, "%s", state != NULL ? state : "");
    note(s, text != NULL ? text : PQresultErrorMessage(r));
}

tarry__postgres_end tarry__postgres_settle(tarry__postgres *s, PGresult **rows)
{
    tarry__postgres_end end = TARRY__POSTGRES_DONE;
    PGresult *kept = NULL;
    bool is_over = false;
    while (!is_over && s->link != NULL) {
        PGresult *r = tarry__postgres_next(s);
        const ExecStatusType status = PQresultStatus(r);
        is_over = r != NULL && status == PGRES_PIPELINE_SYNC;
        if (r != NULL && status == PGRES_FATAL_ERROR) {
            note_refusal(s, r);
            end = TARRY__POSTGRES_REFUSED;
        }
        if (status != PGRES_TUPLES_OK) {
            PQclear(r);
            continue;
        }
        PQclear(kept);
        kept = r;
    }
    if (s->link == NULL)
        end = TARRY__POSTGRES_LOST;
    if (rows == NULL || end != TARRY__POSTGRES_DONE) {
        PQclear(kept);
        kept = NULL;
    }
    if (rows != NULL)
        *rows = kept;
    return end;
}

tarry_status tarry__postgres_ask_once(tarry__postgres *s,
                                      tarry__postgres_sql which,
                                      const tarry__postgres_params *p,
                                      PGresult **rows, tarry_error *error)
{
    tarry__postgres_send(s, which, p);
    tarry__postgres_sync(s);
    return tarry__postgres_settle(s, rows) == TARRY__POSTGRES_DONE
               ? TARRY_OK
               : tarry__postgres_fail(s, error);
}

tarry_status tarry__postgres_ask(tarry__postgres *s, tarry__postgres_sql which,
                                 const tarry__postgres_params *p,
                                 PGresult **rows, tarry_error *error)
{
    tarry_status status = tarry__postgres_link(s, error);
    if (rows != NULL)
        *rows = NULL;
    if (status == TARRY_OK)
        status = tarry__postgres_ask_once(s, which, p, rows, error);
    else
        return status;
    if (s->link != NULL)
        return status;
    status = tarry__postgres_link(s, error);
    return status == TARRY_OK
               ? tarry__postgres_ask_once(s, which, p, rows, error)
               : status;
}

/* ---- a new link -----------------------------------------------------------*/

/* The URL comes after what it may override. */
static PGconn *dial(const tarry__postgres *s)
{
    const char *const words[] = {
        "connect_timeout",  "keepalives_idle",  "keepalives_interval",
        "keepalives_count", "tcp_user_timeout", "fallback_application_name",
        "dbname",           "client_encoding",  NULL};
    const char *const values[] = {"3",     "5",    "2",    "3", "10000",
                                  "tarry", s->url, "UTF8", NULL};
    return PQconnectdbParams(words, values, 1);
}

/* A commit must be on the disk; a dead peer must be noticed at both ends, as
 * the server keeps an owner's locks until it has; no wait is for ever. */
static const char settings[] =
    "SELECT set_config('synchronous_commit', CASE "
    "current_setting('synchronous_commit') WHEN 'off' THEN 'on' "
    "ELSE current_setting('synchronous_commit') END, false), "
    "set_config('tcp_keepalives_idle', '3', false), "
    "set_config('tcp_keepalives_interval', '1', false), "
    "set_config('tcp_keepalives_count', '2', false), "
    "set_config('tcp_user_timeout', '5000', false), "
    "set_config('client_connection_check_interval', '1000', false), "
    "set_config('lock_timeout', '5000', false), "
    "set_config('statement_timeout', '0', false), "
    "set_config('default_transaction_isolation', 'read committed', false), "
    "set_config('default_transaction_read_only', 'off', false), "
    "current_setting('server_encoding'), "
    "(SELECT backend_start::text FROM pg_stat_activity "
    "WHERE pid = pg_backend_pid())";

/* Ends what may be left of the old link, which would keep its locks. */
static const char end_old[] =
    "SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity "
    "WHERE pid = $1::int AND backend_start = $2::timestamptz";

static tarry_status ask_text(tarry__postgres *s, const char *sql, int n,
                             const char *const *values, PGresult **rows,
                             tarry_error *error)
{
    if (PQsendQueryParams(s->link, sql, n, NULL, values, NULL, NULL, 0) == 0)
        tarry__postgres_lose(s, PQerrorMessage(s->link));
    tarry__postgres_sync(s);
    return tarry__postgres_settle(s, rows) == TARRY__POSTGRES_DONE
               ? TARRY_OK
               : tarry__postgres_fail(s, error);
}

static tarry_status set_up(tarry__postgres *s, tarry_error *error)
{
    PGresult *rows;
    char backend[20];
    snprintf(backend, sizeof backend, "%d", s->backend);
    const char *const old[] = {backend, s->since};
    tarry_status status = TARRY_OK;
    if (s->backend != 0)
        status = ask_text(s, end_old, 2, old, NULL, error);
    if (status == TARRY_OK)
        status = ask_text(s, settings, 0, NULL, &rows, error);
    if (status != TARRY_OK)
        return status;
    s->backend = PQbackendPID(s->link);
    snprintf(s->since, sizeof s->since, "%s", PQgetvalue(rows, 0, 11));
    if (strcmp(PQgetvalue(rows, 0, 10), "UTF8") != 0)
        status = tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                  "%s: the database's encoding is %s, not UTF8",
                                  s->shown, PQgetvalue(rows, 0, 10));
    PQclear(rows);
    return status;
}

static tarry_status prepare_all(tarry__postgres *s, tarry_error *error)
{
    for (int i = 0; s->link != NULL && i < TARRY__POSTGRES_COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        if (PQsendPrepare(s->link, name, tarry__postgres_texts[i], 0, NULL) ==
            0)
            tarry__postgres_lose(s, PQerrorMessage(s->link));
    }
    tarry__postgres_sync(s);
    return tarry__postgres_settle(s, NULL) == TARRY__POSTGRES_DONE
               ? TARRY_OK
               : tarry__postgres_fail(s, error);
}

static tarry_status check_server(tarry__postgres *s, tarry_error *error)
{
    const int version = PQserverVersion(s->link);
    if (version < OLDEST)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "%s: PostgreSQL %d, older than %d", s->shown,
                                version / 10000, OLDEST / 10000);
    return PQsetnonblocking(s->link, 1) == 0 && PQenterPipelineMode(s->link)
               ? set_up(s, error)
               : tarry__postgres_fail(s, error);
}

/* Warnings would go to stderr otherwise. */
static void ignore(void *context, const PGresult *notice)
{
    (void)context, (void)notice;
}

static tarry_status make_link(tarry__postgres *s, tarry_error *error)
{
    s->link = dial(s);
    PQsetNoticeReceiver(s->link, ignore, NULL);
    if (PQstatus(s->link) != CONNECTION_OK) {
        tarry__postgres_lose(s, s->link != NULL ? PQerrorMessage(s->link)
                                                : "out of memory");
        return tarry__postgres_fail(s, error);
    }
    tarry_status status = check_server(s, error);
    if (status == TARRY_OK)
        status = tarry__postgres_tables(s, error);
    if (status == TARRY_OK)
        status = prepare_all(s, error);
    if (status == TARRY_OK)
        status = tarry__postgres_retake(s, error);
    if (status != TARRY_OK && s->link != NULL)
        tarry__postgres_lose(s, "it could not be set up");
    return status;
}

/* When making a link took long in vain, the next try waits as long. */
tarry_status tarry__postgres_link(tarry__postgres *s, tarry_error *error)
{
    if (s->link != NULL)
        return TARRY_OK;
    const double start = tarry__base_seconds();
    if (start < s->again_at)
        return tarry__postgres_fail(s, error);
    const tarry_status status = make_link(s, error);
    const double end = tarry__base_seconds();
    s->again_at = status == TARRY_OK ? 0 : end + (end - start);
    return status;
}
