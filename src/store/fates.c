/* fates.c - see fates.h. */
#define _POSIX_C_SOURCE 200809L
#include "store/fates.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/base.h"

static bool reserve_one(tarry__fates *f)
{
    if (f->count < f->room)
        return true;
    const uint64_t room = 2 * f->room + 1000;
    tarry__fates_fate *bigger =
        tarry__base_grow(f->fate, f->count, room, sizeof *f->fate);
    if (bigger == NULL)
        return false;
    f->fate = bigger;
    f->room = room;
    return true;
}

static tarry__fates_state state_after(tarry__store_event_kind kind)
{
    return kind == TARRY__STORE_OBSERVE   ? TARRY__FATES_OBSERVED
           : kind == TARRY__STORE_CANCEL  ? TARRY__FATES_CANCELLED
           : kind == TARRY__STORE_DEFAULT ? TARRY__FATES_DEFAULTED
                                          : TARRY__FATES_EXPIRED;
}

const tarry__fates_fate *tarry__fates_of(const tarry__fates *f, uint64_t round)
{
    return &f->fate[round - f->first];
}

static tarry_status note_fate(void *context, const tarry__store_event *e)
{
    tarry__fates *f = context;
    if (e->kind == TARRY__STORE_CHOOSE) {
        if (!reserve_one(f))
            return TARRY_NO_MEMORY;
        if (f->count == 0)
            f->first = e->round;
        f->fate[f->count++] = (tarry__fates_fate){.state = 0};
    } else if (e->round >= f->first && e->round - f->first < f->count) {
        f->fate[e->round - f->first] = (tarry__fates_fate){
            .loss = e->value, .at = e->at, .state = state_after(e->kind)};
    }
    return TARRY_OK;
}

static tarry_status note_name(void *context, const tarry__store_event *e)
{
    tarry__fates *f = context;
    if (f->n_arms == f->names_room) {
        const size_t room = 2 * f->names_room + 64;
        char **bigger = tarry__base_grow((void *)f->names, f->n_arms, room,
                                         sizeof *f->names);
        if (bigger == NULL)
            return TARRY_NO_MEMORY;
        f->names = bigger;
        f->names_room = room;
    }
    const size_t size = e->text != NULL ? strlen(e->text) + 1 : 0;
    char *copy = e->text != NULL ? tarry__base_alloc(size, 1) : NULL;
    if (e->text != NULL && copy == NULL)
        return TARRY_NO_MEMORY;
    if (copy != NULL)
        memcpy(copy, e->text, size);
    f->names[f->n_arms++] = copy;
    return TARRY_OK;
}

tarry_status tarry__fates_load(tarry__fates *f, tarry__store *store,
                               uint64_t experiment, tarry_error *error)
{
    *f = (tarry__fates){0};
    tarry_status status =
        tarry__store_scan_arms(store, experiment, note_name, f, error);
    if (status == TARRY_OK)
        status = tarry__store_scan(store, experiment, 0, note_fate, f, error);
    if (status == TARRY_NO_MEMORY)
        tarry__base_fail(error, status, "out of memory");
    return status;
}

void tarry__fates_clear(tarry__fates *f)
{
    for (size_t i = 0; i < f->n_arms; i++)
        tarry__base_free(f->names[i]);
    tarry__base_free((void *)f->names);
    tarry__base_free(f->fate);
    *f = (tarry__fates){0};
}

const char *tarry__fates_state_name(tarry__fates_state state)
{
    static const char *const names[] = {"pending", "expired", "cancelled",
                                        "observed", "defaulted"};
    return names[state];
}

tarry__fates_text tarry__fates_moment(int64_t ms)
{
    tarry__fates_text m;
    struct tm parts;
    const time_t seconds = (time_t)(ms / 1000);
    gmtime_r(&seconds, &parts);
    const size_t used =
        strftime(m.text, sizeof m.text, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(m.text + used, sizeof m.text - used, ".%03dZ", (int)(ms % 1000));
    return m;
}

const char *tarry__fates_id(const tarry__store_experiment *made,
                            const tarry__store_event *choice,
                            char generated[300])
{
    if (choice->text != NULL)
        return choice->text;
    snprintf(generated, 300, "%.250s%" PRIu64, made->prefix, choice->round);
    return generated;
}
