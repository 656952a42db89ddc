/* store.c - what all kinds of stores share: the lock, the experiments, the
 * numbers and digests of events. */
#define _POSIX_C_SOURCE 200809L
#include "store/store.h"

#include <pthread.h>
#include <string.h>
#include "base/base.h"
#include "store/kind.h"

enum { MOST_TRIES = 100 }; /* to add an experiment while others do */

struct tarry__store {
    const tarry__store_kind *kind;
    void *state;
    pthread_mutex_t lock;
    tarry__store_heads heads;
    uint64_t *sums; /* of the events that are being appended */
    size_t sums_room;
};

/* ---- open and close -------------------------------------------------------*/

static bool is_postgres(const char *url)
{
    static const char *const schemes[] = {"postgresql://", "postgres://"};
    return strncmp(url, schemes[0], strlen(schemes[0])) == 0 ||
           strncmp(url, schemes[1], strlen(schemes[1])) == 0;
}

/* Replaces what lies between two places by a star. */
static void hide(char *from, const char *to)
{
    if (from < to) {
        memmove(from + 1, to, strlen(to) + 1);
        *from = '*';
    }
}

/* Whatever stands between the first colon and the last @ may be a password, and
 * so may a parameter that ends with that name. */
void tarry__store_show(const char *url, char *shown)
{
    strcpy(shown, url);
    if (!is_postgres(url))
        return;
    char *at = strstr(shown, "://") + 3, *end = strrchr(at, '@');
    char *colon = strchr(at, ':');
    if (end != NULL && colon != NULL && colon < end)
        hide(colon + 1, end);
    while ((at = strstr(at, "password=")) != NULL) {
        at += strlen("password=");
        hide(at, at + strcspn(at, "&"));
    }
}

static const tarry__store_kind *kind_of(const char *url, const char **path)
{
    static const char memory[] = "memory:", sqlite[] = "sqlite:";
    *path = url;
    if (strncmp(url, memory, strlen(memory)) == 0)
        return &tarry__store_memory;
    if (is_postgres(url))
        return &tarry__store_postgres;
    if (strncmp(url, sqlite, strlen(sqlite)) == 0)
        *path += strlen(sqlite);
    return &tarry__store_sqlite;
}

static tarry__store *make(const tarry__store_kind *kind)
{
    tarry__store *s = tarry__base_zalloc(1, sizeof *s);
    if (s != NULL) {
        s->kind = kind;
        pthread_mutex_init(&s->lock, NULL);
    }
    return s;
}

tarry_status tarry__store_open(const char *url, bool create, tarry__store **out,
                               tarry_error *error)
{
    const char *path;
    *out = NULL;
    tarry__store *s = make(kind_of(url, &path));
    if (s == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    const tarry_status status =
        s->kind->open(path, create, &s->heads, &s->state, error);
    if (status == TARRY_OK)
        *out = s;
    else
        tarry__store_close(s);
    return status;
}

tarry_status tarry__store_read(const char *url, tarry__store **out,
                               tarry_error *error)
{
    const char *path;
    const tarry__store_kind *kind = kind_of(url, &path);
    tarry_status status = tarry__store_open(url, false, out, error);
    if (status != TARRY_CANCELLED || kind->open_used == NULL)
        return status;
    tarry__store *s = make(kind);
    if (s == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    status = kind->open_used(path, &s->heads, &s->state, error);
    if (status == TARRY_OK)
        *out = s;
    else
        tarry__store_close(s);
    return status;
}

void tarry__store_close(tarry__store *s)
{
    if (s == NULL)
        return;
    if (s->state != NULL)
        s->kind->close(s->state);
    tarry__store_heads_clear(&s->heads);
    tarry__base_free(s->sums);
    pthread_mutex_destroy(&s->lock);
    tarry__base_free(s);
}

/* ---- appending ------------------------------------------------------------*/

static tarry_status reserve_sums(tarry__store *s,
                                 const tarry__store_batch *batches, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += batches[i].count;
    if (count <= s->sums_room)
        return TARRY_OK;
    uint64_t *bigger = tarry__base_alloc(2 * count, sizeof *bigger);
    if (bigger == NULL)
        return TARRY_NO_MEMORY;
    tarry__base_free(s->sums);
    s->sums = bigger;
    s->sums_room = 2 * count;
    return TARRY_OK;
}

/* Numbers the events of a batch and moves its experiment's head past them. */
static void number_events(tarry__store *s, const tarry__store_batch *b,
                          uint64_t *sums)
{
    tarry__store_head *h = s->heads.head[b->experiment - 1];
    for (size_t i = 0; i < b->count; i++) {
        b->events[i].seq = h->end.events + 1;
        tarry__store_head_pass(h, &b->events[i]);
        sums[i] = h->end.sum;
    }
}

static tarry_status append(tarry__store *s,
                           const tarry__store_experiment *added,
                           const tarry__store_batch *batches, size_t n,
                           tarry_error *error)
{
    /* where to go back to: what was before the first event of a batch */
    tarry__store_end *marks = tarry__base_alloc(n, sizeof *marks);
    if (marks == NULL || reserve_sums(s, batches, n) != TARRY_OK) {
        tarry__base_free(marks);
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    }
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        marks[i] = s->heads.head[batches[i].experiment - 1]->end;
        number_events(s, &batches[i], s->sums + at);
        at += batches[i].count;
    }
    const tarry_status status =
        s->kind->append(s->state, &s->heads, added, batches, n, s->sums, error);
    for (size_t i = 0; status != TARRY_OK && i < n; i++)
        s->heads.head[batches[i].experiment - 1]->end = marks[i];
    tarry__base_free(marks);
    return status;
}

/* What was made under another epoch may be of an older log. */
static tarry_status check_epochs(const tarry__store *s,
                                 const tarry__store_batch *batches, size_t n,
                                 tarry_error *error)
{
    for (size_t i = 0; i < n; i++) {
        const tarry__store_head *h = s->heads.head[batches[i].experiment - 1];
        if (h->epoch == 0 ||
            (batches[i].epoch != 0 && batches[i].epoch != h->epoch))
            return tarry__base_fail(error, TARRY_CANCELLED,
                                    "experiment '%s' was lost to another "
                                    "process",
                                    h->made.name);
    }
    return TARRY_OK;
}

tarry_status tarry__store_append(tarry__store *s,
                                 const tarry__store_batch *batches, size_t n,
                                 tarry_error *error)
{
    pthread_mutex_lock(&s->lock);
    tarry_status status = check_epochs(s, batches, n, error);
    if (status == TARRY_OK)
        status = append(s, NULL, batches, n, error);
    pthread_mutex_unlock(&s->lock);
    return status;
}

static uint64_t find(const tarry__store *s, const char *name)
{
    for (size_t i = 0; i < s->heads.count; i++)
        if (strcmp(s->heads.head[i]->made.name, name) == 0)
            return i + 1;
    return 0;
}

static tarry_status add(tarry__store *s, const tarry__store_experiment *e,
                        tarry__store_event *arms, tarry_error *error)
{
    const tarry_status fresh =
        s->kind->refresh != NULL ? s->kind->refresh(s->state, error) : TARRY_OK;
    if (fresh != TARRY_OK)
        return fresh;
    if (find(s, e->name) != 0)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "an experiment has this name: '%s'", e->name);
    if (tarry__store_heads_add(&s->heads, e) != TARRY_OK)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    const tarry__store_batch batch = {s->heads.count, arms, e->n_arms, 0};
    const tarry_status status = append(s, e, &batch, 1, error);
    if (status != TARRY_OK)
        tarry__store_heads_drop_last(&s->heads);
    return status;
}

tarry_status tarry__store_add(tarry__store *s, const tarry__store_experiment *e,
                              tarry__store_event *arms, uint64_t *number,
                              tarry_error *error)
{
    tarry__store_experiment kept = *e;
    kept.low += 0.0; /* no negative zero, which SQLite does not keep */
    kept.high += 0.0;
    pthread_mutex_lock(&s->lock);
    tarry_status status = add(s, &kept, arms, error);
    for (int i = 1; i < MOST_TRIES && status == TARRY_CANCELLED; i++)
        status = add(s, &kept, arms, error); /* others may be faster, once */
    *number = status == TARRY_OK ? s->heads.count : 0;
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* ---- asking ---------------------------------------------------------------*/

uint64_t tarry__store_count(tarry__store *s)
{
    pthread_mutex_lock(&s->lock);
    const uint64_t count = s->heads.count;
    pthread_mutex_unlock(&s->lock);
    return count;
}

const tarry__store_experiment *tarry__store_get(tarry__store *s,
                                                uint64_t number)
{
    pthread_mutex_lock(&s->lock);
    const tarry__store_experiment *made = &s->heads.head[number - 1]->made;
    pthread_mutex_unlock(&s->lock);
    return made;
}

uint64_t tarry__store_find(tarry__store *s, const char *name)
{
    pthread_mutex_lock(&s->lock);
    const uint64_t number = find(s, name);
    pthread_mutex_unlock(&s->lock);
    return number;
}

uint64_t tarry__store_events(tarry__store *s, uint64_t number, uint64_t *sum)
{
    pthread_mutex_lock(&s->lock);
    const tarry__store_head *h = s->heads.head[number - 1];
    const uint64_t events = h->end.events;
    if (sum != NULL)
        *sum = h->end.sum;
    pthread_mutex_unlock(&s->lock);
    return events;
}

bool tarry__store_has_own_ids(tarry__store *s, uint64_t number)
{
    pthread_mutex_lock(&s->lock);
    const bool has = s->heads.head[number - 1]->has_own_ids;
    pthread_mutex_unlock(&s->lock);
    return has;
}

void tarry__store_reserve(tarry__store *s)
{
    pthread_mutex_lock(&s->lock);
    if (s->kind == &tarry__store_sqlite)
        tarry__store_sqlite_reserve(s->state);
    pthread_mutex_unlock(&s->lock);
}

bool tarry__store_has_file(tarry__store *s, const char *path)
{
    struct stat file;
    if (s->kind->has_file == NULL || stat(path, &file) != 0)
        return false;
    pthread_mutex_lock(&s->lock);
    const bool has = s->kind->has_file(s->state, &file);
    pthread_mutex_unlock(&s->lock);
    return has;
}

/* The rest is the kind's own, under the lock. */
#define LOCKED(call)                                                           \
    do {                                                                       \
        pthread_mutex_lock(&s->lock);                                          \
        const tarry_status status = s->kind->call;                             \
        pthread_mutex_unlock(&s->lock);                                        \
        return status;                                                         \
    } while (0)

tarry_status tarry__store_probe(tarry__store *s, tarry_error *error)
{
    LOCKED(probe(s->state, error));
}

tarry_status tarry__store_scan(
    tarry__store *s, uint64_t experiment, uint64_t seq,
    tarry_status (*take)(void *context, const tarry__store_event *event),
    void *context, tarry_error *error)
{
    LOCKED(scan(s->state, &s->heads, experiment, seq, take, context, error));
}

tarry_status tarry__store_scan_arms(
    tarry__store *s, uint64_t experiment,
    tarry_status (*take)(void *context, const tarry__store_event *event),
    void *context, tarry_error *error)
{
    LOCKED(scan_arms(s->state, &s->heads, experiment, take, context, error));
}

tarry_status tarry__store_look(tarry__store *s, uint64_t experiment,
                               tarry__store_event_kind kind, uint64_t round,
                               tarry__store_event *event, char *id, bool *found,
                               tarry_error *error)
{
    LOCKED(look(s->state, experiment, kind, round, event, id, found, error));
}

tarry_status tarry__store_look_id(tarry__store *s, const char *id,
                                  uint64_t *experiment, uint64_t *round,
                                  bool *found, tarry_error *error)
{
    LOCKED(look_id(s->state, id, experiment, round, found, error));
}

tarry_status tarry__store_round_at(tarry__store *s, uint64_t experiment,
                                   int64_t at, uint64_t *round,
                                   tarry_error *error)
{
    LOCKED(round_at(s->state, experiment, at, round, error));
}

tarry_status tarry__store_save(tarry__store *s, uint64_t experiment,
                               uint64_t seq, const void *bytes, size_t size,
                               tarry_error *error)
{
    LOCKED(save(s->state, experiment, seq, bytes, size, error));
}

tarry_status tarry__store_load(tarry__store *s, uint64_t experiment,
                               uint64_t *seq, void **bytes, size_t *size,
                               tarry_error *error)
{
    LOCKED(load(s->state, experiment, seq, bytes, size, error));
}

/* ---- owners ---------------------------------------------------------------*/

tarry_status tarry__store_own(tarry__store *s, uint64_t number,
                              char owner[TARRY__STORE_OWNER_ROOM],
                              tarry_error *error)
{
    owner[0] = '\0';
    if (s->kind->own == NULL)
        return TARRY_OK;
    LOCKED(own(s->state, number, owner, error));
}

tarry_status tarry__store_follow(tarry__store *s, uint64_t number,
                                 tarry_error *error)
{
    if (s->kind->follow == NULL)
        return TARRY_OK;
    LOCKED(follow(s->state, number, error));
}

const _Atomic uint64_t *tarry__store_epoch(tarry__store *s, uint64_t number)
{
    pthread_mutex_lock(&s->lock);
    const _Atomic uint64_t *epoch = &s->heads.head[number - 1]->epoch;
    pthread_mutex_unlock(&s->lock);
    return epoch;
}

bool tarry__store_is_shared(const tarry__store *s)
{
    return s->kind->own != NULL;
}

tarry_status tarry__store_publish(tarry__store *s, const char *address)
{
    if (s->kind->publish == NULL)
        return TARRY_OK;
    LOCKED(publish(s->state, address));
}

tarry_status tarry__store_refresh(tarry__store *s, tarry_error *error)
{
    if (s->kind->refresh == NULL)
        return TARRY_OK;
    LOCKED(refresh(s->state, error));
}

tarry_status tarry__store_mark(tarry__store *s, bool ready, tarry_error *error)
{
    if (s->kind->mark == NULL)
        return TARRY_OK;
    LOCKED(mark(s->state, ready, error));
}
