/* The description of the service says what its table of routes says. */
#include "check.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "http/page.h"

static const tarry__service_file *file_at(const char *path)
{
    const tarry__service_file *f = tarry__http_files;
    while (f->path != NULL && strcmp(f->path, path) != 0)
        f++;
    return f->path != NULL ? f : NULL;
}

static json_t *read_description(void)
{
    const tarry__service_file *f = file_at("/openapi.json");
    json_error_t error;
    assert_non_null(f);
    json_t *json = json_loadb((const char *)f->bytes, f->size,
                              JSON_REJECT_DUPLICATES, &error);
    if (json == NULL)
        fail_msg("openapi.json:%d: %s", error.line, error.text);
    return json;
}

static const char *scope_name(int scope)
{
    return scope == TARRY__SERVICE_DECIDE     ? "decide"
           : scope == TARRY__SERVICE_FEEDBACK ? "feedback"
           : scope == TARRY__SERVICE_READ     ? "read"
           : scope == TARRY__SERVICE_ADMIN    ? "admin"
                                              : NULL;
}

static void lower(const char *method, char out[16])
{
    size_t i = 0;
    for (; method[i] != '\0' && i < 15; i++)
        out[i] = (char)(method[i] | 0x20);
    out[i] = '\0';
}

static void every_route_is_described(void **state)
{
    (void)state;
    json_t *json = read_description(), *paths = json_object_get(json, "paths");
    tarry__service_route_shown r;
    size_t i;
    for (i = 0; tarry__service_route_at(i, &r); i++) {
        char method[16];
        lower(r.method, method);
        const json_t *operation =
            json_object_get(json_object_get(paths, r.pattern), method);
        if (operation == NULL)
            fail_msg("%s %s is not described", r.method, r.pattern);
        const char *scope =
            json_string_value(json_object_get(operation, "x-scope"));
        const char *needs = scope_name(r.scope);
        if ((scope == NULL) != (needs == NULL) ||
            (scope != NULL && strcmp(scope, needs) != 0))
            fail_msg("%s %s: its scope is %s", r.method, r.pattern,
                     needs != NULL ? needs : "none");
        /* who needs no token says so */
        assert_int_equal(json_object_get(operation, "security") != NULL,
                         needs == NULL);
    }
    assert_true(i > 10);
    json_decref(json);
}

static bool is_route(const char *method, const char *path)
{
    tarry__service_route_shown r;
    char small[16];
    for (size_t i = 0; tarry__service_route_at(i, &r); i++) {
        lower(r.method, small);
        if (strcmp(small, method) == 0 && strcmp(r.pattern, path) == 0)
            return true;
    }
    return strcmp(method, "get") == 0 && file_at(path) != NULL;
}

static void everything_described_is_there(void **state)
{
    (void)state;
    json_t *json = read_description(), *methods, *operation;
    const char *path, *method;
    json_object_foreach(json_object_get(json, "paths"), path, methods)
        json_object_foreach(methods, method, operation)
    {
        if (strcmp(method, "parameters") != 0 && !is_route(method, path))
            fail_msg("%s %s is described, but not there", method, path);
    }
    json_decref(json);
}

static void files_are_whole(void **state)
{
    (void)state;
    size_t n = 0;
    for (const tarry__service_file *f = tarry__http_files; f->path != NULL;
         f++, n++) {
        assert_true(f->size > 100);
        assert_int_equal(f->bytes[f->size], 0);
        assert_true(f->path[0] == '/' && f->type[0] != '\0');
    }
    assert_int_equal(n, 8);
    assert_memory_equal(file_at("/")->bytes, "<!doctype html>", 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_described),
        cmocka_unit_test(everything_described_is_there),
        cmocka_unit_test(files_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
