/* owners.c - experiments that other processes may own.
 *
 * Processes share a store in PostgreSQL (see owners in store.h).  The table has
 * all experiments of the store by their numbers; those of others have no
 * session, or an old one.  A request for one of them tries to take it over, and
 * else is sent to its owner.  A thread looks once a second for what others have
 * added, for what has lost its owner, and reads the logs of the rest, so that
 * little is left to read when they lose theirs. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/base.h"
#include "service/inner.h"

enum { LOOK_MS = 1000, MOST_LOCATION = 600 };

/* With the experiment's lock: its session is there and of this process's. */
static tarry_status take_over(tarry__service *s, tarry__service_experiment *e,
                              char owner[TARRY__STORE_OWNER_ROOM],
                              tarry_error *error)
{
    owner[0] = '\0';
    if (e->session != NULL && !tarry__session_is_old(e->session))
        return TARRY_OK;
    tarry_status status = tarry__store_own(s->store, e->number, owner, error);
    if (status != TARRY_OK)
        return status;
    owner[0] = '\0';
    status = e->session != NULL
                 ? tarry__session_catch_up(e->session, error)
                 : tarry__session_open(s->store, e->number, false, &e->session,
                                       error);
    return status == TARRY_CANCELLED ? TARRY_IO_ERROR : status;
}

tarry_status tarry__service_hold(tarry__service_call *c,
                                 tarry__service_experiment *e,
                                 tarry_error *error)
{
    return take_over(c->service, e, c->owner, error);
}

/* Whether an address, which is what another process or anybody has written into
 * the store, can stand in a line of HTTP. */
static bool is_address(const char *url)
{
    while (*url > ' ' && *url <= '~')
        url++;
    return *url == '\0';
}

/* To the same path there; a process that cannot be reached by HTTP, or is this
 * one before its end was noticed, will give way soon. */
void tarry__service_say_elsewhere(tarry__service_call *c)
{
    const tarry__service_request *r = &c->request;
    const char *mark = r->query[0] != '\0' ? "?" : "";
    const size_t room =
        strlen(c->owner) + strlen(r->path) + strlen(r->query) + 2;
    const bool is_other = strncmp(c->owner, "http", 4) == 0 &&
                          is_address(c->owner) &&
                          strcmp(c->owner, c->service->address) != 0;
    char *location =
        is_other && room < MOST_LOCATION ? tarry__base_alloc(room, 1) : NULL;
    if (location == NULL) {
        tarry__service_say_problem(c, 503, "elsewhere",
                                   "another process owns the experiment: %s",
                                   c->owner);
        return;
    }
    snprintf(location, room, "%s%s%s%s", c->owner, r->path, mark, r->query);
    tarry__service_say_problem(c, 307, "elsewhere",
                               "another process owns the experiment: %s",
                               c->owner);
    c->answer.location = location;
}

/* ---- what others do -------------------------------------------------------*/

tarry_status tarry__service_look_for_new(tarry__service *s, tarry_error *error)
{
    const tarry_status status = tarry__store_refresh(s->store, error);
    s->is_failing |= status != TARRY_OK;
    return status == TARRY_OK ? tarry__service_meet(s, error) : status;
}

static void look_around(tarry__service *s)
{
    tarry__service_experiment *e;
    char owner[TARRY__STORE_OWNER_ROOM];
    tarry__service_look_for_new(s, NULL);
    for (size_t i = 0; (e = tarry__service_at(s, i)) != NULL; i++) {
        pthread_mutex_lock(&e->lock);
        const tarry_status status = take_over(s, e, owner, NULL);
        pthread_mutex_unlock(&e->lock);
        if (status == TARRY_CANCELLED)
            tarry__store_follow(s->store, e->number, NULL);
    }
}

static void *watch(void *context)
{
    tarry__service *s = context;
    pthread_mutex_lock(&s->watching);
    while (!s->is_closing) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += LOOK_MS / 1000;
        pthread_cond_timedwait(&s->closing, &s->watching, &until);
        pthread_mutex_unlock(&s->watching);
        if (!s->is_closing)
            look_around(s);
        pthread_mutex_lock(&s->watching);
    }
    pthread_mutex_unlock(&s->watching);
    return NULL;
}

int tarry__service_start_watching(tarry__service *s)
{
    if (!tarry__store_is_shared(s->store))
        return 0;
    const int code = pthread_create(&s->watcher, NULL, watch, s);
    s->is_watching = code == 0;
    return code;
}

void tarry__service_stop_watching(tarry__service *s)
{
    if (!s->is_watching)
        return;
    pthread_mutex_lock(&s->watching);
    s->is_closing = true;
    pthread_cond_signal(&s->closing);
    pthread_mutex_unlock(&s->watching);
    pthread_join(s->watcher, NULL);
    s->is_watching = false;
}
