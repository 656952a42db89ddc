/* script.c - a figure as a gnuplot program.
 *
 * Texts stand in double quotes, where every character that could mean anything
 * to gnuplot is written as its number, and are marked noenhanced, so that
 * _ ^ { } @ & ~ \ are drawn as they are.  Data stand in datablocks.  Nothing
 * else in the program comes from the figure.
 *
 * Colours are those of Okabe and Ito, which colour-blind readers can tell
 * apart, less the yellow; marks and dashes differ as well, for grey print. */
#include "base/elementary.h"
#include "figure/figure.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Pixels of the drawing; other formats scale it. */
enum {
    WIDTH = 440,
    HEIGHT = 310, /* without title and key */
    LINE = 20,    /* of text */
    LETTER = 7,   /* about its width */
    SAMPLE = 45,  /* width of a line in the key */
    TITLE_COLUMNS = 50
};

static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73",
                                      "#E69F00", "#CC79A7", "#56B4E9",
                                      "#000000"};
static const int marks[] = {7, 5, 9, 13, 11, 6, 4, 8, 12, 10};
static const char *const dashes[] = {"1", "(10,4)", "(3,3)", "(10,3,2,3)"};
static const char *const theory_dashes[] = {"(6,4)", "(2,3)", "(9,3,2,3)"};
#define PICK(list, i) ((list)[(i) % (sizeof(list) / sizeof *(list))])

/* ---- texts ----------------------------------------------------------------*/

/* `length` bytes in double quotes; control characters become spaces. */
static void put_quoted(FILE *out, const char *text, size_t length)
{
    fputc('"', out);
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c == 127)
            fputc(' ', out);
        else if (c > 127 || isalnum(c) || strchr(" .,:;()=/+-", c) != NULL)
            fputc(c, out);
        else
            fprintf(out, "\\%03o", c);
    }
    fputc('"', out);
}

static void put_text(FILE *out, const char *text)
{
    put_quoted(out, text, strlen(text));
}

/* Characters of UTF-8 text: bytes that do not continue one. */
static size_t columns(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/* Bytes of the first line of `text`, broken at a space if it is too long. */
static size_t first_line(const char *text)
{
    size_t end = strlen(text), best = 0;
    if (columns(text, end) <= TITLE_COLUMNS)
        return end;
    for (size_t i = 0; i < end; i++)
        if (text[i] == ' ' && (best == 0 || columns(text, i) <= TITLE_COLUMNS))
            best = i;
    return best > 0 ? best : end;
}

/* Writes the title over several lines and answers how many; out may be NULL. */
static size_t put_title(FILE *out, const char *title)
{
    size_t lines = 0;
    while (*title != '\0') {
        const size_t length = first_line(title);
        if (out != NULL) {
            fputs(lines > 0 ? ".\"\\n\"." : "set title ", out);
            put_quoted(out, title, length);
        }
        title += length + (title[length] == ' ');
        lines++;
    }
    if (out != NULL && lines > 0)
        fputs(" noenhanced offset 0,-0.3\n", out);
    return lines;
}

/* ---- axes -----------------------------------------------------------------*/

/* A label at `value`, written as a multiple of 10^exponent if that is large or
 * small. */
static void put_tic(FILE *out, char axis, double value, int exponent)
{
    const double mantissa = value / tarry__pow(10, exponent);
    fprintf(out, "set %ctics add (", axis);
    if (value == 0 || (exponent >= -3 && exponent <= 4))
        fprintf(out, "'%.6g' %.17g)\n", value, value);
    else if (fabs(mantissa - 1) < 1e-6)
        fprintf(out, "'10^{%d}' %.17g)\n", exponent, value);
    else
        fprintf(out, "'%.6g×10^{%d}' %.17g)\n", mantissa, exponent, value);
}

/* Powers of ten, and between them where there is room. */
static void put_decades(FILE *out, char axis, double min, double max)
{
    static const double one[] = {1, 0}, few[] = {1, 2, 5, 0},
                        more[] = {1, 1.5, 2, 3, 4, 5, 7, 0};
    const double decades = tarry__log10(max) - tarry__log10(min);
    const double *mantissas = decades > 3 ? one : decades > 1 ? few : more;
    const int step = (int)ceil(decades / 8);
    const int first = (int)floor(tarry__log10(min)),
              last = (int)floor(tarry__log10(max));
    for (int e = first; e <= last; e++)
        for (const double *m = mantissas; *m != 0; m++) {
            const double value = *m * tarry__pow(10, e);
            if (e % step == 0 && value >= min && value <= max)
                put_tic(out, axis, value, e);
        }
}

/* Equal steps of 1, 2 or 5 times a power of ten. */
static void put_steps(FILE *out, char axis, double min, double max)
{
    const double rough = (max - min) / 6,
                 unit = tarry__pow(10, floor(tarry__log10(rough)));
    const double step = rough < 2 * unit   ? 2 * unit
                        : rough < 5 * unit ? 5 * unit
                                           : 10 * unit;
    const double largest = fmax(fabs(min), fabs(max));
    const int exponent = (int)floor(tarry__log10(largest));
    const double first = ceil(min / step) * step;
    for (int k = 0; k < 12 && first + k * step <= max; k++)
        put_tic(out, axis, first + k * step + 0.0, /* no -0 */
                exponent == 5 ? 0 : exponent);
}

static void put_axis(FILE *out, char name, const figure_axis *axis, double min,
                     double max)
{
    fprintf(out, "set %clabel ", name);
    put_text(out, axis->label);
    fprintf(out, " noenhanced%s\n", name == 'x' ? " offset 0,0.3" : "");
    if (axis->log)
        fprintf(out, "set logscale %c\n", name);
    fprintf(out, "set %crange [%.17g:%.17g]\nset %ctics ()\n", name, min, max,
            name);
    if (axis->log && max > 4 * min)
        put_decades(out, name, min, max);
    else
        put_steps(out, name, min, max);
}

/* ---- series ---------------------------------------------------------------*/

static bool has_range(const figure_series *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (!isnan(s->point[i].low))
            return true;
    return false;
}

static bool is_drawn(const tarry__figure *f, const figure_series *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (tarry__figure_is_drawn(f, &s->point[i]))
            return true;
    return false;
}

/* How far along the axis x lies, from 0 to 1. */
static double place_of(const tarry__figure *f, const figure_view *v, double x)
{
    return f->x.log ? (tarry__ln(x) - tarry__ln(v->min_x)) /
                          (tarry__ln(v->max_x) - tarry__ln(v->min_x))
                    : (x - v->min_x) / (v->max_x - v->min_x);
}

/* x y low high mark, a line each, where mark is y at some points of a curve,
 * an eighth of the axis apart, else NaN.  An empty line stands for a point that
 * is left out, so that no line is drawn across. */
static void put_data(FILE *out, const tarry__figure *f, const figure_view *v,
                     size_t i)
{
    double last_mark = 0, y_or_axis = f->y.log ? v->min_y : -INFINITY;
    bool begun = false;
    fprintf(out, "$s%zu << END\n", i);
    for (size_t k = 0; k < f->series[i].count; k++) {
        const figure_point *p = &f->series[i].point[k];
        if (!tarry__figure_is_drawn(f, p)) {
            fputs(begun ? "\n" : "", out);
            continue;
        }
        const double place = place_of(f, v, p->x);
        const bool marked = fabs(place - last_mark) >= 0.125;
        last_mark = marked ? place : last_mark;
        begun = true;
        fprintf(out, "%.17g %.17g %.17g %.17g ", p->x, p->y,
                fmax(isnan(p->low) ? p->y : p->low, y_or_axis),
                fmax(isnan(p->high) ? p->y : p->high, y_or_axis));
        if (marked)
            fprintf(out, "%.17g\n", p->y);
        else
            fputs("NaN\n", out);
    }
    fputs("END\n", out);
}

/* How many series before i are of their own colour. */
static size_t colour_of(const tarry__figure *f, size_t i)
{
    size_t own = 0;
    for (size_t k = 0; k < i; k++)
        own += f->series[k].kind < FIGURE_FIT;
    if (f->series[i].kind == FIGURE_FIT && own > 0)
        own--; /* that of the series before it */
    return own;
}

static size_t count_kind(const tarry__figure *f, size_t end, figure_kind kind)
{
    size_t count = 0;
    for (size_t k = 0; k < end; k++)
        count += f->series[k].kind == kind;
    return count;
}

/* Marks tell curves apart in grey print; a lone one needs none. */
static bool has_marks(const tarry__figure *f, size_t i)
{
    const figure_kind kind = f->series[i].kind;
    return (kind == FIGURE_LINE || kind == FIGURE_BAND) &&
           count_kind(f, f->n_series, FIGURE_LINE) +
                   count_kind(f, f->n_series, FIGURE_BAND) >
               1;
}

static void put_style(FILE *out, const tarry__figure *f, size_t i)
{
    const figure_series *s = &f->series[i];
    const size_t c = colour_of(f, i);
    switch (s->kind) {
    case FIGURE_POINTS:
        fprintf(out, "with %s pt %d ps 0.8 lw 1.3 lc rgb '%s'",
                has_range(s) ? "yerrorbars" : "points", PICK(marks, c),
                PICK(colours, c));
        return;
    case FIGURE_LINE:
    case FIGURE_BAND:
        fprintf(out, "with lines lw 1.8 dt %s lc rgb '%s'", PICK(dashes, c),
                PICK(colours, c));
        return;
    case FIGURE_FIT:
        fprintf(out, "with lines lw 1 lc rgb '%s'", PICK(colours, c));
        return;
    case FIGURE_THEORY:
        fprintf(out, "with lines lw 1.4 dt %s lc rgb '#777777'",
                PICK(theory_dashes, count_kind(f, i, FIGURE_THEORY)));
        return;
    }
}

static void put_name(FILE *out, const figure_series *s)
{
    fputs(" title ", out);
    put_text(out, s->name);
    fputs(" noenhanced", out);
}

static void put_shade(FILE *out, const tarry__figure *f, size_t i)
{
    fprintf(out,
            ", $s%zu using 1:3:4 with filledcurves fs transparent solid 0.18 "
            "noborder lc rgb '%s' notitle",
            i, PICK(colours, colour_of(f, i)));
}

static void put_series(FILE *out, const tarry__figure *f, size_t i)
{
    const figure_series *s = &f->series[i];
    const size_t c = colour_of(f, i);
    fprintf(out, ", $s%zu using %s ", i,
            s->kind == FIGURE_POINTS && has_range(s) ? "1:2:3:4" : "1:2");
    put_style(out, f, i);
    if (!has_marks(f, i)) {
        put_name(out, s);
        return;
    }
    fprintf(out,
            " notitle, $s%zu using 1:5 with points pt %d ps 0.7 lc rgb '%s' "
            "notitle, keyentry with linespoints lw 1.8 dt %s pt %d ps 0.7 lc "
            "rgb '%s'",
            i, PICK(marks, c), PICK(colours, c), PICK(dashes, c),
            PICK(marks, c), PICK(colours, c));
    put_name(out, s);
}

/* Shades lie below everything else. */
static void put_plot(FILE *out, const tarry__figure *f)
{
    fputs("plot NaN notitle", out); /* so that there is something to begin */
    for (size_t i = 0; i < f->n_series; i++)
        if (f->series[i].kind == FIGURE_BAND && has_range(&f->series[i]) &&
            is_drawn(f, &f->series[i]))
            put_shade(out, f, i);
    for (size_t i = 0; i < f->n_series; i++)
        if (is_drawn(f, &f->series[i]))
            put_series(out, f, i);
    fputc('\n', out);
}

/* ---- the whole ------------------------------------------------------------*/

/* The key stands below the drawing in as many columns as its longest name
 * allows; a very long one makes the drawing wider. */
typedef struct {
    size_t longest, rows, width;
} key_shape;

static key_shape shape_key(const tarry__figure *f)
{
    size_t longest = 1, count = 0;
    for (size_t i = 0; i < f->n_series; i++) {
        const char *name = f->series[i].name;
        const size_t length = columns(name, strlen(name));
        longest = length > longest ? length : longest;
        count += length > 0 && is_drawn(f, &f->series[i]);
    }
    const size_t column = SAMPLE + LETTER * longest;
    const size_t width = column > WIDTH ? column : WIDTH;
    const size_t wide = width / column;
    return (key_shape){longest, (count + wide - 1) / wide, width};
}

/* For SVG gnuplot takes letters to be wider than they are. */
static void put_key(FILE *out, const key_shape *key, figure_format format)
{
    fprintf(out,
            "set bmargin %g\n"
            "set key at screen 0.03, screen 0.02 left bottom Left reverse "
            "noenhanced vertical maxrows %zu samplen 2.5 width %g\n",
            3.8 + (double)key->rows, key->rows > 0 ? key->rows : 1,
            format == FIGURE_SVG ? -0.15 * (double)key->longest : 0);
}

static void put_terminal(FILE *out, figure_format format, size_t width,
                         size_t height)
{
    switch (format) {
    case FIGURE_SVG:
        fprintf(out,
                "set terminal svg size %zu,%zu fixed enhanced font "
                "'sans-serif,13' background '#ffffff'\n",
                width, height);
        return;
    case FIGURE_PDF: /* 96 pixels to an inch, 9 points to 12 pixels */
        fprintf(out,
                "set terminal pdfcairo size %.4fin,%.4fin enhanced color font "
                "'Sans,9' fontscale 0.7 lw 1 ps 0.6 background '#ffffff'\n",
                (double)width / 96, (double)height / 96);
        return;
    case FIGURE_PNG:
        fprintf(out,
                "set terminal pngcairo size %zu,%zu enhanced color font "
                "'Sans,9' fontscale 3 lw 3 ps 3.6 background '#ffffff'\n",
                3 * width, 3 * height);
        return;
    }
}

void tarry__figure_script(const tarry__figure *f, figure_format format,
                          FILE *out)
{
    const figure_view v = tarry__figure_view(f);
    const key_shape key = shape_key(f);
    const size_t title_lines = put_title(NULL, f->title);
    put_terminal(out, format, key.width,
                 HEIGHT + LINE * (key.rows + title_lines));
    fputs("set encoding utf8\n"
          "set border 3 lc rgb '#555555'\n"
          "set tics nomirror out scale 0.5 tc rgb '#222222'\n"
          "set grid lt 1 lw 0.6 lc rgb '#e4e4e4'\n"
          "set bars 0.6\nset pointintervalbox 0\n",
          out);
    fprintf(out, "set tmargin %g\n", 0.8 + 1.2 * (double)title_lines);
    put_key(out, &key, format);
    put_title(out, f->title);
    put_axis(out, 'x', &f->x, v.min_x, v.max_x);
    put_axis(out, 'y', &f->y, v.min_y, v.max_y);
    if (v.empty)
        fputs("set label 1 'nothing to draw' at graph 0.5,0.5 center\n", out);
    for (size_t i = 0; i < f->n_series; i++)
        put_data(out, f, &v, i);
    put_plot(out, f);
}
