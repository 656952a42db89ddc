/* fuzz_request.c - what a client may send to the server, over a connection
 * that is really one, into a service whose store is in memory.
 *
 * The first byte says in how large pieces the others come.  Answers must be
 * framed well, and none of them may say that the server itself failed. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "fuzz.h"
#include "http/connection.h"

enum { RENEW_EVERY = 300, ROOM = 1 << 24 };

static tarry__http_server server;
static int client;
static char *out; /* what the client has received */
static size_t out_size;

/* ---- the service ----------------------------------------------------------*/

/* The only answer to wait for without a connection. */
static void made(void *context, const tarry__service_answer *answer)
{
    must(answer->status == 201);
    tarry__service_answer mine = *answer;
    tarry__service_answer_clear(server.service, &mine);
    const uint64_t one = 1;
    must(write(*(int *)context, &one, sizeof one) == sizeof one);
}

static void make_experiment(const char *body)
{
    const tarry__service_request r = {.method = "POST",
                                      .path = "/v1/experiments",
                                      .query = "",
                                      .body = body,
                                      .size = strlen(body)};
    uint64_t count;
    int done = eventfd(0, 0);
    tarry__service_take(server.service, &r, made, &done);
    must(read(done, &count, sizeof count) == sizeof count);
    close(done);
}

static void open_service(void)
{
    tarry__service_limits limits = tarry__service_default_limits();
    limits.most_experiments = 30;
    limits.most_arms = 50;
    limits.most_dim = 8;
    limits.most_choices = 100;
    tarry__service_close(server.service);
    server.service = NULL;
    must(tarry__service_open("memory:", &limits, &server.service, NULL) ==
         TARRY_OK);
    make_experiment("{\"name\":\"e\",\"arms\":[{\"name\":\"a\"},"
                    "{\"name\":\"b\"}],\"horizon\":1000}");
    make_experiment("{\"name\":\"max\",\"policy\":\"lints\",\"arms\":[{"
                    "\"name\":\"x\",\"features\":[1,0]},{\"name\":\"y\","
                    "\"features\":[0,1]}],\"objective\":\"maximize\","
                    "\"confidence\":0.9}");
}

static void open_server(void)
{
    static int calls;
    if (out == NULL) {
        out = malloc(ROOM);
        must(out != NULL);
        server.options = tarry__http_default_options();
        server.options.log = TARRY__HTTP_LOG_NOTHING;
        server.options.most_body_bytes = 20000;
        server.epoll = -1;
        server.thread = pthread_self();
        server.wake = eventfd(0, EFD_NONBLOCK);
        pthread_mutex_init(&server.done_lock, NULL);
    }
    if (calls++ % RENEW_EVERY == 0)
        open_service();
}

/* ---- the connection -------------------------------------------------------*/

static bool is_open(void)
{
    return server.count > 0;
}

static void receive(void)
{
    ssize_t size;
    while ((size = recv(client, out + out_size, ROOM - out_size,
                        MSG_DONTWAIT)) > 0)
        out_size += (size_t)size;
    must(out_size < ROOM);
}

static tarry__http_connection *take_done(void)
{
    pthread_mutex_lock(&server.done_lock);
    tarry__http_connection *c = server.done;
    server.done = NULL;
    pthread_mutex_unlock(&server.done_lock);
    return c;
}

/* Until the service has answered what it was asked. */
static void settle(tarry__http_connection *c)
{
    uint64_t count;
    for (receive(); is_open(); receive()) {
        tarry__http_connection *done = take_done();
        if (done != NULL) {
            tarry__http_answered(done);
        } else if (c->state == TARRY__HTTP_WAITING) {
            struct pollfd wake = {.fd = server.wake, .events = POLLIN};
            const int ready = poll(&wake, 1, 20000);
            must(ready == 1 || (ready < 0 && errno == EINTR));
            (void)!read(server.wake, &count, sizeof count);
        } else if (c->state == TARRY__HTTP_WRITING) {
            tarry__http_go_on(c, false);
        } else {
            return;
        }
    }
}

static void talk(const uint8_t *data, size_t size, size_t piece)
{
    int pair[2];
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    client = pair[1];
    out_size = 0;
    server.now += 1;
    tarry__http_connection *c = tarry__http_open(&server, pair[0]);
    must(c != NULL);
    for (size_t at = 0; at < size && is_open();) {
        const size_t left = size - at < piece ? size - at : piece;
        const ssize_t sent = send(client, data + at, left, MSG_NOSIGNAL);
        at += sent > 0 ? (size_t)sent : 0;
        tarry__http_go_on(c, true);
        settle(c);
    }
    shutdown(client, SHUT_WR);
    if (is_open())
        tarry__http_go_on(c, true);
    settle(c);
    server.now += 100; /* longer than any deadline */
    if (is_open())
        tarry__http_check_time(c);
    settle(c);
    server.now += 100;
    if (is_open())
        tarry__http_check_time(c);
    must(!is_open());
    close(client);
}

/* ---- the answers ----------------------------------------------------------*/

/* The end of a body in chunks; NULL: it is not whole. */
static const char *end_of_chunks(const char *at, const char *end)
{
    for (;;) {
        char *digits;
        const unsigned long size = strtoul(at, &digits, 16);
        if (digits == at || strncmp(digits, "\r\n", 2) != 0)
            return NULL;
        at = digits + 2 + size + 2;
        if (at > end)
            return NULL;
        if (size == 0)
            return at;
    }
}

/* Every answer begins where the one before ends; the last may be cut off where
 * the client has gone. */
static void check_answers(bool is_head)
{
    const char *at = out, *end = out + out_size;
    out[out_size] = '\0';
    while (at < end) {
        int status = 0;
        const char *blank = strstr(at, "\r\n\r\n");
        must(sscanf(at, "HTTP/1.1 %d ", &status) == 1 && blank != NULL);
        must(status >= 100 && status < 600 && status != 500);
        if (is_head)
            return;
        const char *length = strcasestr(at, "\r\ncontent-length:");
        at = blank + 4;
        if (length != NULL && length < blank)
            at += strtoul(length + 17, NULL, 10);
        else if (status >= 200)
            at = end_of_chunks(at, end);
        must(at != NULL && at <= end);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    open_server();
    talk(data + 1, size - 1, data[0] == 'z' ? 1 << 16 : 1 + data[0]);
    check_answers(memmem(data, size, "HEAD", 4) != NULL);
    return 0;
}
