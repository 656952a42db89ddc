/* report.h - which outcomes of a world are ever reported. */
#ifndef TARRY_ENV_REPORT_H
#define TARRY_ENV_REPORT_H

#include "env/entry.h"

typedef struct {
    double below, above; /* losses below or above these are reported, */
    uint64_t rounds;     /*   if they come within so many rounds */
} tarry__report;

/* All rules; NULL ends the list. */
extern const tarry__entry *const tarry__reports[];

/* NULL is `all`.  TARRY_BAD_INPUT, TARRY_NO_MEMORY. */
tarry_status tarry__report_read(const char *text, tarry__report *out,
                                tarry_error *error);

/* Whether everything is reported. */
bool tarry__report_is_all(const tarry__report *report);

/* Whether a loss that would come after `delay` rounds is reported. */
bool tarry__report_passes(const tarry__report *report, double loss,
                          uint64_t delay);

#endif
