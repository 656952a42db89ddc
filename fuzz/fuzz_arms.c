/* fuzz_arms.c - arm files, CSV and NumPy: what is read is finite and whole. */
#include <math.h>
#include <string.h>
#include "fuzz.h"
#include "tarry/arms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarry_arms *arms;
    tarry_error error = {""};
    const tarry_status status =
        tarry_arms_read(fuzz_file(data, size), &arms, &error);
    must((status == TARRY_OK) == (arms != NULL));
    must(status == TARRY_OK || error.text[0] != '\0');
    must(strchr(error.text, '\n') == NULL);
    if (arms == NULL)
        return 0;
    must(arms->n_arms > 0 && arms->dim > 0);
    for (size_t i = 0; i < arms->n_arms * arms->dim; i++)
        must(isfinite(arms->data[i]));
    for (size_t k = 0; arms->names != NULL && k < arms->n_arms; k++)
        must(strlen(arms->names[k]) <= size);
    tarry_arms_free(arms);
    return 0;
}
