/* memory.c - a store that ends with the process.
 *
 * Events lie one after another, 32 bytes each; two arrays lead from a round to
 * its choice and to the last of its fates, from which a link leads to the one
 * before.  Texts and features, which few events have, are kept apart.  Rounds
 * before the first choice (of a policy that was restored) are unknown. */
#include <string.h>
#include "base/base.h"
#include "store/kind.h"
#include "store/texts.h"

typedef struct {
    uint64_t round : 56, kind : 8;
    uint64_t arm; /* for a fate: the place of the round's fate before, or 0 */
    double value;
    int64_t at;
} record;

typedef struct {
    size_t place; /* of the event, from 1 */
    char *text;
    double *features;
    bool is_choice; /* the text is its id */
} extra;

typedef struct {
    record *record; /* the event of seq i is record[i - 1] */
    size_t count, room;
    extra *extra; /* places increasing */
    size_t n_extra, extra_room;
    uint64_t first;        /* round, 0 before there is one */
    size_t *choice, *fate; /* places, by round - first; 0: none */
    size_t n_rounds, rounds_room;
    tarry__texts ids;
    void *snapshot;
    size_t snapshot_size;
    uint64_t snapshot_seq;
} log_of;

typedef struct {
    log_of *log;
    size_t count;
} memory;

static tarry_status open_memory(const char *path, bool create,
                                tarry__store_heads *heads, void **state,
                                tarry_error *error)
{
    (void)create, (void)heads;
    if (strcmp(path, "memory:") != 0)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "memory: has no name: '%.100s'", path);
    *state = tarry__base_zalloc(1, sizeof(memory));
    return *state != NULL
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

static void clear_log(log_of *l)
{
    for (size_t i = 0; i < l->n_extra; i++) {
        tarry__base_free(l->extra[i].text);
        tarry__base_free(l->extra[i].features);
    }
    tarry__base_free(l->extra);
    tarry__base_free(l->record);
    tarry__base_free(l->choice);
    tarry__base_free(l->fate);
    tarry__base_free(l->snapshot);
    tarry__texts_clear(&l->ids);
}

static void close_memory(void *state)
{
    memory *m = state;
    for (size_t i = 0; i < m->count; i++)
        clear_log(&m->log[i]);
    tarry__base_free(m->log);
    tarry__base_free(m);
}

/* ---- appending ------------------------------------------------------------*/

/* Room for `more` elements behind `count` in *array. */
static bool reserve(void *array, size_t count, size_t *room, size_t more,
                    size_t size)
{
    void **block = array;
    if (count + more <= *room)
        return true;
    const size_t wanted = 2 * (count + more);
    void *bigger = tarry__base_grow(*block, count, wanted, size);
    if (bigger == NULL)
        return false;
    *block = bigger;
    *room = wanted;
    return true;
}

static bool reserve_all(log_of *l, size_t more)
{
    size_t room = l->rounds_room;
    return reserve(&l->record, l->count, &l->room, more, sizeof *l->record) &&
           reserve(&l->choice, l->n_rounds, &room, more, sizeof(size_t)) &&
           reserve(&l->fate, l->n_rounds, &l->rounds_room, more,
                   sizeof(size_t));
}

static void *copy_of(const void *from, size_t size)
{
    void *copy = from != NULL ? tarry__base_alloc(size, 1) : NULL;
    if (copy != NULL)
        memcpy(copy, from, size);
    return copy;
}

/* Keeps an event's text and features; they are not part of the log before
 * l->count has passed them. */
static bool keep_extra(log_of *l, const tarry__store_event *e, uint64_t dim)
{
    if (e->text == NULL && e->features == NULL)
        return true;
    if (!reserve(&l->extra, l->n_extra, &l->extra_room, 1, sizeof *l->extra))
        return false;
    const size_t text_size = e->text != NULL ? strlen(e->text) + 1 : 0;
    extra x = {e->seq, copy_of(e->text, text_size),
               copy_of(e->features, dim * sizeof(double)),
               e->kind == TARRY__STORE_CHOOSE};
    const bool is_whole = (x.text != NULL) == (e->text != NULL) &&
                          (x.features != NULL) == (e->features != NULL);
    if (is_whole &&
        (e->kind != TARRY__STORE_CHOOSE ||
         tarry__texts_add(&l->ids, e->text, e->round, NULL) == TARRY_OK)) {
        l->extra[l->n_extra++] = x;
        return true;
    }
    tarry__base_free(x.text);
    tarry__base_free(x.features);
    return false;
}

static void drop_extras(log_of *l, size_t kept)
{
    while (l->n_extra > kept) {
        const extra *x = &l->extra[--l->n_extra];
        if (x->is_choice)
            tarry__texts_remove(&l->ids, x->text);
        tarry__base_free(x->text);
        tarry__base_free(x->features);
    }
}

/* Needs no memory. */
static void add_event(log_of *l, const tarry__store_event *e)
{
    const size_t place = l->count + 1;
    uint64_t link = e->arm;
    if (e->kind == TARRY__STORE_CHOOSE) {
        if (l->first == 0)
            l->first = e->round;
        l->choice[l->n_rounds] = place;
        l->fate[l->n_rounds++] = 0;
    } else if (e->round != 0 && e->round >= l->first && l->first != 0) {
        link = l->fate[e->round - l->first];
        l->fate[e->round - l->first] = place;
    }
    l->record[l->count++] = (record){.round = e->round,
                                     .kind = e->kind,
                                     .arm = link,
                                     .value = e->value,
                                     .at = e->at};
}

/* Everything that can fail, for one batch. */
static bool prepare(log_of *l, const tarry__store_batch *b, uint64_t dim)
{
    bool done = reserve_all(l, b->count);
    for (size_t i = 0; done && i < b->count; i++)
        done = keep_extra(l, &b->events[i], dim);
    return done;
}

static bool add_log(memory *m)
{
    size_t room = m->count;
    if (!reserve(&m->log, m->count, &room, 1, sizeof *m->log))
        return false;
    m->log[m->count++] = (log_of){0};
    return true;
}

static tarry_status append(void *state, const tarry__store_heads *heads,
                           const tarry__store_experiment *added,
                           const tarry__store_batch *batches, size_t n,
                           const uint64_t *sums, tarry_error *error)
{
    memory *m = state;
    (void)sums;
    size_t *extras = tarry__base_alloc(n, sizeof *extras), ready = 0;
    bool done = extras != NULL && (added == NULL || add_log(m));
    while (done && ready < n) {
        log_of *l = &m->log[batches[ready].experiment - 1];
        extras[ready] = l->n_extra;
        done = prepare(l, &batches[ready],
                       heads->head[batches[ready].experiment - 1]->made.dim);
        ready++;
    }
    for (size_t i = 0; i < ready; i++) {
        log_of *l = &m->log[batches[i].experiment - 1];
        if (!done)
            drop_extras(l, extras[i]);
        for (size_t k = 0; done && k < batches[i].count; k++)
            add_event(l, &batches[i].events[k]);
    }
    if (!done && added != NULL && m->count == heads->count)
        clear_log(&m->log[--m->count]);
    tarry__base_free(extras);
    return done ? TARRY_OK
                : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

static tarry_status probe(void *state, tarry_error *error)
{
    (void)state, (void)error;
    return TARRY_OK;
}

/* ---- asking ---------------------------------------------------------------*/

static tarry__store_event event_at(const log_of *l, size_t place)
{
    const record *r = &l->record[place - 1];
    const bool has_arm =
        r->kind == TARRY__STORE_CHOOSE || !tarry__store_is_of_round(r->kind);
    return (tarry__store_event){.kind = (tarry__store_event_kind)r->kind,
                                .seq = place,
                                .round = r->round,
                                .arm = has_arm ? r->arm : 0,
                                .value = r->value,
                                .at = r->at};
}

static tarry_status
scan(void *state, const tarry__store_heads *heads, uint64_t experiment,
     uint64_t seq, tarry_status (*take)(void *, const tarry__store_event *),
     void *context, tarry_error *error)
{
    const log_of *l = &((memory *)state)->log[experiment - 1];
    (void)heads, (void)error;
    size_t x = 0;
    while (x < l->n_extra && l->extra[x].place <= seq)
        x++;
    for (size_t place = seq + 1; place <= l->count; place++) {
        tarry__store_event e = event_at(l, place);
        if (x < l->n_extra && l->extra[x].place == place) {
            e.text = l->extra[x].text;
            e.features = l->extra[x++].features;
        }
        const tarry_status status = take(context, &e);
        if (status != TARRY_OK)
            return status;
    }
    return TARRY_OK;
}

static tarry_status
scan_arms(void *state, const tarry__store_heads *heads, uint64_t experiment,
          tarry_status (*take)(void *, const tarry__store_event *),
          void *context, tarry_error *error)
{
    const log_of *l = &((memory *)state)->log[experiment - 1];
    (void)heads, (void)error;
    for (size_t x = 0; x < l->n_extra; x++) {
        tarry__store_event e = event_at(l, l->extra[x].place);
        e.text = l->extra[x].text;
        e.features = l->extra[x].features;
        const tarry_status status =
            e.kind == TARRY__STORE_ADMIT ? take(context, &e) : TARRY_OK;
        if (status != TARRY_OK)
            return status;
    }
    return TARRY_OK;
}

/* The text of a choice, by a search among those that have one. */
static void copy_id(const log_of *l, size_t place, char *id)
{
    size_t low = 0, high = l->n_extra;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (l->extra[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    id[0] = '\0';
    if (low < l->n_extra && l->extra[low].place == place)
        strncat(id, l->extra[low].text, TARRY__STORE_ID_ROOM - 1);
}

/* A pause or its end, by its number; there are few. */
static size_t find_pause(const log_of *l, tarry__store_event_kind kind,
                         uint64_t number)
{
    size_t place = l->count;
    while (place > 0 && (l->record[place - 1].kind != kind ||
                         l->record[place - 1].arm != number))
        place--;
    return place;
}

static tarry_status look(void *state, uint64_t experiment,
                         tarry__store_event_kind kind, uint64_t round,
                         tarry__store_event *event, char *id, bool *found,
                         tarry_error *error)
{
    const log_of *l = &((memory *)state)->log[experiment - 1];
    (void)error;
    *found = false;
    if (kind >= TARRY__STORE_PAUSE && !tarry__store_is_of_round(kind)) {
        const size_t place = find_pause(l, kind, round);
        *found = place != 0;
        if (*found)
            *event = event_at(l, place);
        return TARRY_OK;
    }
    if (l->first == 0 || round < l->first || round - l->first >= l->n_rounds)
        return TARRY_OK;
    size_t place = kind == TARRY__STORE_CHOOSE ? l->choice[round - l->first]
                                               : l->fate[round - l->first];
    while (place != 0 && l->record[place - 1].kind != kind)
        place = l->record[place - 1].arm;
    *found = place != 0;
    if (*found)
        *event = event_at(l, place);
    if (*found && id != NULL)
        copy_id(l, place, id);
    return TARRY_OK;
}

static tarry_status look_id(void *state, const char *id, uint64_t *experiment,
                            uint64_t *round, bool *found, tarry_error *error)
{
    const memory *m = state;
    (void)error;
    *found = false;
    for (size_t i = 0; i < m->count && !*found; i++) {
        *found = tarry__texts_find(&m->log[i].ids, id, round);
        *experiment = i + 1;
    }
    return TARRY_OK;
}

/* Times of choices do not go back. */
static tarry_status round_at(void *state, uint64_t experiment, int64_t at,
                             uint64_t *round, tarry_error *error)
{
    const log_of *l = &((memory *)state)->log[experiment - 1];
    size_t low = 0, high = l->n_rounds;
    (void)error;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (l->record[l->choice[middle] - 1].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    *round = low > 0 ? l->first + low - 1 : 0;
    return TARRY_OK;
}

/* ---- snapshots ------------------------------------------------------------*/

static tarry_status save(void *state, uint64_t experiment, uint64_t seq,
                         const void *bytes, size_t size, tarry_error *error)
{
    log_of *l = &((memory *)state)->log[experiment - 1];
    void *copy = copy_of(bytes, size);
    if (copy == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    tarry__base_free(l->snapshot);
    l->snapshot = copy;
    l->snapshot_size = size;
    l->snapshot_seq = seq;
    return TARRY_OK;
}

static tarry_status load(void *state, uint64_t experiment, uint64_t *seq,
                         void **bytes, size_t *size, tarry_error *error)
{
    const log_of *l = &((memory *)state)->log[experiment - 1];
    *seq = l->snapshot_seq;
    *size = l->snapshot_size;
    *bytes = copy_of(l->snapshot, l->snapshot_size);
    return *bytes != NULL || l->snapshot == NULL
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

const tarry__store_kind tarry__store_memory = {.open = open_memory,
                                               .close = close_memory,
                                               .append = append,
                                               .probe = probe,
                                               .scan = scan,
                                               .scan_arms = scan_arms,
                                               .look = look,
                                               .look_id = look_id,
                                               .round_at = round_at,
                                               .save = save,
                                               .load = load};
