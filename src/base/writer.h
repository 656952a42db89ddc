/* writer.h - text that grows, for answers and pages.
 *
 * What does not fit into memory is remembered: `failed` is set, and what was
 * built is not to be used. */
#ifndef TARRY_BASE_WRITER_H
#define TARRY_BASE_WRITER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *bytes; /* ends with a zero byte that does not count */
    size_t size, room;
    bool failed;
} tarry__writer;

void tarry__writer_add(tarry__writer *text, const char *bytes, size_t size);
void tarry__writer_put(tarry__writer *text, const char *string);
void tarry__writer_print(tarry__writer *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Digits of a number, without a zero byte; answers how many. */
enum { TARRY__WRITER_DIGITS = 20 };
size_t tarry__writer_digits(unsigned long long value,
                            char digits[TARRY__WRITER_DIGITS]);

/* A whole number. */
void tarry__writer_count(tarry__writer *text, unsigned long long value);

/* A string of JSON, in quotes; bytes that are no UTF-8 become U+FFFD each. */
void tarry__writer_quote(tarry__writer *text, const char *string);

/* A number that reads back as the same bits, with a point or an exponent. */
void tarry__writer_real(tarry__writer *text, double value);

/* A moment as "2026-01-31T23:59:59.123Z", in quotes. */
void tarry__writer_time(tarry__writer *text, long long ms);

void tarry__writer_clear(tarry__writer *text);

#endif
