/* page.h - the parts of the page.  False: out of memory. */
#ifndef TARRY_REPORT_PAGE_H
#define TARRY_REPORT_PAGE_H

#include <stdio.h>
#include "base/json.h"
#include "tarry/status.h"

typedef enum { SUPPORTED, UNRESOLVED, CONTRADICTED, N_VERDICTS } verdict;

/* Reads a verdict by name; N_VERDICTS if it is none. */
verdict tarry__page_verdict(const json_t *row);

/* Everything before the sections: title, summary, how to read, both tables. */
void tarry__page_top(FILE *out, const json_t *results);

/* One row's section, in two parts with its figures between them. */
void tarry__page_row_top(FILE *out, const json_t *row);
bool tarry__page_row_end(FILE *out, const json_t *row);

/* One figure; its files are figures/ID.svg and so on. */
bool tarry__page_figure(FILE *out, const json_t *figure, const char *svg,
                        const json_t *config);

bool tarry__page_end(FILE *out, const json_t *results);

extern const char tarry__page_style[]; /* style.css */

#endif
