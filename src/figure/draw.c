/* draw.c - gnuplot as a child process, without a shell.
 *
 * It reads its program from a file without a name and writes the drawing into
 * another one, so nothing can block or be left behind.  -d keeps the user's own
 * settings out; the locale is fixed. */
#define _GNU_SOURCE
#include "figure/figure.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/base.h"
#include "base/file.h"
#include "figure/finish.h"

/* ---- the child ------------------------------------------------------------*/

typedef struct {
    FILE *script, *drawing, *errors;
} channels;

static bool open_channels(channels *c)
{
    *c = (channels){tmpfile(), tmpfile(), tmpfile()};
    return c->script != NULL && c->drawing != NULL && c->errors != NULL;
}

static void close_channels(channels *c)
{
    FILE *const all[] = {c->script, c->drawing, c->errors};
    for (size_t i = 0; i < 3; i++)
        if (all[i] != NULL)
            fclose(all[i]);
}

/* Our environment with another locale; the strings stay the old ones. */
static char **child_environment(void)
{
    size_t count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    char **list = malloc((count + 2) * sizeof *list);
    if (list == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) != 0)
            list[kept++] = environ[i];
    list[kept++] = "LC_ALL=C.UTF-8";
    list[kept] = NULL;
    return list;
}

/* 0, or the error number of what failed. */
static int start(const channels *c, pid_t *child)
{
    char *const arguments[] = {"gnuplot", "-d", NULL};
    posix_spawn_file_actions_t actions;
    char **environment = child_environment();
    if (environment == NULL)
        return ENOMEM;
    int code = posix_spawn_file_actions_init(&actions);
    if (code == 0) {
        const int from[] = {fileno(c->script), fileno(c->drawing),
                            fileno(c->errors)};
        for (int i = 0; i < 3 && code == 0; i++)
            code = posix_spawn_file_actions_adddup2(&actions, from[i], i);
        if (code == 0)
            code = posix_spawnp(child, "gnuplot", &actions, NULL, arguments,
                                environment);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(environment);
    return code;
}

/* The last line that says something: gnuplot repeats the command above it. */
static void read_complaint(FILE *errors, char *line, size_t size)
{
    char next[200];
    snprintf(line, size, "no reason given");
    rewind(errors);
    while (fgets(next, sizeof next, errors) != NULL) {
        next[strcspn(next, "\r\n")] = '\0';
        if (next[strspn(next, " \t^")] != '\0')
            snprintf(line, size, "%s", next + strspn(next, " \t"));
    }
}

static tarry_status not_installed(tarry_error *error)
{
    return tarry__base_fail(error, TARRY_IO_ERROR,
                            "gnuplot is not installed (Debian: gnuplot-nox); "
                            "figures are drawn with it");
}

static tarry_status run_gnuplot(const channels *c, tarry_error *error)
{
    pid_t child;
    int result;
    if (fflush(c->script) != 0 || ferror(c->script))
        return tarry__base_fail(error, TARRY_IO_ERROR,
                                "cannot write a temporary file: %s",
                                strerror(errno));
    rewind(c->script); /* the child shares the place in the file */
    const int code = start(c, &child);
    if (code == ENOENT)
        return not_installed(error);
    if (code != 0)
        return tarry__base_fail(error, TARRY_IO_ERROR,
                                "cannot start gnuplot: %s", strerror(code));
    while (waitpid(child, &result, 0) < 0)
        if (errno != EINTR)
            return tarry__base_fail(error, TARRY_IO_ERROR, "gnuplot: %s",
                                    strerror(errno));
    if (WIFEXITED(result) && WEXITSTATUS(result) == 0)
        return TARRY_OK;
    if (WIFEXITED(result) && WEXITSTATUS(result) == 127)
        return not_installed(error); /* posix_spawnp may tell it so */
    char complaint[200];
    read_complaint(c->errors, complaint, sizeof complaint);
    return tarry__base_fail(error, TARRY_IO_ERROR, "gnuplot failed: %s",
                            complaint);
}

/* ---- drawings -------------------------------------------------------------*/

static tarry_status read_all(FILE *file, char **bytes, size_t *size,
                             tarry_error *error)
{
    const long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (length <= 0)
        return tarry__base_fail(error, TARRY_IO_ERROR, "gnuplot drew nothing");
    *bytes = malloc((size_t)length + 1);
    if (*bytes == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    rewind(file);
    *size = fread(*bytes, 1, (size_t)length, file);
    (*bytes)[*size] = '\0';
    return *size == (size_t)length
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_IO_ERROR,
                                  "cannot read a temporary file: %s",
                                  strerror(errno));
}

tarry_status tarry__figure_draw(const tarry__figure *f, figure_format format,
                                char **bytes, size_t *size, tarry_error *error)
{
    channels c;
    tarry_status status = TARRY_OK;
    *bytes = NULL;
    *size = 0;
    if (!open_channels(&c))
        status = tarry__base_fail(error, TARRY_IO_ERROR,
                                  "cannot make a temporary file: %s",
                                  strerror(errno));
    if (status == TARRY_OK) {
        tarry__figure_script(f, format, c.script);
        status = run_gnuplot(&c, error);
    }
    if (status == TARRY_OK)
        status = read_all(c.drawing, bytes, size, error);
    close_channels(&c);
    if (status == TARRY_OK && !tarry__figure_finish(f, format, bytes, size))
        status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    return status;
}

static bool read_format(const char *path, figure_format *format)
{
    static const char *const endings[] = {".svg", ".pdf", ".png"};
    const size_t length = strlen(path);
    for (int i = 0; i < 3; i++)
        if (length > 4 && strcmp(path + length - 4, endings[i]) == 0) {
            *format = (figure_format)i;
            return true;
        }
    return false;
}

tarry_status tarry__figure_write(const json_t *figure, const char *path,
                                 tarry_error *error)
{
    tarry__figure f;
    figure_format format;
    char *bytes = NULL;
    size_t size;
    if (!read_format(path, &format))
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "%s: does not end in .svg, .pdf or .png", path);
    tarry_status status = tarry__figure_read(figure, &f, error);
    if (status == TARRY_OK)
        status = tarry__figure_draw(&f, format, &bytes, &size, error);
    if (status == TARRY_OK)
        status = tarry__file_save(path, bytes, size, error);
    free(bytes);
    tarry__figure_clear(&f);
    return status;
}

tarry_status tarry__figure_check(tarry_error *error)
{
    channels c;
    const tarry_status status =
        open_channels(&c) ? run_gnuplot(&c, error)
                          : tarry__base_fail(error, TARRY_IO_ERROR,
                                             "cannot make a temporary file: %s",
                                             strerror(errno));
    close_channels(&c);
    return status;
}
