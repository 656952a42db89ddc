/* options.c - command-line arguments, read by table.
 *
 * --name VALUE and --name=VALUE are the same; "--" ends the options; a lone
 * "-" is a positional argument, and so is a number below zero. */
#include "cli/cli.h"
#include "cli/manual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/spec.h"

static void print_option(const cli_option *o)
{
    char left[64];
    snprintf(left, sizeof left, "--%s%s%s", o->name,
             o->argument != NULL ? " " : "",
             o->argument != NULL ? o->argument : "");
    printf("  %-22s ", left);
    for (const char *c = o->help; *c != '\0'; c++) {
        putchar(*c);
        if (*c == '\n')
            printf("%25s", "");
    }
    putchar('\n');
}

static int print_help(const cli_syntax *s)
{
    printf("Usage: tarry %s %s\n\n%s\n\nOptions:\n", s->command, s->usage,
           s->about);
    for (size_t i = 0; i < s->n_options; i++)
        print_option(&s->options[i]);
    printf("  %-22s show this help\n", "--help");
    if (s->examples != NULL)
        printf("\nExamples:\n%s\n", s->examples);
    return cli_flush();
}

static const cli_option *find(const cli_syntax *s, const char *name,
                              size_t length)
{
    for (size_t i = 0; i < s->n_options; i++)
        if (strlen(s->options[i].name) == length &&
            memcmp(s->options[i].name, name, length) == 0)
            return &s->options[i];
    return NULL;
}

/* LOW,HIGH and nothing else. */
static bool read_range(const char *text, cli_range *range)
{
    char low[64], high[64];
    range->is_given = true;
    return sscanf(text, "%63[^,],%63[^,]", low, high) == 2 &&
           strlen(low) + strlen(high) + 1 == strlen(text) &&
           tarry__base_parse_real(low, &range->low) &&
           tarry__base_parse_real(high, &range->high) &&
           range->low < range->high && isfinite(range->high - range->low);
}

bool cli_set(const cli_option *o, const char *where, const char *value)
{
    switch (o->kind) {
    case CLI_FLAG:
        *(bool *)o->value = true;
        return true;
    case CLI_TEXT:
        *(const char **)o->value = value;
        return true;
    case CLI_REAL:
        if (tarry__base_parse_real(value, o->value))
            return true;
        cli_error(EXIT_USAGE, "%s%s: not a number: '%s'", where, o->name,
                  value);
        return false;
    case CLI_COUNT:
        if (tarry__base_parse_count(value, o->value))
            return true;
        cli_error(EXIT_USAGE, "%s%s: not a whole number from 0 to 2^53: '%s'",
                  where, o->name, value);
        return false;
    case CLI_RANGE:
        if (read_range(value, o->value))
            return true;
        cli_error(EXIT_USAGE, "%s%s: not LOW,HIGH with LOW < HIGH: '%s'", where,
                  o->name, value);
        return false;
    case CLI_ACTION: {
        const cli_action *action = o->value;
        return action->take(action->context, value);
    }
    }
    return false;
}

/* Reads the option at argv[*at], and its value behind it if there is one. */
static bool read_option(const cli_syntax *s, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + 2, *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const cli_option *o = find(s, name, length);
    if (o == NULL) {
        cli_error(EXIT_USAGE, "%s: unknown option '%s' (see tarry %s --help)",
                  s->command, argv[*at], s->command);
        return false;
    }
    if (o->kind == CLI_FLAG && equals != NULL) {
        cli_error(EXIT_USAGE, "--%s takes no value: '%s'", o->name, argv[*at]);
        return false;
    }
    const char *value = equals != NULL ? equals + 1 : NULL;
    if (o->kind != CLI_FLAG && value == NULL) {
        if (*at + 1 >= argc) {
            cli_error(EXIT_USAGE, "--%s needs a value", o->name);
            return false;
        }
        value = argv[++*at];
    }
    return cli_set(o, "--", value);
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' &&
           !(word[1] == '.' || (word[1] >= '0' && word[1] <= '9'));
}

int cli_parse(const cli_syntax *s, int argc, char **argv)
{
    size_t n_positional = 0;
    bool options = true;
    for (int i = 0; i < argc; i++) {
        if (options &&
            (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0))
            return print_help(s);
        if (options && strcmp(argv[i], "--help=man") == 0)
            return cli_print_man(s);
        if (options && strcmp(argv[i], "--help=words") == 0)
            return cli_print_words(s);
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && is_option(argv[i])) {
            if (argv[i][1] != '-')
                return cli_error(
                    EXIT_USAGE, "%s: unknown option '%s' (see tarry %s --help)",
                    s->command, argv[i], s->command);
            if (!read_option(s, argc, argv, &i))
                return EXIT_USAGE;
        } else if (n_positional == s->max_positional) {
            return cli_error(EXIT_USAGE, "%s: unexpected argument '%s'",
                             s->command, argv[i]);
        } else {
            s->positional[n_positional++] = argv[i];
        }
    }
    if (n_positional < s->min_positional)
        return cli_error(EXIT_USAGE, "usage: tarry %s %.*s (see --help)",
                         s->command, (int)strcspn(s->usage, "\n"), s->usage);
    return -1;
}
