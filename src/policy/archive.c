/* archive.c - saved states.
 *
 * The file: 8 bytes "tarrysav", then little-endian 64-bit numbers: the format
 * version, the size of what follows, its checksum; then the bytes themselves,
 * fields in their memory form.  Another such piece may follow.  A state is for
 * machines of the same byte order and type sizes, which the version number,
 * read as a number, gives away. */
#define _POSIX_C_SOURCE 200809L
#include "policy/archive.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "base/file.h"
#include "base/input.h"

static const char MAGIC[8] = "tarrysav";
enum { VERSION = 5 }; /* not released yet: the only one that is read */

typedef struct {
    char magic[8];
    uint64_t version, size, checksum;
} header;

void tarry__archive_clear(tarry__archive *a)
{
    tarry__base_free(a->bytes);
    memset(a, 0, sizeof *a);
}

/* ---- fields ---------------------------------------------------------------*/

static void append(tarry__archive *a, const void *field, size_t size)
{
    if (size > a->room - a->size) {
        const size_t room = 2 * a->room + size + 4096;
        unsigned char *bigger = tarry__base_grow(a->bytes, a->size, room, 1);
        if (bigger == NULL) {
            a->status = TARRY_NO_MEMORY;
            return;
        }
        a->bytes = bigger;
        a->room = room;
    }
    memcpy(a->bytes + a->size, field, size);
    a->size += size;
}

void tarry__archive_bytes(tarry__archive *a, void *field, size_t size)
{
    if (a->status != TARRY_OK || size == 0)
        return;
    if (!a->loading) {
        append(a, field, size);
    } else if (size > a->size - a->at) {
        a->status = TARRY_BAD_STATE;
    } else {
        memcpy(field, a->bytes + a->at, size);
        a->at += size;
    }
}

void tarry__archive_array(tarry__archive *a, void *array, size_t *count,
                          size_t size, size_t most)
{
    void **block = array;
    uint64_t saved = *count;
    tarry__archive_field(a, saved);
    if (a->loading && a->status == TARRY_OK) {
        /* the file must hold what it announces, before memory is taken */
        if (saved > most || saved > (a->size - a->at) / size) {
            a->status = TARRY_BAD_STATE;
            return;
        }
        *block = tarry__base_alloc(saved, size);
        if (*block == NULL) {
            a->status = TARRY_NO_MEMORY;
            return;
        }
        *count = saved;
    }
    tarry__archive_bytes(a, *block, *count * size);
}

void tarry__archive_room(tarry__archive *a, void *array, size_t count,
                         size_t room, size_t size)
{
    void **block = array;
    if (!a->loading || a->status != TARRY_OK || count >= room)
        return;
    void *bigger = tarry__base_grow(*block, count, room, size);
    if (bigger == NULL)
        a->status = TARRY_NO_MEMORY;
    else
        *block = bigger;
}

void tarry__archive_turn(tarry__archive *a)
{
    a->loading = true;
    a->at = 0;
}

void tarry__archive_require(tarry__archive *a, bool sound)
{
    if (a->loading && a->status == TARRY_OK && !sound)
        a->status = TARRY_BAD_STATE;
}

/* ---- files ----------------------------------------------------------------*/

/* Of the version number and the bytes. */
static uint64_t checksum(const tarry__archive *a)
{
    const uint64_t version = VERSION;
    return tarry__base_digest(
        tarry__base_digest(TARRY__BASE_DIGEST, &version, sizeof version),
        a->bytes, a->size);
}

static header header_of(const tarry__archive *a)
{
    header h = {.version = VERSION, .size = a->size, .checksum = checksum(a)};
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    return h;
}

tarry_status tarry__archive_write(const tarry__archive *a, const char *path,
                                  tarry_error *error)
{
    const header h = header_of(a);
    tarry__file file;
    const tarry_status status = tarry__file_begin(&file, path, error);
    if (status != TARRY_OK)
        return status;
    fwrite(&h, sizeof h, 1, file.stream);
    fwrite(a->bytes, 1, a->size, file.stream);
    return tarry__file_end(&file, TARRY_OK, error);
}

/* `size` is that of what follows the header. */
static tarry_status check_header(const header *h, uint64_t size,
                                 const char *path, tarry_error *error)
{
    if (memcmp(h->magic, MAGIC, sizeof MAGIC) != 0)
        return tarry__base_fail(error, TARRY_BAD_STATE, "%s: not a saved state",
                                path);
    if (h->version != VERSION)
        return tarry__base_fail(
            error, TARRY_BAD_STATE,
            "%s: version %ju of the format; this program reads "
            "version %d",
            path, (uintmax_t)h->version, VERSION);
    if (size < h->size)
        return tarry__base_fail(
            error, TARRY_BAD_STATE,
            "%s: cut short or too long: %ju bytes announced", path,
            (uintmax_t)h->size);
    return TARRY_OK;
}

static tarry_status check_sum(const header *h, const tarry__archive *a,
                              const char *path, tarry_error *error)
{
    return checksum(a) == h->checksum
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_BAD_STATE,
                                  "%s: the checksum is wrong", path);
}

/* What follows a piece: nothing, or one other, whole. */
static tarry_status check_rest(const unsigned char *bytes, size_t size,
                               const char *path, tarry_error *error)
{
    header h = {0};
    memcpy(&h, bytes, size < sizeof h ? size : sizeof h);
    const bool whole = size >= sizeof h && size - sizeof h == h.size;
    if (size > 0 && !whole)
        return tarry__base_fail(error, TARRY_BAD_STATE,
                                "%s: cut short or too long", path);
    const tarry__archive rest = {.bytes = (unsigned char *)bytes + sizeof h,
                                 .size = h.size};
    tarry_status status = TARRY_OK;
    if (size > 0)
        status = check_header(&h, h.size, path, error);
    if (size > 0 && status == TARRY_OK)
        status = check_sum(&h, &rest, path, error);
    return status;
}

/* How many bytes are left in a file. */
static uint64_t rest_of(FILE *file)
{
    const long start = ftell(file);
    if (fseek(file, 0, SEEK_END) != 0)
        return 0;
    const long end = ftell(file);
    fseek(file, start, SEEK_SET);
    return (uint64_t)(end - start);
}

static tarry_status read_open(tarry__archive *a, FILE *file, const char *path,
                              tarry_error *error)
{
    header h;
    if (fread(&h, sizeof h, 1, file) != 1)
        return tarry__base_fail(error, TARRY_BAD_STATE, "%s: not a saved state",
                                path);
    const uint64_t size = rest_of(file);
    tarry_status status = check_header(&h, size, path, error);
    if (status != TARRY_OK)
        return status;
    a->bytes = tarry__base_alloc(size, 1);
    if (a->bytes == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "%s: out of memory",
                                path);
    a->size = h.size;
    if (fread(a->bytes, 1, size, file) != size)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: cannot be read",
                                path);
    status = check_sum(&h, a, path, error);
    return status == TARRY_OK
               ? check_rest(a->bytes + h.size, size - h.size, path, error)
               : status;
}

tarry_status tarry__archive_read(tarry__archive *a, const char *path,
                                 tarry_error *error)
{
    memset(a, 0, sizeof *a);
    a->loading = true;
    FILE *file = tarry__input_stream(path);
    if (file == NULL)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", path,
                                strerror(errno));
    const tarry_status status = read_open(a, file, path, error);
    fclose(file);
    if (status != TARRY_OK)
        tarry__archive_clear(a);
    return status;
}

/* ---- memory ---------------------------------------------------------------*/

tarry_status tarry__archive_pack(const tarry__archive *a, void **bytes,
                                 size_t *size)
{
    const header h = header_of(a);
    unsigned char *out = tarry__base_alloc(sizeof h + a->size, 1);
    if (out == NULL)
        return TARRY_NO_MEMORY;
    memcpy(out, &h, sizeof h);
    memcpy(out + sizeof h, a->bytes, a->size);
    *bytes = out;
    *size = sizeof h + a->size;
    return TARRY_OK;
}

tarry_status tarry__archive_unpack(tarry__archive *a, const void *bytes,
                                   size_t size, tarry_error *error)
{
    static const char label[] = "a packed state";
    header h = {0};
    const size_t head = size < sizeof h ? size : sizeof h;
    memcpy(&h, bytes, head);
    tarry_status status = check_header(&h, size - head, label, error);
    if (status != TARRY_OK)
        return status;
    *a = (tarry__archive){.loading = true,
                          .bytes = (unsigned char *)bytes + sizeof h,
                          .size = h.size};
    status = check_sum(&h, a, label, error);
    return status == TARRY_OK ? check_rest(a->bytes + h.size,
                                           size - head - h.size, label, error)
                              : status;
}

size_t tarry__archive_first_size(const void *bytes, size_t size)
{
    header h = {0};
    memcpy(&h, bytes, size < sizeof h ? size : sizeof h);
    return h.size < size - sizeof h ? sizeof h + h.size : size;
}
