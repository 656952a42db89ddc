/* report.h - the results of `tarry paper` as a page.
 *
 * Everything comes from one JSON value:
 *
 *     {"config": {"scale": "quick", "seed": 1, "command": "..",
 *                 "version": "..", ..},
 *      "rows": [{"id": "..", "title": "..", "group": "table" or "theorem",
 *                "claim": "..", "paper": {"upper": "..", "lower": "..",
 *                "prior": ".."}, "theory": 1, "measured": 0.98, "ci95": 0.03,
 *                "verdict": "supported", "because": "..",
 *                "checks": [{"name", "theory", "measured", "ci95", "verdict",
 *                            "text"}, ..],
 *                "figures": [figure, ..], "data": [{..}, ..],
 *                "seconds": 12.3}, ..]}
 *
 * Verdicts are supported, unresolved and contradicted; ids of rows and of
 * figures are names for files and occur once; all other parts may be missing
 * or null.  figure/figure.h says what a figure is. */
#ifndef TARRY_REPORT_REPORT_H
#define TARRY_REPORT_REPORT_H

#include <stdio.h>
#include "base/json.h"
#include "tarry/status.h"

/* Writes DIR/index.html, one page that needs no other file, DIR/results.json,
 * and per figure DIR/figures/ID.svg, .pdf, .png and .csv.  Makes the folders
 * that are missing.  The page appears when all else is written.
 * TARRY_BAD_INPUT: not such results; TARRY_IO_ERROR: gnuplot or a file. */
tarry_status tarry__report_write(const json_t *results, const char *dir,
                                 tarry_error *error);

/* The figure called `id` among the rows of results; NULL if there is none. */
const json_t *tarry__report_figure(const json_t *results, const char *id);

/* ---- for other pages ------------------------------------------------------*/

/* Makes DIR/figures and the folders above it. */
tarry_status tarry__report_folders(const char *dir, tarry_error *error);

/* Writes DIR/results.json. */
tarry_status tarry__report_save(const json_t *results, const char *dir,
                                tarry_error *error);

/* Writes a figure in all formats into the folder `dir`, which ends with '/',
 * and puts it into the page. */
tarry_status tarry__report_put_figure(FILE *out, const json_t *figure,
                                      const json_t *config, const char *dir,
                                      tarry_error *error);

#endif
