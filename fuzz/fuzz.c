/* fuzz.c - see fuzz.h. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *fuzz_file(const void *data, size_t size)
{
    static char path[40];
    static int fd = -1;
    if (fd >= 0)
        close(fd);
    fd = memfd_create("fuzz", 0);
    must(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    must(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

void fuzz_must(int holds, const char *claim, const char *file, int line)
{
    if (holds)
        return;
    printf("%s:%d: does not hold: %s\n", file, line, claim);
    fflush(stdout);
    abort();
}
