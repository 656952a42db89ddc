/* snapshot.c - a session's state as bytes: those of the policy, as it saves
 * them itself, and behind them those of the watch. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/base.h"
#include "base/file.h"
#include "session/inner.h"

static tarry_status pack_watch(tarry__session *s, void **bytes, size_t *size)
{
    tarry__archive a = {0};
    tarry__watch_archive(s->watch, &a);
    const tarry_status status =
        a.status == TARRY_OK ? tarry__archive_pack(&a, bytes, size) : a.status;
    tarry__archive_clear(&a);
    return status;
}

tarry_status tarry__session_pack(tarry__session *s, void **bytes, size_t *size)
{
    void *policy = NULL, *watch = NULL;
    size_t policy_size, watch_size;
    *bytes = NULL;
    tarry_status status = tarry_policy_pack(s->policy, &policy, &policy_size);
    if (status == TARRY_OK)
        status = pack_watch(s, &watch, &watch_size);
    if (status == TARRY_OK) {
        *size = policy_size + watch_size;
        *bytes = tarry__base_grow(policy, policy_size, *size, 1);
        status = *bytes != NULL ? TARRY_OK : TARRY_NO_MEMORY;
    }
    if (status == TARRY_OK)
        memcpy((char *)*bytes + policy_size, watch, watch_size);
    else
        tarry_policy_pack_free(policy);
    tarry__base_free(watch);
    return status;
}

static tarry_status unpack_watch(tarry__session *s, const void *bytes,
                                 size_t size, tarry_error *error)
{
    tarry__archive a;
    const tarry_status status = tarry__archive_unpack(&a, bytes, size, error);
    if (status != TARRY_OK)
        return status;
    tarry__watch_archive(s->watch, &a);
    return a.status == TARRY_OK
               ? TARRY_OK
               : tarry__base_fail(error, a.status, "a packed watch: %s",
                                  tarry_status_text(a.status));
}

tarry_status tarry__session_unpack(tarry__session *s, const void *bytes,
                                   size_t size, tarry_error *error)
{
    tarry_status status = tarry_policy_unpack(bytes, size, &s->policy, error);
    if (status != TARRY_OK)
        return status;
    const size_t first = tarry__archive_first_size(bytes, size);
    if (first < size)
        status =
            unpack_watch(s, (const char *)bytes + first, size - first, error);
    return status;
}

/* ---- files ----------------------------------------------------------------*/

/* A pipe could keep all others waiting, or be the one that lines come from; a
 * state in the store's place would be its end. */
static tarry_status check_target(const tarry__session *s, const char *path,
                                 tarry_error *error)
{
    struct stat what;
    if (stat(path, &what) == 0 && !S_ISREG(what.st_mode) &&
        !S_ISDIR(what.st_mode))
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT, "%s: not a file",
                                path);
    if (tarry__store_has_file(s->store, path))
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "%s: a file of the store", path);
    return TARRY_OK;
}

tarry_status tarry__session_save(tarry__session *s, const char *path,
                                 tarry_error *error)
{
    void *bytes;
    size_t size;
    tarry_status status = check_target(s, path, error);
    if (status != TARRY_OK)
        return status;
    status = tarry__session_pack(s, &bytes, &size);
    if (status != TARRY_OK)
        return tarry__base_fail(error, status, "out of memory");
    status = tarry__file_save(path, bytes, size, error);
    tarry__base_free(bytes);
    return status;
}
