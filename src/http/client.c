/* client.c - see client.h: names, sockets, one request out. */
#define _POSIX_C_SOURCE 200809L
#include "http/client.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/base.h"
#include "http/client_inner.h"

/* ---- addresses ------------------------------------------------------------*/

static tarry_status bad_url(const char *text, const char *why,
                            tarry_error *error)
{
    return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                            "not http://HOST:PORT (%s): '%s'", why, text);
}

static bool is_port(const char *text, size_t length)
{
    unsigned number = 0;
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)text[i]))
            return false;
        number = 10 * number + (unsigned)(text[i] - '0');
    }
    return length >= 1 && length <= 5 && number >= 1 && number <= 65535;
}

static bool copy(char *out, size_t room, const char *text, size_t length)
{
    if (length >= room)
        return false;
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

/* No spaces or control characters: they would end the request's line. */
static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

/* HOST[:PORT], [HOST]:PORT for IPv6. */
static bool read_host(const char *text, size_t length, tarry__client_url *url)
{
    const bool is_bracketed = length > 0 && text[0] == '[';
    const char *end = text + length;
    const char *close = is_bracketed ? memchr(text, ']', length) : text;
    if (close == NULL)
        return false;
    const char *colon = memchr(close, ':', (size_t)(end - close));
    const char *stop = is_bracketed ? close : colon != NULL ? colon : end;
    text += is_bracketed;
    if (is_bracketed && colon != close + 1 && close + 1 != end)
        return false;
    strcpy(url->port, "80");
    if (colon != NULL && (!is_port(colon + 1, (size_t)(end - colon - 1)) ||
                          !copy(url->port, sizeof url->port, colon + 1,
                                (size_t)(end - colon - 1))))
        return false;
    return stop > text &&
           copy(url->host, sizeof url->host, text, (size_t)(stop - text));
}

tarry_status tarry__client_parse_url(const char *text, tarry__client_url *url,
                                     tarry_error *error)
{
    static const char scheme[] = "http://";
    if (strncasecmp(text, "https:", 6) == 0)
        return bad_url(text, "there is no TLS here", error);
    if (strncasecmp(text, scheme, strlen(scheme)) != 0)
        return bad_url(text, "it begins otherwise", error);
    const char *host = text + strlen(scheme);
    const size_t length = strcspn(host, "/?#");
    const char *base = host + length;
    size_t base_length = strlen(base);
    while (base_length > 0 && base[base_length - 1] == '/')
        base_length--;
    if (!is_plain(text) || strpbrk(host, "?#@") != NULL)
        return bad_url(text, "a character that cannot stand here", error);
    if (!read_host(host, length, url))
        return bad_url(text, "no host, or no such port", error);
    if (!copy(url->base, sizeof url->base, base, base_length))
        return bad_url(text, "too long", error);
    return TARRY_OK;
}

bool tarry__client_quote(const char *text, char *out, size_t room)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t at = 0;
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        const bool is_safe = c < 128 && (isalnum(c) || strchr("-._~", c));
        if (at + 4 > room)
            return false;
        if (is_safe) {
            out[at++] = (char)c;
        } else {
            out[at++] = '%';
            out[at++] = hex[c >> 4];
            out[at++] = hex[c & 15];
        }
    }
    if (at >= room)
        return false;
    out[at] = '\0';
    return true;
}

/* ---- the socket -----------------------------------------------------------*/

bool tarry__client_await(int fd, short what, double deadline)
{
    for (;;) {
        const double left = deadline - tarry__base_seconds();
        struct pollfd p = {.fd = fd, .events = what};
        if (left <= 0) {
            errno = ETIMEDOUT;
            return false;
        }
        const int ready =
            poll(&p, 1, left > 1000 ? 1000000 : (int)(1e3 * left) + 1);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

/* A connected descriptor, or -1 with errno. */
static int connect_to(const struct addrinfo *a, double deadline)
{
    int error = 0;
    socklen_t size = sizeof error;
    const int fd =
        socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
        return fd;
    if (errno == EINPROGRESS && tarry__client_await(fd, POLLOUT, deadline) &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0) {
        if (error == 0)
            return fd;
        errno = error;
    }
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

static tarry_status fail(const tarry__client_url *url, const char *why,
                         tarry_error *error)
{
    return tarry__base_fail(error, TARRY_IO_ERROR, "%s:%s: %s", url->host,
                            url->port, why);
}

static tarry_status dial(const tarry__client_url *url, double deadline, int *fd,
                         tarry_error *error)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    const int code = getaddrinfo(url->host, url->port, &hints, &list);
    if (code != 0)
        return fail(url, gai_strerror(code), error);
    *fd = -1;
    errno = ECONNREFUSED;
    for (struct addrinfo *a = list; a != NULL && *fd < 0; a = a->ai_next)
        *fd = connect_to(a, deadline);
    const int why = errno;
    freeaddrinfo(list);
    return *fd >= 0 ? TARRY_OK : fail(url, strerror(why), error);
}

static bool send_all(int fd, const char *bytes, size_t size, double deadline)
{
    while (size > 0) {
        const ssize_t n = send(fd, bytes, size, MSG_NOSIGNAL);
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!tarry__client_await(fd, POLLOUT, deadline))
                return false;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* ---- asking ---------------------------------------------------------------*/

static bool send_request(int fd, const tarry__client_url *url,
                         const tarry__client_request *r, double deadline)
{
    char head[4096];
    const bool is_v6 = strchr(url->host, ':') != NULL;
    const size_t size = r->body != NULL ? strlen(r->body) : 0;
    const bool has_length = r->body != NULL || strcmp(r->method, "GET") != 0;
    char length[64] = "";
    if (has_length)
        snprintf(length, sizeof length, "Content-Length: %zu\r\n", size);
    const int n = snprintf(
        head, sizeof head,
        "%s %s%s HTTP/1.1\r\nHost: %s%s%s:%s\r\nConnection: close\r\n"
        "Accept: application/json\r\n%s%s%s%s%s\r\n",
        r->method, url->base, r->path, is_v6 ? "[" : "", url->host,
        is_v6 ? "]" : "", url->port, length,
        size > 0 ? "Content-Type: application/json\r\n" : "",
        r->token != NULL ? "Authorization: Bearer " : "",
        r->token != NULL ? r->token : "", r->token != NULL ? "\r\n" : "");
    if (n < 0 || (size_t)n >= sizeof head) {
        errno = EMSGSIZE;
        return false;
    }
    return send_all(fd, head, (size_t)n, deadline) &&
           (size == 0 || send_all(fd, r->body, size, deadline));
}

static tarry_status ask_once(const tarry__client_url *url,
                             const tarry__client_request *r, double deadline,
                             tarry__client_answer *answer, tarry_error *error)
{
    int fd;
    tarry_error inner = {{0}};
    *answer = (tarry__client_answer){.was_not_reached = true};
    tarry_status status = dial(url, deadline, &fd, error);
    if (status != TARRY_OK)
        return status;
    answer->was_not_reached = false;
    /* A service that refuses early answers and closes: the answer counts. */
    const bool sent = send_request(fd, url, r, deadline);
    const int why = errno;
    status =
        sent || why == EPIPE || why == ECONNRESET
            ? tarry__client_read(fd, deadline, r->sink, answer, &inner)
            : tarry__base_fail(&inner, TARRY_IO_ERROR, "%s", strerror(why));
    close(fd);
    return status == TARRY_OK || status == TARRY_NO_MEMORY
               ? status
               : fail(url, inner.text, error);
}

/* Where a Location leads: a whole address, or a path on the same host. */
static tarry_status follow(const tarry__client_url *from, const char *location,
                           tarry__client_url *url, char path[1024],
                           tarry_error *error)
{
    *url = *from;
    if (location[0] != '/') {
        const char *host = strstr(location, "://");
        const size_t length = host != NULL ? strcspn(host + 3, "/") + 3 +
                                                 (size_t)(host - location)
                                           : 0;
        char origin[600];
        if (length == 0 || !copy(origin, sizeof origin, location, length))
            return fail(from, "a 307 without an address", error);
        const tarry_status status = tarry__client_parse_url(origin, url, error);
        if (status != TARRY_OK)
            return status;
        location += length;
    }
    url->base[0] = '\0';
    if (!is_plain(location) || location[0] != '/' ||
        !copy(path, 1024, location, strlen(location)))
        return fail(from, "a 307 without a path", error);
    return TARRY_OK;
}

tarry_status tarry__client_ask(const tarry__client_url *url,
                               const tarry__client_request *request,
                               tarry__client_answer *answer, tarry_error *error)
{
    const double deadline = tarry__base_seconds() + request->timeout_s;
    tarry_status status = ask_once(url, request, deadline, answer, error);
    if (status != TARRY_OK || answer->status != 307)
        return status;
    tarry__client_url there;
    tarry__client_request again = *request;
    char path[1024];
    again.path = path;
    status = follow(url, answer->location, &there, path, error);
    tarry__base_free(answer->body);
    answer->body = NULL;
    if (status != TARRY_OK)
        return TARRY_IO_ERROR;
    return ask_once(&there, &again, deadline, answer, error);
}
