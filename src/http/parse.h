/* parse.h - the head of a request, HTTP/1.1, read strictly.
 *
 * What two programs could read in two ways is refused: a bare LF or CR, blanks
 * before a colon, folded lines, two lengths, a length with a transfer coding,
 * two hosts.  A body has a Content-Length or is chunked (chunked.h); without
 * either there is none. */
#ifndef TARRY_HTTP_PARSE_H
#define TARRY_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TARRY__HTTP_MOST_HEAD = 16384,
    TARRY__HTTP_MOST_LINE = 8192,
    TARRY__HTTP_MOST_FIELDS = 100
};

typedef struct {
    const char *method, *path, *query; /* query "" if there is none */
    const char *host, *origin, *authorization, *site, *request_id; /* NULL */
    uint64_t length;
    bool has_length, is_chunked;                /* at most one of them */
    bool keeps_alive, expects_continue, is_old; /* HTTP/1.0 */
} tarry__http_head;

typedef struct {
    int status; /* 0: fine; else what to answer before closing */
    const char *code, *detail;
} tarry__http_verdict;

/* How many bytes the head takes, blank line included; 0: it has not ended yet.
 * A bare LF, which is refused, ends it as well. */
size_t tarry__http_head_size(const char *bytes, size_t size, size_t *searched);

/* Reads a head of so many bytes, which are changed: names and values become
 * strings.  They live as long as the bytes. */
tarry__http_verdict tarry__http_parse(char *bytes, size_t size,
                                      tarry__http_head *head);

/* Whether a Host, whatever its port, is an address, localhost or the host with
 * which `own` begins, "host:port/path": none that others can make lead here. */
bool tarry__http_is_own_host(const char *host, const char *own);

#endif
