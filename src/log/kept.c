/* kept.c - see kept.h.  Rows are the texts that an export would have, so that
 * the two are read alike. */
#include "log/kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/base.h"
#include "store/fates.h"

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Of a pipe nothing may be read to find out. */
bool tarry__kept_is_store(const char *path)
{
    static const char magic[] = "SQLite format 3"; /* and a zero byte */
    char head[sizeof magic] = "";
    struct stat what;
    if (begins(path, "sqlite:") || begins(path, "postgres"))
        return strchr(path, ':') != NULL;
    const bool is_file = strcmp(path, "-") != 0 && stat(path, &what) == 0 &&
                         S_ISREG(what.st_mode);
    FILE *file = is_file ? fopen(path, "rbe") : NULL;
    if (file == NULL)
        return false;
    const bool whole = fread(head, sizeof head, 1, file) == 1;
    fclose(file);
    return whole && memcmp(head, magic, sizeof magic) == 0;
}

/* ---- arms -----------------------------------------------------------------*/

typedef struct {
    tarry_arms *arms;
    double *data;
    uint64_t room;
    bool is_named;
} arms_taken;

static bool is_used(const tarry_arms *arms, const char *name)
{
    size_t k = 0;
    while (k < arms->n_arms && strcmp(arms->names[k], name) != 0)
        k++;
    return k < arms->n_arms;
}

/* An arm whose name was used before goes by name and number: its own, or the
 * next that makes a name which no other arm has. */
static char *own_name(const tarry_arms *arms, const char *name)
{
    const bool is_new = name != NULL && !is_used(arms, name);
    const size_t size = (name != NULL ? strlen(name) : 0) + 32;
    char *copy = tarry__base_alloc(size, 1);
    if (copy != NULL && is_new)
        snprintf(copy, size, "%s", name);
    for (size_t k = arms->n_arms; copy != NULL && !is_new; k++) {
        snprintf(copy, size, "%s%s%zu", name != NULL ? name : "",
                 name != NULL ? " " : "", k);
        if (!is_used(arms, copy))
            break;
    }
    return copy;
}

/* An arm without features: it gets a dimension that the others do not have. */
static tarry_status add_dimension(arms_taken *t, const char *text)
{
    tarry_arms *arms = t->arms;
    const size_t k = arms->n_arms, n = arms->dim;
    double *data = tarry__base_zalloc(t->room * (n + 1), sizeof *data);
    if (data == NULL)
        return TARRY_NO_MEMORY;
    for (size_t i = 0; i < k; i++)
        memcpy(data + i * (n + 1), t->data + i * n, n * sizeof *data);
    data[k * (n + 1) + n] = 1;
    tarry__base_free(t->data);
    arms->data = t->data = data;
    arms->dim = n + 1;
    arms->names[k] = own_name(arms, text);
    if (arms->names[k] == NULL)
        return TARRY_NO_MEMORY;
    arms->n_arms++;
    return TARRY_OK;
}

static tarry_status take_arm(void *context, const tarry__store_event *e)
{
    arms_taken *t = context;
    tarry_arms *arms = t->arms;
    const size_t k = arms->n_arms, n = arms->dim;
    if (k == t->room) {
        const uint64_t room = 2 * t->room + 64;
        double *data = tarry__base_grow(t->data, k * n, room * n, sizeof *data);
        if (data == NULL)
            return TARRY_NO_MEMORY;
        arms->data = t->data = data;
        const char **names =
            tarry__base_grow((void *)arms->names, k, room, sizeof *arms->names);
        if (names == NULL)
            return TARRY_NO_MEMORY;
        arms->names = names;
        t->room = room;
    }
    if (e->features == NULL)
        return add_dimension(t, e->text);
    memcpy(t->data + k * n, e->features, n * sizeof *t->data);
    arms->names[k] = own_name(arms, e->text);
    if (arms->names[k] == NULL)
        return TARRY_NO_MEMORY;
    arms->n_arms++;
    return TARRY_OK;
}

/* ---- opening --------------------------------------------------------------*/

static tarry_status pick(tarry__kept *k, const char *path, const char *name,
                         tarry_error *error)
{
    const uint64_t count = tarry__store_count(k->store);
    k->experiment =
        name != NULL ? tarry__store_find(k->store, name) : count == 1;
    if (k->experiment != 0)
        return TARRY_OK;
    if (name != NULL)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s: no experiment has the name '%s'", path,
                                name);
    return tarry__base_fail(error, TARRY_BAD_INPUT,
                            "%s: it has %" PRIu64 " experiments; say which "
                            "with --name",
                            path, count);
}

tarry_status tarry__kept_open(tarry__kept *k, const char *path,
                              const char *name, tarry__log_options *o,
                              tarry_error *error)
{
    *k = (tarry__kept){0};
    tarry_status status = tarry__store_open(path, false, &k->store, error);
    if (status == TARRY_OK)
        status = pick(k, path, name, error);
    if (status != TARRY_OK)
        return status;
    const tarry__store_experiment *made =
        tarry__store_get(k->store, k->experiment);
    arms_taken taken = {.arms = &k->arms};
    k->arms.dim = made->dim;
    status = tarry__store_scan_arms(k->store, k->experiment, take_arm, &taken,
                                    error);
    if (status == TARRY_NO_MEMORY)
        return tarry__base_fail(error, status, "out of memory");
    o->low = made->low;
    o->high = made->high;
    o->maximize = made->maximize;
    o->arms = &k->arms;
    return status;
}

void tarry__kept_close(tarry__kept *k)
{
    for (size_t i = 0; i < k->arms.n_arms; i++)
        tarry__base_free((void *)k->arms.names[i]);
    tarry__base_free((void *)k->arms.names);
    tarry__base_free((void *)k->arms.data);
    tarry__store_close(k->store);
    *k = (tarry__kept){0};
}

/* ---- reading --------------------------------------------------------------*/

typedef struct {
    const tarry__kept *kept;
    const tarry__store_experiment *made;
    tarry__fates fates;
    tarry__log *log;
    tarry_error *error;
} reading;

static tarry__text text_of(const char *text)
{
    return (tarry__text){text, text + strlen(text)};
}

static tarry_status add_choice(void *context, const tarry__store_event *e)
{
    reading *r = context;
    char id[300], probability[40], loss[40];
    if (e->kind != TARRY__STORE_CHOOSE)
        return TARRY_OK;
    const tarry__fates_fate *f = tarry__fates_of(&r->fates, e->round);
    const tarry__fates_text decided = tarry__fates_moment(e->at);
    const tarry__fates_text reported = tarry__fates_moment(f->at);
    tarry__log_row row = {.id = text_of(tarry__fates_id(r->made, e, id)),
                          .arm = text_of(r->kept->arms.names[e->arm]),
                          .decided = text_of(decided.text),
                          .state = text_of(tarry__fates_state_name(f->state))};
    snprintf(probability, sizeof probability, "%.17g", e->value);
    snprintf(loss, sizeof loss, "%.17g", f->loss);
    if (e->value > 0) /* else nobody worked it out */
        row.probability = text_of(probability);
    if (f->state == TARRY__FATES_OBSERVED) {
        row.reported = text_of(reported.text);
        row.loss = text_of(loss);
    }
    return tarry__log_add(r->log, &row, e->round, r->error);
}

tarry_status tarry__kept_read(void *context, tarry__log *log, const char *path,
                              const tarry__log_options *options,
                              tarry_error *error)
{
    const tarry__kept *k = context;
    reading r = {.kept = k,
                 .made = tarry__store_get(k->store, k->experiment),
                 .log = log,
                 .error = error};
    tarry_status status = tarry__log_begin(log, path, options, error);
    if (status != TARRY_OK)
        return status;
    log->format = "store";
    status = tarry__fates_load(&r.fates, k->store, k->experiment, error);
    if (status == TARRY_OK)
        status = tarry__store_scan(k->store, k->experiment, 0, add_choice, &r,
                                   error);
    tarry__fates_clear(&r.fates);
    return status == TARRY_OK ? tarry__log_end(log, error) : status;
}
