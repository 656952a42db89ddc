/* table.c - the experiments of a service, by number, name and prefix. */
#include <string.h>
#include "base/base.h"
#include "service/inner.h"

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

/* What is not there may have been added by others a moment ago, or by this
 * process when there was no memory for its place in the table. */
static tarry_status find(tarry__service *s, const tarry__texts *texts,
                         const char *text, tarry__service_experiment **out,
                         tarry_error *error)
{
    *out = find_in(s, texts, text);
    if (*out != NULL)
        return TARRY_OK;
    const tarry_status status = tarry__store_is_shared(s->store)
                                    ? tarry__service_look_for_new(s, error)
                                    : tarry__service_meet(s, error);
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
                                   "there is no experiment \"%.100s\"",
                                   c->name[0]);
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
    e->session = session;
    return TARRY_OK;
}
