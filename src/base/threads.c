/* threads.c - see threads.h. */
#define _DEFAULT_SOURCE
#include "base/threads.h"

#include <omp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

int tarry__base_threads(int wanted)
{
    const int said = wanted > 0 ? wanted : omp_get_max_threads();
    return said < TARRY__BASE_MOST_THREADS ? said : TARRY__BASE_MOST_THREADS;
}

static size_t stack_bytes(void)
{
    pthread_attr_t attributes;
    size_t bytes = 0;
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &bytes);
        pthread_attr_destroy(&attributes);
    }
    return bytes + (1 << 16); /* a guard page, and what else a thread has */
}

bool tarry__base_threads_have_room(int threads)
{
    const size_t bytes = (size_t)threads * stack_bytes();
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block != MAP_FAILED && munmap(block, bytes) == 0;
}

/* Twice as many, since malloc sets space apart for each as well. */
int tarry__base_threads_with_room(int wanted)
{
    while (wanted > 1 && !tarry__base_threads_have_room(2 * wanted))
        wanted--;
    return wanted;
}
