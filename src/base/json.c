/* json.c - see json.h. */
#include "base/json.h"

#include <stdatomic.h>
#include "base/base.h"

/* What failed took nothing: jansson frees the value itself. */
static json_t *whole(json_t *container, int failed)
{
    if (!failed)
        return container;
    json_decref(container);
    return NULL;
}

json_t *tarry__json_add(json_t *list, json_t *value)
{
    return whole(list, json_array_append_new(list, value));
}

json_t *tarry__json_set(json_t *object, const char *key, json_t *value)
{
    return whole(object, json_object_set_new(object, key, value));
}

static atomic_bool failed;

static void *take(size_t size)
{
    void *block = tarry__base_alloc(size, 1);
    if (block == NULL)
        failed = true;
    return block;
}

bool tarry__json_has_failed(void)
{
    return failed;
}

void tarry__json_use_base(void)
{
    json_set_alloc_funcs(take, tarry__base_free);
}
