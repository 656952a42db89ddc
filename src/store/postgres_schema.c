/* postgres_schema.c - the tables, views of them for people, and all statements.
 *
 * Truth is in three tables that only grow: experiments, events and, to save
 * time, snapshots.  `seq` numbers the events of an experiment, `sum` is the
 * running digest of all of them up to this one.  `item` is the round of a
 * choice or of what became of it, or the arm that is admitted or withdrawn.
 * `owners` has what is known to be committed of each experiment, and who may
 * commit more: `epoch` grows whenever an experiment is taken, and a commit
 * names the epoch and the number of events it goes on from, so one of an owner
 * that was replaced fails.  Events keep the epoch, to tell a commit whose
 * answer was lost from the same event committed by the next owner.  The views
 * `choices` and `reports` are the tables of a store in SQLite; the other views
 * show names and readable times. */
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "store/postgres_store.h"

enum { VERSION = 1 };

/* Locks of this store: the table's own number, and the experiment's; 0 is for
 * adding experiments. */
#define STORE "('experiments'::regclass::oid::bigint::bit(32)::int)"

static const char *const schema[] = {
    "CREATE TABLE store(version bigint NOT NULL, state text NOT NULL)",
    "CREATE TABLE experiments(number bigint PRIMARY KEY, "
    "name text COLLATE \"C\" NOT NULL UNIQUE, prefix text NOT NULL, "
    "policy text NOT NULL, objective text NOT NULL, "
    "low double precision NOT NULL, high double precision NOT NULL, "
    "horizon bigint NOT NULL, confidence double precision NOT NULL, "
    "beyond_horizon bigint NOT NULL, seed bigint NOT NULL, "
    "expire_after text NOT NULL, n_arms bigint NOT NULL, "
    "dim bigint NOT NULL, created_at bigint NOT NULL)",
    "CREATE TABLE owners(experiment bigint PRIMARY KEY, "
    "epoch bigint NOT NULL, events bigint NOT NULL, sum bigint NOT NULL, "
    "address text NOT NULL, since timestamptz NOT NULL) "
    "WITH (fillfactor = 50)",
    "CREATE TABLE events(experiment bigint NOT NULL, seq bigint NOT NULL, "
    "kind text COLLATE \"C\" NOT NULL, item bigint NOT NULL, "
    "arm bigint NOT NULL, value double precision NOT NULL, "
    "at bigint NOT NULL, name text COLLATE \"C\", features bytea, "
    "sum bigint NOT NULL, epoch bigint NOT NULL, "
    "PRIMARY KEY (experiment, seq))",
    "CREATE UNIQUE INDEX by_item ON events(experiment, kind, item)",
    "CREATE UNIQUE INDEX own_ids ON events(name) "
    "WHERE kind = 'choose' AND name IS NOT NULL",
    "CREATE TABLE snapshots(experiment bigint NOT NULL, seq bigint NOT NULL, "
    "part bigint NOT NULL, state bytea NOT NULL, sum bigint NOT NULL, "
    "PRIMARY KEY (experiment, seq, part))",
    "CREATE VIEW choices AS SELECT experiment, item AS round, seq, arm, "
    "value AS probability, at, name AS id, sum FROM events "
    "WHERE kind = 'choose'",
    "CREATE VIEW reports AS SELECT experiment, seq, kind, item, value, at, "
    "name, features, sum FROM events WHERE kind <> 'choose'",
    "CREATE VIEW arms AS SELECT e.name AS experiment, "
    "coalesce(a.name, a.item::text) AS name, a.item AS number, "
    "to_timestamp(a.at / 1000.0) AS admitted_at, "
    "to_timestamp(w.at / 1000.0) AS withdrawn_at "
    "FROM events a JOIN experiments e ON e.number = a.experiment "
    "LEFT JOIN events w ON w.experiment = a.experiment "
    "AND w.item = a.item AND w.kind = 'withdraw' WHERE a.kind = 'admit'",
    "CREATE VIEW decisions AS SELECT coalesce(c.name, e.prefix || c.item) "
    "AS id, e.name AS experiment, c.item AS round, "
    "coalesce(a.name, c.arm::text) AS arm, c.value AS probability, "
    "to_timestamp(c.at / 1000.0) AS decided_at, CASE "
    "WHEN EXISTS (SELECT 1 FROM events r WHERE r.experiment = c.experiment "
    "AND r.kind = 'observe' AND r.item = c.item) THEN 'observed' "
    "WHEN EXISTS (SELECT 1 FROM events r WHERE r.experiment = c.experiment "
    "AND r.kind = 'cancel' AND r.item = c.item) THEN 'cancelled' "
    "WHEN EXISTS (SELECT 1 FROM events r WHERE r.experiment = c.experiment "
    "AND r.kind = 'expire' AND r.item = c.item) THEN 'expired' "
    "WHEN EXISTS (SELECT 1 FROM events r WHERE r.experiment = c.experiment "
    "AND r.kind = 'default' AND r.item = c.item) THEN 'defaulted' "
    "ELSE 'pending' END AS state "
    "FROM events c JOIN experiments e ON e.number = c.experiment "
    "LEFT JOIN events a ON a.experiment = c.experiment "
    "AND a.kind = 'admit' AND a.item = c.arm WHERE c.kind = 'choose'",
    "CREATE VIEW outcomes AS SELECT coalesce(c.name, e.prefix || r.item) "
    "AS id, e.name AS experiment, r.item AS round, r.value AS loss, "
    "to_timestamp(r.at / 1000.0) AS reported_at "
    "FROM events r JOIN experiments e ON e.number = r.experiment "
    "JOIN events c ON c.experiment = r.experiment AND c.kind = 'choose' "
    "AND c.item = r.item WHERE r.kind = 'observe'"};
enum { N_SCHEMA = sizeof schema / sizeof *schema };

const char *const tarry__postgres_texts[TARRY__POSTGRES_COUNT] = {
    [TARRY__POSTGRES_BEGIN] = "BEGIN",
    [TARRY__POSTGRES_COMMIT] = "COMMIT",
    [TARRY__POSTGRES_ROLLBACK] = "ROLLBACK",
    [TARRY__POSTGRES_PROBE] = "UPDATE store SET version = version",
    [TARRY__POSTGRES_MARK] = "UPDATE store SET state = $1::text",
    [TARRY__POSTGRES_ADDING] = "SELECT pg_advisory_xact_lock(" STORE ", 0)",
    [TARRY__POSTGRES_LOCK_NEW] =
        "SELECT pg_advisory_lock(" STORE ", $1::bigint::int)",
    [TARRY__POSTGRES_ADD_EXPERIMENT] =
        "INSERT INTO experiments VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,"
        "$12,$13,$14,$15)",
    [TARRY__POSTGRES_ADD_OWNER] =
        "INSERT INTO owners VALUES($1, 1, $2, $3, $4, now())",
    /* no such row: division by zero, and nothing is committed */
    [TARRY__POSTGRES_FENCE] =
        "WITH moved AS (UPDATE owners SET events = $4::bigint, "
        "sum = $5::bigint WHERE experiment = $1::bigint "
        "AND epoch = $2::bigint AND events = $3::bigint RETURNING 1) "
        "SELECT 1 / count(*) FROM moved",
    [TARRY__POSTGRES_ADD_EVENTS] =
        "INSERT INTO events SELECT $1::bigint, u.*, $2::bigint FROM "
        "unnest($3::bigint[], $4::text[], $5::bigint[], $6::bigint[], "
        "$7::float8[], $8::bigint[], $9::text[], $10::bytea[], "
        "$11::bigint[]) u",
    [TARRY__POSTGRES_EXPERIMENTS] =
        "SELECT number, name, prefix, policy, objective, low, high, horizon, "
        "confidence, beyond_horizon, seed, expire_after, n_arms, dim, "
        "created_at FROM experiments WHERE number > $1::bigint ORDER BY number",
    [TARRY__POSTGRES_LOCK] =
        "SELECT pg_try_advisory_lock(" STORE ", $1::bigint::int)::int::bigint, "
        "(SELECT address FROM owners WHERE experiment = $1::bigint)",
    [TARRY__POSTGRES_UNLOCK] =
        "SELECT pg_advisory_unlock(" STORE ", $1::bigint::int)",
    [TARRY__POSTGRES_UNLOCK_ALL] = "SELECT pg_advisory_unlock_all()",
    [TARRY__POSTGRES_OWN] = "UPDATE owners SET epoch = epoch + 1, "
                            "address = $2::text, since = now() "
                            "WHERE experiment = $1::bigint RETURNING epoch",
    [TARRY__POSTGRES_WAIT] =
        "SELECT 1 FROM owners WHERE experiment = $1::bigint FOR UPDATE",
    [TARRY__POSTGRES_SUM] = "SELECT sum, epoch FROM events "
                            "WHERE experiment = $1::bigint AND "
                            "seq = $2::bigint",
    [TARRY__POSTGRES_HEAD] =
        "SELECT epoch, events, sum, coalesce((SELECT max(seq) FROM events e "
        "WHERE e.experiment = o.experiment), 0) FROM owners o "
        "WHERE experiment = $1::bigint",
    [TARRY__POSTGRES_SCAN] =
        "SELECT seq, kind, item, arm, value, at, name, features, sum "
        "FROM events WHERE experiment = $1::bigint AND seq > $2::bigint "
        "AND seq <= $3::bigint ORDER BY seq",
    [TARRY__POSTGRES_SCAN_ARMS] =
        "SELECT seq, kind, item, arm, value, at, name, features, sum "
        "FROM events WHERE experiment = $1::bigint AND seq > $2::bigint "
        "AND seq <= $3::bigint AND kind = 'admit' ORDER BY item",
    [TARRY__POSTGRES_LOOK] =
        "SELECT seq, arm, value, at, name FROM events WHERE "
        "experiment = $1::bigint AND kind = $2::text AND item = $3::bigint",
    [TARRY__POSTGRES_LOOK_ID] = "SELECT experiment, item FROM events "
                                "WHERE name = $1::text AND kind = 'choose'",
    /* the answer is one of low, ..., high */
    [TARRY__POSTGRES_ROUND_AT] =
        "WITH RECURSIVE search(low, high) AS ("
        "SELECT coalesce(min(item) - 1, 0), coalesce(max(item), 0) "
        "FROM events WHERE experiment = $1::bigint AND kind = 'choose' "
        "UNION ALL SELECT CASE WHEN e.at <= $2::bigint THEN middle ELSE low "
        "END, CASE WHEN e.at <= $2::bigint THEN high ELSE middle - 1 END "
        "FROM search, LATERAL (SELECT (low + high + 1) / 2 AS middle) m, "
        "LATERAL (SELECT at FROM events WHERE experiment = $1::bigint "
        "AND kind = 'choose' AND item = middle) e WHERE low < high) "
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM events "
        "WHERE experiment = $1::bigint AND kind = 'choose' AND item = low) "
        "THEN low ELSE 0 END FROM search WHERE low = high",
    [TARRY__POSTGRES_KEEP] = "SELECT 1 / count(*) FROM (SELECT 1 FROM owners "
                             "WHERE experiment = $1::bigint "
                             "AND epoch = $2::bigint FOR SHARE) kept",
    [TARRY__POSTGRES_DROP_SNAPSHOTS] =
        "DELETE FROM snapshots WHERE experiment = $1::bigint",
    [TARRY__POSTGRES_ADD_SNAPSHOT] =
        "INSERT INTO snapshots VALUES($1::bigint, $2::bigint, $3::bigint, "
        "$4::bytea, $5::bigint)",
    [TARRY__POSTGRES_SNAPSHOT] =
        "SELECT seq, part, state, sum FROM snapshots "
        "WHERE experiment = $1::bigint ORDER BY seq, part"};

/* ---- making and checking --------------------------------------------------*/

static void send_text(tarry__postgres *s, const char *sql)
{
    if (s->link != NULL &&
        PQsendQueryParams(s->link, sql, 0, NULL, NULL, NULL, NULL, 0) == 0)
        tarry__postgres_lose(s, PQerrorMessage(s->link));
}

static tarry_status settle(tarry__postgres *s, PGresult **rows,
                           tarry_error *error)
{
    tarry__postgres_sync(s);
    return tarry__postgres_settle(s, rows) == TARRY__POSTGRES_DONE
               ? TARRY_OK
               : tarry__postgres_fail(s, error);
}

/* Read from the catalogue itself: what names stand for is remembered until the
 * end of a transaction, whatever another process has made meanwhile. */
static tarry_status is_made(tarry__postgres *s, bool *made, tarry_error *error)
{
    PGresult *rows;
    send_text(s, "SELECT EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n "
                 "ON n.oid = c.relnamespace WHERE c.relname = 'store' "
                 "AND n.nspname = ANY (current_schemas(false)))");
    const tarry_status status = settle(s, &rows, error);
    *made = status == TARRY_OK && *PQgetvalue(rows, 0, 0) == 't';
    PQclear(rows);
    return status;
}

/* One process at a time makes them, all in one transaction. */
static tarry_status make(tarry__postgres *s, tarry_error *error)
{
    char first[80];
    bool made;
    snprintf(first, sizeof first, "INSERT INTO store VALUES(%d, 'ready')",
             VERSION);
    send_text(s, "BEGIN");
    send_text(s, "SELECT pg_advisory_xact_lock(8377837783778377)");
    tarry_status status = settle(s, NULL, error);
    if (status == TARRY_OK)
        status = is_made(s, &made, error);
    for (size_t i = 0; status == TARRY_OK && !made && i < N_SCHEMA; i++)
        send_text(s, schema[i]);
    if (status == TARRY_OK && !made)
        send_text(s, first);
    if (status == TARRY_OK) {
        send_text(s, "COMMIT");
        status = settle(s, NULL, error);
    }
    return status;
}

static tarry_status check_version(tarry__postgres *s, tarry_error *error)
{
    PGresult *rows;
    char wanted[20];
    snprintf(wanted, sizeof wanted, "%d", VERSION);
    send_text(s, "SELECT version, state FROM store");
    tarry_status status = settle(s, &rows, error);
    if (status != TARRY_OK)
        return status;
    if (PQntuples(rows) != 1)
        status = tarry__base_fail(error, TARRY_BAD_STATE,
                                  "%s: not a store of tarry", s->shown);
    else if (strcmp(PQgetvalue(rows, 0, 0), wanted) != 0)
        status = tarry__base_fail(error, TARRY_BAD_STATE,
                                  "%s: a store of version %s, not %d", s->shown,
                                  PQgetvalue(rows, 0, 0), VERSION);
    else if (strcmp(PQgetvalue(rows, 0, 1), "ready") != 0 && !s->is_open)
        status = tarry__base_fail(error, TARRY_BAD_STATE,
                                  "%s: a copy into it has not been finished",
                                  s->shown);
    PQclear(rows);
    return status;
}

tarry_status tarry__postgres_tables(tarry__postgres *s, tarry_error *error)
{
    bool made;
    tarry_status status = is_made(s, &made, error);
    if (status == TARRY_OK && !made && !s->creates)
        return tarry__base_fail(error, TARRY_IO_ERROR,
                                "%s: there is no store in this database",
                                s->shown);
    if (status == TARRY_OK && !made)
        status = make(s, error);
    if (status == TARRY_OK)
        status = check_version(s, error);
    return status;
}
