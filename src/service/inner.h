/* inner.h - what the files of the service share. */
#ifndef TARRY_SERVICE_INNER_H
#define TARRY_SERVICE_INNER_H

#include <pthread.h>
#include <stdatomic.h>
#include "base/json.h"
#include "base/writer.h"
#include "service/overview.h"
#include "service/service.h"
#include "service/crew.h"
#include "service/keys.h"
#include "session/session.h"
#include "store/texts.h"

/* ---- histograms -----------------------------------------------------------*/

enum { TARRY__SERVICE_MOST_BUCKETS = 20 };

typedef struct {
    atomic_ullong bucket[TARRY__SERVICE_MOST_BUCKETS + 1]; /* last: above */
    _Atomic double sum;
} tarry__service_histogram;

/* ---- experiments ----------------------------------------------------------*/

typedef struct tarry__service_call tarry__service_call;

typedef enum {
    TARRY__SERVICE_APPLIED,
    TARRY__SERVICE_LATE,
    TARRY__SERVICE_DUPLICATE,
    TARRY__SERVICE_CORRECTED,
    TARRY__SERVICE_UNKNOWN,
    TARRY__SERVICE_CONFLICT,
    TARRY__SERVICE_INVALID,
    TARRY__SERVICE_ELSEWHERE, /* another process owns the experiment */
    TARRY__SERVICE_N_RESULTS
} tarry__service_result;

extern const char *const tarry__service_results[TARRY__SERVICE_N_RESULTS];

/* What a group has done, which counts when it is committed. */
typedef struct {
    uint64_t decisions;
    uint64_t feedback[TARRY__SERVICE_N_RESULTS];
} tarry__service_counts;

/* Who has the lock sees committed things only: the keeper keeps it from the
 * first event that it stages until the commit. */
typedef struct {
    pthread_mutex_t lock;
    tarry__session *session; /* NULL: another process's so far */
    const tarry__store_experiment *made;
    uint64_t number;
    bool in_group; /* the keeper has the lock */
    /* Calls whose choices are to be made in this group. */
    tarry__service_call *first_later, *last_later;
    size_t n_later;               /* choices */
    tarry__service_counts counts; /* of the group; the keeper's */
    atomic_ullong decisions;
    atomic_ullong feedback[TARRY__SERVICE_N_RESULTS];
    pthread_mutex_t overview_lock; /* taken before the other one */
    tarry__overview *overview;     /* or NULL, before anybody looks */
    int64_t noted_at;              /* when the last certificate was noted */
} tarry__service_experiment;

/* ---- calls ----------------------------------------------------------------*/

typedef enum {
    TARRY__SERVICE_HERE,   /* answered where it is taken */
    TARRY__SERVICE_KEEPER, /* changes something */
    TARRY__SERVICE_HELPER  /* reads, or takes long */
} tarry__service_lane;

typedef struct {
    const char *method, *pattern;
    int scope;
    tarry__service_lane lane;
    bool takes_body, takes_query;
    void (*run)(tarry__service_call *call);
} tarry__service_route;

enum {
    TARRY__SERVICE_MOST_SEGMENTS = 6,
    TARRY__SERVICE_MOST_NAMES = 2,
    TARRY__SERVICE_NAME_ROOM = 512
};

struct tarry__service_call {
    tarry__service_call *next;
    tarry__service *service;
    const tarry__service_route *route;
    size_t route_number; /* for the counters; of none: their count */
    tarry__service_request request;
    char name[TARRY__SERVICE_MOST_NAMES][TARRY__SERVICE_NAME_ROOM];
    char owner[TARRY__STORE_OWNER_ROOM]; /* of what is elsewhere, or "" */
    json_t *json;                        /* the body */
    size_t n_values;                     /* in it, or a few more */
    tarry__writer text;                  /* the answer's body */
    tarry__service_answer answer;
    tarry__service_stream *stream; /* a part of it is asked for */
    tarry__service_call *next_later;
    const char *own; /* id for the choices, or NULL */
    uint64_t count;  /* of choices; 0: one, not in a list */
    bool is_new;     /* nobody has its ids */
    bool is_put_off; /* to the next group */
    bool is_lost;    /* there was no memory for its answer */
    tarry__service_deliver *deliver;
    void *context;
};

/* Ways to answer; the body of the first is call->text. */
void tarry__service_say(tarry__service_call *call, int status);
void tarry__service_say_json(tarry__service_call *call, int status,
                             json_t *json);
void tarry__service_say_problem(tarry__service_call *call, int status,
                                const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A value of a body as a sentence quotes it: as JSON, or its kind if that is
 * long; NULL: "nothing". */
typedef struct {
    char text[80];
} tarry__service_shown;
tarry__service_shown tarry__service_show(const json_t *value);

/* What a session or store has refused. */
void tarry__service_say_refusal(tarry__service_call *call, tarry_status status,
                                const tarry_error *error);

/* Whether it is for the service to mend, not for who asks. */
bool tarry__service_is_broken(tarry_status status);

/* The body as JSON in call->json, NULL for an empty object; false: a problem
 * has been said. */
bool tarry__service_read_body(tarry__service_call *call);

/* Whether an object has no members but these, NULL-terminated; else a problem
 * has been said. */
bool tarry__service_has_only(tarry__service_call *call, json_t *object,
                             const char *const *keys);

/* The answer goes out, and with it what it owns. */
void tarry__service_finish(tarry__service_call *call);

/* ---- the service ----------------------------------------------------------*/

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    tarry__service_call *first, *last;
    size_t count;
    bool is_closed;
} tarry__service_queue;

void tarry__service_queue_init(tarry__service_queue *q);
void tarry__service_queue_end(tarry__service_queue *q);

/* Adds a call; `wakes`: somebody who waits.  put: the same, and wakes. */
void tarry__service_queue_append(tarry__service_queue *q,
                                 tarry__service_call *call, bool wakes);
void tarry__service_queue_put(tarry__service_queue *q,
                              tarry__service_call *call);

/* Nothing more will come. */
void tarry__service_queue_close(tarry__service_queue *q);

/* With the queue's lock: takes at most so many calls, in order. */
tarry__service_call *tarry__service_queue_take(tarry__service_queue *q,
                                               size_t most);

enum {
    TARRY__SERVICE_N_HELPERS = 2,
    TARRY__SERVICE_MOST_ROUTES = 40,
    TARRY__SERVICE_N_CODES = 23
};

struct tarry__service {
    tarry__store *store;
    tarry__service_limits limits;
    const tarry__service_file *files;
    tarry__service_queue keeper_queue, helper_queue;
    pthread_t keeper, helper[TARRY__SERVICE_N_HELPERS];
    size_t n_threads;    /* that were started */
    const char *address; /* what others are told of this process */
    pthread_t watcher;
    pthread_mutex_t watching;
    pthread_cond_t closing;
    bool is_watching;
    atomic_bool is_closing;
    atomic_size_t waiting;
    atomic_size_t n_values;  /* in the bodies of all calls that go on */
    bool is_gathered;        /* somebody calls flush */
    pthread_mutex_t keeping; /* of who runs a group */
    tarry__crew *crew;       /* makes choices of several experiments */
    double last_seconds;     /* that a group took */
    pthread_mutex_t spare_lock;
    tarry__service_call *spare; /* calls to be used again */
    size_t n_spare;
    pthread_rwlock_t table; /* of experiments */
    tarry__service_experiment **experiment;
    size_t n_experiments, room;
    tarry__texts by_name, by_prefix;
    pthread_mutex_t creating;
    pthread_rwlock_t tokens_lock;
    tarry__keys *tokens;               /* NULL: none are needed */
    tarry__service_experiment **group; /* locked by the keeper */
    size_t n_group, group_room;
    tarry__session **sessions; /* of the group */
    tarry__texts ids;          /* that users gave in this group, and to whom */
    _Atomic tarry_status broken; /* why a request of the group ended half-way,
                                    so that the group is undone; or TARRY_OK */
    atomic_bool is_failing;      /* the last commit did not work */
    tarry__service_histogram commits, delays;
    tarry__service_counts counts;        /* of the group: outcomes of no one */
    tarry__service_histogram new_delays; /* of the group */
    atomic_ullong requests[TARRY__SERVICE_MOST_ROUTES + 1]
                          [TARRY__SERVICE_N_CODES];
    atomic_ullong strays[TARRY__SERVICE_N_RESULTS]; /* outcomes of no one */
    int64_t started_at;
    size_t looked_at; /* the experiment that is looked at next */
};

/* An experiment by its name or by the prefix of an id; NULL: none.  Where
 * others may have added one and the store cannot tell: TARRY_IO_ERROR. */
tarry_status tarry__service_find(tarry__service *service, const char *name,
                                 tarry__service_experiment **out,
                                 tarry_error *error);
tarry_status tarry__service_find_prefix(tarry__service *service,
                                        const char *prefix,
                                        tarry__service_experiment **out,
                                        tarry_error *error);
/* The one that a path names; NULL: a problem has been said. */
tarry__service_experiment *tarry__service_named(tarry__service_call *call);
/* Number i from 0, or NULL. */
tarry__service_experiment *tarry__service_at(tarry__service *service, size_t i);

/* Adds what the store has more than the table, without sessions. */
tarry_status tarry__service_meet(tarry__service *service, tarry_error *error);

/* Gives an experiment of the store its session. */
tarry_status tarry__service_add(tarry__service *service,
                                tarry__session *session, tarry_error *error);

/* ---- owners ---------------------------------------------------------------*/

/* With the experiment's lock: makes sure that this process owns it and has its
 * session.  TARRY_CANCELLED: another does, and call->owner says which;
 * TARRY_IO_ERROR, TARRY_NO_MEMORY. */
tarry_status tarry__service_hold(tarry__service_call *call,
                                 tarry__service_experiment *e,
                                 tarry_error *error);
void tarry__service_say_elsewhere(tarry__service_call *call);

/* Finds experiments that others have added. */
tarry_status tarry__service_look_for_new(tarry__service *service,
                                         tarry_error *error);

/* A thread that does, if there are others; 0, or the system's error. */
int tarry__service_start_watching(tarry__service *service);
void tarry__service_stop_watching(tarry__service *service);

/* The keeper: a thread, with the service. */
void *tarry__service_keep(void *context);

/* The keeper's: locks an experiment until its group is committed; false: out of
 * memory.  The second finds it by the id of a decision; NULL: *status tells. */
bool tarry__service_enter(tarry__service *service,
                          tarry__service_experiment *e);
tarry__service_experiment *tarry__service_enter_id(tarry__service_call *call,
                                                   const char *id,
                                                   tarry_status *status,
                                                   tarry_error *error);

void tarry__service_histogram_add(tarry__service_histogram *h,
                                  const double *bounds, double value);
extern const double tarry__service_commit_bounds[],
    tarry__service_delay_bounds[];

/* Adds what has happened to what counts, or forgets it. */
void tarry__service_settle_counts(tarry__service *service, bool has_happened);

void tarry__service_count(tarry__service *service, size_t route, int status);

/* The keeper's, now and then: notes certificates for overviews. */
void tarry__service_look_around(tarry__service *service);

/* The stream of an experiment's log. */
void tarry__service_log_part(tarry__service_call *call);
void tarry__service_stream_free(tarry__service_stream *stream);

/* ---- ids of somebody's own ------------------------------------------------*/

/* The number of the experiment that has given an id, or 0. */
tarry_status tarry__service_owner_of(tarry__service *service, const char *id,
                                     uint64_t *experiment, tarry_error *error);

/* The keeper's: whether an id cannot name this request, for one choice (count
 * 0) or many.  Then a problem has been said, or the call waits for the next
 * group.  Else call->is_new is set. */
bool tarry__service_id_is_taken(tarry__service_call *call, const char *own,
                                const tarry__service_experiment *e,
                                uint64_t count);

/* Whether another call of the group was given the lease that a call asks for.
 */
bool tarry__service_was_given(const tarry__service_call *call,
                              const tarry__service_experiment *e);

/* ---- routes ---------------------------------------------------------------*/

extern const tarry__service_route tarry__service_routes[];
extern const size_t tarry__service_n_routes;

/* Finds route and names of a call; false: a problem has been said. */
bool tarry__service_find_route(tarry__service_call *call);

void tarry__service_create_experiment(tarry__service_call *call);
void tarry__service_list_experiments(tarry__service_call *call);
void tarry__service_show_experiment(tarry__service_call *call);
void tarry__service_decide(tarry__service_call *call);
/* Makes the choices that decide has left for later. */
void tarry__service_choose(tarry__service_call *call,
                           tarry__service_experiment *e);
void tarry__service_feedback(tarry__service_call *call);
void tarry__service_cancel(tarry__service_call *call);
void tarry__service_expire(tarry__service_call *call);
void tarry__service_admit(tarry__service_call *call);
void tarry__service_withdraw(tarry__service_call *call);
void tarry__service_pause(tarry__service_call *call);
void tarry__service_resume(tarry__service_call *call);
void tarry__service_status(tarry__service_call *call);
void tarry__service_pending(tarry__service_call *call);
void tarry__service_log(tarry__service_call *call);
void tarry__service_overview(tarry__service_call *call);
void tarry__service_health(tarry__service_call *call);
void tarry__service_ready(tarry__service_call *call);
void tarry__service_metrics(tarry__service_call *call);

#endif
