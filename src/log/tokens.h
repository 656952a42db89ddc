/* tokens.h - walks over the text of one JSON value, without making anything of
 * it: logs have millions of lines, of which a few values count. */
#ifndef TARRY_LOG_TOKENS_H
#define TARRY_LOG_TOKENS_H

#include "log/text.h"

typedef struct {
    char *at,
        *end;    /* the text, which is rewritten where strings have escapes */
    bool failed; /* it was not JSON */
} tarry__tokens;

/* Steps into an object or array: true if the next thing is one. */
bool tarry__tokens_enter(tarry__tokens *tokens, char bracket);

/* The next key of an object, or false at its end; `first` is set to false. */
bool tarry__tokens_key(tarry__tokens *tokens, bool *first, tarry__text *key);

/* Whether an array has one more value. */
bool tarry__tokens_more(tarry__tokens *tokens, bool *first);

/* The next value: a number as it is written, a string without quotes and
 * escapes, "true", "false"; null, objects and arrays give begin NULL. */
tarry__text tarry__tokens_value(tarry__tokens *tokens);

/* What the next value begins with; '\0' at the end. */
char tarry__tokens_peek(tarry__tokens *tokens);

#endif
