/* connection.h - one connection: reading a request, waiting, writing. */
#ifndef TARRY_HTTP_CONNECTION_H
#define TARRY_HTTP_CONNECTION_H

#include <pthread.h>
#include <time.h>
#include "http/chunked.h"
#include "http/server.h"

typedef struct tarry__http_connection tarry__http_connection;

typedef struct {
    tarry__service *service;
    tarry__http_options options;
    int epoll, wake; /* an eventfd for answers from other threads */
    pthread_t thread;
    pthread_mutex_t done_lock;
    tarry__http_connection *done;  /* answered, last first */
    tarry__http_connection *first; /* all */
    size_t count, buffered;
    uint64_t unlogged; /* lines that the log could not take, so far untold */
    size_t taken, answered; /* requests, since the last flush */
    bool is_stopping;
    double stop_by; /* then long answers are cut short */
    bool runs_here; /* the last flush was done by this thread */
    double now;
    double moved_at; /* when a request was taken, or answers left */
    char date[40];   /* as answers tell it, of date_at */
    time_t date_at;
    uint64_t next_id;
} tarry__http_server;

typedef enum {
    TARRY__HTTP_READING,
    TARRY__HTTP_WAITING, /* for the service */
    TARRY__HTTP_WRITING,
    TARRY__HTTP_LINGERING /* until the client has seen why it ends */
} tarry__http_state;

enum { TARRY__HTTP_HEAD_ROOM = 1200, TARRY__HTTP_ID_ROOM = 65 };

struct tarry__http_connection {
    tarry__http_connection *next, *previous, *next_done;
    tarry__http_server *server;
    int fd;
    tarry__http_state state;
    double since;     /* when this began */
    bool is_readable; /* as far as is known */
    bool is_ending;   /* an end lies behind what there is to read */
    bool has_ended;   /* the client sends no more */
    bool is_fresh;    /* no request has come yet */
    bool closes;      /* after the answer */
    char *in;         /* what has come */
    size_t size, room, searched;
    size_t head_size; /* 0: the head has not been read yet */
    tarry__http_head head;
    tarry__chunked chunks; /* of a chunked body; its data follows the head */
    double begun;          /* when the request had come */
    char id[TARRY__HTTP_ID_ROOM];
    tarry__service_answer answer;
    int status; /* of the answer, and the route: for the log */
    const char *route;
    bool is_streaming; /* parts are to come, or coming */
    char out[TARRY__HTTP_HEAD_ROOM];
    size_t out_size, written; /* of out, body and tail together */
    const char *tail;
};

/* Takes over a socket; NULL: out of memory. */
tarry__http_connection *tarry__http_open(tarry__http_server *server, int fd);
void tarry__http_close(tarry__http_connection *c);

/* The socket may have something to read, or room to write. */
void tarry__http_go_on(tarry__http_connection *c, bool readable);

/* The answer has come. */
void tarry__http_answered(tarry__http_connection *c);

/* Looks at deadlines. */
void tarry__http_check_time(tarry__http_connection *c);

/* ---- reply.c --------------------------------------------------------------*/

/* Fills out and tail for the answer. */
void tarry__http_compose(tarry__http_connection *c);

/* One line of JSON on stderr, if it is wanted and somebody reads there. */
void tarry__http_log_request(const tarry__http_connection *c);

#endif
