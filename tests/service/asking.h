/* asking.h - a service without sockets: what is asked of it, and the answer. */
#ifndef TARRY_TEST_ASKING_H
#define TARRY_TEST_ASKING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "service/service.h"

#ifndef BODY_ROOM
#define BODY_ROOM 4000 /* of an answer, so much is kept */
#endif

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t come;
    bool has_come;
    int status, retry_after;
    char body[BODY_ROOM], allow[40], type[60];
} receiver;

static tarry__service *service;

static inline void receive(void *context, const tarry__service_answer *answer)
{
    receiver *r = context;
    tarry__service_answer mine = *answer;
    pthread_mutex_lock(&r->lock);
    r->status = answer->status;
    r->retry_after = answer->retry_after;
    snprintf(r->body, sizeof r->body, "%.*s", (int)answer->size, answer->body);
    snprintf(r->allow, sizeof r->allow, "%s",
             answer->allow != NULL ? answer->allow : "");
    snprintf(r->type, sizeof r->type, "%s",
             answer->type != NULL ? answer->type : "");
    tarry__service_answer_clear(service, &mine);
    r->has_come = true;
    pthread_cond_signal(&r->come);
    pthread_mutex_unlock(&r->lock);
}

static inline void send_request(receiver *r, tarry__service_request request)
{
    *r = (receiver){.lock = PTHREAD_MUTEX_INITIALIZER,
                    .come = PTHREAD_COND_INITIALIZER};
    tarry__service_take(service, &request, receive, r);
}

static inline void send(receiver *r, const char *method, const char *path,
                        const char *body)
{
    send_request(r, (tarry__service_request){.method = method,
                                             .path = path,
                                             .query = "",
                                             .body = body,
                                             .size = strlen(body)});
}

static inline void wait_for(receiver *r)
{
    pthread_mutex_lock(&r->lock);
    while (!r->has_come)
        pthread_cond_wait(&r->come, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

static inline receiver ask(const char *method, const char *path,
                           const char *body)
{
    receiver r;
    send(&r, method, path, body);
    wait_for(&r);
    return r;
}

#endif
