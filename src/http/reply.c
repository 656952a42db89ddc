/* reply.c - the head of an answer, and the line in the log. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/writer.h"
#include "http/connection.h"
#include "session/session.h"

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
    case 411:
        return "Length Required";
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
__attribute__((format(printf, 2, 3))) static void add(tarry__http_connection *c,
                                                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(c->out + c->out_size,
                               sizeof c->out - c->out_size, format, arguments);
    va_end(arguments);
    if (size > 0 && c->out_size + (size_t)size < sizeof c->out)
        c->out_size += (size_t)size;
}

static void add_length(tarry__http_connection *c)
{
    if (!c->is_streaming)
        add(c, "Content-Length: %zu\r\n", c->answer.size);
    else if (!c->head.is_old)
        add(c, "Transfer-Encoding: chunked\r\n");
    else
        c->closes = true; /* which ends it, in HTTP/1.0 */
}

static void add_rare(tarry__http_connection *c)
{
    const tarry__service_answer *a = &c->answer;
    if (a->allow != NULL)
        add(c, "Allow: %s\r\n", a->allow);
    if (a->location != NULL)
        add(c, "Location: %.600s\r\n", a->location);
    if (a->retry_after > 0)
        add(c, "Retry-After: %d\r\n", a->retry_after);
    if (a->asks_token)
        add(c, "WWW-Authenticate: Bearer\r\n");
    if (a->is_file)
        add(c, "Content-Security-Policy: default-src 'self'; base-uri 'none'; "
               "form-action 'none'; frame-ancestors 'none'\r\n"
               "Referrer-Policy: no-referrer\r\nCache-Control: no-cache\r\n");
    else
        add(c, "Cache-Control: no-store\r\n");
}

static void add_head(tarry__http_connection *c)
{
    const tarry__service_answer *a = &c->answer;
    c->is_streaming = a->stream != NULL;
    add(c,
        "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\n"
        "X-Content-Type-Options: nosniff\r\nX-Request-Id: %s\r\n",
        a->status, reason(a->status), c->server->date, a->type, c->id);
    add_length(c);
    add_rare(c);
    if (c->closes)
        add(c, "Connection: close\r\n");
    else if (c->head.is_old)
        add(c, "Connection: keep-alive\r\n");
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
        add(c, "%zx\r\n", c->answer.size);
        c->tail = is_last ? "\r\n0\r\n\r\n" : "\r\n";
    } else {
        c->tail = is_last ? "0\r\n\r\n" : NULL;
    }
}

void tarry__http_log_request(const tarry__http_connection *c)
{
    const tarry__http_server *s = c->server;
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
    tarry__writer_print(&line, ",\"status\":%d,\"seconds\":%.6f}\n", status,
                        s->now - c->begun);
    if (!line.failed)
        fwrite(line.bytes, 1, line.size, stderr);
    tarry__writer_clear(&line);
}
