/* service.c - opening and closing, helpers, and the door: what is let in, and
 * who answers it. */
#define _POSIX_C_SOURCE 200809L
#include "service/service.h"

#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "service/inner.h"

enum {
    MOST_SPARE = 1024, /* calls kept to be used again */
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
                                   .address = "",
                                   .tokens = ""};
}

/* ---- the end of a call ----------------------------------------------------*/

/* A call is taken by one thread and ended by another; to use it again is
 * cheaper than to free it there. */
static void free_call(tarry__service_call *c)
{
    tarry__service *s = c->service;
    json_decref(c->json);
    atomic_fetch_sub(&s->n_values, c->n_values);
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

void tarry__service_finish(tarry__service_call *c)
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

/* ---- helpers --------------------------------------------------------------*/

/* A call of the keeper's whose body is large comes here first. */
static void run_apart(tarry__service_call *c)
{
    if (c->stream != NULL) {
        tarry__service_log_part(c);
        tarry__service_finish(c);
    } else if (c->route->takes_body && !tarry__service_read_body(c)) {
        tarry__service_finish(c);
    } else if (c->route->lane == TARRY__SERVICE_KEEPER) {
        tarry__service_queue_put(&c->service->keeper_queue, c);
    } else {
        c->route->run(c);
        tarry__service_finish(c);
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
        tarry__service_call *c = tarry__service_queue_take(q, 1);
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
                                   "%s %s needs a token that this server "
                                   "knows (Authorization: Bearer TOKEN)",
                                   c->route->method, c->route->pattern);
        c->answer.asks_token = true;
    } else {
        tarry__service_say_problem(c, 403, "wrong_scope",
                                   "this token lacks the scope \"%s\", which "
                                   "%s %s needs",
                                   tarry__keys_scope_name(scope),
                                   c->route->method, c->route->pattern);
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
                                   "a page of another origin asks for %s %s, "
                                   "which changes something",
                                   c->route->method, c->route->pattern);
        return false;
    }
    if (!may_pass(c))
        return false;
    if (c->request.query[0] != '\0' && !c->route->takes_query) {
        tarry__service_say_problem(c, 422, "invalid",
                                   "%s %s takes no query parameters; got "
                                   "\"%.100s\"",
                                   c->route->method, c->route->pattern,
                                   c->request.query);
        return false;
    }
    if (c->route->lane != TARRY__SERVICE_HERE &&
        s->waiting > s->limits.most_queued) {
        tarry__service_say_problem(c, 503, "overloaded",
                                   "%zu requests are waiting; ask again",
                                   (size_t)s->waiting);
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
        tarry__service_finish(c);
    } else if (c->route->lane == TARRY__SERVICE_HERE) {
        c->route->run(c);
        tarry__service_finish(c);
    } else if (c->route->lane == TARRY__SERVICE_HELPER || is_large) {
        tarry__service_queue_put(&s->helper_queue, c);
    } else if (c->route->takes_body && !tarry__service_read_body(c)) {
        tarry__service_finish(c);
    } else {
        tarry__service_queue_append(&s->keeper_queue, c, !s->is_gathered);
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
    tarry__service_queue_put(&s->helper_queue, c);
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
    int code = pthread_create(&s->keeper, NULL, tarry__service_keep, s);
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
    tarry__service_queue_init(&s->keeper_queue);
    tarry__service_queue_init(&s->helper_queue);
    pthread_rwlock_init(&s->table, NULL);
    pthread_rwlock_init(&s->tokens_lock, NULL);
    pthread_mutex_init(&s->creating, NULL);
    pthread_mutex_init(&s->watching, NULL);
    pthread_cond_init(&s->closing, NULL);
    s->address = limits->address;
    pthread_mutex_init(&s->spare_lock, NULL);
    pthread_mutex_init(&s->keeping, NULL);
    tarry_status status =
        limits->tokens[0] != '\0'
            ? tarry__service_read_tokens(s, limits->tokens, error)
            : TARRY_OK;
    if (status == TARRY_OK)
        status = tarry__store_open(url, true, &s->store, error);
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
    tarry__service_queue_close(&s->helper_queue);
    for (size_t i = 1; i < s->n_threads; i++)
        pthread_join(s->helper[i - 1], NULL);
    tarry__service_queue_close(&s->keeper_queue);
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
    tarry__service_queue_end(&s->keeper_queue);
    tarry__service_queue_end(&s->helper_queue);
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
