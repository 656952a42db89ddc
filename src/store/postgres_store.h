/* postgres_store.h - what the files of the PostgreSQL store share. */
#ifndef TARRY_STORE_POSTGRES_STORE_H
#define TARRY_STORE_POSTGRES_STORE_H

#include <libpq-fe.h>
#include "store/kind.h"

typedef enum {
    TARRY__POSTGRES_BEGIN,
    TARRY__POSTGRES_COMMIT,
    TARRY__POSTGRES_ROLLBACK,
    TARRY__POSTGRES_PROBE,
    TARRY__POSTGRES_ADDING,
    TARRY__POSTGRES_LOCK_NEW,
    TARRY__POSTGRES_ADD_EXPERIMENT,
    TARRY__POSTGRES_ADD_OWNER,
    TARRY__POSTGRES_FENCE,
    TARRY__POSTGRES_ADD_EVENTS,
    TARRY__POSTGRES_EXPERIMENTS,
    TARRY__POSTGRES_LOCK,
    TARRY__POSTGRES_UNLOCK,
    TARRY__POSTGRES_UNLOCK_ALL,
    TARRY__POSTGRES_OWN,
    TARRY__POSTGRES_WAIT,
    TARRY__POSTGRES_SUM,
    TARRY__POSTGRES_HEAD,
    TARRY__POSTGRES_SCAN,
    TARRY__POSTGRES_SCAN_ARMS,
    TARRY__POSTGRES_LOOK,
    TARRY__POSTGRES_LOOK_ID,
    TARRY__POSTGRES_ROUND_AT,
    TARRY__POSTGRES_KEEP,
    TARRY__POSTGRES_DROP_SNAPSHOTS,
    TARRY__POSTGRES_ADD_SNAPSHOT,
    TARRY__POSTGRES_SNAPSHOT,
    TARRY__POSTGRES_MARK,
    TARRY__POSTGRES_COUNT
} tarry__postgres_sql;

typedef struct {
    char *url;     /* may hold a password: never shown */
    char *shown;   /* the URL with a star for its password */
    char *address; /* published by the owner of an experiment */
    PGconn *link;  /* NULL: lost */
    int backend;   /* process of the last link's other end, 0: none */
    char since[40];
    double again_at; /* no new link before this moment */
    tarry__store_heads *heads;
    char state[6]; /* SQLSTATE of the last refusal */
    char why[200]; /* text of the last refusal, or why the link was lost */
    bool creates;  /* tables that are missing are made */
    bool is_open;  /* it has been verified */
    const tarry__store_batch *batches; /* while they are being appended */
    size_t n_batches;
} tarry__postgres;

/* ---- talking: postgres_link.c ---------------------------------------------*/

enum { TARRY__POSTGRES_PARAMS = 16 };

/* Parameters of a statement, in binary.  What is added by address must live
 * until it is sent. */
typedef struct {
    int count;
    const char *value[TARRY__POSTGRES_PARAMS];
    int length[TARRY__POSTGRES_PARAMS], format[TARRY__POSTGRES_PARAMS];
    unsigned char number[TARRY__POSTGRES_PARAMS][8];
} tarry__postgres_params;

void tarry__postgres_add_count(tarry__postgres_params *p, uint64_t count);
void tarry__postgres_add_real(tarry__postgres_params *p, double real);
void tarry__postgres_add_text(tarry__postgres_params *p, const char *text);
void tarry__postgres_add_bytes(tarry__postgres_params *p, const void *bytes,
                               size_t size);

/* Numbers as they travel, most significant byte first. */
void tarry__postgres_put(unsigned char *at, uint64_t number, int bytes);
uint64_t tarry__postgres_number(const char *at);
double tarry__postgres_real(const char *at);

/* A column of a row: its number, or its text ("" for NULL). */
uint64_t tarry__postgres_count_of(const PGresult *r, int row, int column);
const char *tarry__postgres_text_of(const PGresult *r, int row, int column);

/* Makes a link unless there is one: settings, tables, statements, and what was
 * owned is owned again or lost.  TARRY_IO_ERROR, TARRY_BAD_STATE. */
tarry_status tarry__postgres_link(tarry__postgres *s, tarry_error *error);

/* Ends the link; what was owned is not any more, as far as we know. */
void tarry__postgres_lose(tarry__postgres *s, const char *why);

/* Queues a statement; sync ends the group. */
void tarry__postgres_send(tarry__postgres *s, tarry__postgres_sql which,
                          const tarry__postgres_params *p);
void tarry__postgres_sync(tarry__postgres *s);

/* The next result, or NULL where one statement's end and when the link is
 * lost. */
PGresult *tarry__postgres_next(tarry__postgres *s);

typedef enum {
    TARRY__POSTGRES_DONE,
    TARRY__POSTGRES_REFUSED, /* s->state and s->why say by what */
    TARRY__POSTGRES_LOST     /* the link, before all had been answered */
} tarry__postgres_end;

/* Reads all answers of a group; *rows, if not NULL, are those of the last
 * statement that gave some, for the caller to clear, or NULL. */
tarry__postgres_end tarry__postgres_settle(tarry__postgres *s, PGresult **rows);

/* One statement and its answer; a lost link is made again once.  *rows as
 * above. */
tarry_status tarry__postgres_ask(tarry__postgres *s, tarry__postgres_sql which,
                                 const tarry__postgres_params *p,
                                 PGresult **rows, tarry_error *error);

/* The same without making a link again. */
tarry_status tarry__postgres_ask_once(tarry__postgres *s,
                                      tarry__postgres_sql which,
                                      const tarry__postgres_params *p,
                                      PGresult **rows, tarry_error *error);

/* The last refusal or loss in words. */
tarry_status tarry__postgres_fail(const tarry__postgres *s, tarry_error *error);

/* ---- tables: postgres_schema.c --------------------------------------------*/

extern const char *const tarry__postgres_texts[TARRY__POSTGRES_COUNT];

/* Makes the tables if there are none and s->creates, else TARRY_IO_ERROR;
 * TARRY_BAD_STATE: of another version. */
tarry_status tarry__postgres_tables(tarry__postgres *s, tarry_error *error);

/* ---- events: postgres_rows.c ----------------------------------------------*/

/* The events of a batch as arrays, one per column. */
typedef struct {
    unsigned char *bytes;
    size_t used, room;
} tarry__postgres_buffer;

enum { TARRY__POSTGRES_COLUMNS = 9 };

typedef struct {
    tarry__postgres_buffer column[TARRY__POSTGRES_COLUMNS];
} tarry__postgres_columns;

bool tarry__postgres_columns_fill(tarry__postgres_columns *c,
                                  const tarry__store_batch *batch, uint64_t dim,
                                  const uint64_t *sums);
void tarry__postgres_columns_free(tarry__postgres_columns *c);

/* Sends a scan and calls `take` for each event with its sum. */
tarry_status tarry__postgres_scan(
    tarry__postgres *s, tarry__postgres_sql which, uint64_t experiment,
    uint64_t after, uint64_t to,
    tarry_status (*take)(void *, const tarry__store_event *, uint64_t sum),
    void *context, tarry_error *error);

/* ---- owners: postgres_owner.c ---------------------------------------------*/

/* Reads at most so many events after the head, verifying them, and at the end
 * that it is the end. */
tarry_status tarry__postgres_catch_up(tarry__postgres *s, uint64_t number,
                                      uint64_t most, tarry_error *error);

/* Adds experiments that are not in the list yet. */
tarry_status tarry__postgres_refresh(tarry__postgres *s, tarry_error *error);

/* Takes an experiment, or says who has it. */
tarry_status tarry__postgres_own(tarry__postgres *s, uint64_t number,
                                 char owner[TARRY__STORE_OWNER_ROOM],
                                 tarry_error *error);
void tarry__postgres_disown(tarry__postgres *s, uint64_t number);

/* After a new link: locks what was owned, unless somebody had it since. */
tarry_status tarry__postgres_retake(tarry__postgres *s, tarry_error *error);

#endif
