/* absent.h - when and what was decided, of the decisions that are out.
 *
 * A hash table with open addresses: 48 bytes or less for each of them, constant
 * time. */
#ifndef TARRY_SERVICE_ABSENT_H
#define TARRY_SERVICE_ABSENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t round; /* 0: this place is free */
    int64_t at;     /* when it was decided, milliseconds since 1970 */
    uint32_t arm;
    bool is_expired;   /* nobody waits for its outcome, which may come yet */
    bool is_defaulted; /* it has the default outcome, which may be corrected */
} tarry__absent_one;

typedef struct {
    tarry__absent_one *place; /* `room` of them, a power of two or 0 */
    size_t room, count;
} tarry__absent;

/* False: no memory, nothing has changed.  The round is above 0 and new. */
bool tarry__absent_add(tarry__absent *w, tarry__absent_one one);

/* NULL: it is not there.  Valid until the table changes. */
tarry__absent_one *tarry__absent_find(const tarry__absent *w, uint64_t round);

/* Takes out what find has given. */
void tarry__absent_remove(tarry__absent *w, tarry__absent_one *one);

void tarry__absent_clear(tarry__absent *w);

#endif
