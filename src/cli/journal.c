/* journal.c - reading and writing journals. */
#define _POSIX_C_SOURCE 200809L
#include "cli/journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
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

/* Takes in one trial; false if the line is none. */
static bool take_line(const cli_journal *j, const char *line,
                      cli_journal_take *take, void *context)
{
    json_t *root = json_loads(line, 0, NULL);
    json_int_t index;
    const char *text;
    const bool ok = root != NULL &&
                    json_unpack(root, "{s:I, s:s}", "trial", &index, "outcome",
                                &text) == 0 &&
                    index >= 0 && from_hex(text, j->line, j->size) &&
                    take(context, (size_t)index, j->line);
    json_decref(root);
    return ok;
}

static bool is_heading(const char *line, const json_t *wanted)
{
    json_t *there = json_loads(line, 0, NULL);
    const bool same = json_equal(there, wanted);
    json_decref(there);
    return same;
}

/* Reads what is there; *end is where to go on writing. */
static int read_all(const cli_journal *j, const json_t *heading,
                    cli_journal_take *take, void *context, long *end)
{
    char *line = NULL;
    size_t size = 0, number = 1;
    int code = EXIT_DONE;
    ssize_t length = getline(&line, &size, j->file);
    if (length <= 0 || !is_heading(line, heading))
        code = cli_error(EXIT_USAGE,
                         "%s:1: not of this experiment and version; "
                         "remove it to begin anew",
                         j->path);
    *end = ftell(j->file);
    while (code == EXIT_DONE && (length = getline(&line, &size, j->file)) > 0) {
        number++;
        if (line[length - 1] != '\n')
            break; /* cut short */
        line[length - 1] = '\0';
        if (!take_line(j, line, take, context))
            code = cli_error(EXIT_USAGE, "%s:%zu: not a finished run: '%.40s'",
                             j->path, number, line);
        *end = ftell(j->file);
    }
    free(line);
    return code;
}

static int start(cli_journal *j, const json_t *heading)
{
    char *text = json_dumps(heading, 0);
    j->file = text != NULL ? fopen(j->path, "w") : NULL;
    const bool ok = j->file != NULL && fprintf(j->file, "%s\n", text) > 0 &&
                    fflush(j->file) == 0;
    free(text);
    return ok ? EXIT_DONE
              : cli_error(EXIT_USAGE, "%s: %s", j->path, strerror(errno));
}

static int open_file(cli_journal *j, const json_t *heading,
                     cli_journal_take *take, void *context)
{
    long end = 0;
    if (heading == NULL || j->line == NULL)
        return cli_error(EXIT_FAILED, "out of memory");
    j->file = fopen(j->path, "r+");
    if (j->file == NULL && errno == ENOENT)
        return start(j, heading);
    if (j->file == NULL)
        return cli_error(EXIT_USAGE, "%s: %s", j->path, strerror(errno));
    const int code = read_all(j, heading, take, context, &end);
    if (code == EXIT_DONE && fseek(j->file, end, SEEK_SET) != 0)
        return cli_error(EXIT_USAGE, "%s: %s", j->path, strerror(errno));
    return code;
}

int cli_journal_open(cli_journal *j, const char *path, json_t *heading,
                     size_t size, cli_journal_take *take, void *context)
{
    *j = (cli_journal){.path = path, .size = size};
    int code = EXIT_DONE;
    if (path != NULL) {
        j->line = malloc(2 * size + 1);
        code = open_file(j, heading, take, context);
    }
    json_decref(heading);
    return code;
}

tarry_status cli_journal_add(cli_journal *j, size_t index, const void *outcome,
                             tarry_error *error)
{
    if (j->file == NULL)
        return TARRY_OK;
    to_hex(outcome, j->size, j->line);
    if (fprintf(j->file, "{\"trial\": %zu, \"outcome\": \"%s\"}\n", index,
                j->line) > 0 &&
        fflush(j->file) == 0)
        return TARRY_OK;
    j->failed = true;
    snprintf(error->text, sizeof error->text, "%s: cannot write: %s", j->path,
             strerror(errno));
    return TARRY_IO_ERROR;
}

void cli_journal_close(cli_journal *j)
{
    if (j->file != NULL)
        fclose(j->file);
    free(j->line);
}
