/* connection.c - see connection.h.
 *
 * The socket is watched edge-triggered, once and for all; what is known of it
 * (is_readable) is remembered until the connection wants to read. */
#define _GNU_SOURCE
#include "http/connection.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/base.h"

enum { FIRST_ROOM = 2048, LINGER_SECONDS = 2, MOST_DISCARDS = 64 };

/* ---- open and close -------------------------------------------------------*/

tarry__http_connection *tarry__http_open(tarry__http_server *s, int fd)
{
    tarry__http_connection *c = tarry__base_alloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    memset(c, 0, sizeof *c);
    c->server = s;
    c->fd = fd;
    c->since = s->now;
    c->is_fresh = true;
    c->next = s->first;
    if (s->first != NULL)
        s->first->previous = c;
    s->first = c;
    s->count++;
    return c;
}

void tarry__http_close(tarry__http_connection *c)
{
    tarry__http_server *s = c->server;
    if (c->next != NULL)
        c->next->previous = c->previous;
    if (c->previous != NULL)
        c->previous->next = c->next;
    else
        s->first = c->next;
    s->count--;
    s->buffered -= c->room;
    close(c->fd);
    tarry__service_answer_clear(s->service, &c->answer);
    tarry__base_free(c->in);
    tarry__base_free(c);
}

static void enter(tarry__http_connection *c, tarry__http_state state)
{
    c->state = state;
    c->since = c->server->now;
}

/* ---- writing --------------------------------------------------------------*/

static void start_writing(tarry__http_connection *c)
{
    c->written = 0;
    if (!c->is_streaming) {
        c->status = c->answer.status;
        c->route = c->answer.route;
    }
    enter(c, TARRY__HTTP_WRITING);
    tarry__http_compose(c);
}

/* What the door itself has to say; then the connection ends. */
static void refuse(tarry__http_connection *c, int status, const char *code,
                   const char *detail)
{
    tarry__service_refuse(c->server->service, status, code, detail, &c->answer);
    c->closes = true;
    c->is_streaming = false;
    c->begun = c->since;
    start_writing(c);
}

/* The parts that are not written yet: head, body, tail. */
static int left(const tarry__http_connection *c, struct iovec *parts)
{
    const bool has_body =
        c->head.method == NULL || strcmp(c->head.method, "HEAD") != 0;
    const struct iovec all[] = {
        {(void *)c->out, c->out_size},
        {(void *)c->answer.body, has_body ? c->answer.size : 0},
        {(void *)c->tail, has_body && c->tail != NULL ? strlen(c->tail) : 0}};
    size_t skip = c->written;
    int count = 0;
    for (int i = 0; i < 3; i++) {
        const size_t skipped = skip < all[i].iov_len ? skip : all[i].iov_len;
        skip -= skipped;
        if (all[i].iov_len > skipped)
            parts[count++] = (struct iovec){(char *)all[i].iov_base + skipped,
                                            all[i].iov_len - skipped};
    }
    return count;
}

/* 1: all is written, 0: the socket is full, -1: it is broken. */
static int write_some(tarry__http_connection *c)
{
    struct iovec parts[3];
    int count;
    while ((count = left(c, parts)) > 0) {
        const struct msghdr message = {.msg_iov = parts,
                                       .msg_iovlen = (size_t)count};
        const ssize_t size = sendmsg(c->fd, &message, MSG_NOSIGNAL);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return errno == EAGAIN ? 0 : -1;
        c->written += (size_t)size;
    }
    return 1;
}

/* ---- reading --------------------------------------------------------------*/

/* Moves strings along with the buffer of so many bytes they point into. */
static void move_strings(tarry__http_head *h, uintptr_t from, size_t size,
                         const char *to)
{
    const char **strings[] = {&h->method,        &h->path,      &h->query,
                              &h->host,          &h->origin,    &h->site,
                              &h->authorization, &h->request_id};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        const uintptr_t at = (uintptr_t)*strings[i];
        if (at >= from && at < from + size)
            *strings[i] = to + (at - from);
    }
}

static bool reserve(tarry__http_connection *c, size_t wanted)
{
    tarry__http_server *s = c->server;
    const uintptr_t before = (uintptr_t)c->in;
    if (wanted <= c->room)
        return true;
    if (s->buffered + wanted > s->options.most_buffered_bytes)
        return false;
    char *bigger = tarry__base_grow(c->in, c->size, wanted, 1);
    if (bigger == NULL)
        return false;
    move_strings(&c->head, before, c->size, bigger);
    s->buffered += wanted - c->room;
    c->in = bigger;
    c->room = wanted;
    return true;
}

/* The length of a chunked body is that of its data so far. */
static size_t whole_size(const tarry__http_connection *c)
{
    return c->head_size + (size_t)c->head.length;
}

static bool has_whole_request(const tarry__http_connection *c)
{
    return c->head_size > 0 && c->size >= whole_size(c) &&
           (!c->head.is_chunked || c->chunks.state == TARRY__CHUNKED_ENDED);
}

/* Room for what is still to come; a body's memory grows with what has come. */
static bool make_room(tarry__http_connection *c)
{
    const size_t whole = c->head_size > 0 ? whole_size(c) : 0;
    size_t wanted = c->room < FIRST_ROOM ? FIRST_ROOM : 2 * c->room;
    if (c->size < c->room)
        return true;
    if (whole > c->size && wanted > whole)
        wanted = whole;
    return reserve(c, wanted);
}

/* Reads what is there; false: the connection is broken. */
static bool read_some(tarry__http_connection *c)
{
    const size_t room = c->room - c->size;
    ssize_t size;
    while ((size = recv(c->fd, c->in + c->size, room, 0)) < 0 && errno == EINTR)
        ;
    if (size < 0) {
        c->is_readable = false;
        return errno == EAGAIN;
    }
    if (size == 0) {
        c->has_ended = true;
        c->is_readable = false;
        return true;
    }
    if (c->size == 0)
        c->since = c->server->now; /* a request begins */
    c->size += (size_t)size;
    if ((size_t)size < room && !c->is_ending)
        c->is_readable = false; /* until the next edge */
    return true;
}

/* A browser tells for whom it sends. */
static bool is_foreign(const tarry__http_head *h)
{
    if (h->site != NULL)
        return strcmp(h->site, "same-origin") != 0 &&
               strcmp(h->site, "none") != 0;
    if (h->origin == NULL)
        return false;
    const char *host = strstr(h->origin, "://");
    return host == NULL || h->host == NULL || strcmp(host + 3, h->host) != 0;
}

static const char *token_of(const tarry__http_head *h)
{
    static const char scheme[] = "Bearer ";
    if (h->authorization == NULL ||
        strncasecmp(h->authorization, scheme, strlen(scheme)) != 0)
        return NULL;
    const char *token = h->authorization + strlen(scheme);
    return token + strspn(token, " ");
}

/* From any thread, once.  With the lock all is done that touches the server: it
 * may end as soon as it has seen the last answer. */
static void deliver(void *context, const tarry__service_answer *answer)
{
    tarry__http_connection *c = context;
    tarry__http_server *s = c->server;
    const uint64_t one = 1;
    const bool wakes =
        !answer->more_follow && !pthread_equal(s->thread, pthread_self());
    c->answer = *answer;
    pthread_mutex_lock(&s->done_lock);
    c->next_done = s->done;
    s->done = c;
    if (wakes)
        (void)!write(s->wake, &one, sizeof one);
    pthread_mutex_unlock(&s->done_lock);
}

static bool is_id(const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~' || text[i] == '"' ||
            text[i] == '\\')
            return false;
    return length > 0 && length < TARRY__HTTP_ID_ROOM;
}

static void write_id(uint64_t number, char *id)
{
    for (int i = 0; i < 16; i++)
        id[i] = "0123456789abcdef"[number >> (60 - 4 * i) & 15];
    id[16] = '\0';
}

static void name_request(tarry__http_connection *c)
{
    const char *own = c->head.request_id;
    if (own != NULL && is_id(own))
        strcpy(c->id, own);
    else
        write_id(c->server->next_id++, c->id);
}

static void hand_over(tarry__http_connection *c)
{
    const tarry__http_head *h = &c->head;
    const tarry__service_request request = {.method = h->method,
                                            .path = h->path,
                                            .query = h->query,
                                            .token = token_of(h),
                                            .body = c->in + c->head_size,
                                            .size = (size_t)h->length,
                                            .is_foreign = is_foreign(h)};
    c->closes = !h->keeps_alive;
    c->is_streaming = c->is_fresh = false;
    c->begun = c->server->now;
    enter(c, TARRY__HTTP_WAITING);
    c->server->taken++;
    c->server->moved_at = c->server->now;
    tarry__service_take(c->server->service, &request, deliver, c);
}

static void continue_if_asked(tarry__http_connection *c)
{
    static const char line[] = "HTTP/1.1 100 Continue\r\n\r\n";
    if (c->head.expects_continue && !c->head.is_old && !has_whole_request(c))
        (void)!send(c->fd, line, sizeof line - 1, MSG_NOSIGNAL);
}

/* A page of another site can have that site's name lead here, and then passes
 * for one of this origin; but its browser tells the name. */
static bool is_misled(const tarry__http_connection *c)
{
    const char *own = c->server->options.own_host;
    return own != NULL && c->head.host != NULL &&
           !tarry__http_is_own_host(c->head.host, own);
}

static void parse_head(tarry__http_connection *c, size_t size)
{
    const tarry__http_verdict v = tarry__http_parse(c->in, size, &c->head);
    c->head_size = size;
    name_request(c);
    if (v.status != 0) {
        refuse(c, v.status, v.code, v.detail);
    } else if (is_misled(c)) {
        refuse(c, 403, "foreign_host",
               "without tokens, Host must be localhost, an address or the host "
               "of --public-url");
    } else if (c->head.length > c->server->options.most_body_bytes) {
        refuse(c, 413, "body_too_large", "the body is longer than --max-body");
    } else {
        continue_if_asked(c);
    }
}

/* What has come behind the data so far. */
static void take_chunks(tarry__http_connection *c)
{
    const size_t before = whole_size(c);
    size_t size = c->size - before, data;
    const tarry__http_verdict v =
        tarry__chunked_take(&c->chunks, c->in + before, &size,
                            c->server->options.most_body_bytes, &data);
    if (v.status != 0) {
        refuse(c, v.status, v.code, v.detail);
        return;
    }
    c->head.length += data;
    c->size = before + size;
}

/* Looks at what has come.  true: more is to be read. */
static bool take_request(tarry__http_connection *c)
{
    if (c->head_size == 0 && c->size > 0) {
        const size_t size = tarry__http_head_size(c->in, c->size, &c->searched);
        if ((size == 0 && c->size > TARRY__HTTP_MOST_HEAD) ||
            size > TARRY__HTTP_MOST_HEAD) {
            c->head = (tarry__http_head){0};
            name_request(c);
            refuse(c, 431, "header_too_large",
                   "the header is longer than 16384 bytes");
            return false;
        }
        if (size > 0)
            parse_head(c, size);
    }
    if (c->state == TARRY__HTTP_READING && c->head.is_chunked)
        take_chunks(c);
    if (c->state != TARRY__HTTP_READING)
        return false;
    if (!has_whole_request(c))
        return true;
    hand_over(c);
    return false;
}

/* ---- from one request to the next -----------------------------------------*/

/* Forgets the request that was answered; what came behind it stays. */
static void forget_request(tarry__http_connection *c)
{
    const size_t whole = c->head_size > 0 ? whole_size(c) : c->size;
    const size_t rest = c->size > whole ? c->size - whole : 0;
    if (rest > 0)
        memmove(c->in, c->in + whole, rest);
    c->size = rest;
    c->head_size = c->searched = 0;
    c->head = (tarry__http_head){0};
    c->chunks = (tarry__chunked){0};
    if (rest == 0 && c->room > TARRY__HTTP_MOST_HEAD) {
        c->server->buffered -= c->room;
        tarry__base_free(c->in);
        c->in = NULL;
        c->room = 0;
    }
}

static void linger(tarry__http_connection *c)
{
    shutdown(c->fd, SHUT_WR);
    enter(c, TARRY__HTTP_LINGERING);
}

/* The answer is written.  true: go on with this connection. */
static bool finish_answer(tarry__http_connection *c)
{
    const tarry__http_server *s = c->server;
    tarry__service_stream *stream = c->is_streaming ? c->answer.stream : NULL;
    if (stream != NULL && s->is_stopping && s->now > s->stop_by) {
        tarry__http_close(c); /* who reads slowly is not waited for */
        return false;
    }
    if (stream != NULL)
        c->answer.stream = NULL; /* else it ends with the answer */
    tarry__service_answer_clear(s->service, &c->answer);
    if (stream != NULL) {
        enter(c, TARRY__HTTP_WAITING);
        tarry__service_next(s->service, stream, deliver, c);
        return true;
    }
    tarry__http_log_request(c);
    if (c->closes && !c->has_ended) {
        linger(c);
        return true;
    }
    if (c->has_ended) {
        tarry__http_close(c);
        return false;
    }
    forget_request(c);
    enter(c, TARRY__HTTP_READING);
    return true;
}

/* Reads what nobody wants, so that the answer is not lost with a reset; but
 * others wait, and who sends on and on is not waited for. */
static bool discard(tarry__http_connection *c)
{
    char nothing[8192];
    ssize_t size;
    for (int i = 0; i < MOST_DISCARDS; i++)
        if ((size = recv(c->fd, nothing, sizeof nothing, 0)) <= 0)
            break;
    c->is_readable = false;
    return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Reads until a request is whole, or nothing is there.  false: closed. */
static bool read_on(tarry__http_connection *c)
{
    while (c->state == TARRY__HTTP_READING && take_request(c)) {
        if (!c->is_readable)
            break;
        if (!make_room(c)) {
            refuse(c, 503, "overloaded",
                   "the server has no memory for more requests now; ask again");
            break;
        }
        if (!read_some(c)) {
            tarry__http_close(c);
            return false;
        }
    }
    if (c->state == TARRY__HTTP_READING && c->has_ended) {
        tarry__http_close(c);
        return false;
    }
    return true;
}

void tarry__http_go_on(tarry__http_connection *c, bool readable)
{
    c->is_readable |= readable;
    for (;;) {
        if (c->state == TARRY__HTTP_READING && !read_on(c))
            return;
        if (c->state == TARRY__HTTP_LINGERING && c->is_readable &&
            !discard(c)) {
            tarry__http_close(c);
            return;
        }
        if (c->state != TARRY__HTTP_WRITING)
            return;
        const int done = write_some(c);
        if (done < 0) {
            tarry__http_close(c);
            return;
        }
        if (done == 0 || !finish_answer(c))
            return;
    }
}

void tarry__http_answered(tarry__http_connection *c)
{
    if (c->is_streaming && c->answer.status != 200) { /* cut short */
        tarry__http_close(c);
        return;
    }
    c->closes |= c->server->is_stopping;
    start_writing(c);
    tarry__http_go_on(c, false);
}

/* ---- deadlines ------------------------------------------------------------*/

void tarry__http_check_time(tarry__http_connection *c)
{
    const tarry__http_options *o = &c->server->options;
    const double age = c->server->now - c->since;
    const bool is_idle = c->state == TARRY__HTTP_READING && c->size == 0;
    if (c->state == TARRY__HTTP_WAITING)
        return;
    if (is_idle) {
        if (age > (c->is_fresh ? o->request_seconds : o->idle_seconds))
            tarry__http_close(c);
    } else if (c->state == TARRY__HTTP_READING) {
        if (age <= o->request_seconds)
            return;
        c->head = (tarry__http_head){0};
        name_request(c);
        refuse(c, 408, "too_slow",
               "the request did not come within --request-timeout");
        tarry__http_go_on(c, false);
    } else if (age > (c->state == TARRY__HTTP_LINGERING ? LINGER_SECONDS
                                                        : o->request_seconds)) {
        tarry__http_close(c);
    }
}
