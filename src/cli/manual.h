/* manual.h - what a command's table of options says, in other forms than
 * --help: `tarry COMMAND --help=man` and `--help=words`, which the build uses
 * to make the man pages and the shell's completion. */
#ifndef TARRY_CLI_MANUAL_H
#define TARRY_CLI_MANUAL_H

#include "cli/cli.h"

/* A man page, in troff. */
int cli_print_man(const cli_syntax *syntax);

/* The options, one per line; those that take a value end with =. */
int cli_print_words(const cli_syntax *syntax);

/* The man page of the program as a whole. */
int cli_print_main_man(const cli_command *const *commands, size_t count);

#endif
