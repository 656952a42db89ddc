/* export.c - a world as files that other programs read. */
#define _POSIX_C_SOURCE 200809L
#include "env/world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/base.h"
#include "base/file.h"

static void write_arms(const tarry__world *world, FILE *file)
{
    const tarry__instance *a = &world->instance;
    for (size_t k = 0; k < a->n_arms; k++)
        for (size_t i = 0; i < a->dim; i++)
            fprintf(file, "%.17g%c", a->arms[k * a->dim + i],
                    i + 1 < a->dim ? ',' : '\n');
}

static void write_theta(const tarry__world *world, FILE *file)
{
    for (size_t i = 0; i < world->instance.dim; i++)
        fprintf(file, "%.17g\n", world->instance.theta[i]);
}

/* "key": "text", with what JSON wants escaped. */
static void write_text(FILE *file, const char *key, const char *text)
{
    fprintf(file, "  \"%s\": \"", key);
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20)
            fprintf(file, "\\u%04x", c);
        else
            fputc(c, file);
    }
    fprintf(file, "\",\n");
}

static void write_summary(const tarry__world *world, FILE *file)
{
    const tarry__instance *a = &world->instance;
    fprintf(file, "{\n");
    write_text(file, "instance", world->instance_text);
    write_text(file, "loss", world->loss_text);
    write_text(file, "delay", world->delay_text);
    fprintf(file,
            "  \"seed\": %ju,\n  \"run\": %ju,\n  \"arms\": %zu,\n"
            "  \"dim\": %zu,\n  \"best\": %zu,\n  \"best_mean\": %.17g,\n"
            "  \"means\": [",
            (uintmax_t)world->seed, (uintmax_t)world->run, a->n_arms, a->dim,
            a->best, a->best_mean);
    for (size_t k = 0; k < a->n_arms; k++)
        fprintf(file, "%s%.17g", k > 0 ? ", " : "", a->mean[k]);
    fprintf(file, "]\n}\n");
}

static tarry_status write_file(const tarry__world *world, const char *folder,
                               const char *name,
                               void (*write)(const tarry__world *, FILE *),
                               tarry_error *error)
{
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: name too long",
                                folder);
    tarry__file file;
    const tarry_status status = tarry__file_begin(&file, path, error);
    if (status != TARRY_OK)
        return status;
    write(world, file.stream);
    return tarry__file_end(&file, TARRY_OK, error);
}

tarry_status tarry__world_export(const tarry__world *world, const char *folder,
                                 tarry_error *error)
{
    tarry_status status;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", folder,
                                strerror(errno));
    if ((status = write_file(world, folder, "arms.csv", write_arms, error)) ||
        (status = write_file(world, folder, "theta.csv", write_theta, error)))
        return status;
    return write_file(world, folder, "world.json", write_summary, error);
}
