/* fuzz_tokens.c - files of tokens. */
#include <stdlib.h>
#include "fuzz.h"
#include "service/keys.h"
#include "service/service.h"

enum {
    ALL = TARRY__SERVICE_DECIDE | TARRY__SERVICE_FEEDBACK |
          TARRY__SERVICE_READ | TARRY__SERVICE_ADMIN
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarry__keys *keys;
    tarry_error error = {""};
    char *text = fuzz_text(data, size);
    const tarry_status status =
        tarry__keys_read(fuzz_file(data, size), &keys, &error);
    must((status == TARRY_OK) == (keys != NULL));
    must(status == TARRY_OK || error.text[0] != '\0');
    if (keys != NULL) {
        const int scopes = tarry__keys_scopes(keys, text);
        must(scopes == -1 || (scopes > 0 && scopes <= ALL));
        must(tarry__keys_scopes(keys, "") <= ALL);
    }
    must(tarry__keys_parse_scopes(text) >= 0);
    tarry__keys_free(keys);
    free(text);
    return 0;
}
