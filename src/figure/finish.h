/* finish.h - the last touches to gnuplot's output. */
#ifndef TARRY_FIGURE_FINISH_H
#define TARRY_FIGURE_FINISH_H

#include "figure/figure.h"

/* SVG: the figure's title in place of gnuplot's, and ids of its own, so that
 * many figures can live in one page.  PDF: no date.  Replaces *bytes and *size;
 * false when out of memory. */
bool tarry__figure_finish(const tarry__figure *f, figure_format format,
                          char **bytes, size_t *size);

#endif
