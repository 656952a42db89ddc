/* writer.c - see writer.h. */
#define _POSIX_C_SOURCE 200809L
#include "base/writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/base.h"

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

void tarry__writer_quote(tarry__writer *t, const char *string)
{
    tarry__writer_add(t, "\"", 1);
    for (const char *c = string; *c != '\0';) {
        const char *from = c;
        while ((unsigned char)*c >= ' ' && *c != '"' && *c != '\\')
            c++;
        tarry__writer_add(t, from, (size_t)(c - from));
        if (*c == '"' || *c == '\\')
            tarry__writer_print(t, "\\%c", *c++);
        else if (*c != '\0')
            tarry__writer_print(t, "\\u%04x", (unsigned char)*c++);
    }
    tarry__writer_add(t, "\"", 1);
}

void tarry__writer_real(tarry__writer *t, double value)
{
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    tarry__writer_put(t, digits);
    if (strpbrk(digits, ".en") == NULL)
        tarry__writer_put(t, ".0");
}

void tarry__writer_time(tarry__writer *t, long long ms)
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    char day[64] = "";
    if (gmtime_r(&seconds, &parts) != NULL)
        strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
    tarry__writer_print(t, "\"%s.%03dZ\"", day, (int)(ms % 1000));
}

void tarry__writer_clear(tarry__writer *t)
{
    tarry__base_free(t->bytes);
    *t = (tarry__writer){0};
}
