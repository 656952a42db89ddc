/* list.c - `tarry list`: everything that has a name, with its settings. */
#include <stdio.h>
#include <string.h>
#include "base/json.h"
#include "cli/cli.h"
#include "env/report.h"
#include "env/world.h"
#include "policy/policy_type.h"

static const char summary[] =
    "every policy, instance, loss and delay with its settings";

static const struct {
    const char *title, *key;
    const tarry__entry *const *entries;
} worlds[] = {
    {"Instances", "instances", tarry__instances},
    {"Losses", "losses", tarry__loss_losses},
    {"Delays", "delays", tarry__delays},
    {"Adversaries (in place of a delay)", "adversaries",
     tarry__adversary_adversaries},
    {"Reports (which outcomes of a world are ever reported)", "reports",
     tarry__reports},
};
enum { N_WORLDS = sizeof worlds / sizeof *worlds };

/* Whether an entry is wanted: all are without a name. */
static bool is_wanted(const char *name, const char *wanted)
{
    return wanted == NULL || strcmp(name, wanted) == 0;
}

/* ---- as text --------------------------------------------------------------*/

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

static void print_settings(const tarry_setting *settings)
{
    for (; settings->key != NULL; settings++) {
        const int column =
            printf("      %s=%s  ", settings->key,
                   settings->value != NULL ? settings->value : "...");
        print_lines(settings->help, column);
    }
}

/* What values a setting may have; only where one entry is shown. */
static void print_ranges(const tarry_setting *settings)
{
    puts("\nvalues:");
    for (; settings->key != NULL; settings++) {
        printf("      %-16s ", settings->key);
        switch (settings->kind) {
        case TARRY_SETTING_TEXT:
            puts("text");
            break;
        case TARRY_SETTING_REAL:
            printf("a number from %g to %g\n", settings->least, settings->most);
            break;
        case TARRY_SETTING_COUNT:
            printf("a whole number from %.0f to %g\n", settings->least,
                   settings->most);
            break;
        case TARRY_SETTING_CHOICE:
            printf("one of %s\n", settings->choices);
            break;
        }
    }
}

static void print_entry(const char *name, const char *source, const char *about,
                        const tarry_setting *settings, const char *wanted)
{
    int column = printf("  %-22s ", name);
    if (source != NULL)
        column += printf("%s: ", source);
    print_lines(about, source != NULL ? 25 : column);
    print_settings(settings);
    if (wanted != NULL && settings->key != NULL)
        print_ranges(settings);
}

/* Prints what is wanted; answers how many entries that were. */
static size_t print_text(const char *wanted)
{
    size_t count = 0;
    if (wanted == NULL)
        puts("Policies:");
    for (size_t i = 0; tarry__policy_types[i] != NULL; i++) {
        const tarry__policy_type *t = tarry__policy_types[i];
        if (is_wanted(t->name, wanted)) {
            print_entry(t->name, t->source, t->summary, t->settings, wanted);
            count++;
        }
    }
    if (wanted == NULL) {
        puts("\nEvery policy also takes:");
        print_settings(tarry__policy_edge_settings);
    }
    for (size_t i = 0; i < N_WORLDS; i++) {
        if (wanted == NULL)
            printf("\n%s:\n", worlds[i].title);
        for (const tarry__entry *const *e = worlds[i].entries; *e; e++)
            if (is_wanted((*e)->name, wanted)) {
                print_entry((*e)->name, NULL, (*e)->about, (*e)->settings,
                            wanted);
                count++;
            }
    }
    return count;
}

/* ---- as JSON --------------------------------------------------------------*/

static json_t *setting_json(const tarry_setting *s)
{
    static const char *const kinds[] = {"text", "real", "count", "choice"};
    json_t *json = json_pack("{s:s, s:s?, s:s, s:s}", "key", s->key, "default",
                             s->value, "help", s->help, "type", kinds[s->kind]);
    if (s->kind == TARRY_SETTING_REAL || s->kind == TARRY_SETTING_COUNT) {
        json = tarry__json_set(json, "least", json_real(s->least));
        json = tarry__json_set(json, "most", json_real(s->most));
    }
    if (s->kind == TARRY_SETTING_CHOICE) {
        json_t *choices = json_array();
        for (const char *at = s->choices; at != NULL;) {
            const size_t length = strcspn(at, "|");
            choices = tarry__json_add(choices, json_stringn(at, length));
            at = at[length] == '|' ? at + length + 1 : NULL;
        }
        json = tarry__json_set(json, "choices", choices);
    }
    return json;
}

static json_t *settings_json(const tarry_setting *settings)
{
    json_t *list = json_array();
    for (; settings->key != NULL; settings++)
        list = tarry__json_add(list, setting_json(settings));
    return list;
}

static json_t *policies_json(const char *wanted)
{
    json_t *list = json_array();
    for (size_t i = 0; tarry__policy_types[i] != NULL; i++) {
        const tarry__policy_type *t = tarry__policy_types[i];
        if (!is_wanted(t->name, wanted))
            continue;
        json_t *json =
            json_pack("{s:s, s:s, s:s, s:b, s:o}", "name", t->name, "source",
                      t->source, "summary", t->summary, "features", !t->plain,
                      "settings", settings_json(t->settings));
        if (t->stands_for != NULL)
            json = tarry__json_set(
                json, "stands_for",
                json_string(t->stands_for(TARRY__POLICY_ANY_DELAYS)));
        list = tarry__json_add(list, json);
    }
    return list;
}

static json_t *entries_json(const tarry__entry *const *entries,
                            const char *wanted)
{
    json_t *list = json_array();
    for (; *entries != NULL; entries++)
        if (is_wanted((*entries)->name, wanted))
            list = tarry__json_add(
                list, json_pack("{s:s, s:s, s:o}", "name", (*entries)->name,
                                "summary", (*entries)->about, "settings",
                                settings_json((*entries)->settings)));
    return list;
}

/* The same: *count entries are in the answer. */
static json_t *as_json(const char *wanted, size_t *count)
{
    json_t *all = json_object(), *policies = policies_json(wanted);
    *count = json_array_size(policies);
    all = tarry__json_set(all, "policies", policies);
    if (wanted == NULL)
        all = tarry__json_set(all, "every_policy",
                              settings_json(tarry__policy_edge_settings));
    for (size_t i = 0; i < N_WORLDS; i++) {
        json_t *list = entries_json(worlds[i].entries, wanted);
        *count += json_array_size(list);
        all = tarry__json_set(all, worlds[i].key, list);
    }
    return all;
}

/* ---- the command ----------------------------------------------------------*/

static int run(int argc, char **argv)
{
    bool json = false;
    uint64_t ignored;
    const char *wanted = NULL;
    const cli_option options[] = {
        {"json", CLI_FLAG, &json, NULL,
         "print one JSON object, with types and ranges of all settings"},
        {"seed", CLI_COUNT, &ignored, "N", "accepted as in every command"},
        {"threads", CLI_COUNT, &ignored, "N", "accepted as in every command"},
    };
    const cli_syntax syntax = {
        .command = "list",
        .summary = summary,
        .usage = "[NAME] [options]",
        .about =
            "Lists every policy, instance, loss, delay and adversary with its\n"
            "settings and their defaults (... must be given), or the one with\n"
            "a name and what values its settings may have.  Settings are "
            "given\n"
            "as NAME:key=value,key=value.",
        .examples = "  tarry list phased-stochastic\n"
                    "  tarry list --json | jq '.policies[].name'",
        .options = options,
        .n_options = sizeof options / sizeof *options,
        .positional = &wanted,
        .max_positional = 1,
    };
    const int code = cli_parse(&syntax, argc, argv);
    if (code >= 0)
        return code;
    size_t count;
    json_t *answer = json ? as_json(wanted, &count) : NULL;
    if (!json)
        count = print_text(wanted);
    if (count == 0 && wanted != NULL && !tarry__json_has_failed()) {
        json_decref(answer);
        return cli_error(EXIT_USAGE, "nothing is called '%s' (see tarry list)",
                         wanted);
    }
    return json ? cli_print_json(answer) : cli_flush();
}

const cli_command cli_list = {"list", summary, run};
