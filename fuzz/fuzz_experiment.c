/* fuzz_experiment.c - experiment files: what is taken can be checked and said
 * again. */
#include <stdio.h>
#include "cli/run.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tarry__batch_plan plan;
    static FILE *quiet; /* for the messages; sanitizers know other ways */
    if (quiet == NULL)
        stderr = quiet = fopen("/dev/null", "w");
    plan = (tarry__batch_plan){.experiment = {.instance = "sphere",
                                              .loss = "rademacher",
                                              .delay = "constant:rounds=1",
                                              .n_policies = 1,
                                              .policy = {"uniform"},
                                              .horizon = 100,
                                              .runs = 1,
                                              .seed = 1,
                                              .points = 10}};
    json_t *keep = json_array();
    int code = run_read_config(fuzz_file(data, size), keep, &plan);
    must(code == EXIT_DONE || code == EXIT_USAGE);
    if (code == EXIT_DONE)
        code = run_expand_groups(&plan.experiment);
    if (code == EXIT_DONE && plan.n_worlds == 0) {
        json_t *again = tarry__results_config(&plan);
        must(again != NULL);
        json_decref(again);
    }
    json_decref(keep);
    return 0;
}
