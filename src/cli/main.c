/* main.c - the program `tarry`: one list of commands. */
#include <stdio.h>
#include <string.h>
#include "cli/cli.h"
#include "cli/manual.h"
#include "lab/workers.h"

static const cli_command *const commands[] = {
    &cli_design, &cli_pipe,    &cli_serve, &cli_ask,   &cli_store, &cli_run,
    &cli_plot,   &cli_examine, &cli_bound, &cli_paper, &cli_list};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static int print_help(void)
{
    puts("tarry makes good decisions while the outcomes are still on their "
         "way.\n\nUsage: tarry COMMAND [arguments]\n\nCommands:");
    for (size_t i = 0; i < N_COMMANDS; i++)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    puts("\ntarry COMMAND --help says more about each.  tarry --version.\n"
         "Exit codes: 0 success, 1 the job failed, 2 bad usage or input.\n\n"
         "Environment: OMP_NUM_THREADS: threads of commands that compute;\n"
         "TARRY_VECTORS: plain, avx2 or avx512, the widest vectors to use.\n"
         "Neither changes results.");
    return cli_flush();
}

/* The commands, one per line, for the shell's completion. */
static int print_words(void)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        puts(commands[i]->name);
    return cli_flush();
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2)
        return cli_error(EXIT_USAGE, "no command given (see tarry --help)");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return print_help();
    if (strcmp(argv[1], "--help=man") == 0)
        return cli_print_main_man(commands, N_COMMANDS);
    if (strcmp(argv[1], "--help=words") == 0)
        return print_words();
    if (strcmp(argv[1], "--version") == 0) {
        printf("tarry %s\n", tarry_version());
        return cli_flush();
    }
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i]->name) == 0)
            return commands[i]->run(argc - 2, argv + 2);
    return cli_error(EXIT_USAGE, "unknown command '%s' (see tarry --help)",
                     argv[1]);
}

int main(int argc, char **argv)
{
    int code = cli_start();
    if (code != EXIT_SUCCESS)
        return code;
    tarry__workers_open(&argc, &argv);
    if (tarry__workers_rank() != 0 && freopen("/dev/null", "w", stdout) == NULL)
        return EXIT_FAILED;
    code = dispatch(argc, argv);
    tarry__workers_close();
    return code;
}
