/* load.c - JSON files that commands read. */
#include <errno.h>
#include <string.h>
#include "base/file.h"
#include "base/json.h"
#include "cli/cli.h"

json_t *cli_load_json(const char *path, size_t flags, int *code)
{
    json_error_t error;
    const bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : tarry__file_open(path);
    if (file == NULL) {
        *code = cli_error(EXIT_USAGE, "%s: %s", path, strerror(errno));
        return NULL;
    }
    json_t *json = json_loadf(file, flags, &error);
    *code = EXIT_DONE;
    if (json == NULL && ferror(file))
        *code = cli_error(EXIT_USAGE, "%s: cannot be read", path);
    else if (json == NULL && tarry__json_has_failed())
        *code = cli_error(EXIT_FAILED, "out of memory");
    else if (json == NULL)
        *code = cli_error(EXIT_USAGE, "%s:%d:%d: %s", path, error.line,
                          error.column, error.text);
    if (!is_input)
        fclose(file);
    return json;
}
