/* wheel.h - feedback on its way: a timing wheel.
 *
 * Time is a number of 4 digits to the base 1024.  Level l has a slot for each
 * value of digit l; an event waits in the level of the highest digit in which
 * its due time differs from now, and moves down when that digit is reached.
 * So an event is touched at most once per level whatever the spread of delays,
 * and taking what is due is a walk through one slot.  (Varghese and Lauck,
 * "Hashed and hierarchical timing wheels", 1987.)
 *
 * Slots are lists of small chunks from one pool, so memory is proportional to
 * what is outstanding. */
#ifndef TARRY_WHEEL_H
#define TARRY_WHEEL_H

#include <stddef.h>
#include <stdint.h>
#include "tarry/status.h"

enum { TARRY__WHEEL_LEVELS = 4, TARRY__WHEEL_SLOTS = 1024 };

typedef struct {
    uint64_t due;   /* the round at whose end the loss is seen */
    uint64_t round; /* the round of the choice, below 2^40 with the arm above,
                       or whatever the caller likes */
    double loss;
} tarry__event;

typedef struct tarry__chunk tarry__chunk;

typedef struct {
    uint64_t now; /* the last round that was taken */
    uint64_t count;
    uint32_t slot[TARRY__WHEEL_LEVELS][TARRY__WHEEL_SLOTS]; /* 0: empty */
    tarry__chunk *pool; /* chunk 0 is not used */
    size_t room;
    uint32_t unused, next; /* list of free chunks; first never used */
} tarry__wheel;

tarry_status tarry__wheel_create(tarry__wheel *wheel);
void tarry__wheel_clear(tarry__wheel *wheel);

/* Adds an event with now < due < 2^40. */
tarry_status tarry__wheel_add(tarry__wheel *wheel, tarry__event event);

/* Goes on to round now + 1 and hands each event due then to `take`. */
typedef void tarry__take(void *context, const tarry__event *events,
                         size_t count);
tarry_status tarry__wheel_step(tarry__wheel *wheel, tarry__take *take,
                               void *context);

/* Memory taken. */
size_t tarry__wheel_bytes(const tarry__wheel *wheel);

#endif
