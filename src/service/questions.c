/* questions.c - what is asked about an experiment, answered by helpers. */
#include <string.h>
#include "base/base.h"
#include "base/spec.h"
#include "service/inner.h"

enum { MOST_LISTED = 10000, LISTED = 1000 };

/* The experiment that a path names, with its lock, if it is of this process;
 * NULL: a problem has been said. */
static tarry__service_experiment *lock_named(tarry__service_call *c)
{
    tarry_error error = {""};
    tarry__service_experiment *e = tarry__service_named(c);
    if (e == NULL)
        return NULL;
    pthread_mutex_lock(&e->lock);
    const tarry_status status = tarry__service_hold(c, e, &error);
    if (status == TARRY_OK)
        return e;
    pthread_mutex_unlock(&e->lock);
    tarry__service_say_refusal(c, status, &error);
    return NULL;
}

static void say_unreadable(tarry__service_call *c)
{
    const tarry_error error = {"the store cannot be read now; ask again"};
    tarry__service_say_refusal(c, TARRY_IO_ERROR, &error);
}

void tarry__service_status(tarry__service_call *c)
{
    tarry__service_experiment *e = lock_named(c);
    if (e == NULL)
        return;
    json_t *json = tarry__session_status(e->session, false);
    pthread_mutex_unlock(&e->lock);
    if (json == NULL)
        say_unreadable(c);
    else
        tarry__service_say_json(c, 200, json);
}

/* ---- pending --------------------------------------------------------------*/

/* "limit=N" as the only thing in a query; false: something else is there. */
static bool read_limit(const char *query, uint64_t *limit)
{
    static const char key[] = "limit=";
    *limit = LISTED;
    if (*query == '\0')
        return true;
    return strncmp(query, key, strlen(key)) == 0 &&
           tarry__base_parse_count(query + strlen(key), limit) &&
           *limit <= MOST_LISTED;
}

static json_t *waiting(tarry__session *s, const tarry_pending *w, int64_t now)
{
    tarry__session_description d;
    if (tarry__session_describe(s, w->round, now, &d, NULL) != TARRY_OK)
        return NULL;
    return json_pack("{s:s, s:o, s:I, s:f}", "id", d.id, "arm",
                     tarry__session_arm_json(s, w->arm, false), "rounds",
                     (json_int_t)d.rounds, "seconds", d.seconds);
}

/* The oldest, with the session's lock; NULL: it cannot be read. */
static json_t *list_waiting(tarry__session *s, tarry_pending *oldest,
                            size_t most)
{
    const int64_t now = tarry__session_now();
    json_t *list = json_array();
    size_t listed = 0;
    uint64_t count;
    if (tarry__session_pending(s, most, oldest, &listed, &count, NULL) !=
        TARRY_OK) {
        json_decref(list);
        return NULL;
    }
    for (size_t i = 0; i < listed; i++)
        if (json_array_append_new(list, waiting(s, &oldest[i], now)) != 0) {
            json_decref(list);
            return NULL;
        }
    return json_pack("{s:o, s:I}", "pending", list, "count", (json_int_t)count);
}

void tarry__service_pending(tarry__service_call *c)
{
    uint64_t most;
    if (tarry__service_named(c) == NULL)
        return;
    if (!read_limit(c->request.query, &most)) {
        tarry__service_say_problem(c, 422, "invalid",
                                   "the only query parameter is limit=N, a "
                                   "whole number from 0 to %d; got \"%.100s\"",
                                   MOST_LISTED, c->request.query);
        return;
    }
    tarry_pending *oldest = tarry__base_alloc(most, sizeof *oldest);
    tarry__service_experiment *e = lock_named(c);
    json_t *json = oldest != NULL && e != NULL
                       ? list_waiting(e->session, oldest, most)
                       : NULL;
    if (e != NULL)
        pthread_mutex_unlock(&e->lock);
    tarry__base_free(oldest);
    if (e == NULL)
        return;
    if (json == NULL)
        say_unreadable(c);
    else
        tarry__service_say_json(c, 200, json);
}

/* ---- health ---------------------------------------------------------------*/

void tarry__service_health(tarry__service_call *c)
{
    tarry__writer_put(&c->text, "{\"status\":\"ok\"}");
    tarry__service_say(c, 200);
}

void tarry__service_ready(tarry__service_call *c)
{
    if (c->service->is_failing) {
        tarry__service_say_problem(
            c, 503, "store_unavailable",
            "the store cannot be written now; ask again");
        return;
    }
    tarry__writer_put(&c->text, "{\"status\":\"ready\"}");
    tarry__service_say(c, 200);
}
