/* load.c - JSON files that commands read. */
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "base/input.h"
#include "base/json.h"
#include "cli/cli.h"

json_t *cli_load_json(const char *path, size_t flags, int *code)
{
    json_error_t error;
    tarry_error why;
    char *bytes;
    size_t size;
    const bool is_input = strcmp(path, "-") == 0;
    const tarry_status status =
        is_input ? tarry__input_take(STDIN_FILENO, path, &bytes, &size, &why)
                 : tarry__input_read(path, &bytes, &size, &why);
    json_t *json =
        status == TARRY_OK ? json_loadb(bytes, size, flags, &error) : NULL;
    *code = EXIT_DONE;
    if (status != TARRY_OK)
        *code = cli_error(cli_code(status), "%s", why.text);
    else if (json == NULL && tarry__json_has_failed())
        *code = cli_error(EXIT_FAILED, "out of memory");
    else if (json == NULL)
        *code = cli_error(EXIT_USAGE, "%s:%d:%d: %s", path, error.line,
                          error.column, error.text);
    tarry__base_free(bytes);
    return json;
}
