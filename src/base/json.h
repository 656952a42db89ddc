/* json.h - building JSON so that a failure cannot be overlooked.
 *
 * A value that could not be made is NULL.  These pass it on, as json_pack does,
 * so that only the whole has to be looked at: it is complete, or NULL. */
#ifndef TARRY_BASE_JSON_H
#define TARRY_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>

/* The list with the value at its end, the object with it under the key; both
 * are taken over.  NULL, and both are freed, if either is NULL or there is no
 * memory. */
json_t *tarry__json_add(json_t *list, json_t *value);
json_t *tarry__json_set(json_t *object, const char *key, json_t *value);

/* The text of a value, as json_dumps gives it, ended with tarry__base_free;
 * NULL if the value is, or there is no memory.  (When a key does not fit into
 * memory, json_dumps itself goes on without it.) */
char *tarry__json_text(const json_t *value, size_t flags);

/* From now on, for all of the program, JSON takes its memory in base.h.  Texts
 * of JSON then end with tarry__base_free. */
void tarry__json_use_base(void);

/* Whether JSON ever went without memory since then: what was built may lack
 * something. */
bool tarry__json_has_failed(void);

#endif
