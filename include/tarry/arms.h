/* arms.h - sets of arms read from files.
 *
 * CSV: one arm per line, numbers separated by commas.  The first line is a
 * header if its fields after the first are words (or, with one column, its
 * only field is); a first line that mixes words and numbers after the first
 * field is an error.  If the first of several fields of the first arm is not
 * a number, or its title is id or name, the first column holds the arms'
 * names.  A first line without commas may separate by semicolons or tabs, and
 * then all lines do.  Spaces and tabs around
 * fields, "quoted" names and titles with "" for a quote, CR LF line ends, a
 * byte order mark and empty lines at the end are fine.  Everything else is
 * refused: what is not a finite decimal number (nan, 1e999, 0x1p3, a number
 * in quotes), empty fields, lines of different width.  Numbers are rounded
 * to the nearest double, in every locale.
 *
 * NumPy .npy, version 1.0 to 3.0: 2-D, or 1-D with one number per row, in C or
 * Fortran order; little-endian float64, float32 or whole numbers.  Float64 in C
 * order is mapped, not copied.
 *
 * A file must not change while it is read; a float64 .npy file, not before
 * tarry_arms_free. */
#ifndef TARRY_ARMS_H
#define TARRY_ARMS_H

#include <stddef.h>
#include "tarry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Read-only; made by tarry_arms_read, ended by tarry_arms_free. */
typedef struct {
    size_t n_arms, dim; /* K and n in the paper, both at least 1 */
    const double *data; /* arm k is data[k*dim .. k*dim + dim-1] */
    const char **names; /* n_arms names as the file has them, or NULL */
} tarry_arms;

/* Reads a CSV or .npy file, told apart by their first bytes; "-" reads
 * standard input, to its end.  The caller owns *out and ends it with
 * tarry_arms_free.  On failure *out is NULL and `error` says where and why:
 *     arms.csv:3:2: not a number: 'abc'       line 3, 2nd field
 *     arms.npy: row 2, column 1, counted from 0: not a finite number: 'nan'
 * TARRY_BAD_INPUT: not such a file.  TARRY_NOT_FINITE: NaN, infinity, or too
 * large for a double.  TARRY_IO_ERROR: the file cannot be opened or read.
 * TARRY_NO_MEMORY.  TARRY_BAD_ARGUMENT: `path` or `out` is NULL. */
TARRY_API tarry_status tarry_arms_read(const char *path, tarry_arms **out,
                                       tarry_error *error);

/* Also ends data and names; NULL is fine. */
TARRY_API void tarry_arms_free(tarry_arms *arms);

#ifdef __cplusplus
}
#endif
#endif
