/* fuzz_examine.c - whatever can be read as a log can be examined. */
#include "fuzz.h"
#include "log/examine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const tarry__examine_options options = {
        .log = {.low = -1, .high = 1}, .seed = 1, .max_refused = 1};
    const char *path = fuzz_file(data, size);
    tarry__log log;
    tarry_error error = {""};
    json_t *result;
    const tarry_status status =
        tarry__log_read(&log, path, &options.log, &error);
    tarry__log_clear(&log);
    must(tarry__examine(path, &options, &result, &error) == status);
    must((status == TARRY_OK) == (result != NULL));
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
