/* html.c - escaped text and numbers. */
#include "report/html.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/elementary.h"
#include "base/json.h"
#include "figure/figure.h"

/* One piece of the text, in an element. */
static size_t put_piece(FILE *out, const char *element, const char *text,
                        size_t length)
{
    char piece[64];
    snprintf(piece, sizeof piece, "%.*s", (int)length, text);
    tarry__html(out, "<%m>%s</%m>", element, piece, element);
    return length;
}

/* Bytes of an index or exponent at `text`: up to `most` letters or digits,
 * with no more of them behind; 0 if there is none. */
static size_t word_at(const char *text, size_t most)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]))
        length++;
    return length <= most && text[length] != '_' ? length : 0;
}

/* Sets what follows '_' or '^' at `text`; answers how much of the text that
 * was, 0 if it is no formula. */
static size_t put_raised(FILE *out, const char *text)
{
    const char *element = text[0] == '_' ? "sub" : "sup";
    if (text[1] == '{') {
        const size_t length = strcspn(text + 2, "}");
        if (text[2 + length] == '}' && length < 30)
            return 3 + put_piece(out, element, text + 2, length);
    }
    const size_t length = word_at(text + 1, 3);
    return length > 0 ? 1 + put_piece(out, element, text + 1, length) : 0;
}

static void put_formulas(FILE *out, const char *text)
{
    for (const char *start = text; *text != '\0';) {
        const bool raised = (*text == '_' || *text == '^') && text > start;
        const size_t used = raised ? put_raised(out, text) : 0;
        if (used == 0)
            tarry__figure_put_escaped(out, (char[]){*text, '\0'});
        text += used > 0 ? used : 1;
    }
}

void tarry__html(FILE *out, const char *markup, ...)
{
    va_list arguments;
    va_start(arguments, markup);
    for (; *markup != '\0'; markup++) {
        if (*markup != '%' || *++markup == '%') {
            fputc(*markup, out);
            continue;
        }
        const char *text = va_arg(arguments, const char *);
        if (text == NULL)
            continue;
        if (*markup == 's')
            tarry__figure_put_escaped(out, text);
        else if (*markup == 'f')
            put_formulas(out, text);
        else
            fputs(text, out);
    }
    va_end(arguments);
}

const char *tarry__html_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* Minus signs, not hyphens; 3.1e-05 as 3.1 × 10^−5. */
static void put_digits(FILE *out, const char *digits)
{
    const int exponent =
        strchr(digits, 'e') != NULL ? atoi(strchr(digits, 'e') + 1) : 0;
    for (; *digits != '\0' && *digits != 'e'; digits++)
        fputs(*digits == '-' ? "−" : (char[]){*digits, '\0'}, out);
    if (*digits == 'e')
        fprintf(out, " × 10<sup>%s%d</sup>", exponent < 0 ? "−" : "",
                abs(exponent));
}

static void put_short(FILE *out, double value)
{
    char digits[64];
    const double size = fabs(value);
    const bool whole = value == floor(value) && size < 1e7;
    snprintf(digits, sizeof digits, whole ? "%.0f" : "%.4g", value);
    put_digits(out, digits);
}

void tarry__html_number(FILE *out, const json_t *value, const json_t *ci95)
{
    const double v = json_number_value(value), half = json_number_value(ci95);
    char digits[64];
    if (!json_is_number(value)) {
        fputs("–", out);
    } else if (!json_is_number(ci95) || half == 0) {
        put_short(out, v);
    } else if (half < 1e-4 || fmax(fabs(v), half) >= 1e6) {
        put_short(out, v);
        fputs(" ± ", out);
        put_short(out, half);
    } else { /* two digits of the interval */
        const int decimals = (int)fmax(0, 1 - floor(tarry__log10(half)));
        snprintf(digits, sizeof digits, "%.*f", decimals, v);
        put_digits(out, digits);
        snprintf(digits, sizeof digits, "%.*f", decimals, half);
        fprintf(out, " ± %s", digits);
    }
}

bool tarry__html_value(FILE *out, const json_t *value)
{
    if (json_is_string(value)) {
        tarry__figure_put_escaped(out, json_string_value(value));
    } else if (json_is_number(value)) {
        put_short(out, json_number_value(value));
    } else if (value != NULL && !json_is_null(value)) {
        char *text =
            tarry__json_text(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        tarry__html(out, "%s", text);
        free(text);
        return text != NULL;
    }
    return true;
}
