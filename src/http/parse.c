/* parse.c - see parse.h.  RFC 9112, without what it allows for old times'
 * sake. */
#define _POSIX_C_SOURCE 200809L
#include "http/parse.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

static const tarry__http_verdict FINE = {0, NULL, NULL};

static tarry__http_verdict bad(const char *detail)
{
    return (tarry__http_verdict){400, "bad_request", detail};
}

/* ---- where it ends --------------------------------------------------------*/

size_t tarry__http_head_size(const char *bytes, size_t size, size_t *searched)
{
    size_t i = *searched;
    while (i < size) {
        const char *lf = memchr(bytes + i, '\n', size - i);
        if (lf == NULL) {
            *searched = size;
            return 0;
        }
        const size_t at = (size_t)(lf - bytes);
        if (at == 0 || lf[-1] != '\r') /* bare: refused when parsed */
            return at + 1;
        if (at >= 3 && lf[-2] == '\n')
            return at + 1;
        if (at == 1) /* a blank line first */
            return 2;
        i = at + 1;
    }
    *searched = i;
    return 0;
}

/* ---- characters -----------------------------------------------------------*/

static bool is_token(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789!#$%&'*+-.^_`|~";
    return *text != '\0' && text[strspn(text, letters)] == '\0';
}

/* Tab, space to tilde, and beyond ASCII. */
static bool is_value(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        if ((*c < ' ' && *c != '\t') || *c == 127)
            return false;
    return true;
}

static bool is_target(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        if (*c <= ' ' || *c >= 127)
            return false;
    return *text == '/';
}

/* ---- the first line -------------------------------------------------------*/

static tarry__http_verdict parse_version(const char *version,
                                         tarry__http_head *head)
{
    head->is_old = strcmp(version, "HTTP/1.0") == 0;
    head->keeps_alive = !head->is_old;
    if (head->is_old || strcmp(version, "HTTP/1.1") == 0)
        return FINE;
    if (strlen(version) == 8 && strncmp(version, "HTTP/", 5) == 0 &&
        strspn(version + 5, "0123456789") == 1 && version[6] == '.' &&
        strspn(version + 7, "0123456789") == 1)
        return (tarry__http_verdict){
            505, "version", "the version must be HTTP/1.1 or HTTP/1.0"};
    return bad("malformed request line: must be METHOD PATH HTTP/1.1");
}

static tarry__http_verdict parse_line(char *line, tarry__http_head *head)
{
    char *target = strchr(line, ' ');
    char *version = target != NULL ? strchr(target + 1, ' ') : NULL;
    if (version == NULL)
        return bad("malformed request line: must be METHOD PATH HTTP/1.1");
    *target++ = '\0';
    *version++ = '\0';
    if (!is_token(line) || strlen(line) > 20)
        return bad(
            "malformed request line: the method must be at most 20 letters");
    if (strlen(target) > TARRY__HTTP_MOST_LINE)
        return (tarry__http_verdict){414, "uri_too_long",
                                     "the path is longer than 8192 bytes"};
    if (!is_target(target))
        return bad("malformed request line: the target must be a path of "
                   "printable ASCII characters");
    head->method = line;
    head->path = target;
    char *mark = strchr(target, '?');
    head->query = mark != NULL ? mark + 1 : "";
    if (mark != NULL)
        *mark = '\0';
    return parse_version(version, head);
}

/* ---- fields ---------------------------------------------------------------*/

typedef struct {
    tarry__http_head *head;
    unsigned lengths, codings, hosts, tokens;
} fields;

static tarry__http_verdict parse_length(const char *value,
                                        tarry__http_head *head)
{
    const size_t digits = strspn(value, "0123456789");
    if (digits == 0 || digits > 15 || value[digits] != '\0')
        return bad("Content-Length must be a number of 1 to 15 digits");
    head->length = 0;
    for (const char *c = value; *c != '\0'; c++)
        head->length = 10 * head->length + (uint64_t)(*c - '0');
    head->has_length = true;
    return FINE;
}

/* "close" and "keep-alive" among words with commas between. */
static void parse_connection(const char *value, tarry__http_head *head)
{
    while (*value != '\0') {
        value += strspn(value, " \t,");
        const size_t length = strcspn(value, " \t,");
        if (length == 5 && strncasecmp(value, "close", 5) == 0)
            head->keeps_alive = false;
        if (length == 10 && strncasecmp(value, "keep-alive", 10) == 0 &&
            head->is_old)
            head->keeps_alive = true;
        value += length;
    }
}

static tarry__http_verdict take_field(fields *f, const char *name,
                                      const char *value)
{
    tarry__http_head *h = f->head;
    if (strcasecmp(name, "content-length") == 0) {
        f->lengths++;
        return parse_length(value, h);
    }
    if (strcasecmp(name, "transfer-encoding") == 0)
        f->codings++, h->is_chunked = strcasecmp(value, "chunked") == 0;
    else if (strcasecmp(name, "host") == 0)
        f->hosts++, h->host = value;
    else if (strcasecmp(name, "connection") == 0)
        parse_connection(value, h);
    else if (strcasecmp(name, "authorization") == 0)
        f->tokens++, h->authorization = value;
    else if (strcasecmp(name, "origin") == 0)
        h->origin = value;
    else if (strcasecmp(name, "sec-fetch-site") == 0)
        h->site = value;
    else if (strcasecmp(name, "x-request-id") == 0)
        h->request_id = value;
    else if (strcasecmp(name, "expect") == 0) {
        h->expects_continue = strcasecmp(value, "100-continue") == 0;
        if (!h->expects_continue)
            return (tarry__http_verdict){417, "expectation",
                                         "Expect must be 100-continue"};
    }
    return FINE;
}

static tarry__http_verdict parse_field(fields *f, char *line)
{
    char *colon = strchr(line, ':');
    if (*line == ' ' || *line == '\t')
        return bad(
            "malformed HTTP header line: folded, it begins with a blank");
    if (colon == NULL)
        return bad("malformed HTTP header line: no colon");
    *colon = '\0';
    char *value = colon + 1;
    value += strspn(value, " \t");
    size_t length = strlen(value);
    while (length > 0 &&
           (value[length - 1] == ' ' || value[length - 1] == '\t'))
        value[--length] = '\0';
    if (!is_token(line))
        return bad("malformed HTTP header line: the name of a header field "
                   "must be a token, directly followed by a colon");
    if (!is_value(value))
        return bad("malformed HTTP header line: a control character");
    return take_field(f, line, value);
}

/* What must not be, taken together. */
static tarry__http_verdict check(const fields *f)
{
    if (f->lengths > 1)
        return bad("more than one Content-Length");
    if (f->lengths > 0 && f->codings > 0)
        return bad("both Content-Length and Transfer-Encoding");
    if (f->codings > 0 && f->head->is_old)
        return bad("Transfer-Encoding in HTTP/1.0");
    if (f->codings > 1)
        return bad("more than one Transfer-Encoding");
    if (f->codings > 0 && !f->head->is_chunked)
        return (tarry__http_verdict){501, "transfer_coding",
                                     "the only Transfer-Encoding is chunked"};
    if (f->hosts > 1 || (f->hosts == 0 && !f->head->is_old))
        return bad("there must be exactly one Host header line");
    if (f->tokens > 1)
        return bad("more than one Authorization");
    return FINE;
}

/* ---- all of it ------------------------------------------------------------*/

/* The next line, as a string; NULL: it does not end with CR LF, or has a CR,
 * LF or zero byte inside. */
static char *next_line(char **at, const char *end)
{
    char *line = *at;
    char *lf = memchr(line, '\n', (size_t)(end - line));
    if (lf == NULL || lf == line || lf[-1] != '\r')
        return NULL;
    lf[-1] = '\0';
    *at = lf + 1;
    return strlen(line) == (size_t)(lf - 1 - line) && strchr(line, '\r') == NULL
               ? line
               : NULL;
}

tarry__http_verdict tarry__http_parse(char *bytes, size_t size,
                                      tarry__http_head *head)
{
    *head = (tarry__http_head){0};
    fields f = {.head = head};
    char *at = bytes;
    char *line = next_line(&at, bytes + size);
    if (line == NULL)
        return bad("a line must end with CR LF and have no other control "
                   "characters");
    tarry__http_verdict verdict = parse_line(line, head);
    for (size_t count = 0; verdict.status == 0; count++) {
        line = next_line(&at, bytes + size);
        if (line == NULL)
            return bad("a line must end with CR LF and have no other control "
                       "characters");
        if (*line == '\0')
            break;
        if (count == TARRY__HTTP_MOST_FIELDS)
            return (tarry__http_verdict){431, "header_too_large",
                                         "more than 100 header lines"};
        verdict = parse_field(&f, line);
    }
    return verdict.status == 0 ? check(&f) : verdict;
}

/* ---- the host -------------------------------------------------------------*/

/* The length of what stands before the port; an address of IPv6 is in
 * brackets. */
static size_t host_length(const char *text)
{
    const size_t inside = strcspn(text, "]/");
    return text[0] == '[' && text[inside] == ']' ? inside + 1
                                                 : strcspn(text, ":/");
}

static bool is_address(const char *host, size_t length)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char address[sizeof(struct in6_addr)];
    const bool is_v6 = length > 2 && host[0] == '[';
    if (length - 2 * is_v6 >= sizeof text)
        return false;
    memcpy(text, host + is_v6, length - 2 * is_v6);
    text[length - 2 * is_v6] = '\0';
    return inet_pton(is_v6 ? AF_INET6 : AF_INET, text, address) == 1;
}

bool tarry__http_is_own_host(const char *host, const char *own)
{
    static const char here[] = "localhost";
    const size_t length = host_length(host), own_length = host_length(own);
    const char *port = host + length;
    if (*port != '\0' &&
        (*port != ':' || port[1 + strspn(port + 1, "0123456789")] != '\0'))
        return false;
    return is_address(host, length) ||
           (length == strlen(here) && strncasecmp(host, here, length) == 0) ||
           (length > 0 && length == own_length &&
            strncasecmp(host, own, length) == 0);
}
