/* kind.h - what one kind of store supplies.  store.c has checked the call,
 * holds the store's lock, and keeps count of events and their digests. */
#ifndef TARRY_STORE_KIND_H
#define TARRY_STORE_KIND_H

#include <stdatomic.h>
#include <sys/stat.h>
#include "store/store.h"

/* Where a log has come to. */
typedef struct {
    uint64_t events, sum; /* how many, and the digest after the last */
    uint64_t arms;        /* how many were admitted */
    uint64_t round;       /* of the last choice; 0: there is none */
    uint64_t pauses;      /* how many have begun */
} tarry__store_end;

typedef struct {
    tarry__store_experiment made; /* its texts are owned */
    tarry__store_end end;
    bool has_own_ids;       /* some of its choices have ids of users */
    _Atomic uint64_t epoch; /* of its ownership; 0: not owned */
} tarry__store_head;

typedef struct {
    tarry__store_head **head; /* each stays where it is */
    size_t count, room;
} tarry__store_heads;

/* Copies an experiment to the end of the list, its digest begun. */
tarry_status tarry__store_heads_add(tarry__store_heads *heads,
                                    const tarry__store_experiment *e);
void tarry__store_heads_drop_last(tarry__store_heads *heads);
void tarry__store_heads_clear(tarry__store_heads *heads);

/* The digest of an experiment's own fields, with which that of its log begins,
 * and what an event adds to it.  Against accidents, not against forgery. */
uint64_t tarry__store_experiment_digest(const tarry__store_experiment *e);
uint64_t tarry__store_event_digest(uint64_t sum,
                                   const tarry__store_event *event,
                                   uint64_t dim);

/* Whether what was read can be an experiment's settings, or the next event of a
 * log: no digest tells, as anybody can compute it. */
bool tarry__store_experiment_fits(const tarry__store_experiment *e);
bool tarry__store_event_fits(const tarry__store_head *h,
                             const tarry__store_event *event);

/* Moves an experiment's head past an event. */
void tarry__store_head_pass(tarry__store_head *h,
                            const tarry__store_event *event);

typedef struct {
    /* Opens and verifies; fills the list of experiments, which stays where it
     * is. */
    tarry_status (*open)(const char *path, bool create,
                         tarry__store_heads *heads, void **state,
                         tarry_error *error);
    /* The same for reading what another process uses, as it is now; NULL: any
     * number of processes can open it. */
    tarry_status (*open_used)(const char *path, tarry__store_heads *heads,
                              void **state, tarry_error *error);
    void (*close)(void *state);
    /* One commit of a new experiment (or NULL, then 0) and of batches; sums[i]
     * is the running digest after each event, batch by batch.  `heads` is as
     * it will be afterwards.  TARRY_CANCELLED: another process was faster. */
    tarry_status (*append)(void *state, const tarry__store_heads *heads,
                           const tarry__store_experiment *added,
                           const tarry__store_batch *batches, size_t n,
                           const uint64_t *sums, tarry_error *error);
    tarry_status (*probe)(void *state, tarry_error *error);
    tarry_status (*scan)(void *state, const tarry__store_heads *heads,
                         uint64_t experiment, uint64_t seq,
                         tarry_status (*take)(void *,
                                              const tarry__store_event *),
                         void *context, tarry_error *error);
    tarry_status (*scan_arms)(void *state, const tarry__store_heads *heads,
                              uint64_t experiment,
                              tarry_status (*take)(void *,
                                                   const tarry__store_event *),
                              void *context, tarry_error *error);
    tarry_status (*look)(void *state, uint64_t experiment,
                         tarry__store_event_kind kind, uint64_t round,
                         tarry__store_event *event, char *id, bool *found,
                         tarry_error *error);
    tarry_status (*look_id)(void *state, const char *id, uint64_t *experiment,
                            uint64_t *round, bool *found, tarry_error *error);
    tarry_status (*round_at)(void *state, uint64_t experiment, int64_t at,
                             uint64_t *round, tarry_error *error);
    tarry_status (*save)(void *state, uint64_t experiment, uint64_t seq,
                         const void *bytes, size_t size, tarry_error *error);
    tarry_status (*load)(void *state, uint64_t experiment, uint64_t *seq,
                         void **bytes, size_t *size, tarry_error *error);
    /* Whether that file is one of the store's own; NULL: it has none. */
    bool (*has_file)(void *state, const struct stat *file);
    /* Of stores that processes share; NULL: there is only this one. */
    tarry_status (*refresh)(void *state, tarry_error *error);
    tarry_status (*own)(void *state, uint64_t experiment,
                        char owner[TARRY__STORE_OWNER_ROOM],
                        tarry_error *error);
    tarry_status (*follow)(void *state, uint64_t experiment,
                           tarry_error *error);
    tarry_status (*publish)(void *state, const char *address);
    tarry_status (*mark)(void *state, bool ready, tarry_error *error);
} tarry__store_kind;

/* tarry__store_reserve for that kind. */
void tarry__store_sqlite_reserve(void *state);

extern const tarry__store_kind tarry__store_memory, tarry__store_sqlite,
    tarry__store_postgres;

#endif
