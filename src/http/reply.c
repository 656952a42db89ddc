/* reply.c - the head of an answer, and the line in the log. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "base/writer.h"
#include "http/connection.h"
#include "session/session.h"

enum { MOST_LOCATION = 600 };

static const char *reason(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 201:
        return "Created";
    case 307:
        return "Temporary Redirect";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 409:
        return "Conflict";
    case 413:
        return "Content Too Large";
    case 414:
        return "URI Too Long";
    case 417:
        return "Expectation Failed";
    case 422:
        return "Unprocessable Content";
    case 431:
        return "Request Header Fields Too Large";
    case 501:
        return "Not Implemented";
    case 503:
        return "Service Unavailable";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return status < 400 ? "OK" : "Error";
    }
}

/* Adds to the head; it has room for all that is ever added. */
static void add(tarry__http_connection *c, const char *text)
{
    const size_t size = strlen(text), left = sizeof c->out - c->out_size;
    const size_t added = size < left ? size : left;
    memcpy(c->out + c->out_size, text, added);
    c->out_size += added;
}

static void add_count(tarry__http_connection *c, unsigned long long count)
{
    char digits[TARRY__WRITER_DIGITS + 1];
    digits[tarry__writer_digits(count, digits)] = '\0';
    add(c, digits);
}

static void add_field(tarry__http_connection *c, const char *name,
                      const char *value)
{
    add(c, name);
    add(c, ": ");
    add(c, value);
    add(c, "\r\n");
}

static void add_length(tarry__http_connection *c)
{
    if (!c->is_streaming) {
        add(c, "Content-Length: ");
        add_count(c, c->answer.size);
        add(c, "\r\n");
    } else if (!c->head.is_old) {
        add_field(c, "Transfer-Encoding", "chunked");
    } else {
        c->closes = true; /* which ends it, in HTTP/1.0 */
    }
}

static void add_rare(tarry__http_connection *c)
{
    const tarry__service_answer *a = &c->answer;
    if (a->allow != NULL)
        add_field(c, "Allow", a->allow);
    if (a->location != NULL && strlen(a->location) < MOST_LOCATION)
        add_field(c, "Location", a->location);
    if (a->retry_after > 0) {
        add(c, "Retry-After: ");
        add_count(c, (unsigned long long)a->retry_after);
        add(c, "\r\n");
    }
    if (a->asks_token)
        add_field(c, "WWW-Authenticate", "Bearer");
    if (a->is_file)
        add(c, "Content-Security-Policy: default-src 'self'; base-uri 'none'; "
               "form-action 'none'; frame-ancestors 'none'\r\n"
               "Referrer-Policy: no-referrer\r\nCache-Control: no-cache\r\n");
    else
        add_field(c, "Cache-Control", "no-store");
}

static void add_head(tarry__http_connection *c)
{
    const tarry__service_answer *a = &c->answer;
    c->is_streaming = a->stream != NULL;
    add(c, "HTTP/1.1 ");
    add_count(c, (unsigned long long)a->status);
    add(c, " ");
    add(c, reason(a->status));
    add(c, "\r\n");
    add_field(c, "Date", c->server->date);
    add_field(c, "Content-Type", a->type);
    add_field(c, "X-Content-Type-Options", "nosniff");
    add_field(c, "X-Request-Id", c->id);
    add_length(c);
    add_rare(c);
    if (c->closes)
        add_field(c, "Connection", "close");
    else if (c->head.is_old)
        add_field(c, "Connection", "keep-alive");
    add(c, "\r\n");
    if (c->head.method != NULL && strcmp(c->head.method, "HEAD") == 0)
        c->is_streaming = false; /* its body is not asked for */
}

void tarry__http_compose(tarry__http_connection *c)
{
    const bool is_first = !c->is_streaming;
    c->out_size = 0;
    c->tail = NULL;
    if (is_first)
        add_head(c);
    if (!c->is_streaming || c->head.is_old)
        return;
    const bool is_last = c->answer.stream == NULL;
    if (c->answer.size > 0) {
        char size[24];
        snprintf(size, sizeof size, "%zx\r\n", c->answer.size);
        add(c, size);
        c->tail = is_last ? "\r\n0\r\n\r\n" : "\r\n";
    } else {
        c->tail = is_last ? "0\r\n\r\n" : NULL;
    }
}

bool tarry__http_tell(const tarry__writer *line)
{
    struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
    return !line->failed && line->size <= PIPE_BUF && poll(&p, 1, 0) == 1 &&
           (p.revents & POLLOUT) != 0 &&
           fwrite(line->bytes, 1, line->size, stderr) == line->size;
}

void tarry__http_log_request(const tarry__http_connection *c)
{
    tarry__http_server *s = c->server;
    const int status = c->status;
    if (s->options.log == TARRY__HTTP_LOG_NOTHING ||
        (s->options.log == TARRY__HTTP_LOG_ERRORS && status < 500))
        return;
    tarry__writer line = {0};
    tarry__writer_put(&line, "{\"time\":");
    tarry__writer_time(&line, tarry__session_now());
    tarry__writer_print(&line, ",\"level\":\"%s\",\"request_id\":",
                        status >= 500 ? "error" : "info");
    tarry__writer_quote(&line, c->id);
    tarry__writer_put(&line, ",\"method\":");
    tarry__writer_quote(&line, c->head.method != NULL ? c->head.method : "");
    tarry__writer_put(&line, ",\"route\":");
    tarry__writer_quote(&line, c->route != NULL ? c->route : "");
    tarry__writer_print(&line, ",\"status\":%d,\"seconds\":%.6f", status,
                        tarry__base_seconds() - c->begun);
    if (s->unlogged > 0)
        tarry__writer_print(&line, ",\"dropped\":%" PRIu64, s->unlogged);
    tarry__writer_put(&line, "}\n");
    s->unlogged = tarry__http_tell(&line) ? 0 : s->unlogged + 1;
    tarry__writer_clear(&line);
}
