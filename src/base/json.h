/* json.h - building JSON so that a failure cannot be overlooked.
 *
 * A value that could not be made is NULL.  These pass it on, as json_pack does,
 * so that only the whole has to be looked at: it is complete, or NULL.  All
 * files take JSON from here, where what adds to a value must be looked at. */
#ifndef TARRY_BASE_JSON_H
#define TARRY_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>

/* A failure here would leave something out. */
int json_array_append_new(json_t *, json_t *)
    __attribute__((warn_unused_result));
int json_object_set_new(json_t *, const char *, json_t *)
    __attribute__((warn_unused_result));
int json_object_update(json_t *, json_t *) __attribute__((warn_unused_result));

/* null for what is not finite, which JSON cannot say. */
json_t *tarry__json_number(double x);

/* The list with the value at its end, the object with it under the key; both
 * are taken over.  NULL, and both are freed, if either is NULL or there is no
 * memory. */
json_t *tarry__json_add(json_t *list, json_t *value)
    __attribute__((warn_unused_result));
json_t *tarry__json_set(json_t *object, const char *key, json_t *value)
    __attribute__((warn_unused_result));

/* The object with the keys of another behind its own; the same holds. */
json_t *tarry__json_join(json_t *object, json_t *more)
    __attribute__((warn_unused_result));

/* How many bytes a character of UTF-8 takes that begins here; 0: it is none. */
size_t tarry__json_character(const char *text);

/* Whether JSON can hold a text: valid UTF-8.  (When json_string gives nothing,
 * it may also be for lack of memory.) */
bool tarry__json_is_text(const char *text);

/* Whether a text can be a name: not empty, no control characters, UTF-8. */
bool tarry__json_is_name(const char *text);

/* The text of a value, as json_dumps gives it, ended with tarry__base_free;
 * NULL if the value is, or there is no memory.  (When a key does not fit into
 * memory, json_dumps itself goes on without it.) */
char *tarry__json_text(const json_t *value, size_t flags);

/* From now on, for all of the program, JSON takes its memory in base.h.  Texts
 * of JSON then end with tarry__base_free. */
void tarry__json_use_base(void);

/* As json_loadb; without memory it is NULL, and jansson may tell any error. */
json_t *tarry__json_load(const char *bytes, size_t size, size_t flags,
                         json_error_t *error, bool *has_memory)
    __attribute__((warn_unused_result));

/* Whether JSON ever went without memory since then: what was built may lack
 * something. */
bool tarry__json_has_failed(void);

#endif
