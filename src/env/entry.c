/* entry.c - from a description to its record. */
#include "env/entry.h"

#include <stdio.h>
#include <string.h>
#include "base/base.h"

static const tarry__entry *find(const tarry__entry *const *list,
                                const char *name)
{
    for (; list != NULL && *list != NULL; list++)
        if (strcmp((*list)->name, name) == 0)
            return *list;
    return NULL;
}

static void add_names(const tarry__entry *const *list, char *out, size_t room)
{
    for (; list != NULL && *list != NULL; list++) {
        const size_t used = strlen(out);
        snprintf(out + used, room - used, "%s%s", used > 0 ? ", " : "",
                 (*list)->name);
    }
}

tarry_status tarry__entry_open(const char *text, const char *kind,
                               const tarry__entry *const *list,
                               const tarry__entry *const *more,
                               tarry__spec *spec, const tarry__entry **entry,
                               tarry_error *error)
{
    char names[400] = "";
    tarry_status status = tarry__spec_parse(text, spec, error);
    if (status != TARRY_OK)
        return status;
    *entry = find(list, spec->name);
    if (*entry == NULL)
        *entry = find(more, spec->name);
    if (*entry != NULL) {
        status = tarry__spec_check(spec, (*entry)->settings, error);
    } else {
        add_names(list, names, sizeof names);
        add_names(more, names, sizeof names);
        status = tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "no %s '%s' (there are: %s)", kind,
                                  spec->name, names);
    }
    if (status != TARRY_OK)
        tarry__spec_clear(spec);
    return status;
}

bool tarry__entry_has(const tarry__entry *entry, const char *key)
{
    for (const tarry_setting *s = entry->settings; s->key != NULL; s++)
        if (strcmp(s->key, key) == 0)
            return true;
    return false;
}
