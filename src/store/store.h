/* store.h - experiments as logs: what was decided, what came of it, in order.
 *
 * A store holds experiments.  Each is an append-only log of events, numbered
 * 1, 2, ... by `seq`; the first ones admit the arms it begins with.  A policy
 * is a deterministic machine, so the log says everything; snapshots of the
 * policy only save time.  Experiments are independent of one another, and
 * events of several can be appended in one commit.
 *
 * Any thread may call; calls on one store take turns. */
#ifndef TARRY_STORE_STORE_H
#define TARRY_STORE_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tarry/status.h"

typedef enum {
    TARRY__STORE_CHOOSE,   /* an arm was chosen for a round */
    TARRY__STORE_OBSERVE,  /* its loss was reported */
    TARRY__STORE_CANCEL,   /* it was never shown */
    TARRY__STORE_EXPIRE,   /* its loss is taken as never coming */
    TARRY__STORE_ADMIT,    /* an arm is there from now on */
    TARRY__STORE_WITHDRAW, /* and no more */
    TARRY__STORE_PAUSE,    /* no choices from now on; `arm` counts the pauses */
    TARRY__STORE_RESUME,   /* and again; `arm` is the pause that ends */
    TARRY__STORE_CUT,      /* as the next one; once only those leases were noted
                              that the horizon had cut short */
    TARRY__STORE_LEASE,    /* a lease was given: `arm` is its first round,
                              `value` how many choices it was to have */
    TARRY__STORE_DEFAULT   /* it has the default outcome, `value`, until its
                              loss is reported */
} tarry__store_event_kind;

/* Whether an event is about a round, and not about an arm. */
static inline bool tarry__store_is_of_round(tarry__store_event_kind kind)
{
    return kind < TARRY__STORE_ADMIT || kind == TARRY__STORE_DEFAULT;
}

/* "choose", "observe", ...; false: no kind has that name. */
const char *tarry__store_event_name(tarry__store_event_kind kind);
bool tarry__store_event_kind_of(const char *name,
                                tarry__store_event_kind *kind);

typedef struct {
    tarry__store_event_kind kind;
    uint64_t seq;   /* set when it is appended */
    uint64_t round; /* of the choice; 0 when an arm is admitted or withdrawn */
    uint64_t arm;   /* chosen, admitted, withdrawn; 0 else */
    double value;   /* the probability of a choice, the loss observed, the count
                       of a lease; 0 else */
    int64_t at;     /* milliseconds since 1970, UTC */
    const char *text; /* the user's own id of a choice, an admitted arm's name;
                         NULL: it has none */
    const double *features; /* of an admitted arm, one per dimension; NULL: it
                               has none, but a dimension of its own */
} tarry__store_event;

/* What an experiment was made with.  Texts are copied when it is added. */
typedef struct {
    const char *name;
    const char *prefix;       /* of its generated ids: prefix and round */
    const char *policy;       /* description, all settings in it */
    const char *expire_after; /* an age, "" for none */
    uint64_t n_arms, dim;     /* its first n_arms events admit its arms */
    double low, high;         /* the range of losses */
    bool maximize;            /* they are rewards */
    bool beyond_horizon;
    uint64_t horizon; /* 0: none, then */
    double confidence;
    uint64_t seed;
    int64_t created_at; /* milliseconds since 1970, UTC */
} tarry__store_experiment;

typedef struct tarry__store tarry__store;

/* Opens "memory:", "sqlite:FILE" or FILE, "postgresql://..."; `create`: makes
 * it (in PostgreSQL, its tables) if it is not there.  All that it holds is
 * verified.  The caller ends *out with tarry__store_close.  TARRY_BAD_STATE:
 * damaged, `error` says what; TARRY_CANCELLED: in use, `error` says by which
 * process; TARRY_BAD_ARGUMENT, TARRY_IO_ERROR, TARRY_NO_MEMORY. */
tarry_status tarry__store_open(const char *url, bool create, tarry__store **out,
                               tarry_error *error);
/* The same for reading only: if another process uses the file, what is
 * committed at this moment, which that process can go on to add to. */
tarry_status tarry__store_read(const char *url, tarry__store **out,
                               tarry_error *error);

void tarry__store_close(tarry__store *store);

/* Copies a URL with a star for its password, for people; `shown` has room for
 * all of it. */
void tarry__store_show(const char *url, char *shown);

/* ---- owners -----------------------------------------------------------------
 * Processes share a store in PostgreSQL.  Each experiment is owned by one of
 * them, which alone may append to it; what others know of its events may be
 * old.  A process that adds an experiment owns it, and loses what it owns when
 * its connection ends.  In other stores the process owns all. */

enum { TARRY__STORE_OWNER_ROOM = 300 };

/* Tries to own an experiment, then reads and verifies what others have added
 * to it.  TARRY_CANCELLED: somebody else does; `owner` gets what that process
 * has published, or "". */
tarry_status tarry__store_own(tarry__store *store, uint64_t number,
                              char owner[TARRY__STORE_OWNER_ROOM],
                              tarry_error *error);

/* Reads and verifies some of what the owner has added, so that taking over is
 * quick. */
tarry_status tarry__store_follow(tarry__store *store, uint64_t number,
                                 tarry_error *error);

/* Another number for each time an experiment was taken, 0 while it is not
 * owned: what was read under one epoch may be old under another.  Lives as long
 * as the store, and changes when the store finds out. */
const _Atomic uint64_t *tarry__store_epoch(tarry__store *store,
                                           uint64_t number);

/* Whether other processes may use it too. */
bool tarry__store_is_shared(const tarry__store *store);

/* Whether a path leads to one of the store's own files, which nothing else may
 * be written to. */
bool tarry__store_has_file(tarry__store *store, const char *path);

/* What others are told of this process: where it can be reached.  For what it
 * takes from then on. */
tarry_status tarry__store_publish(tarry__store *store, const char *address);

/* Finds the experiments that others have added. */
tarry_status tarry__store_refresh(tarry__store *store, tarry_error *error);

/* Until it is marked as ready, nobody can open it.  Of no effect but in
 * PostgreSQL. */
tarry_status tarry__store_mark(tarry__store *store, bool ready,
                               tarry_error *error);

/* ---- experiments, numbered 1, 2, ... --------------------------------------*/

/* Adds one with the events that admit its arms, durably. */
tarry_status tarry__store_add(tarry__store *store,
                              const tarry__store_experiment *e,
                              tarry__store_event *arms, uint64_t *number,
                              tarry_error *error);

uint64_t tarry__store_count(tarry__store *store);

/* The experiment of a number; lives as long as the store. */
const tarry__store_experiment *tarry__store_get(tarry__store *store,
                                                uint64_t number);

/* The number of a name, or 0. */
uint64_t tarry__store_find(tarry__store *store, const char *name);

/* How many events it has, and their running digest. */
uint64_t tarry__store_events(tarry__store *store, uint64_t number,
                             uint64_t *sum);

/* Whether users gave ids to some of its choices. */
bool tarry__store_has_own_ids(tarry__store *store, uint64_t number);

/* ---- events ---------------------------------------------------------------*/

typedef struct {
    uint64_t experiment;
    tarry__store_event *events; /* their seq is set */
    size_t count;
    uint64_t epoch; /* under which they were made; 0: this one */
} tarry__store_batch;

/* Appends all batches, at most one per experiment, in one commit: when it
 * answers TARRY_OK they are on the disk, else none of them is there.
 * TARRY_IO_ERROR (for instance no room), TARRY_NO_MEMORY; TARRY_CANCELLED: one
 * of the experiments is not owned, or of another epoch.  A connection that is
 * lost and does not come back for seconds is the one case where they may be
 * there after TARRY_IO_ERROR; then the epoch changes. */
tarry_status tarry__store_append(tarry__store *store,
                                 const tarry__store_batch *batches, size_t n,
                                 tarry_error *error);

/* Many commits are to come: takes room for them on the disk, so that each takes
 * less time.  What cannot be had is done without. */
void tarry__store_reserve(tarry__store *store);

/* Whether the store can be written now: an empty commit. */
tarry_status tarry__store_probe(tarry__store *store, tarry_error *error);

/* Calls `take` for each event after `seq`, in order, until one call does not
 * answer TARRY_OK, and answers that.  `take` must not call the store; the
 * event lives until it returns. */
tarry_status tarry__store_scan(
    tarry__store *store, uint64_t experiment, uint64_t seq,
    tarry_status (*take)(void *context, const tarry__store_event *event),
    void *context, tarry_error *error);

/* The same for the events that admit arms, in order of the arms. */
tarry_status tarry__store_scan_arms(
    tarry__store *store, uint64_t experiment,
    tarry_status (*take)(void *context, const tarry__store_event *event),
    void *context, tarry_error *error);

/* Finds the choice of a round, or an event of another kind that belongs to it
 * (a pause by its number, given as the round),
 * without its text; `id`, if not NULL, has room for TARRY__STORE_ID_ROOM and
 * gets the user's own id of a choice, or "".  *found tells; TARRY_OK whether or
 * not. */
enum { TARRY__STORE_ID_ROOM = 65 };
tarry_status tarry__store_look(tarry__store *store, uint64_t experiment,
                               tarry__store_event_kind kind, uint64_t round,
                               tarry__store_event *event, char *id, bool *found,
                               tarry_error *error);

/* Finds the choice that has the user's own id. */
tarry_status tarry__store_look_id(tarry__store *store, const char *id,
                                  uint64_t *experiment, uint64_t *round,
                                  bool *found, tarry_error *error);

/* The last round chosen at `at` or before; 0: none. */
tarry_status tarry__store_round_at(tarry__store *store, uint64_t experiment,
                                   int64_t at, uint64_t *round,
                                   tarry_error *error);

/* ---- snapshots ------------------------------------------------------------*/

/* Keeps the state of a policy after event `seq` in place of an older one.
 * load: the caller ends *bytes with tarry__base_free; NULL: there is none. */
tarry_status tarry__store_save(tarry__store *store, uint64_t experiment,
                               uint64_t seq, const void *bytes, size_t size,
                               tarry_error *error);
tarry_status tarry__store_load(tarry__store *store, uint64_t experiment,
                               uint64_t *seq, void **bytes, size_t *size,
                               tarry_error *error);

#endif
