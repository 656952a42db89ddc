/* order.h - the order of many numbers, in time proportional to how many. */
#ifndef TARRY_LOG_ORDER_H
#define TARRY_LOG_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* order[0 .. count-1] becomes the indices of `key` from the smallest to the
 * largest, equal ones as they stand; no key is NaN.  Takes 32 bytes per key
 * while it works; false: out of memory. */
bool tarry__log_order(const double *key, size_t count, uint32_t *order);

#endif
