/* manual.c - see manual.h. */
#include "cli/manual.h"

#include <stdio.h>
#include <string.h>

/* Text as troff shows it: no line begins a request, no backslash or dash is
 * special. */
static void put(const char *text)
{
    bool begins = true;
    for (; *text != '\0'; text++) {
        if (begins && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        begins = *text == '\n';
    }
}

static void put_heading(const char *name, const char *summary)
{
    char upper[64] = "";
    for (size_t i = 0; name[i] != '\0' && i + 1 < sizeof upper; i++)
        upper[i] =
            name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 32) : name[i];
    printf(".TH %s 1 \"\" \"tarry %s\" \"tarry\"\n.SH NAME\n", upper,
           tarry_version());
    put(name);
    fputs(" \\- ", stdout);
    put(summary);
    puts("");
}

/* Lines as they are, as in --help. */
static void put_lines(const char *title, const char *text)
{
    printf(".SH %s\n.nf\n", title);
    put(text);
    puts("\n.fi");
}

static void put_option(const char *name, const char *argument, const char *help)
{
    printf(".TP\n\\fB\\-\\-");
    put(name);
    printf("\\fR%s%s%s\n", argument != NULL ? " \\fI" : "",
           argument != NULL ? argument : "", argument != NULL ? "\\fR" : "");
    put(help);
    puts("");
}

int cli_print_man(const cli_syntax *s)
{
    char name[64];
    snprintf(name, sizeof name, "tarry-%s", s->command);
    put_heading(name, s->summary);
    printf(".SH SYNOPSIS\n.B tarry %s\n", s->command);
    put(s->usage);
    puts("");
    put_lines("DESCRIPTION", s->about);
    puts(".SH OPTIONS");
    for (size_t i = 0; i < s->n_options; i++)
        put_option(s->options[i].name, s->options[i].argument,
                   s->options[i].help);
    put_option("help", NULL, "show this help");
    if (s->examples != NULL)
        put_lines("EXAMPLES", s->examples);
    puts(".SH EXIT STATUS\n0 success, 1 the job failed, 2 bad usage or input.\n"
         ".SH SEE ALSO\n.BR tarry (1)");
    return cli_flush();
}

int cli_print_words(const cli_syntax *s)
{
    for (size_t i = 0; i < s->n_options; i++)
        printf("--%s%s\n", s->options[i].name,
               s->options[i].kind != CLI_FLAG ? "=" : "");
    puts("--help");
    return cli_flush();
}

int cli_print_main_man(const cli_command *const *commands, size_t count)
{
    put_heading("tarry", "decisions while the outcomes are still on their way");
    puts(".SH SYNOPSIS\n.B tarry\n\\fICOMMAND\\fR [arguments]\n"
         ".SH DESCRIPTION\nBandit policies for feedback that comes late, out "
         "of order, in bursts or never, the optimal designs they stand on, and "
         "a laboratory that simulates them.\n.SH COMMANDS");
    for (size_t i = 0; i < count; i++) {
        printf(".TP\n.BR tarry\\-%s (1)\n", commands[i]->name);
        put(commands[i]->summary);
        puts("");
    }
    puts(".SH EXIT STATUS\n0 success, 1 the job failed, 2 bad usage or input.");
    return cli_flush();
}
