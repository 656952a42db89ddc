/* own.h - worlds from arrays, tables and functions in place of descriptions. */
#ifndef TARRY_ENV_OWN_H
#define TARRY_ENV_OWN_H

#include "env/delay.h"
#include "tarry/world.h"

/* All is read-only and lives longer than the worlds made of it. */
typedef struct {
    size_t n_arms, dim;                 /* 0: the instance has a description */
    const double *arms, *theta, *means; /* theta or means; or the table's */
    size_t n_rows;                      /* of a table, sorted by arm; 0: none */
    const size_t *row_first;            /* per arm its first row; n_arms + 1 */
    const double *row_loss;
    const uint64_t *row_delay;
    const tarry_delay_law *law; /* NULL: none */
} tarry__own_world;

/* A number that differs if arrays or table do, or name or version of the law.
 */
uint64_t tarry__own_digest(const tarry__own_world *own);

/* Fills an empty instance from the arrays; TARRY_NO_MEMORY. */
tarry_status tarry__own_instance(const tarry__own_world *own,
                                 tarry__instance *out, tarry_error *error);

/* Makes the delay of the table or the law; ended by tarry__delay_clear.  Fails
 * as the law's `start` does. */
tarry_status tarry__own_delay(const tarry__own_world *own,
                              const tarry_problem *problem, tarry__delay *out,
                              const tarry__loss *loss, tarry_error *error);

/* What a function of the law has answered that was not TARRY_OK. */
tarry_status tarry__own_failure(const tarry__delay *delay);

#endif
