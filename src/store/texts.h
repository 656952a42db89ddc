/* texts.h - texts and a number for each: the users' own ids, names of arms. */
#ifndef TARRY_STORE_TEXTS_H
#define TARRY_STORE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tarry/status.h"

typedef struct {
    char *text;
    uint64_t value;
} tarry__texts_entry;

typedef struct {
    tarry__texts_entry *slot; /* open addressing; text NULL: empty */
    size_t count, room;
} tarry__texts;

/* Adds a copy of a text, or changes the number of one that is there.  *kept, if
 * not NULL, is the copy, which lives until clear.  On failure nothing has
 * changed. */
tarry_status tarry__texts_add(tarry__texts *texts, const char *text,
                              uint64_t value, const char **kept);
bool tarry__texts_find(const tarry__texts *texts, const char *text,
                       uint64_t *value);
/* Removes a text that is there. */
void tarry__texts_remove(tarry__texts *texts, const char *text);
void tarry__texts_clear(tarry__texts *texts);

#endif
