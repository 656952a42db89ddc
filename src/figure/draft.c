/* draft.c - written beside its place, then renamed. */
#define _DEFAULT_SOURCE
#include "figure/draft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"

static void clear(tarry__draft *draft)
{
    free(draft->path);
    free(draft->name);
    *draft = (tarry__draft){0};
}

/* mkstemp gives 0600; a report is as readable as any other new file. */
static void open_to_readers(int fd)
{
    const mode_t mask = umask(0);
    umask(mask);
    (void)!fchmod(fd, 0666 & ~mask);
}

tarry_status tarry__draft_begin(tarry__draft *draft, const char *path,
                                tarry_error *error)
{
    static const char ending[] = ".XXXXXX";
    const size_t length = strlen(path);
    *draft = (tarry__draft){.path = strdup(path),
                            .name = malloc(length + sizeof ending)};
    if (draft->path == NULL || draft->name == NULL) {
        clear(draft);
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    }
    memcpy(draft->name, path, length);
    memcpy(draft->name + length, ending, sizeof ending);
    const int fd = mkstemp(draft->name);
    if (fd >= 0) {
        open_to_readers(fd);
        draft->file = fdopen(fd, "w");
    }
    if (draft->file != NULL)
        return TARRY_OK;
    tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", path, strerror(errno));
    if (fd >= 0) {
        close(fd);
        unlink(draft->name);
    }
    clear(draft);
    return TARRY_IO_ERROR;
}

tarry_status tarry__draft_end(tarry__draft *draft, tarry_status status,
                              tarry_error *error)
{
    const int written = !ferror(draft->file);
    const int closed = fclose(draft->file) == 0;
    if (status == TARRY_OK &&
        !(written && closed && rename(draft->name, draft->path) == 0))
        status = tarry__base_fail(error, TARRY_IO_ERROR, "%s: cannot write: %s",
                                  draft->path, strerror(errno));
    if (status != TARRY_OK)
        unlink(draft->name);
    clear(draft);
    return status;
}

tarry_status tarry__draft_save(const char *path, const char *bytes, size_t size,
                               tarry_error *error)
{
    tarry__draft draft;
    const tarry_status status = tarry__draft_begin(&draft, path, error);
    if (status != TARRY_OK)
        return status;
    fwrite(bytes, 1, size, draft.file);
    return tarry__draft_end(&draft, TARRY_OK, error);
}
