/* fuzz_result.c - results as JSON, as tarry plot reads them: figures, and the
 * figures within the paper's results. */
#include <math.h>
#include <stdlib.h>
#include "figure/figure.h"
#include "fuzz.h"
#include "report/report.h"

static void try_figure(const json_t *json)
{
    tarry__figure f;
    tarry_error error = {""};
    const tarry_status status = tarry__figure_read(json, &f, &error);
    must(status == TARRY_OK || error.text[0] != '\0');
    if (status == TARRY_OK) {
        FILE *null = fopen("/dev/null", "w");
        must(null != NULL);
        for (size_t i = 0; i < f.n_series; i++)
            for (size_t k = 0; k < f.series[i].count; k++)
                must(isfinite(f.series[i].point[k].x));
        tarry__figure_script(&f, FIGURE_SVG, null);
        fclose(null);
    }
    tarry__figure_clear(&f);
    free(tarry__figure_note(json));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *json = json_loadb((const char *)data, size, 0, NULL);
    size_t i, k;
    json_t *row, *figure;
    try_figure(json);
    (void)tarry__report_figure(json, "x");
    json_array_foreach(json_object_get(json, "rows"), i, row)
    {
        json_array_foreach(json_object_get(row, "figures"), k, figure)
            try_figure(figure);
    }
    json_decref(json);
    return 0;
}
