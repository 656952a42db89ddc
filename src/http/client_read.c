/* client_read.c - an answer of HTTP/1.1: status line, headers, and a body that
 * ends by its length, by chunks or with the connection. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "base/base.h"
#include "http/client.h"
#include "http/client_inner.h"

enum {
    LINE = 8192,         /* characters of a header */
    MOST_LINES = 200,    /* headers */
    MOST_BODY = 1 << 30, /* bytes, but for a sink */
    TO_THE_END = -1,     /* lengths of a body */
    BY_CHUNKS = -2,
};

typedef struct {
    int fd;
    double deadline;
    char buffer[16384];
    size_t at, end;
    size_t room; /* of the answer's body */
    FILE *sink;
    tarry__client_answer *answer;
    tarry_error *error;
} reader;

static tarry_status broken(reader *r, const char *why)
{
    return tarry__base_fail(r->error, TARRY_IO_ERROR,
                            "the answer is broken: %s", why);
}

/* More bytes; *ended: the other side has closed. */
static tarry_status fill(reader *r, bool *ended)
{
    for (;;) {
        if (!tarry__client_await(r->fd, POLLIN, r->deadline))
            return tarry__base_fail(r->error, TARRY_IO_ERROR, "no answer: %s",
                                    strerror(errno));
        const ssize_t n = read(r->fd, r->buffer, sizeof r->buffer);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n < 0)
            return tarry__base_fail(r->error, TARRY_IO_ERROR, "no answer: %s",
                                    strerror(errno));
        r->at = 0;
        r->end = (size_t)n;
        *ended = n == 0;
        return TARRY_OK;
    }
}

static tarry_status next_byte(reader *r, char *c)
{
    bool ended = false;
    const tarry_status status = r->at < r->end ? TARRY_OK : fill(r, &ended);
    if (status != TARRY_OK)
        return status;
    if (ended)
        return broken(r, "it ends early");
    *c = r->buffer[r->at++];
    return TARRY_OK;
}

/* A line without its end. */
static tarry_status read_line(reader *r, char line[LINE])
{
    size_t length = 0;
    for (;;) {
        char c = 0;
        const tarry_status status = next_byte(r, &c);
        if (status != TARRY_OK)
            return status;
        if (c == '\n')
            break;
        if (c == '\0' || length + 1 == LINE)
            return broken(r, "a line that is none");
        line[length++] = c;
    }
    if (length > 0 && line[length - 1] == '\r')
        length--;
    line[length] = '\0';
    return TARRY_OK;
}

/* ---- the head -------------------------------------------------------------*/

static tarry_status read_status(reader *r)
{
    char line[LINE];
    const tarry_status status = read_line(r, line);
    if (status != TARRY_OK)
        return status;
    if (strncmp(line, "HTTP/1.", 7) != 0 || !isdigit((unsigned char)line[7]) ||
        line[8] != ' ' || !isdigit((unsigned char)line[9]) ||
        !isdigit((unsigned char)line[10]) ||
        !isdigit((unsigned char)line[11]) ||
        (line[12] != ' ' && line[12] != '\0'))
        return broken(r, "not HTTP/1.1");
    r->answer->status = (int)strtol(line + 9, NULL, 10);
    return TARRY_OK;
}

/* The value of a header if it has this name, else NULL. */
static const char *value_of(const char *line, const char *name)
{
    const size_t length = strlen(name);
    if (strncasecmp(line, name, length) != 0 || line[length] != ':')
        return NULL;
    line += length + 1;
    return line + strspn(line, " \t");
}

static bool is_count(const char *text, int64_t *value)
{
    *value = 0;
    if (!isdigit((unsigned char)*text))
        return false;
    for (; isdigit((unsigned char)*text); text++) {
        if (*value > INT64_MAX / 100)
            return false;
        *value = 10 * *value + (*text - '0');
    }
    return text[strspn(text, " \t")] == '\0';
}

static tarry_status read_header(reader *r, const char *line, int64_t *length)
{
    const char *value;
    int64_t n;
    if ((value = value_of(line, "Content-Length")) != NULL) {
        if (!is_count(value, &n) || (*length >= 0 && *length != n))
            return broken(r, "its length");
        if (*length != BY_CHUNKS)
            *length = n;
    } else if ((value = value_of(line, "Transfer-Encoding")) != NULL) {
        if (strcasecmp(value, "chunked") != 0)
            return broken(r, "its encoding");
        *length = BY_CHUNKS;
    } else if ((value = value_of(line, "Retry-After")) != NULL) {
        if (is_count(value, &n))
            r->answer->retry_after = (double)n;
    } else if ((value = value_of(line, "Location")) != NULL &&
               strlen(value) < sizeof r->answer->location) {
        strcpy(r->answer->location, value); /* half of it leads elsewhere */
    }
    return TARRY_OK;
}

static tarry_status read_head(reader *r, int64_t *length)
{
    char line[LINE];
    tarry_status status = read_status(r);
    *length = TO_THE_END;
    for (int i = 0; status == TARRY_OK; i++) {
        status = i <= MOST_LINES ? read_line(r, line)
                                 : broken(r, "too many headers");
        if (status == TARRY_OK && line[0] == '\0')
            break;
        if (status == TARRY_OK)
            status = read_header(r, line, length);
    }
    const int code = r->answer->status;
    if (code == 204 || code == 304)
        *length = 0;
    return status;
}

/* ---- the body -------------------------------------------------------------*/

static tarry_status keep(reader *r, const char *bytes, size_t size)
{
    tarry__client_answer *a = r->answer;
    if (r->sink != NULL && a->status < 300) {
        a->size += size;
        return fwrite(bytes, 1, size, r->sink) == size
                   ? TARRY_OK
                   : broken(r, "it cannot be written");
    }
    if (size > MOST_BODY - a->size)
        return broken(r, "it is too long");
    if (a->size + size >= r->room) {
        const size_t room = 2 * (a->size + size) + 256;
        char *bigger = tarry__base_grow(a->body, a->size, room, 1);
        if (bigger == NULL)
            return TARRY_NO_MEMORY;
        a->body = bigger;
        r->room = room;
    }
    memcpy(a->body + a->size, bytes, size);
    a->size += size;
    a->body[a->size] = '\0';
    return TARRY_OK;
}

/* `length` bytes, or all there are. */
static tarry_status read_part(reader *r, int64_t length)
{
    bool ended = false;
    tarry_status status = TARRY_OK;
    while (status == TARRY_OK && length != 0 && !ended) {
        if (r->at == r->end && (status = fill(r, &ended)) != TARRY_OK)
            break;
        size_t n = r->end - r->at;
        if (length >= 0 && (uint64_t)length < n)
            n = (size_t)length;
        status = keep(r, r->buffer + r->at, n);
        r->at += n;
        if (length > 0)
            length -= (int64_t)n;
    }
    return status == TARRY_OK && ended && length > 0
               ? broken(r, "it ends early")
               : status;
}

static tarry_status read_chunks(reader *r)
{
    for (;;) {
        char line[LINE], *end;
        tarry_status status = read_line(r, line);
        if (status != TARRY_OK)
            return status;
        const long long size = strtoll(line, &end, 16);
        if (!isxdigit((unsigned char)line[0]) || size < 0 ||
            (*end != '\0' && *end != ';' && *end != ' '))
            return broken(r, "a chunk");
        status = read_part(r, size);
        while (status == TARRY_OK && size == 0 && line[0] != '\0')
            status = read_line(r, line); /* what follows the last chunk */
        if (status != TARRY_OK || size == 0)
            return status;
        status = read_line(r, line);
        if (status != TARRY_OK || line[0] != '\0')
            return status != TARRY_OK ? status : broken(r, "a chunk's end");
    }
}

tarry_status tarry__client_read(int fd, double deadline, FILE *sink,
                                tarry__client_answer *answer,
                                tarry_error *error)
{
    reader r = {.fd = fd,
                .deadline = deadline,
                .sink = sink,
                .answer = answer,
                .error = error};
    int64_t length = 0;
    tarry_status status;
    do { /* 100 Continue and the like come before the answer */
        *answer = (tarry__client_answer){0};
        status = read_head(&r, &length);
    } while (status == TARRY_OK && answer->status < 200);
    if (status == TARRY_OK)
        status = keep(&r, "", 0);
    if (status == TARRY_OK)
        status = length == BY_CHUNKS ? read_chunks(&r) : read_part(&r, length);
    if (status != TARRY_OK) {
        tarry__base_free(answer->body);
        answer->body = NULL;
        answer->size = 0;
    }
    return status;
}
