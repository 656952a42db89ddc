/* run_journal.c - finished trials of an experiment, kept as they come.
 *
 * The file is lines of JSON: first {"tarry": VERSION, "config": {...}}, then per
 * trial {"trial": INDEX, "outcome": "..."}, the outcome's bytes as hexadecimal
 * digits.  A last line that was cut short by a crash is written anew. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "run.h"

static void to_hex(const void *bytes, size_t size, char *out)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *b = bytes;
    for (size_t i = 0; i < size; i++) {
        *out++ = digits[b[i] >> 4];
        *out++ = digits[b[i] & 15];
    }
    *out = '\0';
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                                 : -1;
}

static bool from_hex(const char *text, void *bytes, size_t size)
{
    unsigned char *b = bytes;
    if (strlen(text) != 2 * size)
        return false;
    for (size_t i = 0; i < size; i++) {
        const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        b[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static json_t *heading(const run_plan *plan)
{
    return json_pack("{s:s, s:o}", "tarry", TARRY_VERSION, "config",
                     run_config(plan));
}

/* Takes in one trial; false if the line is none. */
static bool take_line(const char *line, run_batch *b)
{
    json_t *root = json_loads(line, 0, NULL);
    json_int_t index;
    const char *text;
    const tarry__experiment *e = &b->plan->experiment;
    const size_t per_world = e->n_policies * e->runs;
    bool ok = root != NULL &&
              json_unpack(root, "{s:I, s:s}", "trial", &index, "outcome",
                          &text) == 0 &&
              index >= 0 && (size_t)index < b->count * per_world;
    if (ok) {
        tarry__results *r = &b->results[(size_t)index / per_world];
        const size_t i = (size_t)index % per_world;
        ok = from_hex(text, &r->outcome[i], sizeof *r->outcome);
        r->n_finished += ok && !r->finished[i];
        r->finished[i] = r->finished[i] || ok;
    }
    json_decref(root);
    return ok;
}

/* Reads what is there; *end is where to go on writing. */
static int read_journal(FILE *file, const char *path, run_batch *b, long *end)
{
    char *line = NULL;
    size_t size = 0, number = 1;
    int code = EXIT_DONE;
    ssize_t length = getline(&line, &size, file);
    json_t *there = length > 0 ? json_loads(line, 0, NULL) : NULL;
    json_t *wanted = heading(b->plan);
    if (!json_equal(there, wanted))
        code = cli_error(EXIT_USAGE,
                         "%s:1: not of this experiment and version", path);
    json_decref(there);
    json_decref(wanted);
    *end = ftell(file);
    while (code == EXIT_DONE && (length = getline(&line, &size, file)) > 0) {
        number++;
        if (line[length - 1] != '\n')
            break; /* cut short */
        line[length - 1] = '\0';
        if (!take_line(line, b))
            code = cli_error(EXIT_USAGE, "%s:%zu: not a finished run: '%.40s'",
                             path, number, line);
        *end = ftell(file);
    }
    free(line);
    return code;
}

static int start_journal(run_journal *j, const run_plan *plan)
{
    json_t *root = heading(plan);
    char *text = root != NULL ? json_dumps(root, 0) : NULL;
    json_decref(root);
    j->file = text != NULL ? fopen(j->path, "w") : NULL;
    const bool ok = j->file != NULL && fprintf(j->file, "%s\n", text) > 0 &&
                    fflush(j->file) == 0;
    free(text);
    return ok ? EXIT_DONE
              : cli_error(EXIT_USAGE, "%s: %s", j->path, strerror(errno));
}

int run_journal_open(run_journal *j, const char *path, run_batch *b)
{
    if (path == NULL)
        return EXIT_DONE;
    j->path = path;
    j->file = fopen(path, "r+");
    if (j->file == NULL && errno == ENOENT)
        return start_journal(j, b->plan);
    if (j->file == NULL)
        return cli_error(EXIT_USAGE, "%s: %s", path, strerror(errno));
    long end = 0;
    const int code = read_journal(j->file, path, b, &end);
    if (code == EXIT_DONE && fseek(j->file, end, SEEK_SET) != 0)
        return cli_error(EXIT_USAGE, "%s: %s", path, strerror(errno));
    return code;
}

tarry_status run_journal_add(run_journal *j, size_t index,
                             const tarry__outcome *outcome,
                             tarry_error *error)
{
    static char hex[2 * sizeof *outcome + 1];
    if (j->file == NULL)
        return TARRY_OK;
    to_hex(outcome, sizeof *outcome, hex);
    if (fprintf(j->file, "{\"trial\": %zu, \"outcome\": \"%s\"}\n", index,
                hex) > 0 &&
        fflush(j->file) == 0)
        return TARRY_OK;
    j->failed = true;
    snprintf(error->text, sizeof error->text, "%s: cannot write: %s", j->path,
             strerror(errno));
    return TARRY_IO_ERROR;
}

void run_journal_close(run_journal *j)
{
    if (j->file != NULL)
        fclose(j->file);
}
