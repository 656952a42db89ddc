/* text.h - pieces of text that lie somewhere else, and what a log writes in
 * them: numbers, times, nothing. */
#ifndef TARRY_LOG_TEXT_H
#define TARRY_LOG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The characters from begin up to end; begin NULL: none were given. */
typedef struct {
    const char *begin, *end;
} tarry__text;

static inline size_t tarry__text_size(tarry__text t)
{
    return (size_t)(t.end - t.begin);
}

/* Whether it is this word, letters of either case. */
bool tarry__text_is(tarry__text text, const char *word);

/* Without the spaces around it. */
tarry__text tarry__text_trim(tarry__text text);

/* Nothing at all, or a word that programs write for a missing value: null,
 * None, NaN, NA, <NA>, NaT, \N, -. */
bool tarry__text_is_empty(tarry__text text);

/* All of the text as a finite decimal number. */
bool tarry__text_number(tarry__text text, double *value);

/* All of the text as a time of ISO 8601, in seconds since 1970-01-01 UTC:
 *     2026-05-01   2026-05-01T10:20Z   2026-05-01 10:20:30.25+02:00
 * A time without a zone counts as UTC. */
bool tarry__text_moment(tarry__text text, double *seconds);

#endif
