/* lines.c - lines of tables, as people see them: on a terminal no longer than
 * it is wide, and without characters that would command it. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/elementary.h"
#include "cli/cli.h"

int cli_width(FILE *stream)
{
    struct winsize size;
    if (!isatty(fileno(stream)) ||
        ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 0;
    return size.ws_col;
}

/* How many bytes the character at `c` has; 0 if it is none, or a command:
 * 0 to 31, 127, and 128 to 159 also as UTF-8. */
static size_t shown_bytes(const unsigned char *c)
{
    const size_t length = c[0] < 0x80   ? 1
                          : c[0] < 0xC2 ? 0
                          : c[0] < 0xE0 ? 2
                          : c[0] < 0xF0 ? 3
                          : c[0] < 0xF5 ? 4
                                        : 0;
    if (c[0] < ' ' || c[0] == 127 || (c[0] == 0xC2 && c[1] < 0xA0))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

void cli_clean(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c != '\0';) {
        const size_t bytes = shown_bytes(c);
        if (bytes == 0)
            *c = '?';
        c += bytes > 0 ? bytes : 1;
    }
}

/* ---- lines made of parts --------------------------------------------------*/

static char line[8192];
static size_t used;

void cli_put(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length =
        vsnprintf(line + used, sizeof line - used, format, arguments);
    va_end(arguments);
    if (length > 0)
        used += (size_t)length < sizeof line - used ? (size_t)length
                                                    : sizeof line - 1 - used;
}

/* After `width` characters; 0 for no limit. */
static void cut(char *text, int width)
{
    for (; width > 0 && *text != '\0'; text++)
        if ((*text & 0xC0) != 0x80 && width-- == 1) {
            text += shown_bytes((unsigned char *)text);
            *text = '\0';
            return;
        }
}

void cli_put_end(void)
{
    cli_clean(line);
    cut(line, cli_width(stdout));
    puts(line);
    used = 0;
    line[0] = '\0';
}

/* ---- numbers --------------------------------------------------------------*/

const char *cli_number(double x, int digits, char text[32])
{
    const double size = fabs(x);
    const int above = size > 0 ? (int)floor(tarry__log10(size)) : 0;
    const int decimals = digits - 1 - above;
    if (size != 0 && (size < 1e-4 || size >= 1e9))
        snprintf(text, 32, "%.*e", digits - 1, x);
    else
        snprintf(text, 32, "%.*f", decimals > 0 ? decimals : 0, x);
    return text;
}

const char *cli_half_width(double ci95, size_t runs, char text[32])
{
    return runs > 1 ? cli_number(ci95, 2, text) : "-";
}
