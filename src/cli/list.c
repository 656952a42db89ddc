/* list.c - `tarry list`: everything that has a name, with its settings. */
#include <stdio.h>
#include <string.h>
#include "cli.h"
#include "policy/policy_type.h"

static bool as_json;
static uint64_t ignored;

static int parse(int argc, char **argv)
{
    const cli_option options[] = {
        {"json", CLI_FLAG, &as_json, NULL, "print one JSON object"},
        {"seed", CLI_COUNT, &ignored, "N", "accepted as in every command"},
        {"threads", CLI_COUNT, &ignored, "N", "accepted as in every command"},
    };
    const cli_syntax syntax = {
        .command = "list",
        .usage = "[options]",
        .about = "Lists every policy with its source, its settings and their\n"
                 "defaults.  Settings are given as NAME:key=value,key=value.",
        .options = options,
        .n_options = sizeof options / sizeof *options,
    };
    return cli_parse(&syntax, argc, argv);
}

static void print_settings(const tarry__setting *settings)
{
    for (; settings->key != NULL; settings++)
        printf("      %s=%s  %s\n", settings->key,
               settings->value != NULL ? settings->value : "...",
               settings->help);
}

static json_t *settings_json(const tarry__setting *settings)
{
    json_t *list = json_array();
    for (; settings->key != NULL; settings++)
        json_array_append_new(list, json_pack("{s:s, s:s?, s:s}", "key",
                                              settings->key, "default",
                                              settings->value, "help",
                                              settings->help));
    return list;
}

static int print_json(void)
{
    json_t *policies = json_array();
    for (size_t i = 0; tarry__policy_types[i] != NULL; i++) {
        const tarry__policy_type *t = tarry__policy_types[i];
        json_array_append_new(
            policies, json_pack("{s:s, s:s, s:s, s:o}", "name", t->name,
                                "source", t->source, "summary", t->summary,
                                "settings", settings_json(t->settings)));
    }
    return cli_print_json(json_pack("{s:o}", "policies", policies));
}

static int run(int argc, char **argv)
{
    const int code = parse(argc, argv);
    if (code >= 0)
        return code;
    if (as_json)
        return print_json();
    puts("Policies:");
    for (size_t i = 0; tarry__policy_types[i] != NULL; i++) {
        const tarry__policy_type *t = tarry__policy_types[i];
        printf("  %-22s %s: %s\n", t->name, t->source, t->summary);
        print_settings(t->settings);
    }
    return cli_flush();
}

const cli_command cli_list = {
    "list", "every policy with its settings and source", run};
