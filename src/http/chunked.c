/* chunked.c - see chunked.h.  One state per place in the grammar. */
#include "http/chunked.h"

#include <string.h>

static const tarry__http_verdict FINE = {0, NULL, NULL};

static tarry__http_verdict bad(const char *detail)
{
    return (tarry__http_verdict){400, "bad_request", detail};
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Tab, space to tilde, and beyond ASCII. */
static bool is_text(char c)
{
    return c == '\t' || ((unsigned char)c >= ' ' && c != 127);
}

/* A digit, or what ends them. */
static tarry__http_verdict take_size(tarry__chunked *c, char byte)
{
    const int digit = hex_value(byte);
    if (digit < 0 && (!c->has_size || (byte != ';' && byte != '\r')))
        return bad("the size of a chunk must be hexadecimal digits, followed "
                   "by CR LF or a semicolon");
    if (digit >= 0 && c->left >> 56 != 0)
        return bad("the size of a chunk has too many digits");
    c->has_size = true;
    if (digit >= 0)
        c->left = 16 * c->left + (uint64_t)digit;
    else
        c->state =
            byte == ';' ? TARRY__CHUNKED_EXTENSION : TARRY__CHUNKED_SIZE_END;
    return FINE;
}

static tarry__http_verdict end_size(tarry__chunked *c, uint64_t most)
{
    if (c->left > most - c->taken)
        return (tarry__http_verdict){413, "body_too_large",
                                     "the body is longer than --max-body"};
    c->state = c->left > 0 ? TARRY__CHUNKED_DATA : TARRY__CHUNKED_TRAILER;
    c->has_size = false;
    c->line = 0;
    return FINE;
}

/* Inside a line whose text is ignored: its CR leads to `end`. */
static tarry__http_verdict ignore(tarry__chunked *c, char byte,
                                  tarry__chunked_state end)
{
    if (byte != '\r' && !is_text(byte))
        return bad("a control character in a chunk's extension or a trailer");
    c->state = byte == '\r' ? end : c->state;
    return FINE;
}

static tarry__http_verdict expect(tarry__chunked *c, char byte, char wanted,
                                  tarry__chunked_state next)
{
    c->state = next;
    return byte == wanted
               ? FINE
               : bad("a chunk, or one of its lines, must end with CR LF");
}

/* A byte that is no data. */
static tarry__http_verdict take_byte(tarry__chunked *c, char byte,
                                     uint64_t most)
{
    switch (c->state) {
    case TARRY__CHUNKED_SIZE:
        return take_size(c, byte);
    case TARRY__CHUNKED_EXTENSION:
        return ignore(c, byte, TARRY__CHUNKED_SIZE_END);
    case TARRY__CHUNKED_SIZE_END:
        return byte == '\n' ? end_size(c, most)
                            : expect(c, byte, '\n', c->state);
    case TARRY__CHUNKED_DATA_END:
        return expect(c, byte, '\r', TARRY__CHUNKED_DATA_LINE);
    case TARRY__CHUNKED_DATA_LINE:
        return expect(c, byte, '\n', TARRY__CHUNKED_SIZE);
    case TARRY__CHUNKED_TRAILER:
        c->state =
            byte == '\r' ? TARRY__CHUNKED_LAST_END : TARRY__CHUNKED_IN_TRAILER;
        return byte == '\r' || is_text(byte)
                   ? FINE
                   : bad("a control character in a trailer");
    case TARRY__CHUNKED_IN_TRAILER:
        return ignore(c, byte, TARRY__CHUNKED_TRAILER_END);
    case TARRY__CHUNKED_TRAILER_END:
        return expect(c, byte, '\n', TARRY__CHUNKED_TRAILER);
    default:
        return expect(c, byte, '\n', TARRY__CHUNKED_ENDED);
    }
}

/* Lines are counted so that what is ignored does not go on for ever. */
static bool is_too_long(tarry__chunked *c)
{
    const bool is_trailer = c->state >= TARRY__CHUNKED_TRAILER;
    return ++c->line > (is_trailer ? (size_t)TARRY__HTTP_MOST_TRAILERS
                                   : (size_t)TARRY__HTTP_MOST_EXTENSION);
}

/* Moves what there is of a chunk's data from `from` to `to`. */
static size_t take_data(tarry__chunked *c, char *to, const char *from,
                        size_t there)
{
    const size_t size = c->left < there ? (size_t)c->left : there;
    memmove(to, from, size);
    c->left -= size;
    c->taken += size;
    if (c->left == 0)
        c->state = TARRY__CHUNKED_DATA_END;
    return size;
}

tarry__http_verdict tarry__chunked_take(tarry__chunked *c, char *bytes,
                                        size_t *size, uint64_t most,
                                        size_t *data)
{
    size_t at = 0, to = 0;
    while (at < *size && c->state != TARRY__CHUNKED_ENDED) {
        if (c->state == TARRY__CHUNKED_DATA) {
            const size_t moved =
                take_data(c, bytes + to, bytes + at, *size - at);
            at += moved;
            to += moved;
            continue;
        }
        const tarry__http_verdict v = take_byte(c, bytes[at++], most);
        if (v.status != 0)
            return v;
        if (is_too_long(c))
            return (tarry__http_verdict){431, "header_too_large",
                                         "a chunk's extension or the trailers "
                                         "are too long"};
    }
    memmove(bytes + to, bytes + at, *size - at);
    *data = to;
    *size -= at - to;
    return FINE;
}
