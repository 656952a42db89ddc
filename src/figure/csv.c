/* csv.c - the data of a figure, all of it, for other programs. */
#include "figure/figure.h"

#include <math.h>
#include "base/file.h"

/* Names may hold commas and quotes. */
static void put_name(FILE *out, const char *name)
{
    fputc('"', out);
    for (; *name != '\0'; name++) {
        if (*name == '"')
            fputc('"', out);
        fputc(*name, out);
    }
    fputc('"', out);
}

static void put_series(FILE *out, const figure_series *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const figure_point *p = &s->point[i];
        put_name(out, s->name);
        if (isnan(p->low))
            fprintf(out, ",%.17g,%.17g,,\n", p->x, p->y);
        else
            fprintf(out, ",%.17g,%.17g,%.17g,%.17g\n", p->x, p->y, p->low,
                    p->high);
    }
}

tarry_status tarry__figure_csv(const json_t *figure, const char *path,
                               tarry_error *error)
{
    tarry__figure f;
    tarry__file file;
    tarry_status status = tarry__figure_read(figure, &f, error);
    if (status == TARRY_OK)
        status = tarry__file_begin(&file, path, error);
    if (status == TARRY_OK) {
        fputs("series,x,y,lo,hi\n", file.stream);
        for (size_t i = 0; i < f.n_series; i++)
            put_series(file.stream, &f.series[i]);
        status = tarry__file_end(&file, TARRY_OK, error);
    }
    tarry__figure_clear(&f);
    return status;
}
