/* service.c - opening, queues, the keeper and its groups. */
#define _POSIX_C_SOURCE 200809L
#include "service/service.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/base.h"
#include "service/inner.h"

static const double QUICK_SECONDS = 0.002; /* a group, to be run at the door */

enum {
    TICK_MS = 500,     /* between two looks at what has expired */
    MOST_GROUP = 4096, /* calls in one commit */
    MOST_SPARE = 1024, /* calls kept to be used again */
    WORTH_A_CREW = 64, /* choices */
    FEW = 32,          /* calls, to be run at the door */
    SMALL_BODY = 65536 /* a larger one is read by a helper */
};

static uint64_t processors(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint64_t)count : 1;
}

tarry__service_limits tarry__service_default_limits(void)
{
    return (tarry__service_limits){.most_queued = 10000,
                                   .most_experiments = 10000,
                                   .most_arms = 100000,
                                   .most_dim = 1000,
                                   .most_choices = 10000,
                                   .threads = processors(),
                                   .address = ""};
}

/* ---- the table of experiments ---------------------------------------------*/

static tarry__service_experiment *
find_in(tarry__service *s, const tarry__texts *texts, const char *text)
{
    uint64_t at;
    pthread_rwlock_rdlock(&s->table);
    tarry__service_experiment *e =
        tarry__texts_find(texts, text, &at) ? s->experiment[at] : NULL;
    pthread_rwlock_unlock(&s->table);
    return e;
}

/* What is not there may have been added by others a moment ago. */
static tarry_status find(tarry__service *s, const tarry__texts *texts,
                         const char *text, tarry__service_experiment **out,
                         tarry_error *error)
{
    *out = find_in(s, texts, text);
    if (*out != NULL || !tarry__store_is_shared(s->store))
        return TARRY_OK;
    const tarry_status status = tarry__service_look_for_new(s, error);
    *out = find_in(s, texts, text);
    return *out != NULL ? TARRY_OK : status;
}

tarry_status tarry__service_find(tarry__service *s, const char *name,
                                 tarry__service_experiment **out,
                                 tarry_error *error)
{
    return find(s, &s->by_name, name, out, error);
}

tarry_status tarry__service_find_prefix(tarry__service *s, const char *prefix,
                                        tarry__service_experiment **out,
                                        tarry_error *error)
{
    return find(s, &s->by_prefix, prefix, out, error);
}

tarry__service_experiment *tarry__service_named(tarry__service_call *c)
{
    tarry_error error = {""};
    tarry__service_experiment *e;
    const tarry_status status =
        tarry__service_find(c->service, c->name[0], &e, &error);
    if (status != TARRY_OK)
        tarry__service_say_refusal(c, status, &error);
    else if (e == NULL)
        tarry__service_say_problem(c, 404, "unknown_experiment",
                                   "no experiment has this name");
    return e;
}

tarry__service_experiment *tarry__service_at(tarry__service *s, size_t i)
{
    pthread_rwlock_rdlock(&s->table);
    tarry__service_experiment *e =
        i < s->n_experiments ? s->experiment[i] : NULL;
    pthread_rwlock_unlock(&s->table);
    return e;
}

static bool reserve_table(tarry__service *s)
{
    if (s->n_experiments < s->room)
        return true;
    const size_t room = 2 * s->room + 16;
    tarry__service_experiment **bigger = tarry__base_grow(
        s->experiment, s->n_experiments, room, sizeof *s->experiment);
    if (bigger == NULL)
        return false;
    s->experiment = bigger;
    s->room = room;
    return true;
}

static bool add_to_table(tarry__service *s, tarry__service_experiment *e)
{
    if (!reserve_table(s) ||
        tarry__texts_add(&s->by_name, e->made->name, s->n_experiments, NULL) !=
            TARRY_OK)
        return false;
    if (tarry__texts_add(&s->by_prefix, e->made->prefix, s->n_experiments,
                         NULL) != TARRY_OK) {
        tarry__texts_remove(&s->by_name, e->made->name);
        return false;
    }
    pthread_mutex_init(&e->overview_lock, NULL);
    s->experiment[s->n_experiments++] = e;
    return true;
}

static bool meet_next(tarry__service *s)
{
    tarry__service_experiment *e = tarry__base_zalloc(1, sizeof *e);
    if (e == NULL)
        return false;
    e->number = s->n_experiments + 1;
    e->made = tarry__store_get(s->store, e->number);
    pthread_mutex_init(&e->lock, NULL);
    if (add_to_table(s, e))
        return true;
    tarry__base_free(e);
    return false;
}

tarry_status tarry__service_meet(tarry__service *s, tarry_error *error)
{
    bool done = true;
    pthread_rwlock_wrlock(&s->table);
    const uint64_t count = tarry__store_count(s->store);
    while (done && s->n_experiments < count)
        done = meet_next(s);
    pthread_rwlock_unlock(&s->table);
    return done ? TARRY_OK
                : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

tarry_status tarry__service_add(tarry__service *s, tarry__session *session,
                                tarry_error *error)
{
    const tarry_status status = tarry__service_meet(s, error);
    if (status != TARRY_OK)
        return status;
    const char *name = tarry__session_experiment(session)->name;
    tarry__service_experiment *e =
        tarry__service_at(s, tarry__store_find(s->store, name) - 1);
    pthread_mutex_lock(&e->lock);
    tarry__session *other = e->session; /* the watcher may have been faster */
    e->session = session;
    pthread_mutex_unlock(&e->lock);
    tarry__session_close(other);
    return TARRY_OK;
}

/* ---- queues ---------------------------------------------------------------*/

static void init_queue(tarry__service_queue *q)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->more, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void end_queue(tarry__service_queue *q)
{
    pthread_cond_destroy(&q->more);
    pthread_mutex_destroy(&q->lock);
}

static void append(tarry__service_queue *q, tarry__service_call *c, bool wakes)
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

static void put(tarry__service_queue *q, tarry__service_call *c)
{
    append(q, c, true);
}

static void close_queue(tarry__service_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->is_closed = true;
    pthread_cond_broadcast(&q->more);
    pthread_mutex_unlock(&q->lock);
}

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

/* Takes at most so many calls, in order. */
static tarry__service_call *take_some(tarry__service_queue *q, size_t most)
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

/* ---- the end of a call ----------------------------------------------------*/

/* A call is taken by one thread and ended by another; to use it again is
 * cheaper than to free it there. */
static void free_call(tarry__service_call *c)
{
    tarry__service *s = c->service;
    json_decref(c->json);
    tarry__writer_clear(&c->text);
    pthread_mutex_lock(&s->spare_lock);
    const bool is_kept = s->n_spare < MOST_SPARE;
    if (is_kept) {
        c->next = s->spare;
        s->spare = c;
        s->n_spare++;
    }
    pthread_mutex_unlock(&s->spare_lock);
    if (!is_kept)
        tarry__base_free(c);
}

static tarry__service_call *new_call(tarry__service *s)
{
    pthread_mutex_lock(&s->spare_lock);
    tarry__service_call *c = s->spare;
    if (c != NULL) {
        s->spare = c->next;
        s->n_spare--;
    }
    pthread_mutex_unlock(&s->spare_lock);
    return c != NULL ? c : tarry__base_alloc(1, sizeof *c);
}

/* The answer goes out, and with it what it owns. */
static void finish(tarry__service_call *c)
{
    tarry__service *s = c->service;
    const tarry__service_answer answer = c->answer;
    if (c->stream == NULL)
        tarry__service_count(s, c->route_number, answer.status);
    c->answer = (tarry__service_answer){0};
    tarry__service_deliver *deliver = c->deliver;
    void *context = c->context;
    free_call(c);
    atomic_fetch_sub(&s->waiting, 1);
    deliver(context, &answer);
}

void tarry__service_answer_clear(tarry__service *s, tarry__service_answer *a)
{
    (void)s;
    tarry__base_free(a->owned);
    tarry__base_free(a->location);
    tarry__service_stream_free(a->stream);
    *a = (tarry__service_answer){0};
}

/* ---- the keeper -----------------------------------------------------------*/

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
        if (e->made->expire_after[0] != '\0' && tarry__service_enter(s, e) &&
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
            put(&s->keeper_queue, c);
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
        finish(c);
    }
}

/* Nobody may ask as long as it is not ready, so it finds out by itself. */
static void recover(tarry__service *s)
{
    if (s->is_failing && tarry__store_probe(s->store, NULL) == TARRY_OK)
        s->is_failing = false;
}

static void *keep(void *context)
{
    tarry__service *s = context;
    tarry__service_queue *q = &s->keeper_queue;
    double last_tick = 0;
    for (bool goes_on = true; goes_on;) {
        pthread_mutex_lock(&q->lock);
        wait_tick(q);
        tarry__service_call *calls = take_some(q, MOST_GROUP);
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
        calls = take_some(q, q->count);
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

/* ---- helpers --------------------------------------------------------------*/

/* A call of the keeper's whose body is large comes here first. */
static void run_apart(tarry__service_call *c)
{
    if (c->stream != NULL) {
        tarry__service_log_part(c);
        finish(c);
    } else if (c->route->takes_body && !tarry__service_read_body(c)) {
        finish(c);
    } else if (c->route->lane == TARRY__SERVICE_KEEPER) {
        put(&c->service->keeper_queue, c);
    } else {
        c->route->run(c);
        finish(c);
    }
}

static void *help(void *context)
{
    tarry__service *s = context;
    tarry__service_queue *q = &s->helper_queue;
    for (;;) {
        pthread_mutex_lock(&q->lock);
        while (q->first == NULL && !q->is_closed)
            pthread_cond_wait(&q->more, &q->lock);
        tarry__service_call *c = take_some(q, 1);
        pthread_mutex_unlock(&q->lock);
        if (c == NULL)
            return NULL;
        run_apart(c);
    }
}

/* ---- taking ---------------------------------------------------------------*/

static tarry__service_call *
make_call(tarry__service *s, tarry__service_deliver *deliver, void *context)
{
    tarry__service_call *c = new_call(s);
    if (c == NULL)
        return NULL;
    memset(c, 0, offsetof(tarry__service_call, name));
    memset(&c->json, 0, sizeof *c - offsetof(tarry__service_call, json));
    c->service = s;
    c->route_number = tarry__service_n_routes;
    c->owner[0] = '\0';
    c->deliver = deliver;
    c->context = context;
    atomic_fetch_add(&s->waiting, 1);
    return c;
}

static void deliver_nothing(tarry__service *s, tarry__service_deliver *deliver,
                            void *context)
{
    static const char body[] = "out of memory\n";
    const tarry__service_answer answer = {.status = 503,
                                          .type = "text/plain",
                                          .body = body,
                                          .size = sizeof body - 1,
                                          .retry_after = 1};
    tarry__service_count(s, tarry__service_n_routes, 503);
    deliver(context, &answer);
}

/* Whether the token gives what the route asks for. */
static bool may_pass(tarry__service_call *c)
{
    tarry__service *s = c->service;
    const int scope = c->route->scope;
    int has = 0;
    pthread_rwlock_rdlock(&s->tokens_lock);
    const bool is_open = s->tokens == NULL || scope == TARRY__SERVICE_ANYBODY;
    if (!is_open)
        has = c->request.token != NULL
                  ? tarry__keys_scopes(s->tokens, c->request.token)
                  : -1;
    pthread_rwlock_unlock(&s->tokens_lock);
    if (is_open || (has > 0 && (has & scope) != 0))
        return true;
    if (has < 0) {
        tarry__service_say_problem(c, 401, "no_token",
                                   "this needs a token that is known here");
        c->answer.asks_token = true;
    } else {
        tarry__service_say_problem(c, 403, "wrong_scope",
                                   "this token is not for that");
    }
    return false;
}

/* All that can be said without looking at an experiment. */
static bool is_let_in(tarry__service_call *c)
{
    tarry__service *s = c->service;
    if (!tarry__service_find_route(c))
        return false;
    if (c->request.is_foreign && strcmp(c->route->method, "GET") != 0) {
        tarry__service_say_problem(c, 403, "foreign_origin",
                                   "a page of another origin may not do that");
        return false;
    }
    if (!may_pass(c))
        return false;
    if (c->route->takes_body && !c->request.has_length) {
        tarry__service_say_problem(c, 411, "length_required",
                                   "a Content-Length is needed");
        return false;
    }
    if (c->route->lane != TARRY__SERVICE_HERE &&
        s->waiting > s->limits.most_queued) {
        tarry__service_say_problem(c, 503, "overloaded",
                                   "too many requests are waiting");
        c->answer.retry_after = 1;
        return false;
    }
    return true;
}

void tarry__service_take(tarry__service *s,
                         const tarry__service_request *request,
                         tarry__service_deliver *deliver, void *context)
{
    tarry__service_call *c = make_call(s, deliver, context);
    if (c == NULL) {
        deliver_nothing(s, deliver, context);
        return;
    }
    c->request = *request;
    const bool is_large = request->size > SMALL_BODY;
    if (!is_let_in(c)) {
        finish(c);
    } else if (c->route->lane == TARRY__SERVICE_HERE) {
        c->route->run(c);
        finish(c);
    } else if (c->route->lane == TARRY__SERVICE_HELPER || is_large) {
        put(&s->helper_queue, c);
    } else if (c->route->takes_body && !tarry__service_read_body(c)) {
        finish(c);
    } else {
        append(&s->keeper_queue, c, !s->is_gathered);
    }
}

void tarry__service_next(tarry__service *s, tarry__service_stream *stream,
                         tarry__service_deliver *deliver, void *context)
{
    tarry__service_call *c = make_call(s, deliver, context);
    if (c == NULL) {
        tarry__service_stream_free(stream);
        deliver_nothing(s, deliver, context);
        return;
    }
    c->stream = stream;
    put(&s->helper_queue, c);
}

/* ---- tokens and files -----------------------------------------------------*/

tarry_status tarry__service_read_tokens(tarry__service *s, const char *path,
                                        tarry_error *error)
{
    tarry__keys *tokens;
    const tarry_status status = tarry__keys_read(path, &tokens, error);
    if (status != TARRY_OK)
        return status;
    pthread_rwlock_wrlock(&s->tokens_lock);
    tarry__keys *old = s->tokens;
    s->tokens = tokens;
    pthread_rwlock_unlock(&s->tokens_lock);
    tarry__keys_free(old);
    return TARRY_OK;
}

void tarry__service_serve_files(tarry__service *s,
                                const tarry__service_file *files)
{
    s->files = files;
}

/* ---- open and close -------------------------------------------------------*/

static tarry_status open_experiments(tarry__service *s, tarry_error *error)
{
    tarry_status status = TARRY_OK;
    const uint64_t count = tarry__store_count(s->store);
    for (uint64_t i = 1; status == TARRY_OK && i <= count; i++) {
        tarry__session *session;
        status = tarry__session_open(s->store, i, false, &session, error);
        if (status == TARRY_CANCELLED) /* another process's */
            status = tarry__service_meet(s, error);
        else if (status == TARRY_OK &&
                 (status = tarry__service_add(s, session, error)) != TARRY_OK)
            tarry__session_close(session);
    }
    return status;
}

static tarry_status start_threads(tarry__service *s, tarry_error *error)
{
    int code = pthread_create(&s->keeper, NULL, keep, s);
    s->n_threads = code == 0;
    for (size_t i = 0; code == 0 && i < TARRY__SERVICE_N_HELPERS; i++) {
        code = pthread_create(&s->helper[i], NULL, help, s);
        s->n_threads += code == 0;
    }
    if (code == 0)
        code = tarry__service_start_watching(s);
    return code == 0 ? TARRY_OK
                     : tarry__base_fail(error, TARRY_IO_ERROR, "a thread: %s",
                                        strerror(code));
}

tarry_status tarry__service_open(const char *url,
                                 const tarry__service_limits *limits,
                                 tarry__service **out, tarry_error *error)
{
    *out = NULL;
    tarry__service *s = tarry__base_zalloc(1, sizeof *s);
    if (s == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    s->limits = *limits;
    s->started_at = tarry__session_now();
    init_queue(&s->keeper_queue);
    init_queue(&s->helper_queue);
    pthread_rwlock_init(&s->table, NULL);
    pthread_rwlock_init(&s->tokens_lock, NULL);
    pthread_mutex_init(&s->creating, NULL);
    pthread_mutex_init(&s->watching, NULL);
    pthread_cond_init(&s->closing, NULL);
    s->address = limits->address;
    pthread_mutex_init(&s->spare_lock, NULL);
    pthread_mutex_init(&s->keeping, NULL);
    tarry_status status = tarry__store_open(url, true, &s->store, error);
    if (status == TARRY_OK && limits->address[0] != '\0')
        status = tarry__store_publish(s->store, limits->address);
    if (status == TARRY_OK)
        status = open_experiments(s, error);
    if (status == TARRY_OK) {
        tarry__store_reserve(s->store);
        s->crew = tarry__crew_create(limits->threads - (limits->threads > 0));
        status = start_threads(s, error);
    }
    if (status == TARRY_OK)
        *out = s;
    else
        tarry__service_close(s);
    return status;
}

/* Helpers first: they hand over to the keeper. */
static void stop_threads(tarry__service *s)
{
    tarry__service_stop_watching(s);
    close_queue(&s->helper_queue);
    for (size_t i = 1; i < s->n_threads; i++)
        pthread_join(s->helper[i - 1], NULL);
    close_queue(&s->keeper_queue);
    if (s->n_threads > 0)
        pthread_join(s->keeper, NULL);
}

void tarry__service_close(tarry__service *s)
{
    if (s == NULL)
        return;
    stop_threads(s);
    tarry__crew_free(s->crew);
    for (size_t i = 0; i < s->n_experiments; i++) {
        tarry__session_close(s->experiment[i]->session);
        tarry__overview_free(s->experiment[i]->overview);
        pthread_mutex_destroy(&s->experiment[i]->overview_lock);
        pthread_mutex_destroy(&s->experiment[i]->lock);
        tarry__base_free(s->experiment[i]);
    }
    tarry__store_close(s->store);
    tarry__base_free(s->experiment);
    tarry__base_free(s->group);
    tarry__base_free(s->sessions);
    tarry__texts_clear(&s->by_name);
    tarry__texts_clear(&s->by_prefix);
    tarry__texts_clear(&s->ids);
    tarry__keys_free(s->tokens);
    end_queue(&s->keeper_queue);
    end_queue(&s->helper_queue);
    pthread_rwlock_destroy(&s->table);
    pthread_rwlock_destroy(&s->tokens_lock);
    pthread_mutex_destroy(&s->creating);
    pthread_mutex_destroy(&s->watching);
    pthread_cond_destroy(&s->closing);
    pthread_mutex_destroy(&s->spare_lock);
    pthread_mutex_destroy(&s->keeping);
    for (tarry__service_call *c = s->spare, *next; c != NULL; c = next) {
        next = c->next;
        tarry__base_free(c);
    }
    tarry__base_free(s);
}
