/* chunked.h - takes the chunks out of a request's body, read strictly.
 *
 * RFC 9112, 7.1: `SIZE in hex [;extension] CR LF, SIZE bytes, CR LF` for each
 * chunk, one of size 0, trailer lines, an empty line.  Extensions and trailers
 * are ignored.  A bare LF or CR, a blank or sign beside the size, and data of
 * another length than its size are refused, because two programs could read
 * them in two ways. */
#ifndef TARRY_HTTP_CHUNKED_H
#define TARRY_HTTP_CHUNKED_H

#include <stddef.h>
#include "http/parse.h"

enum {
    TARRY__HTTP_MOST_EXTENSION = 256, /* bytes of a chunk's first line */
    TARRY__HTTP_MOST_TRAILERS = 8192  /* bytes of all trailer lines */
};

typedef enum {
    TARRY__CHUNKED_SIZE,        /* digits of a size */
    TARRY__CHUNKED_EXTENSION,   /* behind a size */
    TARRY__CHUNKED_SIZE_END,    /* LF */
    TARRY__CHUNKED_DATA,        /* `left` bytes */
    TARRY__CHUNKED_DATA_END,    /* CR */
    TARRY__CHUNKED_DATA_LINE,   /* LF */
    TARRY__CHUNKED_TRAILER,     /* the first byte of a trailer line, or CR */
    TARRY__CHUNKED_IN_TRAILER,  /* the rest of the line */
    TARRY__CHUNKED_TRAILER_END, /* LF */
    TARRY__CHUNKED_LAST_END,    /* LF of the empty line */
    TARRY__CHUNKED_ENDED
} tarry__chunked_state;

typedef struct {
    tarry__chunked_state state;
    uint64_t left;  /* bytes of this chunk; its size while that is read */
    bool has_size;  /* a digit of it has come */
    size_t line;    /* bytes of this first line, or of all trailers */
    uint64_t taken; /* bytes of data in all */
} tarry__chunked;

/* Takes all of *size bytes, which follow those of the last call: the data is
 * moved to the front, and what lies behind the body follows it.  *size becomes
 * the size of both, *data that of the data.  413: more than `most` bytes of
 * data in all; 400; 431: too long a line or trailer. */
tarry__http_verdict tarry__chunked_take(tarry__chunked *c, char *bytes,
                                        size_t *size, uint64_t most,
                                        size_t *data);

#endif
