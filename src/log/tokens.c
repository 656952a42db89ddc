/* tokens.c - see tokens.h. */
#include "log/tokens.h"

#include <ctype.h>
#include <string.h>

enum { DEEPEST = 64 };

static const tarry__text nothing = {NULL, NULL};

static tarry__text fail(tarry__tokens *s)
{
    s->failed = true;
    s->at = s->end;
    return nothing;
}

char tarry__tokens_peek(tarry__tokens *s)
{
    while (s->at < s->end &&
           (*s->at == ' ' || *s->at == '\t' || *s->at == '\r'))
        s->at++;
    return s->at < s->end ? *s->at : '\0';
}

static bool take(tarry__tokens *s, char c)
{
    const bool is_there = tarry__tokens_peek(s) == c && c != '\0';
    s->at += is_there;
    return is_there;
}

/* ---- strings --------------------------------------------------------------*/

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0'
           : tolower((unsigned char)c) >= 'a' &&
                   tolower((unsigned char)c) <= 'f'
               ? tolower((unsigned char)c) - 'a' + 10
               : -1;
}

/* Four digits behind \u; -1 if they are not. */
static int read_unit(const char *at, const char *end)
{
    int unit = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        const int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        unit = 16 * unit + digit;
    }
    return unit;
}

static char *put_utf8(char *to, long c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xC0 | c >> 6);
        *to++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *to++ = (char)(0xE0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 63));
        *to++ = (char)(0x80 | (c & 63));
    } else {
        *to++ = (char)(0xF0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 63));
        *to++ = (char)(0x80 | (c >> 6 & 63));
        *to++ = (char)(0x80 | (c & 63));
    }
    return to;
}

/* \uXXXX, or a pair of them, at *from behind the u; writes at *to. */
static bool unescape_unit(const char **from, const char *end, char **to)
{
    long c = read_unit(*from, end);
    if (c < 0)
        return false;
    *from += 4;
    if (c >= 0xD800 && c < 0xDC00 && end - *from >= 6 && (*from)[0] == '\\' &&
        (*from)[1] == 'u') {
        const long low = read_unit(*from + 2, end);
        if (low < 0xDC00 || low > 0xDFFF)
            return false;
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        *from += 6;
    }
    *to = put_utf8(*to, c);
    return true;
}

/* Rewrites begin..end without escapes; it never gets longer.  NULL: bad. */
static char *unescape(char *begin, char *end)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *to = begin;
    for (const char *from = begin; from < end;) {
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        const char kind = from[1];
        const char *known = strchr(letters, kind);
        from += 2;
        if (kind == 'u') {
            if (!unescape_unit(&from, end, &to))
                return NULL;
        } else if (known != NULL && kind != '\0') {
            *to++ = meant[known - letters];
        } else {
            return NULL;
        }
    }
    return to;
}

/* A string, behind its first quote. */
static tarry__text read_string(tarry__tokens *s)
{
    char *begin = s->at;
    bool escapes = false;
    while (s->at < s->end && *s->at != '"') {
        escapes = escapes || *s->at == '\\';
        s->at += *s->at == '\\' ? 2 : 1;
    }
    if (s->at >= s->end)
        return fail(s);
    char *end = s->at++;
    if (escapes)
        end = unescape(begin, end);
    return end != NULL ? (tarry__text){begin, end} : fail(s);
}

/* ---- values ---------------------------------------------------------------*/

bool tarry__tokens_enter(tarry__tokens *s, char bracket)
{
    return take(s, bracket);
}

/* A comma, or the end; anything else is an error. */
static bool has_next(tarry__tokens *s, bool *first, char bracket)
{
    const bool was_first = *first;
    *first = false;
    if (s->failed || take(s, bracket))
        return false;
    if (was_first || take(s, ','))
        return true;
    fail(s);
    return false;
}

bool tarry__tokens_key(tarry__tokens *s, bool *first, tarry__text *key)
{
    if (!has_next(s, first, '}'))
        return false;
    if (!take(s, '"')) {
        fail(s);
        return false;
    }
    *key = read_string(s);
    if (!s->failed && !take(s, ':'))
        fail(s);
    return !s->failed;
}

bool tarry__tokens_more(tarry__tokens *s, bool *first)
{
    return has_next(s, first, ']');
}

/* A number or a word, up to what ends it. */
static tarry__text read_plain(tarry__tokens *s)
{
    const char *begin = s->at;
    while (s->at < s->end && strchr(",]} \t\r", *s->at) == NULL)
        s->at++;
    const tarry__text t = {begin, s->at};
    double number;
    if (tarry__text_is(t, "null"))
        return nothing;
    if (!tarry__text_is(t, "true") && !tarry__text_is(t, "false") &&
        !tarry__text_number(t, &number) && !tarry__text_is(t, "nan"))
        return fail(s);
    return t;
}

static void skip_value(tarry__tokens *s, int depth);

static void skip_inside(tarry__tokens *s, bool is_object, int depth)
{
    bool first = true;
    tarry__text key;
    if (depth == DEEPEST)
        fail(s);
    while (is_object ? tarry__tokens_key(s, &first, &key)
                     : tarry__tokens_more(s, &first))
        skip_value(s, depth + 1);
}

static void skip_value(tarry__tokens *s, int depth)
{
    if (tarry__tokens_enter(s, '{'))
        skip_inside(s, true, depth);
    else if (tarry__tokens_enter(s, '['))
        skip_inside(s, false, depth);
    else if (take(s, '"'))
        read_string(s);
    else
        read_plain(s);
}

tarry__text tarry__tokens_value(tarry__tokens *s)
{
    const char c = tarry__tokens_peek(s);
    if (c == '{' || c == '[') {
        skip_value(s, 0);
        return nothing;
    }
    if (take(s, '"'))
        return read_string(s);
    return c != '\0' ? read_plain(s) : fail(s);
}
