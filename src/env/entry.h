/* entry.h - what every instance, loss, delay and adversary says of itself.
 *
 * Each record starts with an entry and stands in a list of pointers to
 * entries that ends with NULL; `tarry list` prints the lists. */
#ifndef TARRY_ENV_ENTRY_H
#define TARRY_ENV_ENTRY_H

#include "base/spec.h"

typedef struct {
    const char *name;  /* as users type it */
    const char *about; /* a line or two */
    const tarry_setting *settings;
} tarry__entry;

/* Takes `text` apart, finds its name in `list`, or else in `more` (NULL for
 * none), and checks the keys.  A miss names what there is; `kind` says what
 * was looked for ("delay").  After success end *spec with tarry__spec_clear. */
tarry_status tarry__entry_open(const char *text, const char *kind,
                               const tarry__entry *const *list,
                               const tarry__entry *const *more,
                               tarry__spec *spec, const tarry__entry **entry,
                               tarry_error *error);

/* A setting that lists numbers, separated by /: at most `room` of them. */
tarry_status tarry__env_numbers(const tarry__spec *spec, const char *key,
                                double *out, size_t room, size_t *count,
                                tarry_error *error);

/* Whether the record has a setting of this name. */
bool tarry__entry_has(const tarry__entry *entry, const char *key);

#endif
