/* threads.h - how many threads of OpenMP there may be. */
#ifndef TARRY_BASE_THREADS_H
#define TARRY_BASE_THREADS_H

#include <stdbool.h>

/* `wanted`, or as many as OpenMP says if it is 0, but at most
 * TARRY__BASE_MOST_THREADS: many thousands break OpenMP. */
enum { TARRY__BASE_MOST_THREADS = 1024 };
int tarry__base_threads(int wanted);

/* Whether there is memory for the stacks of `threads` threads.  OpenMP ends the
 * process when it cannot start a thread. */
bool tarry__base_threads_have_room(int threads);

/* As many of `wanted` threads as there is memory for, at least one. */
int tarry__base_threads_with_room(int wanted);

#endif
