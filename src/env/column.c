/* column.c - see column.h. */
#include "env/column.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "env/delay.h"
#include "tarry/arms.h"

static tarry_status copy_line(const tarry_arms *table, const char *path,
                              double **values, size_t *count,
                              tarry_error *error)
{
    if (table->n_arms != 1 && table->dim != 1)
        return tarry__base_fail(
            error, TARRY_BAD_INPUT,
            "%s: one row or one column expected, not %zu by %zu", path,
            table->n_arms, table->dim);
    *count = table->n_arms * table->dim;
    *values = tarry__base_alloc(*count, sizeof **values);
    if (*values == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    memcpy(*values, table->data, *count * sizeof **values);
    return TARRY_OK;
}

tarry_status tarry__column_read(const char *path, double **values,
                                size_t *count, tarry_error *error)
{
    tarry_arms *table;
    *values = NULL;
    tarry_status status = tarry_arms_read(path, &table, error);
    if (status == TARRY_OK)
        status = copy_line(table, path, values, count, error);
    tarry_arms_free(table);
    return status;
}

tarry_status tarry__column_read_delays(const char *path, double **values,
                                       size_t *count, tarry_error *error)
{
    tarry_status status = tarry__column_read(path, values, count, error);
    for (size_t i = 0; status == TARRY_OK && i < *count; i++) {
        const double d = (*values)[i];
        if (!(d >= 0 && d <= TARRY__DELAY_LONGEST && d == floor(d)))
            status = tarry__base_fail(error, TARRY_BAD_INPUT,
                                      "%s: number %zu is not a whole number of "
                                      "rounds from 0 to %g: '%.17g'",
                                      path, i + 1, TARRY__DELAY_LONGEST, d);
    }
    if (status != TARRY_OK) {
        tarry__base_free(*values);
        *values = NULL;
    }
    return status;
}
