/* fuzz_log.c - logs of decisions: what is read is in order and in range. */
#include <math.h>
#include <string.h>
#include "fuzz.h"
#include "log/log.h"

static void check(const tarry__log *log)
{
    must(log->count > 0);
    for (size_t i = 0; i < log->count; i++) {
        must(log->arm[i] < log->n_arms);
        must(isfinite(log->decided[i]));
        must(i == 0 || log->decided[i] >= log->decided[i - 1]);
        must(isnan(log->loss[i]) || fabs(log->loss[i]) <= 1);
        must(isnan(log->probability[i]) ||
             (log->probability[i] > 0 && log->probability[i] <= 1));
    }
    for (size_t k = 0; k < log->n_arms; k++)
        must(log->names[k] != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tarry__log log;
    for (int strict = 0; strict < 2; strict++) {
        const tarry__log_options options = {
            .low = -1, .high = 1, .strict = strict};
        tarry_error error = {""};
        const tarry_status status =
            tarry__log_read(&log, fuzz_file(data, size), &options, &error);
        must(status == TARRY_OK || error.text[0] != '\0');
        must(strchr(error.text, '\n') == NULL);
        if (status == TARRY_OK)
            check(&log);
        tarry__log_clear(&log);
    }
    return 0;
}
