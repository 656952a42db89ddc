/* fuzz_log.c - logs of all formats: what is read makes sense, and can be
 * examined. */
#include <math.h>
#include <string.h>
#include "fuzz.h"
#include "log/examine.h"

static void check(const tarry__log *log)
{
    must(log->count > 0 && log->n_arms > 0);
    for (size_t i = 0; i < log->count; i++) {
        must(log->arm[i] < log->n_arms);
        must(isfinite(log->decided[i]) && log->decided[i] <= log->now);
        must(i == 0 || log->decided[i - 1] <= log->decided[i]);
        must(isnan(log->loss[i]) == isnan(log->reported[i]));
        must(isnan(log->loss[i]) || fabs(log->loss[i]) <= 1);
        must(!(log->reported[i] < log->decided[i]));
        must(!(log->reported[i] > log->now));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const tarry__examine_options options = {.log = {.low = -1, .high = 1},
                                            .seed = 1};
    const char *path = fuzz_file(data, size);
    tarry__log log;
    tarry_error error = {""};
    json_t *result;
    const tarry_status status =
        tarry__log_read(&log, path, &options.log, &error);
    must(status == TARRY_OK || error.text[0] != '\0');
    must(strchr(error.text, '\n') == NULL);
    if (status == TARRY_OK)
        check(&log);
    tarry__log_clear(&log);
    must(tarry__examine(path, &options, &result, &error) == status);
    if (result != NULL) {
        static const char *const keys[] = {
            "decisions",  "outstanding",    "arms",       "delay",
            "dependence", "recommendation", "simulation", "value"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            must(json_object_get(result, keys[i]) != NULL);
    }
    json_decref(result);
    return 0;
}
