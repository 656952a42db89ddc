/* fates.h - what became of the choices of an experiment, for those who want to
 * tell of each choice with its outcome: 24 bytes per choice. */
#ifndef TARRY_STORE_FATES_H
#define TARRY_STORE_FATES_H

#include "store/store.h"

typedef enum {
    TARRY__FATES_PENDING,
    TARRY__FATES_EXPIRED,
    TARRY__FATES_CANCELLED,
    TARRY__FATES_OBSERVED,
    TARRY__FATES_DEFAULTED /* it has the default outcome */
} tarry__fates_state;

typedef struct {
    double loss; /* of an observed or defaulted one */
    int64_t at;
    tarry__fates_state state;
} tarry__fates_fate;

typedef struct {
    char **names; /* by arm; NULL: it has none but its number */
    size_t n_arms, names_room;
    uint64_t first;          /* round of the first choice; others follow it */
    tarry__fates_fate *fate; /* by round - first */
    uint64_t count, room;
} tarry__fates;

/* Reads all of it; ended by tarry__fates_clear, also after a failure. */
tarry_status tarry__fates_load(tarry__fates *fates, tarry__store *store,
                               uint64_t experiment, tarry_error *error);
void tarry__fates_clear(tarry__fates *fates);

/* What became of the choice of a round that the log has. */
const tarry__fates_fate *tarry__fates_of(const tarry__fates *fates,
                                         uint64_t round);

/* "pending", "expired", ... */
const char *tarry__fates_state_name(tarry__fates_state state);

typedef struct {
    char text[40];
} tarry__fates_text;

/* Milliseconds since 1970 as 2026-01-31T23:59:59.999Z. */
tarry__fates_text tarry__fates_moment(int64_t ms);

/* The id under which a choice is known: the user's own, or the generated one,
 * for which there is room in `generated`. */
const char *tarry__fates_id(const tarry__store_experiment *made,
                            const tarry__store_event *choice,
                            char generated[300]);

#endif
