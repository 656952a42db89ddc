/* figure.h - figures drawn by gnuplot, described by JSON.
 *
 *     {"id": "mean-delay", "title": "..", "note": "..", "command": "..",
 *      "x": {"label": "..", "log": true}, "y": {"label": "..", "log": true},
 *      "series": [{"name": "..", "kind": "points",
 *                  "points": [[x, y], [x, y, low, high], ..]}, ..]}
 *
 * Kinds: points (marks, with error bars where there is low and high), line,
 * band (a line in the shade from low to high), fit (a thin line in the colour
 * of the series before it), theory (a dashed grey line).  Only "series" is
 * required.  An id consists of letters, digits, '-', '_' and '.', and does not
 * begin with '.', so it can name a file.
 *
 * A logarithmic axis has no place for values <= 0: such points are left out,
 * low ends are cut at the axis, and tarry__figure_note says so.  The same
 * figure gives the same bytes. */
#ifndef TARRY_FIGURE_FIGURE_H
#define TARRY_FIGURE_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "base/json.h"
#include "tarry/status.h"

/* ---- whole figures --------------------------------------------------------*/

/* TARRY_OK if there is a gnuplot to draw with, else TARRY_IO_ERROR. */
tarry_status tarry__figure_check(tarry_error *error);

/* Draws a figure into FILE.svg, FILE.pdf or FILE.png, as the name says; writes
 * its data as CSV with the columns series,x,y,lo,hi.  On failure there is no
 * new file, and an old one stays as it was.  TARRY_BAD_INPUT: not a figure;
 * TARRY_BAD_ARGUMENT: another ending; TARRY_IO_ERROR: gnuplot or the file. */
tarry_status tarry__figure_write(const json_t *figure, const char *path,
                                 tarry_error *error);
tarry_status tarry__figure_csv(const json_t *figure, const char *path,
                               tarry_error *error);

/* The note, and what the drawing leaves out; ended with free.  NULL: not a
 * figure, or out of memory. */
char *tarry__figure_note(const json_t *figure);

/* ---- the parts ------------------------------------------------------------*/

typedef enum {
    FIGURE_POINTS,
    FIGURE_LINE,
    FIGURE_BAND,
    FIGURE_FIT,
    FIGURE_THEORY
} figure_kind;

typedef enum { FIGURE_SVG, FIGURE_PDF, FIGURE_PNG } figure_format;

typedef struct {
    double x, y, low, high; /* low and high are NAN where there are none */
} figure_point;

typedef struct {
    const char *name;
    figure_kind kind;
    figure_point *point; /* count of them */
    size_t count;
} figure_series;

typedef struct {
    const char *label;
    bool log;
} figure_axis;

/* Texts belong to the JSON value, which must live longer. */
typedef struct {
    const char *id, *title, *note;
    figure_axis x, y;
    figure_series *series; /* n_series of them */
    size_t n_series;
} tarry__figure;

/* The ends of both axes, and what a logarithmic one leaves out. */
typedef struct {
    size_t dropped; /* points */
    size_t cut;     /* low ends */
    double min_x, max_x, min_y, max_y;
    bool empty; /* nothing to draw */
} figure_view;

/* Reads a figure; the caller ends it with tarry__figure_clear, also after a
 * failure. */
tarry_status tarry__figure_read(const json_t *json, tarry__figure *f,
                                tarry_error *error);
void tarry__figure_clear(tarry__figure *f);

figure_view tarry__figure_view(const tarry__figure *f);
bool tarry__figure_is_drawn(const tarry__figure *f, const figure_point *p);

/* Writes the gnuplot program that prints the figure on standard output. */
void tarry__figure_script(const tarry__figure *f, figure_format format,
                          FILE *out);

/* Draws into memory: *size bytes at *bytes, ended with free. */
tarry_status tarry__figure_draw(const tarry__figure *f, figure_format format,
                                char **bytes, size_t *size, tarry_error *error);

/* Writes text with the characters of XML and HTML escaped. */
void tarry__figure_put_escaped(FILE *out, const char *text);

#endif
