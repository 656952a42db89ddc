/* export.c - a world as files that other programs read. */
#include "env/world.h"

#include <stdio.h>
#include "base/file.h"

static void write_arms(const void *context, FILE *file)
{
    const tarry__world *world = context;
    const tarry__instance *a = &world->instance;
    for (size_t k = 0; k < a->n_arms; k++)
        for (size_t i = 0; i < a->dim; i++)
            fprintf(file, "%.17g%c", a->arms[k * a->dim + i],
                    i + 1 < a->dim ? ',' : '\n');
}

static void write_theta(const void *context, FILE *file)
{
    const tarry__world *world = context;
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

static void write_summary(const void *context, FILE *file)
{
    const tarry__world *world = context;
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

tarry_status tarry__world_export(const tarry__world *world, const char *folder,
                                 tarry_error *error)
{
    tarry_status status =
        tarry__file_put(folder, "arms.csv", write_arms, world, error);
    if (status == TARRY_OK)
        status =
            tarry__file_put(folder, "theta.csv", write_theta, world, error);
    return status == TARRY_OK ? tarry__file_put(folder, "world.json",
                                                write_summary, world, error)
                              : status;
}
