/* default.c - see default.h. */
#include "policy/default.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/age.h"
#include "base/base.h"
#include "base/number.h"
#include "policy/policy_type.h"

static const uint64_t MOST_ROUNDS = UINT64_C(1) << 39;

static tarry_status refuse(const char *text, tarry_error *error)
{
    return tarry__base_fail(error, TARRY_BAD_INPUT,
                            "default_outcome must be VALUE/AFTER or "
                            "VALUE/AFTER/final, AFTER 500r (rounds), 7d, 12h, "
                            "90s or 0: '%.60s'",
                            text);
}

/* An age with a unit, or 0. */
static bool read_age(const char *text, tarry__default_rule *out)
{
    tarry__age age = {0};
    const char *end = text + strlen(text);
    if (strcmp(text, "0") == 0)
        return true;
    if (text == end || (end[-1] >= '0' && end[-1] <= '9') || end[-1] == '.' ||
        !tarry__age_parse(text, &age) || age.rounds >= MOST_ROUNDS)
        return false;
    out->rounds = age.rounds;
    out->ms = age.ms;
    return true;
}

tarry_status tarry__default_read(const char *text, tarry__default_rule *out,
                                 tarry_error *error)
{
    char age[32];
    const char *end = text + strlen(text);
    *out = (tarry__default_rule){0};
    if (text == end)
        return TARRY_OK;
    const char *at = tarry__number_read(text, end, &out->value);
    if (at == NULL || *at != '/' || !isfinite(out->value))
        return refuse(text, error);
    const size_t length = strcspn(++at, "/");
    if (length >= sizeof age)
        return refuse(text, error);
    memcpy(age, at, length);
    age[length] = '\0';
    out->final = at[length] == '/';
    out->value += 0.0; /* no negative zero */
    if (!read_age(age, out) ||
        (out->final && strcmp(at + length, "/final") != 0))
        return refuse(text, error);
    out->declared = 1;
    return TARRY_OK;
}

bool tarry__default_is_sound(const tarry__default_rule *r)
{
    return r->declared <= 1 && r->final <= r->declared && isfinite(r->value) &&
           r->rounds < MOST_ROUNDS && r->ms >= 0 &&
           (r->rounds == 0 || r->ms == 0);
}

void tarry__default_print_age(const tarry__default_rule *r,
                              char text[TARRY__DEFAULT_AGE_ROOM])
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"d", 86400000},
                 {"h", 3600000},
                 {"min", 60000},
                 {"s", 1000},
                 {"ms", 1}};
    size_t i = 0;
    if (r->ms == 0) {
        snprintf(text, TARRY__DEFAULT_AGE_ROOM,
                 r->rounds > 0 ? "%" PRIu64 "r" : "0", r->rounds);
        return;
    }
    while (r->ms % units[i].ms != 0)
        i++;
    snprintf(text, TARRY__DEFAULT_AGE_ROOM, "%" PRId64 "%s",
             r->ms / units[i].ms, units[i].name);
}

void tarry__default_print(const tarry__default_rule *r,
                          char text[TARRY__DEFAULT_ROOM])
{
    char value[32], age[TARRY__DEFAULT_AGE_ROOM];
    double back = NAN;
    for (int digits = 15; digits <= 17 && back != r->value; digits++) {
        snprintf(value, sizeof value, "%.*g", digits, r->value);
        tarry__number_read(value, value + strlen(value), &back);
    }
    tarry__default_print_age(r, age);
    snprintf(text, TARRY__DEFAULT_ROOM, "%s/%s%s", value, age,
             r->final ? "/final" : "");
}

/* Which policies take corrections, for people. */
static void list_revisers(char *text, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; tarry__policy_types[i] != NULL && used < room; i++)
        if (tarry__policy_types[i]->revise != NULL &&
            !tarry__policy_types[i]->needs_means)
            used += (size_t)snprintf(text + used, room - used, ", %s",
                                     tarry__policy_types[i]->name);
}

tarry_status tarry__policy_check_default(const tarry__policy_type *type,
                                         const char *name,
                                         const tarry__default_rule *rule,
                                         double low, double high,
                                         tarry_error *error)
{
    char others[300];
    if (!rule->declared)
        return TARRY_OK;
    if (!(rule->value >= low && rule->value <= high))
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "default_outcome: outcomes lie in [%g, %g]; "
                                "got %g",
                                low, high, rule->value);
    if (rule->final || type->revise != NULL)
        return TARRY_OK;
    list_revisers(others, sizeof others);
    return tarry__base_fail(
        error, TARRY_BAD_ARGUMENT,
        "%.150s cannot take corrections of a default outcome: "
        "declare it VALUE/AFTER/final, or use recommended%s",
        name, others);
}
