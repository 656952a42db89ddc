/* run_config.c - experiments as JSON: the same keys as the options. */
#include <string.h>
#include "base/base.h"
#include "base/json.h"
#include "policy/policy_type.h"
#include "cli/run.h"

/* ---- groups ---------------------------------------------------------------*/

int run_expand_groups(tarry__experiment *e)
{
    const tarry__experiment given = *e;
    tarry_status status = TARRY_OK;
    tarry_error error;
    e->n_policies = 0;
    for (size_t p = 0; status == TARRY_OK && p < given.n_policies; p++)
        status = tarry__experiment_add(e, given.policy[p], &error);
    return status == TARRY_OK
               ? EXIT_DONE
               : cli_error(EXIT_USAGE, "--policy: %s", error.text);
}

/* ---- reading --------------------------------------------------------------*/

static int read_policies(const char *path, json_t *value, tarry__experiment *e)
{
    e->n_policies = 0;
    if (json_is_string(value)) {
        e->policy[e->n_policies++] = json_string_value(value);
        return EXIT_DONE;
    }
    size_t i;
    json_t *text;
    json_array_foreach(value, i, text)
    {
        if (i == TARRY__EXPERIMENT_MAX_POLICIES)
            return cli_error(EXIT_USAGE, "%s: policy: more than %d", path,
                             TARRY__EXPERIMENT_MAX_POLICIES);
        if (!json_is_string(text))
            return cli_error(EXIT_USAGE, "%s: policy: entry %zu is no text",
                             path, i);
        e->policy[e->n_policies++] = json_string_value(text);
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
        number != (double)(uint64_t)number ||
        (json_is_integer(value) &&
         json_integer_value(value) != (json_int_t)number)) {
        char *text = tarry__json_text(value, JSON_ENCODE_ANY);
        cli_error(EXIT_USAGE, "%s: %s: not a whole number from 0 to 2^53: %s",
                  path, key, text != NULL ? text : "");
        tarry__base_free(text);
        return EXIT_USAGE;
    }
    *out = (uint64_t)number;
    return EXIT_DONE;
}

static int read_text(const char *path, const char *key, json_t *value,
                     const char **out)
{
    if (!json_is_string(value))
        return cli_error(EXIT_USAGE, "%s: %s: not a text", path, key);
    *out = json_string_value(value);
    return EXIT_DONE;
}

/* A world's name, instance, loss, delay and reports; all but the name may be
 * missing, then they are those of the experiment. */
static int read_world(const char *path, json_t *object, tarry__batch_world *w)
{
    const char *key;
    json_t *value;
    int code = EXIT_DONE;
    json_object_foreach(object, key, value)
    {
        const char **out = strcmp(key, "name") == 0       ? &w->name
                           : strcmp(key, "instance") == 0 ? &w->instance
                           : strcmp(key, "loss") == 0     ? &w->loss
                           : strcmp(key, "delay") == 0    ? &w->delay
                           : strcmp(key, "report") == 0   ? &w->reports.report
                           : strcmp(key, "default_outcome") == 0
                               ? &w->reports.default_outcome
                               : NULL;
        if (out == NULL)
            return cli_error(EXIT_USAGE, "%s: worlds: unknown key '%s'", path,
                             key);
        if ((code = read_text(path, key, value, out)) != EXIT_DONE)
            return code;
    }
    return w->name != NULL && w->name[0] != '\0'
               ? code
               : cli_error(EXIT_USAGE, "%s: worlds: one without a name", path);
}

static int check_name(const char *path, const tarry__batch_plan *plan,
                      const char *name)
{
    for (size_t i = 0; i < plan->n_worlds; i++)
        if (strcmp(plan->world[i].name, name) == 0)
            return cli_error(EXIT_USAGE, "%s: worlds: two of the name '%s'",
                             path, name);
    return EXIT_DONE;
}

static int read_worlds(const char *path, json_t *list, tarry__batch_plan *plan)
{
    size_t i;
    json_t *value;
    plan->n_worlds = 0;
    if (!json_is_array(list) || json_array_size(list) == 0 ||
        json_array_size(list) > TARRY__BATCH_MAX_WORLDS)
        return cli_error(EXIT_USAGE, "%s: worlds: not a list of 1 to %d", path,
                         TARRY__BATCH_MAX_WORLDS);
    json_array_foreach(list, i, value)
    {
        tarry__batch_world w = {.name = NULL};
        if (!json_is_object(value))
            return cli_error(EXIT_USAGE, "%s: worlds: entry %zu is no object",
                             path, i);
        int code = read_world(path, value, &w);
        if (code == EXIT_DONE)
            code = check_name(path, plan, w.name);
        if (code != EXIT_DONE)
            return code;
        plan->world[plan->n_worlds++] = w;
    }
    return EXIT_DONE;
}

static int read_key(const char *path, const char *key, json_t *value,
                    tarry__batch_plan *plan)
{
    tarry__experiment *e = &plan->experiment;
    if (strcmp(key, "worlds") == 0)
        return read_worlds(path, value, plan);
    if (strcmp(key, "policy") == 0)
        return read_policies(path, value, e);
    if (strcmp(key, "instance") == 0)
        return read_text(path, key, value, &e->instance);
    if (strcmp(key, "loss") == 0)
        return read_text(path, key, value, &e->loss);
    if (strcmp(key, "delay") == 0)
        return read_text(path, key, value, &e->delay);
    if (strcmp(key, "report") == 0)
        return read_text(path, key, value, &e->reports.report);
    if (strcmp(key, "default_outcome") == 0)
        return read_text(path, key, value, &e->reports.default_outcome);
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

int run_read_config(const char *path, json_t *keep, tarry__batch_plan *plan)
{
    int code;
    json_t *root = cli_load_json(path, JSON_REJECT_DUPLICATES, &code);
    if (root == NULL)
        return code;
    if (json_array_append(keep, root) != 0) /* the plan points into it */
        code = cli_error(EXIT_FAILED, "out of memory");
    else if (!json_is_object(root))
        code = cli_error(EXIT_USAGE, "%s: not a JSON object", path);
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value)
    {
        if (code == EXIT_DONE)
            code = read_key(path, key, value, plan);
    }
    json_decref(root);
    return code;
}
