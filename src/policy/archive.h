/* archive.h - one function per object describes its bytes, for both ways.
 *
 * A policy's `archive` function names its fields in order; the archive either
 * appends them to a buffer or fills them from one.  So what is saved and what
 * is restored cannot differ. */
#ifndef TARRY_POLICY_ARCHIVE_H
#define TARRY_POLICY_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tarry/status.h"

enum { TARRY__ARCHIVE_MOST_GUIDES = 4 }; /* one inside another */

typedef struct {
    bool loading;
    unsigned char *bytes;
    size_t size, room; /* saving: bytes so far and room for; loading: in all */
    size_t at;         /* loading: bytes read */
    unsigned depth;    /* guides of guides */
    uint64_t round;    /* of the policy: how many choices it has made */
    tarry_status status; /* the first failure; then nothing more happens */
} tarry__archive;

/* A value of `size` bytes at `field`. */
void tarry__archive_bytes(tarry__archive *a, void *field, size_t size);

/* A number; for the usual types. */
#define tarry__archive_field(a, field)                                         \
    tarry__archive_bytes((a), &(field), sizeof(field))

/* An array of *count elements at *array (a pointer to a pointer), with its
 * count.  Loading allocates it, refusing more than `most`. */
void tarry__archive_array(tarry__archive *a, void *array, size_t *count,
                          size_t size, size_t most);

/* After an array was loaded: makes room for `room` elements, as many as it had
 * when it was saved. */
void tarry__archive_room(tarry__archive *a, void *array, size_t count,
                         size_t room, size_t size);

/* Saving is over: what follows loads what was saved. */
void tarry__archive_turn(tarry__archive *a);

/* Loading: refuses the file if `sound` is false. */
void tarry__archive_require(tarry__archive *a, bool sound);

/* Writes the buffer to a file, checksummed, beside it first and then moved
 * into place; reads such a file into an archive for loading. */
tarry_status tarry__archive_write(const tarry__archive *a, const char *path,
                                  tarry_error *error);
tarry_status tarry__archive_read(tarry__archive *a, const char *path,
                                 tarry_error *error);
void tarry__archive_clear(tarry__archive *a);

/* The same bytes as in a file, in memory.  The caller ends *bytes with
 * tarry__base_free.  An archive made by unpack reads `bytes` where they are:
 * it needs no clear. */
tarry_status tarry__archive_pack(const tarry__archive *a, void **bytes,
                                 size_t *size);
tarry_status tarry__archive_unpack(tarry__archive *a, const void *bytes,
                                   size_t size, tarry_error *error);

/* What was read or unpacked may be followed by another whole archive, which is
 * somebody else's: behind so many bytes; `size` if nothing follows. */
size_t tarry__archive_first_size(const void *bytes, size_t size);

#endif
