/* copy.c - one store into another, event by event.
 *
 * The numbers and digests of events follow from the events, so a copy is right
 * exactly when its digests are those of the original.  Until all of it is
 * there, a file has another name, and a database is marked so that nobody can
 * open it. */
#define _GNU_SOURCE
#include "store/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"

enum { PART = 10000 }; /* events in one commit */

/* ---- events ---------------------------------------------------------------*/

typedef struct {
    tarry__store *to;
    const tarry__store_experiment *made;
    uint64_t number;           /* of the copy, 0 before it is added */
    tarry__store_event *event; /* room for `room`, texts and features owned */
    size_t count, room;
    tarry_error *error;
} copying;

static void *copy_of(const void *from, size_t size)
{
    void *copy = tarry__base_alloc(size, 1);
    if (copy != NULL)
        memcpy(copy, from, size);
    return copy;
}

static void clear(copying *c)
{
    for (size_t i = 0; i < c->count; i++) {
        tarry__base_free((void *)c->event[i].text);
        tarry__base_free((void *)c->event[i].features);
    }
    c->count = 0;
}

/* The first part is the arms that the experiment was made with. */
static tarry_status flush(copying *c)
{
    const tarry__store_batch batch = {c->number, c->event, c->count, 0};
    tarry_status status = TARRY_OK;
    if (c->number == 0)
        status =
            tarry__store_add(c->to, c->made, c->event, &c->number, c->error);
    else if (c->count > 0)
        status = tarry__store_append(c->to, &batch, 1, c->error);
    clear(c);
    return status;
}

static tarry_status take(void *context, const tarry__store_event *e)
{
    copying *c = context;
    tarry__store_event *mine = &c->event[c->count++];
    *mine = *e;
    if (e->text != NULL)
        mine->text = copy_of(e->text, strlen(e->text) + 1);
    if (e->features != NULL)
        mine->features = copy_of(e->features, c->made->dim * sizeof(double));
    if ((mine->text == NULL) != (e->text == NULL) ||
        (mine->features == NULL) != (e->features == NULL))
        return tarry__base_fail(c->error, TARRY_NO_MEMORY, "out of memory");
    const size_t enough = c->number == 0 ? c->made->n_arms : PART;
    return c->count == enough ? flush(c) : TARRY_OK;
}

static tarry_status copy_events(tarry__store *from, uint64_t number,
                                tarry__store *to, tarry_error *error)
{
    copying c = {
        .to = to, .made = tarry__store_get(from, number), .error = error};
    c.room = c.made->n_arms > PART ? c.made->n_arms : PART;
    c.event = tarry__base_alloc(c.room, sizeof *c.event);
    if (c.event == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    tarry_status status = tarry__store_scan(from, number, 0, take, &c, error);
    if (status == TARRY_OK)
        status = flush(&c);
    clear(&c);
    tarry__base_free(c.event);
    if (status == TARRY_OK && c.number != number)
        status = tarry__base_fail(error, TARRY_CANCELLED,
                                  "another process writes to the copy");
    return status;
}

static tarry_status copy_snapshot(tarry__store *from, uint64_t number,
                                  tarry__store *to, tarry_error *error)
{
    uint64_t seq;
    void *bytes;
    size_t size;
    tarry_status status =
        tarry__store_load(from, number, &seq, &bytes, &size, error);
    if (status == TARRY_OK && bytes != NULL)
        status = tarry__store_save(to, number, seq, bytes, size, error);
    tarry__base_free(bytes);
    return status;
}

/* Nobody else may add to what is copied. */
static tarry_status copy_all(tarry__store *from, tarry__store *to,
                             tarry_error *error)
{
    tarry_status status = TARRY_OK;
    char owner[TARRY__STORE_OWNER_ROOM];
    const uint64_t count = tarry__store_count(from);
    for (uint64_t i = 1; status == TARRY_OK && i <= count; i++) {
        status = tarry__store_own(from, i, owner, error);
        if (status == TARRY_OK)
            status = copy_events(from, i, to, error);
        if (status == TARRY_OK)
            status = copy_snapshot(from, i, to, error);
    }
    return status;
}

/* ---- verifying ------------------------------------------------------------*/

/* Opening has verified every event against the digests. */
static tarry_status compare(tarry__store *from, tarry__store *to,
                            uint64_t *experiments, uint64_t *events,
                            tarry_error *error)
{
    *experiments = tarry__store_count(from);
    *events = 0;
    bool same = tarry__store_count(to) == *experiments;
    for (uint64_t i = 1; same && i <= *experiments; i++) {
        uint64_t one, other;
        const uint64_t count = tarry__store_events(from, i, &one);
        same = tarry__store_events(to, i, &other) == count && one == other;
        *events += count;
    }
    return same ? TARRY_OK
                : tarry__base_fail(error, TARRY_BAD_STATE,
                                   "the copy is not the same");
}

static tarry_status verify(tarry__store *from, const char *url,
                           uint64_t *experiments, uint64_t *events,
                           tarry_error *error)
{
    tarry__store *to;
    tarry_status status = tarry__store_open(url, false, &to, error);
    if (status == TARRY_OK)
        status = compare(from, to, experiments, events, error);
    tarry__store_close(to);
    return status;
}

/* ---- places ---------------------------------------------------------------*/

/* Opens a store that must be empty. */
static tarry_status open_empty(const char *url, tarry__store **to,
                               tarry_error *error)
{
    tarry_status status = tarry__store_open(url, true, to, error);
    if (status != TARRY_OK || tarry__store_count(*to) == 0)
        return status;
    tarry__store_close(*to);
    *to = NULL;
    char *shown = strdup(url);
    if (shown != NULL)
        tarry__store_show(url, shown);
    status = tarry__base_fail(error, TARRY_BAD_ARGUMENT, "%s: is not empty",
                              shown != NULL ? shown : "");
    free(shown);
    return status;
}

static tarry_status copy_to(tarry__store *from, const char *url,
                            uint64_t *experiments, uint64_t *events,
                            tarry_error *error)
{
    tarry__store *to;
    tarry_status status = open_empty(url, &to, error);
    if (status == TARRY_OK)
        status = tarry__store_mark(to, false, error);
    if (status == TARRY_OK)
        status = copy_all(from, to, error);
    if (status == TARRY_OK)
        status = tarry__store_mark(to, true, error);
    tarry__store_close(to);
    return status == TARRY_OK ? verify(from, url, experiments, events, error)
                              : status;
}

/* A file and what lies beside it. */
static void remove_files(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-lock"};
    char *name;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (asprintf(&name, "%s%s", path, ends[i]) >= 0) {
            unlink(name);
            free(name);
        }
}

static void sync_folder(const char *path)
{
    char *folder = strdup(path);
    if (folder == NULL)
        return;
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[1] = '\0';
    const int fd = open(slash != NULL ? folder : ".", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

/* Whether everything is in the file itself: SQLite removes its log when it has
 * moved all of it there. */
static bool is_whole(const char *path)
{
    char *log;
    if (asprintf(&log, "%s-wal", path) < 0)
        return false;
    const bool whole = access(log, F_OK) != 0;
    free(log);
    return whole;
}

/* Puts the copy in its place, that of an empty store or of nothing. */
static tarry_status move(const char *beside, const char *path,
                         tarry_error *error)
{
    if (!is_whole(beside))
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: cannot be written",
                                path);
    remove_files(path);
    if (rename(beside, path) != 0)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", path,
                                strerror(errno));
    sync_folder(path);
    return TARRY_OK;
}

static tarry_status copy_to_file(tarry__store *from, const char *path,
                                 uint64_t *experiments, uint64_t *events,
                                 tarry_error *error)
{
    tarry__store *there = NULL;
    char *beside;
    tarry_status status =
        access(path, F_OK) == 0 ? open_empty(path, &there, error) : TARRY_OK;
    tarry__store_close(there);
    if (status != TARRY_OK)
        return status;
    if (asprintf(&beside, "%s-copy", path) < 0)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    remove_files(beside); /* of somebody who was interrupted */
    status = copy_to(from, beside, experiments, events, error);
    if (status == TARRY_OK)
        status = move(beside, path, error);
    remove_files(beside);
    free(beside);
    return status;
}

/* ---- the whole ------------------------------------------------------------*/

tarry_status tarry__store_copy(const char *from_url, const char *to_url,
                               uint64_t *experiments, uint64_t *events,
                               tarry_error *error)
{
    static const char sqlite[] = "sqlite:", memory[] = "memory:";
    tarry__store *from;
    if (strncmp(from_url, memory, strlen(memory)) == 0 ||
        strncmp(to_url, memory, strlen(memory)) == 0)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "memory: ends with the process");
    tarry_status status = tarry__store_read(from_url, &from, error);
    if (status != TARRY_OK)
        return status;
    const char *path = strncmp(to_url, sqlite, strlen(sqlite)) == 0
                           ? to_url + strlen(sqlite)
                           : to_url;
    const bool is_file = path != to_url || strstr(to_url, "://") == NULL;
    status = is_file ? copy_to_file(from, path, experiments, events, error)
                     : copy_to(from, to_url, experiments, events, error);
    tarry__store_close(from);
    return status;
}
