/* read.c - a figure out of JSON, and what of it can be drawn. */
#define _POSIX_C_SOURCE 200809L
#include "figure/figure.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"

/* The text at `key`, "" if there is none. */
static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static figure_axis read_axis(const json_t *axis)
{
    return (figure_axis){text_at(axis, "label"),
                         json_is_true(json_object_get(axis, "log"))};
}

static bool read_kind(const char *text, figure_kind *kind)
{
    static const char *const names[] = {"points", "line", "band", "fit",
                                        "theory"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            *kind = (figure_kind)i;
            return true;
        }
    return false;
}

/* Beyond this, twice the width of a drawing may be no number. */
static const double largest_drawn = 1e300;

/* [x, y] or [x, y, low, high], where low and high may be null. */
static bool read_point(const json_t *json, figure_point *p)
{
    const size_t size = json_array_size(json);
    double *const part[] = {&p->x, &p->y, &p->low, &p->high};
    *p = (figure_point){NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < size && i < 4; i++) {
        const json_t *value = json_array_get(json, i);
        if (json_is_number(value))
            *part[i] = json_number_value(value);
        else if (i < 2 || !json_is_null(value))
            return false;
    }
    return (size == 2 || size == 4) && isnan(p->low) == isnan(p->high);
}

/* The part of a point that is too large, or 0. */
static double too_large(const figure_point *p)
{
    const double part[] = {p->x, p->y, p->low, p->high};
    for (size_t i = 0; i < 4; i++)
        if (fabs(part[i]) > largest_drawn)
            return part[i];
    return 0;
}

static tarry_status read_series(const json_t *json, const tarry__figure *f,
                                figure_series *s, tarry_error *error)
{
    const json_t *points = json_object_get(json, "points");
    s->name = text_at(json, "name");
    if (!read_kind(text_at(json, "kind"), &s->kind))
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "figure '%s': series '%s': unknown kind '%s'",
                                f->id, s->name, text_at(json, "kind"));
    if (!json_is_array(points))
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "figure '%s': series '%s' has no points", f->id,
                                s->name);
    const size_t count = json_array_size(points);
    s->point = tarry__base_alloc(count, sizeof *s->point);
    if (s->point == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    for (; s->count < count; s->count++) {
        figure_point *p = &s->point[s->count];
        if (!read_point(json_array_get(points, s->count), p))
            return tarry__base_fail(
                error, TARRY_BAD_INPUT,
                "figure '%s': series '%s': point %zu is not "
                "[x, y] or [x, y, low, high]",
                f->id, s->name, s->count);
        if (too_large(p) != 0)
            return tarry__base_fail(
                error, TARRY_BAD_INPUT,
                "figure '%s': series '%s': point %zu: too large to draw: '%g'",
                f->id, s->name, s->count, too_large(p));
    }
    return TARRY_OK;
}

static bool is_file_name(const char *id)
{
    const size_t plain = strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno"
                                    "pqrstuvwxyz0123456789-_.");
    return id[plain] == '\0' && id[0] != '.' && plain <= 100;
}

tarry_status tarry__figure_read(const json_t *json, tarry__figure *f,
                                tarry_error *error)
{
    const json_t *list = json_object_get(json, "series");
    *f = (tarry__figure){.id = text_at(json, "id"),
                         .title = text_at(json, "title"),
                         .note = text_at(json, "note"),
                         .x = read_axis(json_object_get(json, "x")),
                         .y = read_axis(json_object_get(json, "y"))};
    if (!is_file_name(f->id))
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "figure '%s': the id is no name for a file",
                                f->id);
    if (!json_is_array(list))
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "figure '%s' has no list of series", f->id);
    const size_t count = json_array_size(list);
    f->series = tarry__base_zalloc(count, sizeof *f->series);
    if (f->series == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    for (f->n_series = 0; f->n_series < count;) {
        const size_t i = f->n_series++; /* counted first: clear frees it */
        const tarry_status status =
            read_series(json_array_get(list, i), f, &f->series[i], error);
        if (status != TARRY_OK)
            return status;
    }
    return TARRY_OK;
}

void tarry__figure_clear(tarry__figure *f)
{
    for (size_t i = 0; i < f->n_series; i++)
        tarry__base_free(f->series[i].point);
    tarry__base_free(f->series);
    *f = (tarry__figure){0};
}

/* ---- what can be drawn ----------------------------------------------------*/

bool tarry__figure_is_drawn(const tarry__figure *f, const figure_point *p)
{
    return !(f->x.log && p->x <= 0) && !(f->y.log && p->y <= 0);
}

static void widen(double *min, double *max, double value)
{
    *min = fmin(*min, value); /* as if a NAN were not there */
    *max = fmax(*max, value);
}

/* A little room on both sides of a logarithmic axis, within the numbers that a
 * machine has. */
static void margin_of_log(double *min, double *max)
{
    const double factor =
        tarry__exp(0.04 * (tarry__ln(*max) - tarry__ln(*min)));
    *min = fmax(*min / (*max > *min ? fmax(factor, 1.05) : 2), DBL_MIN);
    *max = fmin(*max * fmax(factor, 1.05), DBL_MAX);
}

/* A linear one begins at 0 if that is near, else with a little margin. */
static void margin_of_linear(double *min, double *max)
{
    const double margin =
        *max > *min ? 0.04 * (*max - *min) : fmax(fabs(*max) / 2, 1);
    *max += margin;
    *min = *min >= 0 && *min < *max / 2 ? 0 : *min - margin;
}

static void add_margin(const figure_axis *axis, double *min, double *max)
{
    (axis->log ? margin_of_log : margin_of_linear)(min, max);
}

/* On a logarithmic axis low ends far below every point would squeeze the rest:
 * it begins at a tenth of the smallest value at the latest. */
figure_view tarry__figure_view(const tarry__figure *f)
{
    figure_view v = {.min_x = INFINITY,
                     .max_x = -INFINITY,
                     .min_y = INFINITY,
                     .max_y = -INFINITY,
                     .empty = true};
    double lowest = INFINITY;
    for (size_t i = 0; i < f->n_series; i++)
        for (size_t k = 0; k < f->series[i].count; k++) {
            const figure_point *p = &f->series[i].point[k];
            if (!tarry__figure_is_drawn(f, p)) {
                v.dropped++;
                continue;
            }
            v.empty = false;
            widen(&v.min_x, &v.max_x, p->x);
            widen(&v.min_y, &v.max_y, p->y);
            v.max_y = fmax(v.max_y, p->high);
            if (!f->y.log || p->low > 0)
                lowest = fmin(lowest, p->low);
            v.cut += f->y.log && p->low <= 0;
        }
    if (v.empty)
        v = (figure_view){v.dropped, v.cut, 1, 10, 1, 10, true};
    v.min_y = fmin(v.min_y, f->y.log ? fmax(lowest, v.min_y / 10) : lowest);
    if (v.cut > 0)
        v.min_y /= 2; /* so that the cut ends are seen to run out */
    add_margin(&f->x, &v.min_x, &v.max_x);
    add_margin(&f->y, &v.min_y, &v.max_y);
    return v;
}

char *tarry__figure_note(const json_t *json)
{
    tarry__figure f;
    char *note = NULL;
    size_t size;
    if (tarry__figure_read(json, &f, NULL) == TARRY_OK) {
        const figure_view v = tarry__figure_view(&f);
        FILE *out = open_memstream(&note, &size);
        if (out != NULL) {
            fputs(f.note, out);
            if (v.dropped > 0)
                fprintf(out,
                        "%sLeft out: %zu point%s with a value that is not "
                        "positive, on a logarithmic axis.",
                        f.note[0] != '\0' ? " " : "", v.dropped,
                        v.dropped == 1 ? "" : "s");
            if (v.cut > 0)
                fprintf(out,
                        "%sIntervals that reach zero or below are cut at the "
                        "axis.",
                        f.note[0] != '\0' || v.dropped > 0 ? " " : "");
            if (fclose(out) != 0) {
                free(note);
                note = NULL;
            }
        }
    }
    tarry__figure_clear(&f);
    return note;
}
