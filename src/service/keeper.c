/* keeper.c - groups: what has gathered is run, committed at once, and then
 * answered, by a thread of its own or, if it is little, by who has brought it.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <time.h>
#include "base/base.h"
#include "service/inner.h"

static const double QUICK_SECONDS = 0.002; /* a group, to be run at the door */

enum {
    TICK_MS = 500,     /* between two looks at what has expired */
    MOST_GROUP = 4096, /* calls in one commit */
    WORTH_A_CREW = 64, /* choices */
    FEW = 32           /* calls, to be run at the door */
};

/* ---- a group --------------------------------------------------------------*/

static bool reserve_group(tarry__service *s)
{
    if (s->n_group < s->group_room)
        return true;
    const size_t room = 2 * s->group_room + 16;
    tarry__service_experiment **bigger =
        tarry__base_grow(s->group, s->n_group, room, sizeof *s->group);
    if (bigger == NULL)
        return false;
    s->group = bigger;
    tarry__session **sessions =
        tarry__base_grow(s->sessions, 0, room, sizeof(tarry__session *));
    if (sessions == NULL)
        return false;
    s->sessions = sessions;
    s->group_room = room;
    return true;
}

bool tarry__service_enter(tarry__service *s, tarry__service_experiment *e)
{
    if (e->in_group)
        return true;
    if (!reserve_group(s))
        return false;
    pthread_mutex_lock(&e->lock);
    e->in_group = true;
    s->group[s->n_group++] = e;
    return true;
}

/* Every experiment that has an age looks at what is too old. */
static void expire_old(tarry__service *s)
{
    const int64_t now = tarry__session_now();
    tarry__service_experiment *e;
    for (size_t i = 0; (e = tarry__service_at(s, i)) != NULL; i++)
        if (tarry__session_has_ages(e->made) && tarry__service_enter(s, e) &&
            e->session != NULL)
            tarry__session_expire_old(e->session, now, NULL);
}

/* A request must happen as a whole or not at all. */
static tarry_status undo(tarry__service *s, size_t n, tarry_error *error)
{
    for (size_t i = 0; i < n; i++)
        tarry__session_take_back(s->sessions[i]);
    return tarry__base_fail(error, s->broken, "%s",
                            tarry_status_text(s->broken));
}

/* Commits what the group has staged, and lets go of it. */
static tarry_status commit(tarry__service *s, tarry_error *error)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_group; i++)
        if (s->group[i]->session != NULL &&
            tarry__session_is_staged(s->group[i]->session))
            s->sessions[n++] = s->group[i]->session;
    const double begin = tarry__base_seconds();
    tarry_status status = TARRY_OK;
    if (s->broken != TARRY_OK)
        status = undo(s, n, error);
    else if (n > 0)
        status = tarry__session_commit(s->sessions, n, error);
    if (n > 0 && s->broken == TARRY_OK) {
        tarry__service_histogram_add(&s->commits, tarry__service_commit_bounds,
                                     tarry__base_seconds() - begin);
        s->is_failing = status != TARRY_OK && status != TARRY_CANCELLED;
    }
    tarry__service_settle_counts(s, status == TARRY_OK);
    for (size_t i = 0; i < s->n_group; i++) {
        s->group[i]->in_group = false;
        pthread_mutex_unlock(&s->group[i]->lock);
    }
    s->n_group = 0;
    s->broken = TARRY_OK;
    return status;
}

static void take_back(tarry__service_call *c, tarry_status status,
                      const tarry_error *error)
{
    tarry__service_answer_clear(c->service, &c->answer);
    c->answer.route = c->route->pattern; /* the log of requests names it */
    c->text.size = 0;
    tarry__service_say_refusal(
        c, status == TARRY_NO_MEMORY ? status : TARRY_IO_ERROR, error);
}

/* Sends calls that have to wait back to the queue; answers the others. */
static tarry__service_call *put_off(tarry__service *s,
                                    tarry__service_call *calls)
{
    tarry__service_call *others = NULL, **end = &others;
    while (calls != NULL) {
        tarry__service_call *c = calls;
        calls = c->next;
        if (c->is_put_off) {
            c->is_put_off = false;
            tarry__service_queue_put(&s->keeper_queue, c);
        } else {
            *end = c;
            end = &c->next;
        }
    }
    *end = NULL;
    return others;
}

/* The choices of experiment i of the group, one after another. */
static void choose(void *context, size_t i)
{
    tarry__service *s = context;
    tarry__service_experiment *e = s->group[i];
    for (tarry__service_call *c = e->first_later, *next; c != NULL; c = next) {
        next = c->next_later;
        tarry__service_choose(c, e);
    }
    e->first_later = e->last_later = NULL;
    e->n_later = 0;
}

/* Side by side, if there is enough to do for more than one. */
static void choose_all(tarry__service *s)
{
    size_t choices = 0;
    for (size_t i = 0; i < s->n_group; i++)
        choices += s->group[i]->n_later;
    tarry__crew_run(choices >= WORTH_A_CREW ? s->crew : NULL, s->n_group,
                    choose, s);
}

static void run_group(tarry__service *s, tarry__service_call *calls)
{
    tarry_error error = {""};
    const double begin = tarry__base_seconds();
    for (tarry__service_call *c = calls; c != NULL; c = c->next)
        c->route->run(c);
    choose_all(s);
    for (tarry__service_call *c = calls; c != NULL; c = c->next)
        if (c->is_lost)
            s->broken = TARRY_NO_MEMORY;
    const tarry_status status = commit(s, &error);
    s->last_seconds = tarry__base_seconds() - begin;
    if (s->ids.count > 0)
        tarry__texts_clear(&s->ids);
    if (status == TARRY_OK)
        calls = put_off(s, calls);
    while (calls != NULL) {
        tarry__service_call *c = calls;
        calls = c->next;
        if (status != TARRY_OK)
            take_back(c, status, &error);
        c->answer.more_follow = calls != NULL;
        tarry__service_finish(c);
    }
}

/* ---- its own thread ------------------------------------------------------*/

/* Waits for a call until the next tick. */
static void wait_tick(tarry__service_queue *q)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TICK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (q->first == NULL && !q->is_closed &&
           pthread_cond_timedwait(&q->more, &q->lock, &until) != ETIMEDOUT)
        ;
}

/* Nobody may ask as long as it is not ready, so it finds out by itself. */
static void recover(tarry__service *s)
{
    if (s->is_failing && tarry__store_probe(s->store, NULL) == TARRY_OK)
        s->is_failing = false;
}

void *tarry__service_keep(void *context)
{
    tarry__service *s = context;
    tarry__service_queue *q = &s->keeper_queue;
    double last_tick = 0;
    for (bool goes_on = true; goes_on;) {
        pthread_mutex_lock(&q->lock);
        wait_tick(q);
        tarry__service_call *calls = tarry__service_queue_take(q, MOST_GROUP);
        goes_on = !q->is_closed || calls != NULL;
        pthread_mutex_unlock(&q->lock);
        pthread_mutex_lock(&s->keeping);
        if (tarry__base_seconds() - last_tick >= TICK_MS / 1000.0) {
            last_tick = tarry__base_seconds();
            recover(s);
            tarry__service_look_around(s);
            expire_old(s);
        }
        run_group(s, calls);
        pthread_mutex_unlock(&s->keeping);
    }
    return NULL;
}

/* ---- without the keeper ---------------------------------------------------*/

void tarry__service_gather(tarry__service *s)
{
    s->is_gathered = true;
}

/* A call that does not keep its thread long, if the store is quick, and not at
 * the other end of a line. */
static bool is_light(const tarry__service *s, const tarry__service_call *c)
{
    return !tarry__store_is_shared(s->store) &&
           s->last_seconds < QUICK_SECONDS && !json_is_array(c->json) &&
           json_object_get(c->json, "count") == NULL;
}

/* Whether all that wait are light, and few. */
static bool are_light(const tarry__service *s, const tarry__service_queue *q)
{
    bool light = q->count > 0 && q->count <= FEW;
    for (const tarry__service_call *c = q->first; light && c != NULL;
         c = c->next)
        light = is_light(s, c);
    return light;
}

/* The calls that wait, if they are to be run here; else they are the
 * keeper's. */
static tarry__service_call *take_light(tarry__service *s, bool may_run)
{
    tarry__service_queue *q = &s->keeper_queue;
    tarry__service_call *calls = NULL;
    pthread_mutex_lock(&q->lock);
    if (may_run && are_light(s, q))
        calls = tarry__service_queue_take(q, q->count);
    else if (q->count > 0)
        pthread_cond_signal(&q->more);
    pthread_mutex_unlock(&q->lock);
    return calls;
}

bool tarry__service_flush(tarry__service *s)
{
    const bool may_run = pthread_mutex_trylock(&s->keeping) == 0;
    tarry__service_call *calls = take_light(s, may_run);
    if (calls != NULL)
        run_group(s, calls);
    if (may_run)
        pthread_mutex_unlock(&s->keeping);
    return calls != NULL;
}
