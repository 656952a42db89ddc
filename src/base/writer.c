/* writer.c - see writer.h. */
#define _POSIX_C_SOURCE 200809L
#include "base/writer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/base.h"
#include "base/json.h"

static bool reserve(tarry__writer *t, size_t more)
{
    if (t->failed)
        return false;
    if (t->size + more < t->room)
        return true;
    const size_t room = 2 * (t->size + more) + 200;
    char *bigger = tarry__base_grow(t->bytes, t->size, room, 1);
    t->failed = bigger == NULL;
    if (t->failed)
        return false;
    t->bytes = bigger;
    t->room = room;
    return true;
}

void tarry__writer_add(tarry__writer *t, const char *bytes, size_t size)
{
    if (!reserve(t, size))
        return;
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    t->bytes[t->size] = '\0';
}

void tarry__writer_put(tarry__writer *t, const char *string)
{
    tarry__writer_add(t, string, strlen(string));
}

void tarry__writer_print(tarry__writer *t, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int size = vsnprintf(NULL, 0, format, arguments);
    if (size >= 0 && reserve(t, (size_t)size)) {
        vsnprintf(t->bytes + t->size, (size_t)size + 1, format, again);
        t->size += (size_t)size;
    }
    va_end(again);
    va_end(arguments);
}

/* Where a character begins that cannot stand in a string as it is, or its
 * end. */
static const char *end_of_plain(const char *c)
{
    for (;;) {
        while ((signed char)*c >= ' ' && *c != '"' && *c != '\\')
            c++;
        const size_t length =
            (unsigned char)*c < 0x80 ? 0 : tarry__json_character(c);
        if (length == 0)
            return c;
        c += length;
    }
}

void tarry__writer_quote(tarry__writer *t, const char *string)
{
    tarry__writer_add(t, "\"", 1);
    for (const char *c = string; *c != '\0';) {
        const char *from = c;
        c = end_of_plain(c);
        tarry__writer_add(t, from, (size_t)(c - from));
        if (*c == '"' || *c == '\\')
            tarry__writer_print(t, "\\%c", *c++);
        else if ((unsigned char)*c >= 0x80)
            tarry__writer_put(t, "\\ufffd"), c++;
        else if (*c != '\0')
            tarry__writer_print(t, "\\u%04x", (unsigned char)*c++);
    }
    tarry__writer_add(t, "\"", 1);
}

size_t tarry__writer_digits(unsigned long long value,
                            char digits[TARRY__WRITER_DIGITS])
{
    char reversed[TARRY__WRITER_DIGITS];
    size_t count = 0;
    do
        reversed[count++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    for (size_t i = 0; i < count; i++)
        digits[i] = reversed[count - 1 - i];
    return count;
}

void tarry__writer_count(tarry__writer *t, unsigned long long value)
{
    char digits[TARRY__WRITER_DIGITS];
    tarry__writer_add(t, digits, tarry__writer_digits(value, digits));
}

/* ---- numbers and times, of which few differ --------------------------------
 * Each thread remembers what it wrote last. */

typedef struct {
    uint64_t bits;
    size_t size; /* 0: empty */
    char text[40];
} number;

static void write_number(number *n, double value)
{
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(n->text, sizeof n->text, "%.*g", precision, value);
        if (strtod(n->text, NULL) == value)
            break;
    }
    if (strpbrk(n->text, ".en") == NULL)
        strcat(n->text, ".0");
    n->size = strlen(n->text);
}

void tarry__writer_real(tarry__writer *t, double value)
{
    enum { BITS = 8 };
    static _Thread_local number kept[1 << BITS];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    number *n = &kept[bits * 0x9e3779b97f4a7c15u >> (64 - BITS)];
    if (n->size == 0 || n->bits != bits) {
        write_number(n, value);
        n->bits = bits;
    }
    tarry__writer_add(t, n->text, n->size);
}

void tarry__writer_time(tarry__writer *t, long long ms)
{
    static _Thread_local char text[64];
    static _Thread_local long long kept = -1;
    static _Thread_local size_t size;
    const time_t seconds = (time_t)(ms / 1000);
    const int rest = (int)(ms % 1000);
    struct tm parts;
    if (seconds != kept && gmtime_r(&seconds, &parts) != NULL) {
        size =
            strftime(text, sizeof text, "\"%Y-%m-%dT%H:%M:%S.000Z\"", &parts);
        kept = seconds;
    }
    if (size > 5) {
        text[size - 5] = (char)('0' + rest / 100);
        text[size - 4] = (char)('0' + rest / 10 % 10);
        text[size - 3] = (char)('0' + rest % 10);
    }
    tarry__writer_add(t, text, size);
}

void tarry__writer_clear(tarry__writer *t)
{
    tarry__base_free(t->bytes);
    *t = (tarry__writer){0};
}
