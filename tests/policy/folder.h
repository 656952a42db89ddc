/* folder.h - a folder for the files of a test.  It must be empty again at the
 * end: what a failed save leaves behind fails the group's teardown. */
#ifndef FOLDER_H
#define FOLDER_H

#include "check.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/tarry-policy-XXXXXX";

static inline int open_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static inline int close_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* A path in the folder; lives until the fourth next call. */
static inline const char *in_folder(const char *name)
{
    static char paths[4][128];
    static size_t turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof *paths, "%s/%s", folder, name);
    return path;
}

static inline bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

typedef struct {
    unsigned char *data;
    size_t size;
} bytes;

static inline bytes read_bytes(const char *path)
{
    bytes b = {NULL, 0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    b.size = (size_t)ftell(file);
    rewind(file);
    b.data = malloc(b.size + 1);
    assert_non_null(b.data);
    assert_int_equal(fread(b.data, 1, b.size, file), b.size);
    fclose(file);
    return b;
}

/* A new file each time: overwriting waits for the disk on some systems. */
static inline void write_bytes(const char *path, const void *data, size_t size)
{
    unlink(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void check_same_bytes(bytes a, bytes b)
{
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
}

#endif
