/* client.h - asks a service one thing over HTTP/1.1, on a plain socket.
 *
 * A connection per request.  No TLS: for https there are other programs.  The
 * time limit is for all of it, from the look-up of the name (which it cannot
 * cut short) to the last byte. */
#ifndef TARRY_HTTP_CLIENT_H
#define TARRY_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "tarry/status.h"

typedef struct {
    char host[256], port[8];
    char base[512]; /* of all paths, without a slash at its end */
} tarry__client_url;

/* http://HOST[:PORT][/BASE]; PORT is 80 if it is not given.
 * TARRY_BAD_ARGUMENT. */
tarry_status tarry__client_parse_url(const char *text, tarry__client_url *url,
                                     tarry_error *error);

typedef struct {
    const char *method, *path; /* the path begins with a slash */
    const char *body;          /* JSON, or NULL */
    const char *token;         /* of the caller; NULL: none */
    double timeout_s;
    FILE *sink; /* the body of a success goes there; NULL: into the answer */
} tarry__client_request;

typedef struct {
    int status;         /* of HTTP; 0: there was no answer */
    double retry_after; /* seconds, or 0 */
    char *body;         /* ends with a zero byte; tarry__base_free */
    size_t size;
    char location[1024];  /* where the answer points; "": nowhere */
    bool was_not_reached; /* the request has never left */
} tarry__client_answer;

/* One 307 is followed.  TARRY_IO_ERROR: there is no whole answer, and `error`
 * says why; TARRY_NO_MEMORY. */
tarry_status tarry__client_ask(const tarry__client_url *url,
                               const tarry__client_request *request,
                               tarry__client_answer *answer,
                               tarry_error *error);

/* Reads an answer from a descriptor until `deadline` (tarry__base_seconds). */
tarry_status tarry__client_read(int fd, double deadline, FILE *sink,
                                tarry__client_answer *answer,
                                tarry_error *error);

/* Copies a text as a segment of a path, %XX for what may not stand there.
 * False: it does not fit. */
bool tarry__client_quote(const char *text, char *out, size_t room);

#endif
