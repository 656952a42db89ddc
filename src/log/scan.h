/* scan.h - walks over the text of one JSON value, without making anything of
 * it: logs have millions of lines, of which a few values count. */
#ifndef TARRY_LOG_SCAN_H
#define TARRY_LOG_SCAN_H

#include "log/text.h"

typedef struct {
    char *at,
        *end;    /* the text, which is rewritten where strings have escapes */
    bool failed; /* it was not JSON */
} tarry__scan;

/* Steps into an object or array: true if the next thing is one. */
bool tarry__scan_enter(tarry__scan *scan, char bracket);

/* The next key of an object, or false at its end; `first` is set to false. */
bool tarry__scan_key(tarry__scan *scan, bool *first, tarry__text *key);

/* Whether an array has one more value. */
bool tarry__scan_more(tarry__scan *scan, bool *first);

/* The next value: a number as it is written, a string without quotes and
 * escapes, "true", "false"; null, objects and arrays give begin NULL. */
tarry__text tarry__scan_value(tarry__scan *scan);

/* What the next value begins with; '\0' at the end. */
char tarry__scan_peek(tarry__scan *scan);

#endif
