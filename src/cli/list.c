/* list.c - `tarry list`: everything that has a name, with its settings. */
#include <stdio.h>
#include <string.h>
#include "cli/cli.h"
#include "env/world.h"
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
        .about =
            "Lists every policy, instance, loss, delay and adversary with its\n"
            "settings and their defaults (... must be given).  Settings are\n"
            "given as NAME:key=value,key=value.",
        .options = options,
        .n_options = sizeof options / sizeof *options,
    };
    return cli_parse(&syntax, argc, argv);
}

/* Text whose further lines start in the given column. */
static void print_lines(const char *text, int column)
{
    for (; *text != '\0'; text++) {
        putchar(*text);
        if (*text == '\n')
            printf("%*s", column, "");
    }
    putchar('\n');
}

static void print_settings(const tarry__spec_setting *settings)
{
    for (; settings->key != NULL; settings++) {
        const int column =
            printf("      %s=%s  ", settings->key,
                   settings->value != NULL ? settings->value : "...");
        print_lines(settings->help, column);
    }
}

static json_t *settings_json(const tarry__spec_setting *settings)
{
    json_t *list = json_array();
    for (; settings->key != NULL; settings++)
        json_array_append_new(
            list, json_pack("{s:s, s:s?, s:s}", "key", settings->key, "default",
                            settings->value, "help", settings->help));
    return list;
}

/* Everything that describes a world. */
static const struct {
    const char *title, *key;
    const tarry__entry *const *entries;
} worlds[] = {
    {"Instances", "instances", tarry__instances},
    {"Losses", "losses", tarry__loss_losses},
    {"Delays", "delays", tarry__delays},
    {"Adversaries (in place of a delay)", "adversaries",
     tarry__adversary_adversaries},
};
enum { N_WORLDS = sizeof worlds / sizeof *worlds };

static json_t *entries_json(const tarry__entry *const *entries)
{
    json_t *list = json_array();
    for (; *entries != NULL; entries++)
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:o}", "name", (*entries)->name,
                            "summary", (*entries)->about, "settings",
                            settings_json((*entries)->settings)));
    return list;
}

static int print_json(void)
{
    json_t *all = json_object(), *policies = json_array();
    for (size_t i = 0; tarry__policy_types[i] != NULL; i++) {
        const tarry__policy_type *t = tarry__policy_types[i];
        json_array_append_new(
            policies, json_pack("{s:s, s:s, s:s, s:o}", "name", t->name,
                                "source", t->source, "summary", t->summary,
                                "settings", settings_json(t->settings)));
    }
    json_object_set_new(all, "policies", policies);
    for (size_t i = 0; i < N_WORLDS; i++)
        json_object_set_new(all, worlds[i].key,
                            entries_json(worlds[i].entries));
    return cli_print_json(all);
}

static int print_text(void)
{
    puts("Policies:");
    for (size_t i = 0; tarry__policy_types[i] != NULL; i++) {
        const tarry__policy_type *t = tarry__policy_types[i];
        printf("  %-22s %s: %s\n", t->name, t->source, t->summary);
        print_settings(t->settings);
    }
    for (size_t i = 0; i < N_WORLDS; i++) {
        printf("\n%s:\n", worlds[i].title);
        for (const tarry__entry *const *e = worlds[i].entries; *e; e++) {
            print_lines((*e)->about, printf("  %-22s ", (*e)->name));
            print_settings((*e)->settings);
        }
    }
    return cli_flush();
}

static int run(int argc, char **argv)
{
    const int code = parse(argc, argv);
    if (code >= 0)
        return code;
    return as_json ? print_json() : print_text();
}

const cli_command cli_list = {
    "list", "every policy, instance, loss and delay with its settings", run};
