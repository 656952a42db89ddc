/* default.h - the declared outcome of a choice for which no report comes,
 * "VALUE/AFTER" or "VALUE/AFTER/final". */
#ifndef TARRY_POLICY_DEFAULT_H
#define TARRY_POLICY_DEFAULT_H

#include <stdbool.h>
#include <stdint.h>
#include "tarry/status.h"

/* AFTER is 0 if both ages are. */
typedef struct {
    uint32_t declared; /* 0: there is no rule */
    uint32_t final;    /* 0: a later report replaces the default */
    double value;      /* in the user's unit */
    uint64_t rounds;   /* AFTER in rounds */
    int64_t ms;        /* AFTER by the clock; 0: it is in rounds */
} tarry__default_rule;

/* AFTER is 500r, 500rounds, 7d, 12h, 90s, ... or 0; "" declares no rule.
 * TARRY_BAD_INPUT. */
tarry_status tarry__default_read(const char *text, tarry__default_rule *out,
                                 tarry_error *error);

/* Whether a rule can have come out of tarry__default_read; for rules that were
 * loaded. */
bool tarry__default_is_sound(const tarry__default_rule *rule);

/* The rule as one text, which reads back as the same rule. */
enum { TARRY__DEFAULT_ROOM = 64 };
void tarry__default_print(const tarry__default_rule *rule,
                          char text[TARRY__DEFAULT_ROOM]);

/* AFTER alone: "500r", "7d", "0". */
enum { TARRY__DEFAULT_AGE_ROOM = 24 };
void tarry__default_print_age(const tarry__default_rule *rule,
                              char text[TARRY__DEFAULT_AGE_ROOM]);

#endif
