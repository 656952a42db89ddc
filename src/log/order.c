/* order.c - radix sort on the bits of doubles, a byte at a time from the last;
 * bytes that all keys share are passed over. */
#include "log/order.h"

#include <string.h>
#include "base/base.h"

typedef struct {
    uint64_t bits;
    uint32_t index;
} item;

/* Bits that are ordered as the numbers are: negative ones are turned round,
 * the others put above them.  -0 is 0. */
static uint64_t ordered_bits(double x)
{
    uint64_t bits;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* Moves the items to `to` in order of one byte; false if all have the same. */
static bool sort_byte(const item *from, item *to, size_t count, int shift)
{
    size_t start[257] = {0};
    for (size_t i = 0; i < count; i++)
        start[(from[i].bits >> shift & 255) + 1]++;
    for (int b = 0; b < 256; b++) {
        if (start[b + 1] == count)
            return false;
        start[b + 1] += start[b];
    }
    for (size_t i = 0; i < count; i++)
        to[start[from[i].bits >> shift & 255]++] = from[i];
    return true;
}

bool tarry__log_order(const double *key, size_t count, uint32_t *order)
{
    item *from = tarry__base_alloc(count, sizeof *from);
    item *to = tarry__base_alloc(count, sizeof *to);
    const bool ok = from != NULL && to != NULL;
    for (size_t i = 0; ok && i < count; i++)
        from[i] = (item){ordered_bits(key[i]), (uint32_t)i};
    for (int shift = 0; ok && count > 1 && shift < 64; shift += 8)
        if (sort_byte(from, to, count, shift)) {
            item *other = from;
            from = to;
            to = other;
        }
    for (size_t i = 0; ok && i < count; i++)
        order[i] = from[i].index;
    tarry__base_free(from);
    tarry__base_free(to);
    return ok;
}
