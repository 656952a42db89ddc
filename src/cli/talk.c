/* talk.c - errors, JSON, progress and Ctrl-C. */
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "base/json.h"
#include "lab/workers.h"

/* It stays one line whatever the user typed. */
int cli_error(int code, const char *format, ...)
{
    char line[8192];
    va_list arguments;
    cli_progress_end();
    if (tarry__workers_rank() != 0) /* one of many: rank 0 says the same */
        return code;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    cli_clean(line);
    fprintf(stderr, "tarry: %s\n", line);
    return code;
}

int cli_code(tarry_status status)
{
    switch (status) {
    case TARRY_OK:
        return EXIT_DONE;
    case TARRY_BAD_ARGUMENT:
    case TARRY_BAD_INPUT:
    case TARRY_NOT_FINITE:
    case TARRY_IO_ERROR:
        return EXIT_USAGE;
    default:
        return EXIT_FAILED;
    }
}

int cli_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    return cli_error(EXIT_FAILED, "cannot write to standard output: %s",
                     strerror(errno));
}

int cli_print_json(json_t *json)
{
    char *text = tarry__json_text(json, JSON_REAL_PRECISION(17));
    json_decref(json);
    if (text == NULL || tarry__json_has_failed()) {
        tarry__base_free(text);
        return cli_error(EXIT_FAILED, tarry__json_has_failed()
                                          ? "out of memory"
                                          : "a text is not UTF-8, or a number "
                                            "not finite");
    }
    puts(text);
    tarry__base_free(text);
    return cli_flush();
}

/* ---- progress -------------------------------------------------------------*/

static bool bar_shown;

void cli_progress(double share, const char *note)
{
    enum { WIDTH = 30, AROUND = 12 }; /* brackets, the share, some air */
    static const char full[] = "##############################";
    const int columns = cli_width(stderr);
    if (!isatty(STDERR_FILENO))
        return;
    const int bar = columns == 0 || columns >= WIDTH + AROUND ? WIDTH
                    : columns > AROUND                        ? columns - AROUND
                                                              : 0;
    const int left = columns == 0 ? 80 : columns - bar - AROUND;
    fprintf(stderr, "\r[%-*.*s] %3.0f%%  %.*s\033[K", bar,
            (int)(share * bar + 0.5), full, 100 * share, left > 0 ? left : 0,
            note);
    fflush(stderr);
    bar_shown = true;
}

void cli_progress_end(void)
{
    if (bar_shown)
        fputs("\r\033[K", stderr);
    bar_shown = false;
}

/* ---- Ctrl-C ---------------------------------------------------------------*/

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

void cli_catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = note_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}
