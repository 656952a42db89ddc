/* server.c - see server.h. */
#define _GNU_SOURCE
#include "http/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "base/base.h"
#include "http/connection.h"

enum {
    MOST_EVENTS = 256,
    MOST_ACCEPTS = 64, /* between two looks at the others */
    TICK_MS = 250,
    SPARE_FILES = 64 /* that the store and others may open */
};
static const double GRACE_SECONDS = 0.3;   /* for idle clients, at the end */
static const double QUIET_SECONDS = 60e-6; /* then no more is expected */

tarry__http_options tarry__http_default_options(void)
{
    return (tarry__http_options){.most_connections = 10000,
                                 .most_body_bytes = 4 << 20,
                                 .most_buffered_bytes = 256 << 20,
                                 .request_seconds = 10,
                                 .idle_seconds = 75,
                                 .log = TARRY__HTTP_LOG_ERRORS,
                                 .signal_fd = -1};
}

/* ---- listening ------------------------------------------------------------*/

typedef union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} address;

/* "1.2.3.4:80", "[::1]:80", "localhost:80", ":80" for every address. */
static bool parse_address(const char *text, address *a, socklen_t *size)
{
    const char *colon = strrchr(text, ':');
    char host[64], *end;
    memset(a, 0, sizeof *a);
    if (colon == NULL || (size_t)(colon - text) >= sizeof host ||
        colon[1] < '0' || colon[1] > '9')
        return false;
    const unsigned long port = strtoul(colon + 1, &end, 10);
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    if (*end != '\0' || port > 65535)
        return false;
    const size_t length = strlen(host);
    if (length > 2 && host[0] == '[' && host[length - 1] == ']') {
        host[length - 1] = '\0';
        a->v6.sin6_family = AF_INET6;
        a->v6.sin6_port = htons((uint16_t)port);
        *size = sizeof a->v6;
        return inet_pton(AF_INET6, host + 1, &a->v6.sin6_addr) == 1;
    }
    a->v4.sin_family = AF_INET;
    a->v4.sin_port = htons((uint16_t)port);
    *size = sizeof a->v4;
    const char *name = strcmp(host, "localhost") == 0 ? "127.0.0.1"
                       : length == 0                  ? "0.0.0.0"
                                                      : host;
    return inet_pton(AF_INET, name, &a->v4.sin_addr) == 1;
}

tarry_status tarry__http_listen(const char *text, int *fd, tarry_error *error)
{
    address a;
    socklen_t size;
    const int on = 1;
    *fd = -1;
    if (!parse_address(text, &a, &size))
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "not ADDRESS:PORT, such as 127.0.0.1:8377 or "
                                "[::1]:8377: '%s'",
                                text);
    *fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd >= 0 &&
        setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(*fd, &a.any, size) == 0 && listen(*fd, SOMAXCONN) == 0)
        return TARRY_OK;
    const int code = errno;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", text,
                            strerror(code));
}

bool tarry__http_is_local(int fd)
{
    address a;
    socklen_t size = sizeof a;
    if (getsockname(fd, &a.any, &size) != 0)
        return false;
    if (a.any.sa_family == AF_INET)
        return ntohl(a.v4.sin_addr.s_addr) >> 24 == 127;
    if (a.any.sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&a.v6.sin6_addr);
    return a.any.sa_family == AF_UNIX;
}

void tarry__http_address(int fd, char text[80])
{
    address a;
    socklen_t size = sizeof a;
    char host[64] = "";
    strcpy(text, "?");
    if (getsockname(fd, &a.any, &size) != 0)
        return;
    if (a.any.sa_family == AF_INET) {
        inet_ntop(AF_INET, &a.v4.sin_addr, host, sizeof host);
        snprintf(text, 80, "%s:%d", host, ntohs(a.v4.sin_port));
    } else if (a.any.sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &a.v6.sin6_addr, host, sizeof host);
        snprintf(text, 80, "[%s]:%d", host, ntohs(a.v6.sin6_port));
    }
}

/* ---- the clock ------------------------------------------------------------*/

static void look_at_clock(tarry__http_server *s)
{
    static const char format[] = "%a, %d %b %Y %H:%M:%S GMT";
    const time_t now = time(NULL);
    struct tm parts;
    s->now = tarry__base_seconds();
    if (now != s->date_at && gmtime_r(&now, &parts) != NULL)
        strftime(s->date, sizeof s->date, format, &parts);
    s->date_at = now;
}

/* ---- connections ----------------------------------------------------------*/

/* A client too many hears why, if that can be said at once. */
static void turn_away(int fd)
{
    static const char body[] =
        "{\"type\":\"urn:tarry:problem:overloaded\","
        "\"title\":\"Service Unavailable\",\"status\":503,"
        "\"detail\":\"too many connections\",\"code\":\"overloaded\"}";
    char answer[600];
    const int size = snprintf(
        answer, sizeof answer,
        "HTTP/1.1 503 Service Unavailable\r\n"
        "Content-Type: application/problem+json\r\nContent-Length: %zu\r\n"
        "Retry-After: 1\r\nConnection: close\r\n\r\n%s",
        sizeof body - 1, body);
    (void)!send(fd, answer, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(fd, SHUT_WR);
    close(fd);
}

static void admit(tarry__http_server *s, int fd)
{
    const int on = 1;
    tarry__http_connection *c =
        s->count < s->options.most_connections ? tarry__http_open(s, fd) : NULL;
    if (c == NULL) {
        turn_away(fd);
        return;
    }
    struct epoll_event event = {
        .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        tarry__http_close(c);
}

/* Answers whether there may be more; errno is EAGAIN if nobody waits. */
static bool accept_some(tarry__http_server *s, int listener)
{
    for (int i = 0; i < MOST_ACCEPTS; i++) {
        const int fd =
            accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            admit(s, fd);
        else if (errno != EINTR && errno != ECONNABORTED)
            return false;
    }
    return true;
}

/* Answers go out in the order in which they came. */
static void take_answers(tarry__http_server *s)
{
    pthread_mutex_lock(&s->done_lock);
    tarry__http_connection *last = s->done, *first = NULL;
    s->done = NULL;
    pthread_mutex_unlock(&s->done_lock);
    while (last != NULL) {
        tarry__http_connection *next = last->next_done;
        last->next_done = first;
        first = last;
        last = next;
    }
    while (first != NULL) {
        tarry__http_connection *next = first->next_done;
        tarry__http_answered(first);
        s->answered++;
        first = next;
    }
}

static bool has_answers(tarry__http_server *s)
{
    pthread_mutex_lock(&s->done_lock);
    const bool has = s->done != NULL;
    pthread_mutex_unlock(&s->done_lock);
    return has;
}

static void check_times(tarry__http_server *s)
{
    for (tarry__http_connection *c = s->first; c != NULL;) {
        tarry__http_connection *next = c->next;
        tarry__http_check_time(c);
        c = next;
    }
}

/* Ends those who have nothing under way. */
static void close_idle(tarry__http_server *s)
{
    for (tarry__http_connection *c = s->first; c != NULL;) {
        tarry__http_connection *next = c->next;
        if (c->state == TARRY__HTTP_READING && c->size == 0)
            tarry__http_close(c);
        c = next;
    }
}

/* ---- the loop -------------------------------------------------------------*/

/* What is watched besides connections: told apart by their addresses. */
typedef struct {
    tarry__http_server server;
    int listener;
    bool has_processors; /* more than one */
    bool is_deaf;        /* who knocks waits for the next tick */
    double last_tick, stopping_since;
} loop;

static bool set_nonblocking(int fd)
{
    const int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

static bool watch(loop *l, int fd, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
    return fd < 0 || epoll_ctl(l->server.epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void hear(loop *l, bool hears)
{
    struct epoll_event event = {.events = hears ? EPOLLIN : 0,
                                .data.ptr = &l->listener};
    if (epoll_ctl(l->server.epoll, EPOLL_CTL_MOD, l->listener, &event) == 0)
        l->is_deaf = !hears;
}

/* Who cannot be let in, as no file is left, knocks on and on. */
static void open_door(loop *l)
{
    if (!accept_some(&l->server, l->listener) && errno != EAGAIN)
        hear(l, false);
}

static void begin_stop(loop *l)
{
    tarry__http_server *s = &l->server;
    if (s->is_stopping)
        return;
    size_t knocked = 0; /* before; later ones could keep it from ending */
    while (knocked < SOMAXCONN && accept_some(s, l->listener))
        knocked += MOST_ACCEPTS;
    epoll_ctl(s->epoll, EPOLL_CTL_DEL, l->listener, NULL);
    close(l->listener);
    l->listener = -1;
    s->is_stopping = true;
    s->stop_by = s->now + s->options.request_seconds;
    l->stopping_since = s->now;
}

static void handle(loop *l, const struct epoll_event *event)
{
    tarry__http_server *s = &l->server;
    uint64_t count;
    if (event->data.ptr == &l->listener) {
        if (l->listener >= 0)
            open_door(l);
    } else if (event->data.ptr == &s->wake) {
        (void)!read(s->wake, &count, sizeof count);
    } else if (event->data.ptr == &s->options.signal_fd) {
        if (s->options.on_signal(s->options.context))
            begin_stop(l);
    } else {
        tarry__http_connection *c = event->data.ptr;
        c->is_ending |= (event->events & (EPOLLRDHUP | EPOLLHUP)) != 0;
        tarry__http_go_on(c, (event->events & ~(unsigned)EPOLLOUT) != 0);
    }
}

static void tick(loop *l)
{
    tarry__http_server *s = &l->server;
    if (s->now - l->last_tick < TICK_MS / 1000.0)
        return;
    l->last_tick = s->now;
    check_times(s);
    if (l->is_deaf && l->listener >= 0)
        hear(l, true);
    if (s->is_stopping && s->now - l->stopping_since > GRACE_SECONDS)
        close_idle(s);
}

/* Runs what has gathered, or hands it to who does.  What comes behind answers
 * on the same connections is taken, and run after a look at the others. */
static void flush(tarry__http_server *s)
{
    s->taken = s->answered = 0;
    s->runs_here = tarry__service_flush(s->service);
    if (!s->runs_here)
        return;
    take_answers(s);
    look_at_clock(s);
    s->moved_at = s->now;
}

/* Few clients that were answered together ask again together, and soon: for so
 * long this thread looks again and again, as to sleep and to be woken would
 * take longer.  Where there is one processor, they need it. */
static bool may_come(const loop *l)
{
    const tarry__http_server *s = &l->server;
    return l->has_processors && s->runs_here &&
           s->now - s->moved_at < QUIET_SECONDS;
}

static void run(loop *l)
{
    tarry__http_server *s = &l->server;
    struct epoll_event events[MOST_EVENTS];
    while (!s->is_stopping || s->count > 0) {
        const bool looks_again = may_come(l);
        const bool is_busy = looks_again || s->taken > 0 || has_answers(s);
        const int n =
            epoll_wait(s->epoll, events, MOST_EVENTS, is_busy ? 0 : TICK_MS);
        look_at_clock(s);
        for (int i = 0; i < n; i++)
            handle(l, &events[i]);
        take_answers(s);
        if (s->taken > 0 && (s->taken >= s->answered || !looks_again))
            flush(s);
        tick(l);
    }
}

/* As many files as connections need, or as many connections as files allow. */
static void fit_files(tarry__http_options *o)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    const rlim_t wanted = o->most_connections + SPARE_FILES;
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    const rlim_t room = limit.rlim_cur > 2 * SPARE_FILES
                            ? limit.rlim_cur - SPARE_FILES
                            : limit.rlim_cur / 2;
    if (o->most_connections > room)
        o->most_connections = room;
}

static void close_loop(loop *l)
{
    tarry__http_server *s = &l->server;
    while (s->first != NULL)
        tarry__http_close(s->first);
    if (l->listener >= 0)
        close(l->listener);
    if (s->epoll >= 0)
        close(s->epoll);
    if (s->wake >= 0)
        close(s->wake);
    pthread_mutex_destroy(&s->done_lock);
}

tarry_status tarry__http_serve(tarry__service *service, int fd,
                               const tarry__http_options *options,
                               tarry_error *error)
{
    loop l = {.server = {.service = service,
                         .options = *options,
                         .epoll = epoll_create1(EPOLL_CLOEXEC),
                         .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                         .thread = pthread_self()},
              .listener = fd,
              .has_processors = sysconf(_SC_NPROCESSORS_ONLN) > 1};
    tarry__http_server *s = &l.server;
    pthread_mutex_init(&s->done_lock, NULL);
    fit_files(&s->options);
    look_at_clock(s);
    tarry__service_gather(service);
    uint64_t start = 0;
    if (getrandom(&start, sizeof start, 0) == (ssize_t)sizeof start)
        s->next_id = start;
    const bool is_set_up =
        s->epoll >= 0 && s->wake >= 0 && set_nonblocking(fd) &&
        watch(&l, fd, &l.listener) && watch(&l, s->wake, &s->wake) &&
        watch(&l, s->options.signal_fd, &s->options.signal_fd);
    const int code = errno;
    if (is_set_up)
        run(&l);
    close_loop(&l);
    return is_set_up ? TARRY_OK
                     : tarry__base_fail(error, TARRY_IO_ERROR, "sockets: %s",
                                        strerror(code));
}
