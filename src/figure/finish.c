/* finish.c - SVG for pages, PDF without a date. */
#define _GNU_SOURCE
#include "figure/finish.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void tarry__figure_put_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default: /* XML knows no other control characters */
            fputc(iscntrl((unsigned char)*text) && *text != '\n' ? ' ' : *text,
                  out);
        }
}

/* Where gnuplot defines a name of its own, or uses it. */
static size_t name_ahead(const char *at)
{
    static const char *const before[] = {" id='gp", " id=\"gnuplot_",
                                         " id='textbox'", " id='greybox'",
                                         " xlink:href='#gp"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (strncmp(at, before[i], strlen(before[i])) == 0)
            return strcspn(before[i], "'\"") + 1 + (i == 4);
    return 0;
}

/* gnuplot's own titles: of the drawing, and of series without a name. */
static size_t title_ahead(const char *at)
{
    static const char whole[] = "<title>Gnuplot",
                      series[] = "<title>gnuplot_plot_";
    if (strncmp(at, whole, sizeof whole - 1) != 0 &&
        strncmp(at, series, sizeof series - 1) != 0)
        return 0;
    const char *end = strstr(at, "</title>");
    return end != NULL ? (size_t)(end - at) + strlen("</title>") : 0;
}

static void put_svg(FILE *out, const tarry__figure *f, const char *svg)
{
    const char *desc = strstr(svg, "<desc>");
    for (const char *at = svg; *at != '\0';) {
        const size_t title = title_ahead(at), name = name_ahead(at);
        if (title > 0 && at < desc) {
            fputs("<title>", out);
            tarry__figure_put_escaped(out, f->title);
            fputs("</title>", out);
        }
        if (title > 0) {
            at += title;
        } else if (name > 0) {
            fwrite(at, 1, name, out);
            fprintf(out, "%s-", f->id);
            at += name;
        } else {
            fputc(*at++, out);
        }
    }
}

static bool finish_svg(const tarry__figure *f, char **bytes, size_t *size)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return false;
    put_svg(out, f, *bytes);
    if (fclose(out) != 0) {
        free(text);
        return false;
    }
    free(*bytes);
    *bytes = text;
    *size = length;
    return true;
}

/* The date keeps its length: later parts are found by their place. */
static void finish_pdf(char *bytes, size_t size)
{
    static const char key[] = "/CreationDate (D:";
    char *at = memmem(bytes, size, key, sizeof key - 1);
    if (at == NULL)
        return;
    for (at += sizeof key - 1; at < bytes + size && isdigit((unsigned char)*at);
         at++)
        *at = '0';
}

bool tarry__figure_finish(const tarry__figure *f, figure_format format,
                          char **bytes, size_t *size)
{
    if (format == FIGURE_SVG)
        return finish_svg(f, bytes, size);
    if (format == FIGURE_PDF)
        finish_pdf(*bytes, *size);
    return true;
}
