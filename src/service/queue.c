/* queue.c - calls that wait, in order. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>
#include "service/inner.h"

void tarry__service_queue_init(tarry__service_queue *q)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->more, &attributes);
    pthread_condattr_destroy(&attributes);
}

void tarry__service_queue_end(tarry__service_queue *q)
{
    pthread_cond_destroy(&q->more);
    pthread_mutex_destroy(&q->lock);
}

void tarry__service_queue_append(tarry__service_queue *q,
                                 tarry__service_call *c, bool wakes)
{
    c->next = NULL;
    pthread_mutex_lock(&q->lock);
    if (q->last != NULL)
        q->last->next = c;
    else
        q->first = c;
    q->last = c;
    q->count++;
    if (wakes)
        pthread_cond_signal(&q->more);
    pthread_mutex_unlock(&q->lock);
}

void tarry__service_queue_put(tarry__service_queue *q, tarry__service_call *c)
{
    tarry__service_queue_append(q, c, true);
}

void tarry__service_queue_close(tarry__service_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->is_closed = true;
    pthread_cond_broadcast(&q->more);
    pthread_mutex_unlock(&q->lock);
}

/* Takes at most so many calls, in order. */
tarry__service_call *tarry__service_queue_take(tarry__service_queue *q,
                                               size_t most)
{
    tarry__service_call *first = q->first, *last = NULL;
    for (; q->first != NULL && most > 0; most--, q->count--) {
        last = q->first;
        q->first = last->next;
    }
    if (last != NULL)
        last->next = NULL;
    if (q->first == NULL)
        q->last = NULL;
    return first;
}
