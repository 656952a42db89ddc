/* report.c - the files of a report. */
#define _POSIX_C_SOURCE 200809L
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/base.h"
#include "base/file.h"
#include "base/json.h"
#include "figure/figure.h"
#include "report/html.h"
#include "report/page.h"

/* ---- checks ---------------------------------------------------------------*/

static tarry_status out_of_memory(tarry_error *error)
{
    return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

/* Adds an id to those seen; two of `what` must not be called the same. */
static tarry_status note(json_t *seen, const char *id, const char *what,
                         tarry_error *error)
{
    if (id[0] == '\0' || json_object_get(seen, id) != NULL)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "results: two %s are called '%s'", what, id);
    return json_object_set_new(seen, id, json_true()) == 0
               ? TARRY_OK
               : out_of_memory(error);
}

static tarry_status check_figures(const json_t *row, json_t *seen,
                                  tarry_error *error)
{
    size_t i;
    json_t *figure;
    json_array_foreach(json_object_get(row, "figures"), i, figure)
    {
        tarry__figure f;
        tarry_status status = tarry__figure_read(figure, &f, error);
        if (status == TARRY_OK)
            status = note(seen, f.id, "figures", error);
        tarry__figure_clear(&f);
        if (status != TARRY_OK)
            return status;
    }
    return TARRY_OK;
}

static tarry_status check_row(const json_t *row, json_t *rows, json_t *figures,
                              tarry_error *error)
{
    const char *id = tarry__html_text(row, "id");
    size_t i;
    json_t *check;
    const tarry_status status = note(rows, id, "rows", error);
    if (status != TARRY_OK)
        return status;
    if (tarry__page_verdict(row) == N_VERDICTS)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "results: row '%s' has no verdict", id);
    json_array_foreach(json_object_get(row, "checks"), i, check)
    {
        if (tarry__page_verdict(check) == N_VERDICTS &&
            !json_is_null(json_object_get(check, "verdict")))
            return tarry__base_fail(
                error, TARRY_BAD_INPUT,
                "results: check %zu of row '%s' has no verdict", i, id);
    }
    return check_figures(row, figures, error);
}

static tarry_status check(const json_t *results, tarry_error *error)
{
    const json_t *list = json_object_get(results, "rows");
    if (!json_is_array(list))
        return tarry__base_fail(error, TARRY_BAD_INPUT, "results have no rows");
    json_t *rows = json_object(), *figures = json_object(), *row;
    tarry_status status = TARRY_OK;
    size_t i;
    json_array_foreach(list, i, row)
    {
        if (status == TARRY_OK)
            status = check_row(row, rows, figures, error);
    }
    json_decref(rows);
    json_decref(figures);
    return status;
}

const json_t *tarry__report_figure(const json_t *results, const char *id)
{
    size_t i, k;
    json_t *row, *figure;
    json_array_foreach(json_object_get(results, "rows"), i, row)
    {
        json_array_foreach(json_object_get(row, "figures"), k, figure)
        {
            if (strcmp(tarry__html_text(figure, "id"), id) == 0)
                return figure;
        }
    }
    return NULL;
}

/* ---- files ----------------------------------------------------------------*/

/* dir + name + ending, ended with free. */
static char *join(const char *dir, const char *name, const char *ending)
{
    const size_t size = strlen(dir) + strlen(name) + strlen(ending) + 1;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s%s%s", dir, name, ending);
    return path;
}

/* Makes DIR/figures and the folders above it. */
tarry_status tarry__report_folders(const char *dir, tarry_error *error)
{
    char *path = join(dir, "/figures", "");
    if (path == NULL)
        return out_of_memory(error);
    tarry_status status = TARRY_OK;
    for (char *at = path + 1; status == TARRY_OK; at++) {
        const char c = *at;
        if (c != '/' && c != '\0')
            continue;
        *at = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            status = tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", path,
                                      strerror(errno));
        *at = c;
        if (c == '\0')
            break;
    }
    free(path);
    return status;
}

tarry_status tarry__report_save(const json_t *results, const char *dir,
                                tarry_error *error)
{
    char *path = join(dir, "/results.json", "");
    char *text =
        tarry__json_text(results, JSON_REAL_PRECISION(17) | JSON_INDENT(1));
    const tarry_status status =
        path != NULL && text != NULL
            ? tarry__file_save(path, text, strlen(text), error)
            : out_of_memory(error);
    free(path);
    free(text);
    return status;
}

/* The figure in all formats beside the page, and in it. */
tarry_status tarry__report_put_figure(FILE *out, const json_t *json,
                                      const json_t *config, const char *dir,
                                      tarry_error *error)
{
    static const char *const endings[] = {".svg", ".pdf", ".png"};
    tarry__figure f;
    tarry_status status = tarry__figure_read(json, &f, error);
    for (int i = 0; i < 3 && status == TARRY_OK; i++) {
        char *path = join(dir, f.id, endings[i]), *bytes;
        size_t size;
        status = tarry__figure_draw(&f, (figure_format)i, &bytes, &size, error);
        if (status == TARRY_OK)
            status = path != NULL ? tarry__file_save(path, bytes, size, error)
                                  : out_of_memory(error);
        if (status == TARRY_OK && i == FIGURE_SVG &&
            !tarry__page_figure(out, json, bytes, config))
            status = out_of_memory(error);
        free(bytes);
        free(path);
    }
    if (status == TARRY_OK) {
        char *path = join(dir, f.id, ".csv");
        status = path != NULL ? tarry__figure_csv(json, path, error)
                              : out_of_memory(error);
        free(path);
    }
    tarry__figure_clear(&f);
    return status;
}

static tarry_status put_row(FILE *out, const json_t *row, const json_t *config,
                            const char *dir, tarry_error *error)
{
    tarry_status status = TARRY_OK;
    size_t i;
    json_t *figure;
    tarry__page_row_top(out, row);
    json_array_foreach(json_object_get(row, "figures"), i, figure)
    {
        if (status == TARRY_OK)
            status = tarry__report_put_figure(out, figure, config, dir, error);
    }
    const bool is_whole = tarry__page_row_end(out, row);
    return status == TARRY_OK && !is_whole ? out_of_memory(error) : status;
}

static tarry_status put_page(FILE *out, const json_t *results, const char *dir,
                             tarry_error *error)
{
    const json_t *config = json_object_get(results, "config");
    char *figures = join(dir, "/figures/", "");
    tarry_status status = figures != NULL ? TARRY_OK : out_of_memory(error);
    size_t i;
    json_t *row;
    tarry__page_top(out, results);
    json_array_foreach(json_object_get(results, "rows"), i, row)
    {
        if (status == TARRY_OK)
            status = put_row(out, row, config, figures, error);
    }
    if (!tarry__page_end(out, results) && status == TARRY_OK)
        status = out_of_memory(error);
    free(figures);
    return status;
}

tarry_status tarry__report_write(const json_t *results, const char *dir,
                                 tarry_error *error)
{
    tarry__file page;
    char *path = NULL;
    tarry_status status = check(results, error);
    if (status == TARRY_OK)
        status = tarry__report_folders(dir, error);
    if (status == TARRY_OK)
        status = tarry__report_save(results, dir, error);
    if (status == TARRY_OK) {
        path = join(dir, "/index.html", "");
        status = path != NULL ? tarry__file_begin(&page, path, error)
                              : out_of_memory(error);
    }
    if (status == TARRY_OK)
        status = tarry__file_end(
            &page, put_page(page.stream, results, dir, error), error);
    free(path);
    return status;
}
