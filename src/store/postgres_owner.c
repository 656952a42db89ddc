/* postgres_owner.c - one owner for each experiment, and what others see.
 *
 * An owner holds an advisory lock of its connection: when it dies, the server
 * sees the end of the connection and lets the lock go.  Whoever gets the lock
 * raises the experiment's epoch, which waits for a commit that is still under
 * way and makes any later one of the owner before fail.  Then it reads what
 * that owner has committed, and verifies it.  So whether an owner knows that it
 * is none any more does not matter. */
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "store/postgres_store.h"

/* ---- reading the log ------------------------------------------------------*/

static tarry_status damaged(const tarry__postgres *s, uint64_t number,
                            const char *what, uint64_t seq, tarry_error *error)
{
    return tarry__base_fail(error, TARRY_BAD_STATE,
                            "%s: damaged: experiment %ju, %s %ju", s->shown,
                            (uintmax_t)number, what, (uintmax_t)seq);
}

typedef struct {
    tarry__postgres *store;
    uint64_t number;
    tarry__store_head *head;
    tarry_error *error;
} checking;

static tarry_status check_event(void *context, const tarry__store_event *e,
                                uint64_t sum)
{
    const checking *c = context;
    tarry__store_head *h = c->head;
    if (e->seq != h->end.events + 1)
        return damaged(c->store, c->number, "there is no event",
                       h->end.events + 1, c->error);
    if (!tarry__store_event_fits(h, e))
        return damaged(c->store, c->number, "there can be no such event",
                       e->seq, c->error);
    tarry__store_head_pass(h, e);
    return h->end.sum == sum
               ? TARRY_OK
               : damaged(c->store, c->number, "the digest is wrong at event",
                         h->end.events, c->error);
}

/* What the row of an experiment says. */
typedef struct {
    bool found;
    uint64_t epoch, events, sum, last;
} known;

static tarry_status ask_head(tarry__postgres *s, uint64_t number, known *out,
                             tarry_error *error)
{
    PGresult *rows;
    tarry__postgres_params p = {0};
    tarry__postgres_add_count(&p, number);
    const tarry_status status =
        tarry__postgres_ask_once(s, TARRY__POSTGRES_HEAD, &p, &rows, error);
    *out = (known){.found = rows != NULL && PQntuples(rows) == 1};
    if (out->found)
        *out = (known){true, tarry__postgres_count_of(rows, 0, 0),
                       tarry__postgres_count_of(rows, 0, 1),
                       tarry__postgres_count_of(rows, 0, 2),
                       tarry__postgres_count_of(rows, 0, 3)};
    PQclear(rows);
    return status;
}

/* The log must go from the head we know to the one that is stored. */
static tarry_status check_end(const tarry__postgres *s, uint64_t number,
                              const known *k, tarry_error *error)
{
    const tarry__store_head *h = s->heads->head[number - 1];
    if (!k->found)
        return damaged(s, number, "no row in owners for experiment", number,
                       error);
    if (k->last != k->events)
        return damaged(s, number,
                       k->last < k->events ? "there is no event"
                                           : "nobody committed event",
                       k->last < k->events ? k->events : k->last, error);
    if (h->end.events != k->events)
        return damaged(s, number, "there is no event", h->end.events + 1,
                       error);
    if (h->end.sum != k->sum)
        return damaged(s, number, "the digest is wrong at event", h->end.events,
                       error);
    return h->end.events < h->made.n_arms
               ? damaged(s, number, "there is no event", h->end.events + 1,
                         error)
               : TARRY_OK;
}

tarry_status tarry__postgres_catch_up(tarry__postgres *s, uint64_t number,
                                      uint64_t most, tarry_error *error)
{
    known k;
    uint64_t to = 0;
    tarry__store_head *h = s->heads->head[number - 1];
    const tarry__store_end end = h->end;
    checking c = {s, number, h, error};
    tarry_status status = ask_head(s, number, &k, error);
    if (status == TARRY_OK && k.found && k.events > h->end.events) {
        to = k.events - h->end.events > most ? h->end.events + most : k.events;
        status =
            tarry__postgres_scan(s, TARRY__POSTGRES_SCAN, number, h->end.events,
                                 to, check_event, &c, error);
    }
    if (status == TARRY_OK && (to == 0 || to == k.events))
        status = check_end(s, number, &k, error);
    if (status != TARRY_OK)
        h->end = end;
    return status;
}

/* ---- experiments that others have added -----------------------------------*/

static tarry_status read_experiment(tarry__postgres *s, const PGresult *r,
                                    int row, tarry_error *error)
{
    const char *objective = tarry__postgres_text_of(r, row, 4);
    const tarry__store_experiment e = {
        .name = tarry__postgres_text_of(r, row, 1),
        .prefix = tarry__postgres_text_of(r, row, 2),
        .policy = tarry__postgres_text_of(r, row, 3),
        .maximize = strcmp(objective, "maximize") == 0,
        .low = tarry__postgres_real(PQgetvalue(r, row, 5)),
        .high = tarry__postgres_real(PQgetvalue(r, row, 6)),
        .horizon = tarry__postgres_count_of(r, row, 7),
        .confidence = tarry__postgres_real(PQgetvalue(r, row, 8)),
        .beyond_horizon = tarry__postgres_count_of(r, row, 9) != 0,
        .seed = tarry__postgres_count_of(r, row, 10),
        .expire_after = tarry__postgres_text_of(r, row, 11),
        .n_arms = tarry__postgres_count_of(r, row, 12),
        .dim = tarry__postgres_count_of(r, row, 13),
        .created_at = (int64_t)tarry__postgres_count_of(r, row, 14)};
    if ((!e.maximize && strcmp(objective, "minimize") != 0) ||
        tarry__postgres_count_of(r, row, 9) > 1 ||
        tarry__postgres_count_of(r, row, 0) != s->heads->count + 1 ||
        !tarry__store_experiment_fits(&e))
        return damaged(s, s->heads->count + 1, "its settings, row",
                       tarry__postgres_count_of(r, row, 0), error);
    if (tarry__store_heads_add(s->heads, &e) != TARRY_OK)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    s->heads->head[s->heads->count - 1]->epoch = 0;
    return TARRY_OK;
}

tarry_status tarry__postgres_refresh(tarry__postgres *s, tarry_error *error)
{
    PGresult *rows;
    tarry__postgres_params p = {0};
    tarry__postgres_add_count(&p, s->heads->count);
    tarry_status status =
        tarry__postgres_ask(s, TARRY__POSTGRES_EXPERIMENTS, &p, &rows, error);
    for (int i = 0; status == TARRY_OK && i < PQntuples(rows); i++)
        status = read_experiment(s, rows, i, error);
    PQclear(rows);
    return status;
}

/* ---- owning ---------------------------------------------------------------*/

/* Whether the connection got the experiment's lock; who was its last owner. */
static tarry_status lock(tarry__postgres *s, uint64_t number, bool *locked,
                         char owner[TARRY__STORE_OWNER_ROOM],
                         tarry_error *error)
{
    PGresult *rows;
    tarry__postgres_params p = {0};
    tarry__postgres_add_count(&p, number);
    const tarry_status status =
        tarry__postgres_ask_once(s, TARRY__POSTGRES_LOCK, &p, &rows, error);
    *locked = rows != NULL && tarry__postgres_count_of(rows, 0, 0) == 1;
    if (rows != NULL) {
        const char *last = tarry__postgres_text_of(rows, 0, 1);
        snprintf(owner, TARRY__STORE_OWNER_ROOM, "%s",
                 last[0] != '\0' ? last : "another process");
    }
    PQclear(rows);
    return status;
}

void tarry__postgres_disown(tarry__postgres *s, uint64_t number)
{
    tarry__postgres_params p = {0};
    tarry__postgres_add_count(&p, number);
    s->heads->head[number - 1]->epoch = 0;
    tarry__postgres_ask_once(s, TARRY__POSTGRES_UNLOCK, &p, NULL, NULL);
}

/* With the lock: a new epoch, then the log. */
static tarry_status enter(tarry__postgres *s, uint64_t number,
                          tarry_error *error)
{
    PGresult *rows;
    tarry__postgres_params p = {0};
    tarry__postgres_add_count(&p, number);
    tarry__postgres_add_text(&p, s->address);
    tarry_status status =
        tarry__postgres_ask_once(s, TARRY__POSTGRES_OWN, &p, &rows, error);
    if (status != TARRY_OK)
        return status;
    const uint64_t epoch =
        PQntuples(rows) == 1 ? tarry__postgres_count_of(rows, 0, 0) : 0;
    PQclear(rows);
    status = tarry__postgres_catch_up(s, number, UINT64_MAX, error);
    if (status == TARRY_OK)
        s->heads->head[number - 1]->epoch = epoch;
    return status;
}

static tarry_status try_to_own(tarry__postgres *s, uint64_t number,
                               char owner[TARRY__STORE_OWNER_ROOM],
                               tarry_error *error)
{
    bool locked;
    tarry_status status = lock(s, number, &locked, owner, error);
    if (status == TARRY_OK && !locked)
        return tarry__base_fail(error, TARRY_CANCELLED,
                                "experiment '%s' is in use by %s",
                                s->heads->head[number - 1]->made.name, owner);
    if (status == TARRY_OK)
        status = enter(s, number, error);
    if (status != TARRY_OK && locked)
        tarry__postgres_disown(s, number);
    return status;
}

tarry_status tarry__postgres_own(tarry__postgres *s, uint64_t number,
                                 char owner[TARRY__STORE_OWNER_ROOM],
                                 tarry_error *error)
{
    tarry_status status = TARRY_IO_ERROR;
    if (s->heads->head[number - 1]->epoch != 0)
        return TARRY_OK;
    for (int i = 0; i < 2 && status == TARRY_IO_ERROR; i++) {
        status = tarry__postgres_link(s, error);
        if (status == TARRY_OK)
            status = try_to_own(s, number, owner, error);
        if (s->link != NULL)
            break;
    }
    return status;
}

/* ---- after a new link -----------------------------------------------------*/

/* Whether the row is as we left it: with all that we know of, or still before
 * the batch that was being appended when the link was lost. */
static bool is_ours(const tarry__postgres *s, uint64_t number, const known *k)
{
    const tarry__store_head *h = s->heads->head[number - 1];
    if (!k->found || k->epoch != h->epoch)
        return false;
    for (size_t i = 0; i < s->n_batches; i++)
        if (s->batches[i].experiment == number && s->batches[i].count > 0 &&
            k->events + 1 == s->batches[i].events[0].seq)
            return true;
    return k->events == h->end.events && k->sum == h->end.sum;
}

static tarry_status retake(tarry__postgres *s, uint64_t number,
                           tarry_error *error)
{
    bool locked;
    known k;
    char owner[TARRY__STORE_OWNER_ROOM];
    tarry_status status = lock(s, number, &locked, owner, error);
    if (status != TARRY_OK)
        return status;
    if (!locked) {
        s->heads->head[number - 1]->epoch = 0;
        return TARRY_OK;
    }
    status = ask_head(s, number, &k, error);
    if (status == TARRY_OK && !is_ours(s, number, &k))
        tarry__postgres_disown(s, number);
    return status;
}

tarry_status tarry__postgres_retake(tarry__postgres *s, tarry_error *error)
{
    tarry_status status = TARRY_OK;
    for (size_t i = 0; status == TARRY_OK && i < s->heads->count; i++)
        if (s->heads->head[i]->epoch != 0)
            status = retake(s, i + 1, error);
    return status;
}
