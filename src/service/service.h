/* service.h - many experiments behind one door; no socket in sight.
 *
 * A request comes in with tarry__service_take; its answer goes out through a
 * function of the caller's, once what it says is committed.  One thread, the
 * keeper, takes everything that has gathered while the last commit was under
 * way, runs it experiment by experiment, and commits all of it in one
 * transaction; helpers do what only reads.  When a commit fails, its whole
 * group is answered with 503, and the experiments are as before. */
#ifndef TARRY_SERVICE_SERVICE_H
#define TARRY_SERVICE_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "store/store.h"
#include "tarry/status.h"

typedef struct tarry__service tarry__service;

typedef struct {
    uint64_t most_queued;      /* requests; more are refused with 503 */
    uint64_t most_experiments; /* in the store */
    uint64_t most_arms;        /* of one experiment */
    uint64_t most_dim;         /* features of an arm */
    uint64_t most_choices;     /* in one request */
    uint64_t threads;          /* that run experiments side by side */
    const char *address;       /* where others find this process: "http://..";
                                  "": nowhere */
    const char *tokens;        /* a file, read before there is a store;
                                  "": nobody needs one */
} tarry__service_limits;

tarry__service_limits tarry__service_default_limits(void);

/* Opens a store (see store.h) and all its experiments.  The caller ends *out
 * with tarry__service_close, which answers everything taken before, and leaves
 * snapshots. */
tarry_status tarry__service_open(const char *url,
                                 const tarry__service_limits *limits,
                                 tarry__service **out, tarry_error *error);
void tarry__service_close(tarry__service *service);

/* ---- tokens ---------------------------------------------------------------*/

enum {
    TARRY__SERVICE_DECIDE = 1,
    TARRY__SERVICE_FEEDBACK = 2,
    TARRY__SERVICE_READ = 4,
    TARRY__SERVICE_ADMIN = 8,
    TARRY__SERVICE_ANYBODY = 0
};

/* Reads a file of tokens (keys.h): from now on requests need one.  On failure
 * those that were known stay. */
tarry_status tarry__service_read_tokens(tarry__service *service,
                                        const char *path, tarry_error *error);

/* ---- requests -------------------------------------------------------------*/

/* All of it must live until the answer. */
typedef struct {
    const char *method; /* "GET" */
    const char *path;   /* as it came, "/v1/experiments/a%20b" */
    const char *query;  /* behind the question mark, or "" */
    const char *token;  /* or NULL */
    const char *body;   /* size bytes */
    size_t size;
    bool is_foreign; /* a page of another origin made a browser send it */
} tarry__service_request;

typedef struct tarry__service_stream tarry__service_stream;

typedef struct {
    int status;
    const char *type; /* of the content; a constant */
    const char *body; /* size bytes */
    char *owned;      /* what is to be freed of it, or NULL */
    size_t size;
    const char *allow; /* methods, with 405; a constant */
    char *location;    /* of what was created, owned; or NULL */
    bool asks_token;   /* WWW-Authenticate */
    int retry_after;   /* seconds; 0: no such header */
    bool is_file;      /* a static one */
    bool more_follow;  /* answers that this thread delivers at once */
    tarry__service_stream *stream; /* more is to come; or NULL */
    const char *route;             /* its pattern, for logs; a constant */
} tarry__service_answer;

/* Called once per request, by any thread and perhaps before take returns.  The
 * answer is the receiver's, who ends it with tarry__service_answer_clear. */
typedef void tarry__service_deliver(void *context,
                                    const tarry__service_answer *answer);

void tarry__service_take(tarry__service *service,
                         const tarry__service_request *request,
                         tarry__service_deliver *deliver, void *context);

/* A caller that takes requests from one thread may gather: then it calls flush
 * when it has taken all there are for now, and before it waits.  A few requests
 * are run right there, without the way to another thread and back; true: their
 * answers have been delivered. */
void tarry__service_gather(tarry__service *service);
bool tarry__service_flush(tarry__service *service);

/* The next part of an answer that has a stream: delivered as another answer,
 * whose stream is NULL when it was the last; `failed`: ends it instead. */
void tarry__service_next(tarry__service *service, tarry__service_stream *stream,
                         tarry__service_deliver *deliver, void *context);

void tarry__service_answer_clear(tarry__service *service,
                                 tarry__service_answer *answer);

/* Fills an answer for what the door itself refuses, and counts it. */
void tarry__service_refuse(tarry__service *service, int status,
                           const char *code, const char *detail,
                           tarry__service_answer *answer);

/* ---- static files ---------------------------------------------------------*/

typedef struct {
    const char *path, *type;
    const unsigned char *bytes;
    size_t size;
} tarry__service_file;

/* Files that anybody may see; the table ends with a NULL path and must live as
 * long as the service. */
void tarry__service_serve_files(tarry__service *service,
                                const tarry__service_file *files);

/* ---- routes ---------------------------------------------------------------*/

typedef struct {
    const char *method, *pattern; /* "/v1/experiments/{name}/decisions" */
    int scope;
} tarry__service_route_shown;

/* Route number i; false: there are no more. */
bool tarry__service_route_at(size_t i, tarry__service_route_shown *out);

#endif
