/* column.h - a list of numbers from a file. */
#ifndef TARRY_ENV_COLUMN_H
#define TARRY_ENV_COLUMN_H

#include <stddef.h>
#include "tarry/status.h"

/* Reads a file that arms.h can read and that has one row or one column.  The
 * caller ends *values with tarry__base_free; errors as in tarry_arms_read. */
tarry_status tarry__column_read(const char *path, double **values,
                                size_t *count, tarry_error *error);

/* The same, and refuses numbers that are no delays: negative, fractional, or
 * above TARRY__DELAY_LONGEST. */
tarry_status tarry__column_read_delays(const char *path, double **values,
                                       size_t *count, tarry_error *error);

#endif
