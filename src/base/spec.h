/* spec.h - "name:key=value,key=value", as users describe policies and worlds.
 * A value with commas stands in quotes: file:arms="a,b.csv".
 *
 * Each record (a policy, an instance, a delay, ...) lists its settings with
 * default and meaning; `tarry list` prints them, and the getters here read
 * them.  A key that is not listed, or given twice, is refused by name. */
#ifndef TARRY_BASE_SPEC_H
#define TARRY_BASE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tarry/setting.h"
#include "tarry/status.h"

/* Lines of a list of settings. */
#define TARRY__SPEC_TEXT(key, value, help)                                     \
    {                                                                          \
        key, value, help, TARRY_SETTING_TEXT, 0, 0, NULL                       \
    }
#define TARRY__SPEC_REAL(key, value, least, most, help)                        \
    {                                                                          \
        key, value, help, TARRY_SETTING_REAL, least, most, NULL                \
    }
#define TARRY__SPEC_COUNT(key, value, least, most, help)                       \
    {                                                                          \
        key, value, help, TARRY_SETTING_COUNT, least, most, NULL               \
    }
#define TARRY__SPEC_CHOICE(key, value, choices, help)                          \
    {                                                                          \
        key, value, help, TARRY_SETTING_CHOICE, 0, 0, choices                  \
    }
#define TARRY__SPEC_END                                                        \
    {                                                                          \
        NULL, NULL, NULL, TARRY_SETTING_TEXT, 0, 0, NULL                       \
    }

enum { TARRY__SPEC_MAX_SETTINGS = 32 };

typedef struct {
    char *text; /* owns the characters below */
    const char *name;
    size_t count;
    const char *key[TARRY__SPEC_MAX_SETTINGS], *value[TARRY__SPEC_MAX_SETTINGS];
    const tarry_setting *settings; /* set by tarry__spec_check */
} tarry__spec;

/* Takes a description apart; TARRY_BAD_INPUT if it has not that form.  After
 * success, end it with tarry__spec_clear. */
tarry_status tarry__spec_parse(const char *text, tarry__spec *spec,
                               tarry_error *error);
void tarry__spec_clear(tarry__spec *spec);

/* The description again, as one text; the caller ends it with tarry__base_free.
 * NULL: out of memory. */
char *tarry__spec_print(const tarry__spec *spec);

/* Refuses keys that `settings` does not list, and settings that must be given
 * and are not. */
tarry_status tarry__spec_check(tarry__spec *spec, const tarry_setting *settings,
                               tarry_error *error);

/* Takes a key out of the settings, before they are checked; its value, which
 * lives as long as the spec, or NULL. */
const char *tarry__spec_take(tarry__spec *spec, const char *key);

/* The value of a listed key, or its default (which may be ""). */
const char *tarry__spec_text(const tarry__spec *spec, const char *key);

/* The same as a number or as the place of a word among the choices, if it is
 * within what the list of settings allows. */
tarry_status tarry__spec_real(const tarry__spec *spec, const char *key,
                              double *value, tarry_error *error);
tarry_status tarry__spec_count(const tarry__spec *spec, const char *key,
                               uint64_t *value, tarry_error *error);
tarry_status tarry__spec_choice(const tarry__spec *spec, const char *key,
                                unsigned *place, tarry_error *error);

/* Text as a finite number, all of it, in decimal notation; or as a whole
 * number up to 2^53. */
bool tarry__base_parse_real(const char *text, double *value);
bool tarry__base_parse_count(const char *text, uint64_t *value);

#endif
