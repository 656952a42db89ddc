/* run_config.c - experiments as JSON: the same keys as the options. */
#include <string.h>
#include "run.h"

json_t *run_config(const tarry__experiment *e)
{
    json_t *policies = json_array();
    for (size_t p = 0; p < e->n_policies; p++)
        json_array_append_new(policies, json_string(e->policy[p]));
    return json_pack("{s:s, s:s, s:s, s:o, s:I, s:I, s:I, s:I}", "instance",
                     e->instance, "loss", e->loss, "delay", e->delay, "policy",
                     policies, "horizon", (json_int_t)e->horizon, "runs",
                     (json_int_t)e->runs, "seed", (json_int_t)e->seed,
                     "points", (json_int_t)e->points);
}

/* A text that stays as long as `keep`. */
static const char *kept(json_t *keep, json_t *value)
{
    json_array_append(keep, value);
    return json_string_value(value);
}

static int read_policies(const char *path, json_t *value, json_t *keep,
                         tarry__experiment *e)
{
    e->n_policies = 0;
    if (json_is_string(value)) {
        e->policy[e->n_policies++] = kept(keep, value);
        return EXIT_DONE;
    }
    size_t i;
    json_t *text;
    json_array_foreach(value, i, text) {
        if (i == TARRY__MAX_POLICIES)
            return cli_error(EXIT_USAGE, "%s: policy: more than %d", path,
                             TARRY__MAX_POLICIES);
        if (!json_is_string(text))
            return cli_error(EXIT_USAGE, "%s: policy: entry %zu is no text",
                             path, i);
        e->policy[e->n_policies++] = kept(keep, text);
    }
    return e->n_policies > 0
               ? EXIT_DONE
               : cli_error(EXIT_USAGE, "%s: policy: neither a text nor a list",
                           path);
}

static int read_count(const char *path, const char *key, json_t *value,
                      uint64_t *out)
{
    const double number = json_number_value(value);
    if (!json_is_number(value) || number < 0 || number > 0x1p53 ||
        number != (double)(uint64_t)number)
        return cli_error(EXIT_USAGE, "%s: %s: not a whole number", path, key);
    *out = (uint64_t)number;
    return EXIT_DONE;
}

static int read_text(const char *path, const char *key, json_t *value,
                     json_t *keep, const char **out)
{
    if (!json_is_string(value))
        return cli_error(EXIT_USAGE, "%s: %s: not a text", path, key);
    *out = kept(keep, value);
    return EXIT_DONE;
}

static int read_key(const char *path, const char *key, json_t *value,
                    json_t *keep, tarry__experiment *e)
{
    if (strcmp(key, "policy") == 0)
        return read_policies(path, value, keep, e);
    if (strcmp(key, "instance") == 0)
        return read_text(path, key, value, keep, &e->instance);
    if (strcmp(key, "loss") == 0)
        return read_text(path, key, value, keep, &e->loss);
    if (strcmp(key, "delay") == 0)
        return read_text(path, key, value, keep, &e->delay);
    if (strcmp(key, "horizon") == 0)
        return read_count(path, key, value, &e->horizon);
    if (strcmp(key, "runs") == 0)
        return read_count(path, key, value, &e->runs);
    if (strcmp(key, "seed") == 0)
        return read_count(path, key, value, &e->seed);
    if (strcmp(key, "points") == 0)
        return read_count(path, key, value, &e->points);
    return cli_error(EXIT_USAGE, "%s: unknown key '%s'", path, key);
}

int run_read_config(const char *path, json_t *keep, tarry__experiment *e)
{
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL && error.line < 0) /* not even opened */
        return cli_error(EXIT_USAGE, "%s", error.text);
    if (root == NULL)
        return cli_error(EXIT_USAGE, "%s:%d:%d: %s", path, error.line,
                         error.column, error.text);
    int code = EXIT_DONE;
    if (!json_is_object(root))
        code = cli_error(EXIT_USAGE, "%s: not a JSON object", path);
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value) {
        if (code == EXIT_DONE)
            code = read_key(path, key, value, keep, e);
    }
    json_decref(root);
    return code;
}
