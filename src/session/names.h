/* names.h - the arms' names.  An arm without one is known by its number. */
#ifndef TARRY_SESSION_NAMES_H
#define TARRY_SESSION_NAMES_H

#include "store/texts.h"

typedef struct {
    const char **name; /* by arm; NULL: it has none */
    size_t count, room;
    tarry__texts arms; /* by name: the last arm that has it */
} tarry__names;

/* Names the next arm; NULL: no name.  On failure nothing has changed. */
tarry_status tarry__names_add(tarry__names *names, const char *name);

/* Forgets the last arm. */
void tarry__names_drop_last(tarry__names *names);

bool tarry__names_find(const tarry__names *names, const char *name,
                       size_t *arm);
void tarry__names_clear(tarry__names *names);

/* A whole number as this program prints it: digits, no zero in front. */
bool tarry__names_is_number(const char *text, uint64_t *number);

#endif
