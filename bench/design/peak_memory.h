/* peak_memory.h - how much memory a program needs at most. */
#ifndef BENCH_PEAK_MEMORY_H
#define BENCH_PEAK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t bytes;   /* most ever resident; pages of mapped files count */
    double seconds; /* from start to end */
} peak_use;

/* Runs argv[0] with the arguments argv, NULL at their end, its output thrown
 * away; false if it could not be run or did not exit with 0. */
bool peak_memory_of(char *const argv[], peak_use *out);

#endif
