/* index.h - which number a text has: a hash table of digests.
 *
 * Only 64 bits of each text are kept.  Two of ten million texts share theirs
 * with probability 3e-6. */
#ifndef TARRY_LOG_INDEX_H
#define TARRY_LOG_INDEX_H

#include <stdint.h>
#include "log/text.h"

#define TARRY__INDEX_NONE UINT32_MAX

typedef struct {
    uint64_t *key; /* 0: a free place */
    uint32_t *number;
    size_t room, count; /* room is 0 or a power of 2 */
} tarry__index;

void tarry__index_clear(tarry__index *index);

/* The number of a text, or TARRY__INDEX_NONE. */
uint32_t tarry__index_find(const tarry__index *index, tarry__text text);

/* The same; a new text gets `number`.  *number tells which it is.  False: out
 * of memory. */
bool tarry__index_add(tarry__index *index, tarry__text text, uint32_t *number);

#endif
