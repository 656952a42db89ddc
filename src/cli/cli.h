/* cli.h - what the commands of the program share.
 *
 * A command is one record in the list in main.c.  It fills a table of options,
 * lets cli_parse read the arguments, and returns the program's exit code:
 * 0 success, 1 the job failed, 2 bad usage or bad input. */
#ifndef TARRY_CLI_CLI_H
#define TARRY_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/json.h"
#include "tarry/tarry.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef struct {
    const char *name;
    const char *summary; /* one line */
    int (*run)(int argc, char **argv);
} cli_command;

extern const cli_command cli_design, cli_list, cli_pipe, cli_run, cli_plot,
    cli_bound, cli_paper, cli_examine, cli_store, cli_serve, cli_ask;

/* The first call of the program: descriptors 0 to 2 are open, signals that
 * would end it are errors, JSON takes its memory in src/base, threads have
 * stacks.  Answers EXIT_SUCCESS, or the code to exit with after its error. */
int cli_start(void);

/* ---- options --------------------------------------------------------------*/

typedef enum {
    CLI_FLAG,  /* bool */
    CLI_TEXT,  /* const char * */
    CLI_REAL,  /* double, finite */
    CLI_COUNT, /* uint64_t; 1e6 is fine */
    CLI_RANGE, /* cli_range: LOW,HIGH */
    CLI_ACTION /* cli_action: may be given many times */
} cli_kind;

/* An interval, LOW < HIGH. */
typedef struct {
    bool is_given;
    double low, high;
} cli_range;

/* Takes one value of an option that may be given many times; answers false
 * after it has printed why not. */
typedef struct {
    bool (*take)(void *context, const char *value);
    void *context;
} cli_action;

typedef struct {
    const char *name; /* without the dashes */
    cli_kind kind;
    void *value;          /* where the answer goes, or the action */
    const char *argument; /* in the help: "N", "FILE"; NULL for a flag */
    const char *help;     /* default included */
} cli_option;

typedef struct {
    const char *command;       /* "design" */
    const char *summary;       /* one line, as in the list of commands */
    const char *usage;         /* "ARMS [options]" */
    const char *about;         /* paragraphs before the options */
    const char *examples;      /* after them */
    const cli_option *options; /* n_options of them */
    size_t n_options;
    const char **positional; /* room for max_positional, filled in order */
    size_t min_positional, max_positional;
} cli_syntax;

/* Reads the arguments after the command's name.  Answers -1 to go on, else the
 * exit code: after --help (0) or an error, which has been printed (2). */
int cli_parse(const cli_syntax *syntax, int argc, char **argv);

/* Sets an option from a text that lives on; false: the error is printed, and
 * `where` the text was ("--", "FILE:LINE: ") before the option's name. */
bool cli_set(const cli_option *option, const char *where, const char *value);

/* ---- talking --------------------------------------------------------------*/

/* One line on stderr, "tarry: ..."; returns `code`. */
int cli_error(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The exit code that goes with a failed library call: 2 for bad input and bad
 * arguments, else 1. */
int cli_code(tarry_status status);

/* Prints and frees a JSON value on stdout, numbers with 17 digits. */
int cli_print_json(json_t *json);

/* Reads a JSON file, "-" for standard input; `flags` as for jansson.  NULL
 * after an error has been printed, with its code in *code. */
json_t *cli_load_json(const char *path, size_t flags, int *code);

/* Flushes stdout; a full disk is an error. */
int cli_flush(void);

/* Columns of a terminal; 0 if it is none. */
int cli_width(FILE *stream);

/* Puts ? for what is no character, or one that would command a terminal. */
void cli_clean(char *text);

/* Adds to a line for people; the end prints it on stdout, clean and, on a
 * terminal, cut to its width. */
void cli_put(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_put_end(void);

/* A number with so many digits, in plain notation from 1e-4 to 1e9; the half
 * width of an interval from so many runs, "-" from one. */
const char *cli_number(double x, int digits, char text[32]);
const char *cli_half_width(double ci95, size_t runs, char text[32]);

/* A progress bar on stderr, if that is a terminal; `share` from 0 to 1. */
void cli_progress(double share, const char *note);
void cli_progress_end(void);

/* From now on Ctrl-C only makes cli_interrupted() true. */
void cli_catch_interrupt(void);
bool cli_interrupted(void);

#endif
