/* server.h - HTTP/1.1 in front of a service: connections, limits, deadlines.
 *
 * One thread waits for all sockets; what a request asks for is done by the
 * service, which delivers the answer when it is committed.  Meanwhile nothing
 * more is read from that connection. */
#ifndef TARRY_HTTP_SERVER_H
#define TARRY_HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/writer.h"
#include "service/service.h"

typedef enum {
    TARRY__HTTP_LOG_NOTHING,
    TARRY__HTTP_LOG_ERRORS,  /* answers of 500 and above */
    TARRY__HTTP_LOG_REQUESTS /* all */
} tarry__http_log;

typedef struct {
    uint64_t most_connections;
    uint64_t most_body_bytes;
    uint64_t most_buffered_bytes; /* of all connections together */
    double request_seconds;       /* for a whole request to come in, and for
                                     its answer to be taken */
    double idle_seconds;          /* between two requests */
    tarry__http_log log;
    const char *own_host; /* requests must be for it, localhost or an address,
                             as parse.h has it; NULL: for any host */
    int signal_fd;        /* readable when a signal has come, or -1 */
    /* Takes the signals; true: stop. */
    bool (*on_signal)(void *context);
    void *context;
} tarry__http_options;

tarry__http_options tarry__http_default_options(void);

/* Listens at "127.0.0.1:8377" or "[::1]:8377"; port 0: any free one.  The
 * caller closes *fd.  TARRY_BAD_ARGUMENT, TARRY_IO_ERROR. */
tarry_status tarry__http_listen(const char *address, int *fd,
                                tarry_error *error);

/* Whether only this machine can reach a listening socket, and its address as
 * text. */
bool tarry__http_is_local(int fd);
void tarry__http_address(int fd, char text[80]);

/* Writes a line to stderr, if that takes it at once: nobody is served by a
 * service that waits for the reader of its log. */
bool tarry__http_tell(const tarry__writer *line);

/* Answers requests until on_signal says stop; then what has been accepted is
 * answered, and connections end.  Closes the socket. */
tarry_status tarry__http_serve(tarry__service *service, int fd,
                               const tarry__http_options *options,
                               tarry_error *error);

#endif
