/* copy.h - moves everything from one store to another. */
#ifndef TARRY_STORE_COPY_H
#define TARRY_STORE_COPY_H

#include "store/store.h"

/* Copies all experiments, with the same numbers, events, digests and snapshots,
 * and verifies what has been written.  A file that another process uses is
 * copied as it is at one moment.  `to` is made or empty; it appears whole, or
 * cannot be opened.  *experiments and *events
 * count what was copied.  TARRY_BAD_ARGUMENT: `to` is not empty; others as
 * tarry__store_open. */
tarry_status tarry__store_copy(const char *from, const char *to,
                               uint64_t *experiments, uint64_t *events,
                               tarry_error *error);

#endif
