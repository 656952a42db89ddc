/* arms.h - sets of arms read from files.
 *
 * CSV: one arm per line, numbers separated by commas.  A first line in which
 * some field after the first is not a number (or, with one column, the only
 * field) is a header.  If the first field of the first arm is not a number,
 * the first column holds the arms' names.  Spaces around fields, "quoted"
 * names, CR LF line ends, a byte order mark and empty lines at the end are
 * fine; everything else that is not a finite decimal number is refused.
 *
 * NumPy .npy: 2-D, C order, float64 or float32, either byte order little
 * endian.  Float64 is mapped, not copied; the file must not change
 * meanwhile. */
#ifndef TARRY_ARMS_H
#define TARRY_ARMS_H

#include <stddef.h>
#include "tarry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Read-only; made by tarry_arms_read, ended by tarry_arms_free. */
typedef struct {
    size_t n_arms, dim;  /* K and n in the paper, both at least 1 */
    const double *data;  /* arm k is data[k*dim .. k*dim + dim-1] */
    const char **names;  /* n_arms names, or NULL */
} tarry_arms;

/* Reads a CSV or .npy file, told apart by their first bytes; "-" reads CSV
 * from standard input.  On failure *out is NULL and `error` names the file,
 * line, column and value.
 * TARRY_BAD_INPUT, TARRY_NOT_FINITE, TARRY_IO_ERROR, TARRY_NO_MEMORY. */
TARRY_API tarry_status tarry_arms_read(const char *path, tarry_arms **out,
                                       tarry_error *error);

TARRY_API void tarry_arms_free(tarry_arms *arms);

#ifdef __cplusplus
}
#endif
#endif
