/* crew.c - see crew.h.  A job is a counter that all take numbers from. */
#define _POSIX_C_SOURCE 200809L
#include "service/crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/base.h"

enum { MOST_THREADS = 16 };

struct tarry__crew {
    pthread_mutex_t lock;
    pthread_cond_t begins, ends;
    pthread_t thread[MOST_THREADS];
    size_t n_threads, n_working;
    uint64_t job; /* its number */
    bool is_closed;
    atomic_size_t next;
    size_t count;
    void (*work)(void *, size_t);
    void *context;
};

static void take_part(tarry__crew *c)
{
    size_t i;
    while ((i = atomic_fetch_add(&c->next, 1)) < c->count)
        c->work(c->context, i);
}

static void *serve(void *context)
{
    tarry__crew *c = context;
    uint64_t last = 0;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->job == last && !c->is_closed)
            pthread_cond_wait(&c->begins, &c->lock);
        if (c->is_closed)
            break;
        last = c->job;
        pthread_mutex_unlock(&c->lock);
        take_part(c);
        pthread_mutex_lock(&c->lock);
        if (--c->n_working == 0)
            pthread_cond_signal(&c->ends);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

tarry__crew *tarry__crew_create(size_t threads)
{
    tarry__crew *c = tarry__base_zalloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->begins, NULL);
    pthread_cond_init(&c->ends, NULL);
    while (c->n_threads < threads && c->n_threads < MOST_THREADS &&
           pthread_create(&c->thread[c->n_threads], NULL, serve, c) == 0)
        c->n_threads++;
    return c;
}

void tarry__crew_free(tarry__crew *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&c->lock);
    c->is_closed = true;
    pthread_cond_broadcast(&c->begins);
    pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; i < c->n_threads; i++)
        pthread_join(c->thread[i], NULL);
    pthread_cond_destroy(&c->begins);
    pthread_cond_destroy(&c->ends);
    pthread_mutex_destroy(&c->lock);
    tarry__base_free(c);
}

void tarry__crew_run(tarry__crew *c, size_t count,
                     void (*work)(void *context, size_t i), void *context)
{
    if (c == NULL || c->n_threads == 0 || count < 2) {
        for (size_t i = 0; i < count; i++)
            work(context, i);
        return;
    }
    pthread_mutex_lock(&c->lock);
    c->work = work;
    c->context = context;
    c->count = count;
    c->next = 0;
    c->n_working = c->n_threads;
    c->job++;
    pthread_cond_broadcast(&c->begins);
    pthread_mutex_unlock(&c->lock);
    take_part(c);
    pthread_mutex_lock(&c->lock);
    while (c->n_working > 0)
        pthread_cond_wait(&c->ends, &c->lock);
    pthread_mutex_unlock(&c->lock);
}
