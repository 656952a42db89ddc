/* spec.c - see spec.h. */
#include "base/spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "base/number.h"

bool tarry__base_parse_real(const char *text, double *value)
{
    const char *end = text + strlen(text);
    return tarry__number_read(text, end, value) == end && isfinite(*value);
}

bool tarry__base_parse_count(const char *text, uint64_t *value)
{
    double real;
    if (!tarry__base_parse_real(text, &real) || real < 0 || real > 0x1p53 ||
        real != floor(real))
        return false;
    if (real == 0x1p53 && strcmp(text, "9007199254740992") != 0)
        return false; /* it may be 2^53 + 1, rounded */
    *value = (uint64_t)real;
    return true;
}

/* ---- parsing --------------------------------------------------------------*/

/* The comma that ends a pair; one inside "quotes" does not.  NULL: none. */
static char *pair_end(char *pair)
{
    bool quoted = false;
    for (; *pair != '\0'; pair++) {
        quoted ^= *pair == '"';
        if (*pair == ',' && !quoted)
            return pair;
    }
    return NULL;
}

/* Takes the quotes off a value that is in quotes; false: only one is there. */
static bool unquote(char *value)
{
    const size_t length = strlen(value);
    if (value[0] != '"')
        return true;
    if (length < 2 || value[length - 1] != '"')
        return false;
    memmove(value, value + 1, length - 2);
    value[length - 2] = '\0';
    return true;
}

static tarry_status add_pair(tarry__spec *spec, char *pair, tarry_error *error)
{
    char *equals = strchr(pair, '=');
    if (equals == NULL || equals == pair)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s: not key=value: '%s'", spec->name, pair);
    *equals = '\0';
    if (!unquote(equals + 1))
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s: %s: a quote that does not end: '%s'",
                                spec->name, pair, equals + 1);
    for (size_t i = 0; i < spec->count; i++)
        if (strcmp(spec->key[i], pair) == 0)
            return tarry__base_fail(error, TARRY_BAD_INPUT,
                                    "%s: '%s' is given twice", spec->name,
                                    pair);
    if (spec->count == TARRY__SPEC_MAX_SETTINGS)
        return tarry__base_fail(error, TARRY_BAD_INPUT, "%s: too many settings",
                                spec->name);
    spec->key[spec->count] = pair;
    spec->value[spec->count++] = equals + 1;
    return TARRY_OK;
}

tarry_status tarry__spec_parse(const char *text, tarry__spec *spec,
                               tarry_error *error)
{
    memset(spec, 0, sizeof *spec);
    const size_t length = strlen(text);
    spec->text = tarry__base_alloc(length + 1, 1);
    if (spec->text == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    memcpy(spec->text, text, length + 1);
    spec->name = spec->text;
    char *rest = strchr(spec->text, ':');
    if (rest != NULL)
        *rest++ = '\0';
    tarry_status status = TARRY_OK;
    if (*spec->name == '\0')
        status =
            tarry__base_fail(error, TARRY_BAD_INPUT, "no name in '%s'", text);
    while (status == TARRY_OK && rest != NULL) {
        char *pair = rest;
        rest = pair_end(pair);
        if (rest != NULL)
            *rest++ = '\0';
        status = add_pair(spec, pair, error);
    }
    if (status != TARRY_OK)
        tarry__spec_clear(spec);
    return status;
}

void tarry__spec_clear(tarry__spec *spec)
{
    tarry__base_free(spec->text);
    memset(spec, 0, sizeof *spec);
}

char *tarry__spec_print(const tarry__spec *spec)
{
    size_t size = strlen(spec->name) + 1, used;
    for (size_t i = 0; i < spec->count; i++)
        size += strlen(spec->key[i]) + strlen(spec->value[i]) + 4;
    char *text = tarry__base_alloc(size, 1);
    if (text == NULL)
        return NULL;
    used = (size_t)snprintf(text, size, "%s", spec->name);
    for (size_t i = 0; i < spec->count; i++) {
        const char *quote = strchr(spec->value[i], ',') != NULL ? "\"" : "";
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s%s%s",
                                 i == 0 ? ":" : ",", spec->key[i], quote,
                                 spec->value[i], quote);
    }
    return text;
}

/* ---- looking up -----------------------------------------------------------*/

static const char *given(const tarry__spec *spec, const char *key)
{
    for (size_t i = 0; i < spec->count; i++)
        if (strcmp(spec->key[i], key) == 0)
            return spec->value[i];
    return NULL;
}

const char *tarry__spec_take(tarry__spec *spec, const char *key)
{
    const char *value = given(spec, key);
    size_t n = 0;
    for (size_t i = 0; i < spec->count; i++)
        if (strcmp(spec->key[i], key) != 0) {
            spec->key[n] = spec->key[i];
            spec->value[n++] = spec->value[i];
        }
    spec->count = n;
    return value;
}

static const tarry_setting *listed(const tarry_setting *settings,
                                   const char *key)
{
    for (; settings->key != NULL; settings++)
        if (strcmp(settings->key, key) == 0)
            return settings;
    return NULL;
}

/* "a, b, c", cut to the room there is. */
static void join_keys(const tarry_setting *settings, char *out, size_t room)
{
    size_t used = 0;
    for (out[0] = '\0'; settings->key != NULL; settings++) {
        const size_t length = strlen(settings->key);
        if (used + length + 3 > room)
            return;
        if (used > 0) {
            memcpy(out + used, ", ", 2);
            used += 2;
        }
        memcpy(out + used, settings->key, length + 1);
        used += length;
    }
}

tarry_status tarry__spec_check(tarry__spec *spec, const tarry_setting *settings,
                               tarry_error *error)
{
    char keys[200];
    for (size_t i = 0; i < spec->count; i++)
        if (listed(settings, spec->key[i]) == NULL) {
            join_keys(settings, keys, sizeof keys);
            return tarry__base_fail(
                error, TARRY_BAD_INPUT, "%s: no setting '%s' (it has: %s)",
                spec->name, spec->key[i], keys[0] ? keys : "none");
        }
    for (const tarry_setting *s = settings; s->key != NULL; s++)
        if (s->value == NULL && given(spec, s->key) == NULL)
            return tarry__base_fail(error, TARRY_BAD_INPUT,
                                    "%s: '%s' must be given (%s)", spec->name,
                                    s->key, s->help);
    spec->settings = settings;
    return TARRY_OK;
}

const char *tarry__spec_text(const tarry__spec *spec, const char *key)
{
    const char *value = given(spec, key);
    return value != NULL ? value : listed(spec->settings, key)->value;
}

tarry_status tarry__spec_real(const tarry__spec *spec, const char *key,
                              double *value, tarry_error *error)
{
    const tarry_setting *s = listed(spec->settings, key);
    const char *text = tarry__spec_text(spec, key);
    if (!tarry__base_parse_real(text, value) || *value < s->least ||
        *value > s->most)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s: %s must be a number from %g to %g: '%s'",
                                spec->name, key, s->least, s->most, text);
    return TARRY_OK;
}

tarry_status tarry__spec_count(const tarry__spec *spec, const char *key,
                               uint64_t *value, tarry_error *error)
{
    const tarry_setting *s = listed(spec->settings, key);
    const char *text = tarry__spec_text(spec, key);
    if (!tarry__base_parse_count(text, value) || (double)*value < s->least ||
        (double)*value > s->most)
        return tarry__base_fail(
            error, TARRY_BAD_INPUT,
            "%s: %s must be a whole number from %.0f to %.0f: '%s'", spec->name,
            key, s->least, s->most, text);
    return TARRY_OK;
}

/* The place of a word of that length in "a|b|c"; false: it is not there. */
static bool find_word(const char *words, const char *word, unsigned *place)
{
    const size_t length = strlen(word);
    for (*place = 0;; ++*place, words++) {
        const size_t next = strcspn(words, "|");
        if (next == length && memcmp(words, word, length) == 0)
            return true;
        words += next;
        if (*words == '\0')
            return false;
    }
}

tarry_status tarry__spec_choice(const tarry__spec *spec, const char *key,
                                unsigned *place, tarry_error *error)
{
    const tarry_setting *s = listed(spec->settings, key);
    const char *text = tarry__spec_text(spec, key);
    return find_word(s->choices, text, place)
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "%s: %s must be one of %s: '%s'", spec->name,
                                  key, s->choices, text);
}
