/* How fast tarry_arms_read reads CSV, beside two loops over the same bytes:
 * finding line ends, which is about what memory allows, and strtod, which is
 * what a plain reader would do.  Each number is the best of three. */
#define _XOPEN_SOURCE 700
#include "base/base.h"
#include "tarry/arms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIM = 100, MEGABYTES = 200, REPEATS = 3 };

typedef struct {
    char *bytes; /* ends in NUL */
    size_t size;
    char path[64];
} text_file;

/* Coordinates in (-1, 1) until there are enough bytes. */
static void fill(text_file *file, const char *format)
{
    const size_t room = (size_t)MEGABYTES * 1000000;
    file->bytes = malloc(room + 64 * DIM);
    if (file->bytes == NULL)
        exit(1);
    srand48(2385);
    file->size = 0;
    while (file->size < room)
        for (int i = 0; i < DIM; i++) {
            char *out = file->bytes + file->size;
            file->size += (size_t)sprintf(out, format, 2 * drand48() - 1);
            file->bytes[file->size++] = i + 1 < DIM ? ',' : '\n';
        }
    file->bytes[file->size] = '\0';
}

static void save(text_file *file)
{
    strcpy(file->path, "/tmp/tarry-bench-XXXXXX");
    const int fd = mkstemp(file->path);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "wb");
    if (out == NULL || fwrite(file->bytes, 1, file->size, out) != file->size ||
        fclose(out) != 0) {
        perror(file->path);
        unlink(file->path);
        exit(1);
    }
}

static size_t read_arms(const text_file *file)
{
    tarry_arms *arms;
    tarry_error error;
    if (tarry_arms_read(file->path, &arms, &error) != TARRY_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 0;
    }
    const size_t n = arms->n_arms;
    tarry_arms_free(arms);
    return n;
}

static size_t find_line_ends(const text_file *file)
{
    const char *p = file->bytes, *end = p + file->size;
    size_t n = 0;
    for (; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        n++;
    return n;
}

static size_t call_strtod(const text_file *file)
{
    char *p = file->bytes, *end = p + file->size;
    size_t n = 0;
    double *values = malloc(file->size / 2 * sizeof *values);
    for (; values != NULL && p < end; p++)
        values[n++] = strtod(p, &p);
    free(values);
    return n / DIM;
}

/* Megabytes per second. */
static double speed(size_t (*work)(const text_file *), const text_file *file)
{
    const size_t n_lines = find_line_ends(file);
    double best = 0;
    for (int i = 0; i < REPEATS; i++) {
        const double start = tarry__base_seconds();
        const size_t n = work(file);
        const double seconds = tarry__base_seconds() - start;
        if (n == n_lines && (double)file->size / seconds > best)
            best = (double)file->size / seconds;
    }
    return best / 1e6;
}

static void measure(const char *name, const char *format)
{
    text_file file;
    fill(&file, format);
    save(&file);
    const double arms = speed(read_arms, &file);
    const double lines = speed(find_line_ends, &file);
    const double plain = speed(call_strtod, &file);
    unlink(file.path);
    free(file.bytes);
    printf("%-24s %8.0f %8.0f %8.0f %10.2f %10.1f\n", name, arms, lines, plain,
           arms / lines, arms / plain);
}

int main(void)
{
    printf("%-24s %8s %8s %8s %10s %10s\n", "field, MB/s of", "reader",
           "memchr", "strtod", "to memchr", "to strtod");
    measure("%.18e (numpy.savetxt)", "%.18e");
    measure("%.4f", "%.4f");
    return 0;
}
