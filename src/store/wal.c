/* wal.c - a log is a header of 32 bytes and frames: 24 bytes and a page.
 *
 * All numbers are big-endian.  The header: magic, version, page size, count of
 * checkpoints, two salts, two halves of a checksum of what stands before.  A
 * frame: page number, size of the database after a commit (0: not the last
 * frame of its transaction), the salts again, and two halves of the running
 * checksum of header, frames' first 8 bytes and pages.  Frames of an older log
 * that lie behind the current one have other salts.
 *
 * A transaction is on the disk before the next one is written.  So a crash can
 * tear the last transaction only, in any of its frames, and a bad frame is
 * damage if frames of the same salts lie behind the end of its transaction.
 * Salts: with each log the first is one more, and the second drawn anew. */
#define _POSIX_C_SOURCE 200809L
#include "store/wal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/base.h"

enum { HEADER = 32, FRAME = 24, MOST_PAGE = 65536 };

typedef struct {
    FILE *file;
    const char *path;
    uint32_t page_bytes, salt[2], sum[2];
    bool is_big_endian;                     /* the words that are summed */
    unsigned char bytes[FRAME + MOST_PAGE]; /* the frame at hand */
} wal;

static uint32_t big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 |
           b[3];
}

static uint32_t little_endian(const unsigned char *b)
{
    return (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 |
           b[0];
}

/* SQLite's checksum: Fibonacci sums of 32-bit words, two at a time. */
static void add_sum(wal *w, const unsigned char *b, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        const uint32_t x =
            w->is_big_endian ? big_endian(b + i) : little_endian(b + i);
        const uint32_t y =
            w->is_big_endian ? big_endian(b + i + 4) : little_endian(b + i + 4);
        w->sum[0] += x + w->sum[1];
        w->sum[1] += y + w->sum[0];
    }
}

static bool is_sum(const wal *w, const unsigned char *b)
{
    return big_endian(b) == w->sum[0] && big_endian(b + 4) == w->sum[1];
}

static bool has_salts(const wal *w)
{
    return big_endian(w->bytes + 8) == w->salt[0] &&
           big_endian(w->bytes + 12) == w->salt[1];
}

/* A frame of this log, even if one of its salts is damaged: those of an older
 * log have others, both of them. */
static bool has_a_salt(const wal *w)
{
    return big_endian(w->bytes + 8) == w->salt[0] ||
           big_endian(w->bytes + 12) == w->salt[1];
}

static bool ends_transaction(const wal *w)
{
    return big_endian(w->bytes + 4) != 0;
}

static bool is_zero(const unsigned char *b, size_t size)
{
    while (size > 0 && b[size - 1] == 0)
        size--;
    return size == 0;
}

/* *is_empty: there is no log yet, or a crash left its first bytes unwritten. */
static tarry_status read_header(wal *w, bool *is_empty, tarry_error *error)
{
    unsigned char b[HEADER] = {0};
    const size_t got = fread(b, 1, HEADER, w->file);
    *is_empty = got < HEADER || is_zero(b, HEADER);
    if (*is_empty)
        return TARRY_OK;
    w->is_big_endian = (big_endian(b) & 1) != 0;
    w->page_bytes = big_endian(b + 8);
    w->salt[0] = big_endian(b + 16);
    w->salt[1] = big_endian(b + 20);
    add_sum(w, b, HEADER - 8);
    if ((big_endian(b) & ~1u) != 0x377f0682u || big_endian(b + 4) != 3007000 ||
        !is_sum(w, b + HEADER - 8) || w->page_bytes < 512 ||
        w->page_bytes > MOST_PAGE)
        return tarry__base_fail(error, TARRY_BAD_STATE,
                                "%s-wal: damaged in its header", w->path);
    return TARRY_OK;
}

static bool read_frame(wal *w)
{
    const size_t size = FRAME + w->page_bytes;
    return fread(w->bytes, 1, size, w->file) == size;
}

/* Adds the frame at hand to the running sum and compares. */
static bool is_sound(wal *w)
{
    add_sum(w, w->bytes, 8);
    add_sum(w, w->bytes + FRAME, w->page_bytes);
    return has_salts(w) && big_endian(w->bytes) != 0 &&
           is_sum(w, w->bytes + 16);
}

/* From the bad frame on there may be none of this log. */
static tarry_status refuse_torn(wal *w, bool there, uint64_t bad,
                                tarry_error *error)
{
    while (there && !has_a_salt(w))
        there = read_frame(w);
    return !there ? TARRY_OK
                  : tarry__base_fail(
                        error, TARRY_BAD_STATE,
                        "%s-wal: damaged in frame %ju, or torn by a crash; "
                        "there is no %s-lock that would tell (an empty one "
                        "says: torn)",
                        w->path, (uintmax_t)bad, w->path);
}

static tarry_status check_frames(wal *w, bool may_be_torn, tarry_error *error)
{
    uint64_t count = 0, bad;
    bool there;
    while ((there = read_frame(w)) && is_sound(w))
        count++;
    bad = count + 1;
    if (!may_be_torn)
        return refuse_torn(w, there, bad, error);
    /* to the end of the transaction in which it lies */
    while (there && !(has_salts(w) && ends_transaction(w)))
        there = read_frame(w);
    while (there && (there = read_frame(w)))
        if (has_salts(w))
            return tarry__base_fail(error, TARRY_BAD_STATE,
                                    "%s-wal: damaged in frame %ju, with "
                                    "committed ones behind it",
                                    w->path, (uintmax_t)bad);
    return TARRY_OK;
}

static tarry_status check_open(wal *w, bool may_be_torn, tarry_error *error)
{
    bool is_empty;
    tarry_status status = read_header(w, &is_empty, error);
    if (status == TARRY_OK && !is_empty)
        status = check_frames(w, may_be_torn, error);
    if (status == TARRY_OK && ferror(w->file))
        status = tarry__base_fail(error, TARRY_IO_ERROR, "%s-wal: %s", w->path,
                                  strerror(errno));
    return status;
}

tarry_status tarry__wal_check(const char *path, bool may_be_torn,
                              tarry_error *error)
{
    const size_t length = strlen(path);
    wal *w = tarry__base_zalloc(1, sizeof *w);
    char *name = tarry__base_alloc(length + 5, 1);
    struct stat what;
    tarry_status status = TARRY_OK;
    if (w != NULL && name != NULL) {
        memcpy(name, path, length);
        memcpy(name + length, "-wal", 5);
        w->path = path;
        const bool is_file = stat(name, &what) != 0 || S_ISREG(what.st_mode) ||
                             S_ISDIR(what.st_mode); /* which says so itself */
        w->file = is_file ? fopen(name, "rb") : NULL;
        if (w->file != NULL)
            status = check_open(w, may_be_torn, error);
        else if (!is_file) /* nobody may ever write to a pipe */
            status = tarry__base_fail(error, TARRY_BAD_STATE, "%s: not a file",
                                      name);
        else if (errno != ENOENT)
            status = tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", name,
                                      strerror(errno));
    } else {
        status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    }
    if (w != NULL && w->file != NULL)
        fclose(w->file);
    tarry__base_free(name);
    tarry__base_free(w);
    return status;
}
