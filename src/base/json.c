/* json.c - see json.h. */
#include "base/json.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
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

json_t *tarry__json_number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *tarry__json_set(json_t *object, const char *key, json_t *value)
{
    return whole(object, json_object_set_new(object, key, value));
}

json_t *tarry__json_join(json_t *object, json_t *more)
{
    object = whole(object, more == NULL || json_object_update(object, more));
    json_decref(more);
    return object;
}

size_t tarry__json_character(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    const size_t length = c[0] < 0x80             ? 1
                          : (c[0] & 0xe0) == 0xc0 ? 2
                          : (c[0] & 0xf0) == 0xe0 ? 3
                          : (c[0] & 0xf8) == 0xf0 ? 4
                                                  : 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t code = length == 1 ? c[0] : c[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (c[i] & 0x3f);
    }
    return code >= least[length] && code <= 0x10ffff &&
                   (code < 0xd800 || code > 0xdfff)
               ? length
               : 0;
}

bool tarry__json_is_text(const char *text)
{
    size_t length = 1;
    for (; *text != '\0' && length > 0; text += length)
        length = tarry__json_character(text);
    return length > 0;
}

/* Controls beyond ASCII, U+0080 to U+009F, are two bytes of UTF-8. */
static bool is_control(const unsigned char *c)
{
    return *c < 0x20 || *c == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0);
}

bool tarry__json_is_name(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    while (*c != '\0' && !is_control(c))
        c++;
    return *text != '\0' && *c == '\0' && tarry__json_is_text(text);
}

static atomic_bool failed;
static _Thread_local uint64_t failures;

static void *take(size_t size)
{
    void *block = tarry__base_small(size);
    if (block == NULL) {
        failed = true;
        failures++;
    }
    return block;
}

json_t *tarry__json_load(const char *bytes, size_t size, size_t flags,
                         json_error_t *error, bool *has_memory)
{
    const uint64_t before = failures;
    json_t *json = json_loadb(bytes, size, flags, error);
    *has_memory = failures == before;
    if (!*has_memory) {
        json_decref(json);
        json = NULL;
    }
    return json;
}

bool tarry__json_has_failed(void)
{
    return failed;
}

typedef struct {
    char *bytes;
    size_t size, room;
    bool is_lost; /* something did not fit */
} text;

static int add_bytes(const char *bytes, size_t size, void *context)
{
    text *t = context;
    if (size > t->room - t->size) {
        const size_t room = 2 * t->room + size + 64;
        char *bigger = tarry__base_grow(t->bytes, t->size, room, 1);
        if (bigger == NULL) {
            failed = true;
            t->is_lost = true;
            return -1;
        }
        t->bytes = bigger;
        t->room = room;
    }
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    return 0;
}

char *tarry__json_text(const json_t *value, size_t flags)
{
    text t = {0};
    if (value != NULL && json_dump_callback(value, add_bytes, &t, flags) == 0 &&
        add_bytes("", 1, &t) == 0 && !t.is_lost)
        return t.bytes;
    tarry__base_free(t.bytes);
    return NULL;
}

void tarry__json_use_base(void)
{
    json_set_alloc_funcs(take, tarry__base_free);
}
