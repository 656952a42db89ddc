/* crew.h - a few threads that do independent pieces of work side by side. */
#ifndef TARRY_SERVICE_CREW_H
#define TARRY_SERVICE_CREW_H

#include <stddef.h>

typedef struct tarry__crew tarry__crew;

/* So many threads besides the caller's own, or as many as can be had; NULL:
 * out of memory.  A crew of NULL is the caller alone. */
tarry__crew *tarry__crew_create(size_t threads);
void tarry__crew_free(tarry__crew *crew);

/* Calls work(context, i) for each i < count, in any order and from any thread
 * of the crew; returns when all have returned.  One caller at a time. */
void tarry__crew_run(tarry__crew *crew, size_t count,
                     void (*work)(void *context, size_t i), void *context);

#endif
