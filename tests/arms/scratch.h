/* scratch.h - what the tests of the arms reader share: a folder for files
 * that goes away, and a small random generator. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch_folder[] = "/tmp/tarry-arms-XXXXXX";
static char scratch_path[64]; /* the one file in it */

/* Group setup and teardown for cmocka. */
static inline int scratch_open(void **state)
{
    (void)state;
    if (mkdtemp(scratch_folder) == NULL)
        return -1;
    snprintf(scratch_path, sizeof scratch_path, "%s/arms", scratch_folder);
    return 0;
}

static inline int scratch_close(void **state)
{
    (void)state;
    unlink(scratch_path);
    return rmdir(scratch_folder);
}

/* Makes the file scratch_path hold these bytes.  It is a new file each time:
 * some file systems wait for the disk when one that was emptied is closed. */
static inline void scratch_write(const void *bytes, size_t size)
{
    unlink(scratch_path);
    FILE *file = fopen(scratch_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* splitmix64, for inputs that look random and never change. */
static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline size_t random_below(uint64_t *state, size_t n)
{
    return (size_t)(random_bits(state) % n);
}

#endif
