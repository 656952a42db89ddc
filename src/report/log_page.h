/* log_page.h - what a log says, as a page for people. */
#ifndef TARRY_REPORT_LOG_PAGE_H
#define TARRY_REPORT_LOG_PAGE_H

#include "base/json.h"
#include "tarry/status.h"

/* Writes DIR/index.html, one page that needs no other file, DIR/results.json,
 * and DIR/figures with each figure as SVG, PDF, PNG and CSV, from the answer
 * of tarry__examine about the log called `name`.  Makes the folders that are
 * missing; the page appears when all else is written.  TARRY_IO_ERROR: gnuplot
 * or a file; TARRY_NO_MEMORY. */
tarry_status tarry__log_page_write(const json_t *result, const char *name,
                                   const char *dir, tarry_error *error);

#endif
