/* numbers.c - see entry.h. */
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "env/entry.h"

tarry_status tarry__env_numbers(const tarry__spec *spec, const char *key,
                                double *out, size_t room, size_t *count,
                                tarry_error *error)
{
    const char *at = tarry__spec_text(spec, key);
    *count = 0;
    while (*at != '\0') {
        char word[64] = "";
        const size_t length = strcspn(at, "/");
        if (length < sizeof word)
            memcpy(word, at, length);
        if (*count == room || !tarry__base_parse_real(word, &out[*count]))
            return tarry__base_fail(error, TARRY_BAD_INPUT,
                                    "%s: %s is not a list of at most %zu "
                                    "numbers separated by /: '%s'",
                                    spec->name, key, room,
                                    tarry__spec_text(spec, key));
        ++*count;
        at += length + (at[length] == '/');
    }
    return TARRY_OK;
}
