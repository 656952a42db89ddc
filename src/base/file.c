/* file.c - the one writer of files.
 *
 * The new name is random and must not exist (O_EXCL), so nobody can have put
 * a link there and two writers cannot share it.  The order is: write, fsync
 * the file, rename, fsync the folder.  Writes that are interrupted or cut
 * short go on; the first that fails is remembered, since stdio forgets why.
 *
 * A writer that is killed leaves its new file behind.  Its name tells for whom
 * it was, and its writer held a lock on it: so the next process that writes the
 * same target removes it. */
#define _GNU_SOURCE
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/base.h"

static char *copy_of(const char *text, size_t length, size_t more)
{
    char *copy = tarry__base_alloc(length + more + 1, 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

static void clear(tarry__file *f)
{
    tarry__base_free(f->path);
    tarry__base_free(f->target);
    tarry__base_free(f->beside);
    *f = (tarry__file){.fd = -1};
}

static tarry_status fail(const tarry__file *f, int code, tarry_error *error)
{
    return tarry__base_fail(error, TARRY_IO_ERROR, "%s: cannot write: %s",
                            f->path, strerror(code));
}

/* ---- the stream -----------------------------------------------------------*/

static ssize_t write_all(void *context, const char *bytes, size_t size)
{
    tarry__file *f = context;
    for (size_t done = 0; done < size;) {
        const ssize_t n = write(f->fd, bytes + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (f->failure == 0)
                f->failure = n < 0 ? errno : EIO;
            return 0; /* as fopencookie wants an error told */
        }
        done += (size_t)n;
    }
    return (ssize_t)size;
}

static FILE *open_stream(tarry__file *f)
{
    return fopencookie(f, "w", (cookie_io_functions_t){.write = write_all});
}

/* ---- names ----------------------------------------------------------------*/

/* The length of the folder's part of a path, its slash included. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* The file that the path leads to, through symbolic links. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);
    const char *target = real != NULL ? real : path;
    char *copy = copy_of(target, strlen(target), 0);
    free(real);
    return copy;
}

static uint64_t next_number(void)
{
    static uint64_t count;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t parts[] = {(uint64_t)now.tv_sec, (uint64_t)now.tv_nsec,
                              (uint64_t)getpid(),
                              __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED)};
    return tarry__base_digest(TARRY__BASE_DIGEST, parts, sizeof parts);
}

/* How the names of new files for a target begin. */
enum { BEGINNING = 7 + 8 + 1, NAME_LENGTH = BEGINNING + 16 };

static void begin_name(const tarry__file *f, char name[BEGINNING + 1])
{
    const char *target = f->target + folder_length(f->target);
    const uint64_t digest =
        tarry__base_digest(TARRY__BASE_DIGEST, target, strlen(target));
    sprintf(name, ".tarry-%08x-", (unsigned)(digest & UINT32_MAX));
}

/* Opens a file that did not exist, beside the target. */
static int open_beside(tarry__file *f, mode_t mode)
{
    enum { TRIES = 100 };
    char *name = f->beside + folder_length(f->beside);
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0; i++) {
        begin_name(f, name);
        sprintf(name + BEGINNING, "%016jx", (uintmax_t)next_number());
        fd = open(f->beside,
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST && errno != EINTR)
            break;
    }
    if (fd >= 0)
        (void)flock(fd, LOCK_EX | LOCK_NB); /* tells that we are alive */
    return fd;
}

/* ---- what the dead have left ----------------------------------------------*/

/* Nobody has locked it, not even a writer who has only just opened it. */
static bool is_stale(int fd)
{
    enum { SECONDS = 60 };
    struct stat s;
    return fstat(fd, &s) == 0 && S_ISREG(s.st_mode) &&
           time(NULL) - s.st_mtime > SECONDS &&
           flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static void remove_if_stale(int folder, const char *name)
{
    const int fd =
        openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (is_stale(fd))
        unlinkat(folder, name, 0);
    close(fd);
}

/* Once per target, as folders can be large; nothing depends on it. */
static void remove_stale(const tarry__file *f)
{
    static uint64_t last;
    char beginning[BEGINNING + 1];
    const uint64_t this =
        tarry__base_digest(TARRY__BASE_DIGEST, f->target, strlen(f->target));
    if (__atomic_exchange_n(&last, this, __ATOMIC_RELAXED) == this)
        return;
    begin_name(f, beginning);
    f->beside[folder_length(f->beside)] = '\0';
    DIR *folder = opendir(f->beside[0] != '\0' ? f->beside : ".");
    if (folder == NULL)
        return;
    for (const struct dirent *e; (e = readdir(folder)) != NULL;)
        if (strncmp(e->d_name, beginning, BEGINNING) == 0 &&
            strlen(e->d_name) == NAME_LENGTH)
            remove_if_stale(dirfd(folder), e->d_name);
    closedir(folder);
}

/* ---- begin ----------------------------------------------------------------*/

static bool name_all(tarry__file *f, const char *path)
{
    f->path = copy_of(path, strlen(path), 0);
    f->target = resolve(path);
    f->beside = f->target != NULL
                    ? copy_of(f->target, folder_length(f->target), NAME_LENGTH)
                    : NULL;
    return f->path != NULL && f->beside != NULL;
}

/* Answers 0, or errno. */
static int open_file(tarry__file *f)
{
    struct stat old;
    const bool is_there = stat(f->target, &old) == 0;
    if (is_there && S_ISDIR(old.st_mode))
        return EISDIR;
    if (is_there && !S_ISREG(old.st_mode)) {
        f->beside[0] = '\0';
        /* A pipe may wait for its reader until a signal comes. */
        f->fd = open(f->target, O_WRONLY | O_CLOEXEC);
        return f->fd >= 0 ? 0 : errno;
    }
    remove_stale(f);
    f->fd = open_beside(f, is_there ? old.st_mode & 0777 : 0666);
    if (f->fd < 0)
        return errno;
    if (is_there && fchmod(f->fd, old.st_mode & 07777) != 0)
        return errno;
    if (is_there)
        (void)!fchown(f->fd, old.st_uid, old.st_gid); /* a wish only */
    return 0;
}

static void discard(tarry__file *f)
{
    if (f->beside[0] != '\0')
        unlink(f->beside);
}

tarry_status tarry__file_begin(tarry__file *f, const char *path,
                               tarry_error *error)
{
    *f = (tarry__file){.fd = -1};
    int code = name_all(f, path) ? open_file(f) : ENOMEM;
    if (code == 0 && (f->stream = open_stream(f)) == NULL)
        code = ENOMEM;
    if (code == 0)
        return TARRY_OK;
    const tarry_status status =
        code == ENOMEM ? tarry__base_fail(error, TARRY_NO_MEMORY,
                                          "%s: out of memory", path)
                       : fail(f, code, error);
    if (f->fd >= 0) {
        close(f->fd);
        discard(f);
    }
    clear(f);
    errno = code;
    return status;
}

/* ---- end ------------------------------------------------------------------*/

/* Some file systems, and what is no file, cannot be synced. */
static int synced(int fd)
{
    while (fsync(fd) != 0)
        if (errno != EINTR)
            return errno == EINVAL || errno == ENOTSUP ? 0 : errno;
    return 0;
}

/* Its name is made of that of the file beside, which is no more. */
static int sync_folder(tarry__file *f)
{
    strcpy(f->beside + folder_length(f->beside), ".");
    const int fd =
        TEMP_FAILURE_RETRY(open(f->beside, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd < 0)
        return errno == EACCES ? 0 : errno; /* may be written, but not read */
    const int code = synced(fd);
    close(fd);
    return code;
}

/* Everything that can still fail, in order; 0 or errno. */
static int put_in_place(tarry__file *f, bool keep)
{
    const bool whole = fclose(f->stream) == 0 && f->failure == 0;
    int code = whole ? 0 : f->failure != 0 ? f->failure : EIO;
    if (keep && code == 0)
        code = synced(f->fd);
    if (close(f->fd) != 0 && code == 0 && errno != EINTR)
        code = errno;
    if (!keep || code != 0 || f->beside[0] == '\0') {
        discard(f);
        return code;
    }
    if (rename(f->beside, f->target) != 0) {
        code = errno;
        discard(f);
        return code;
    }
    return sync_folder(f);
}

tarry_status tarry__file_end(tarry__file *f, tarry_status status,
                             tarry_error *error)
{
    const int code = put_in_place(f, status == TARRY_OK);
    if (status == TARRY_OK && code != 0)
        status = fail(f, code, error);
    clear(f);
    errno = code;
    return status;
}

tarry_status tarry__file_save(const char *path, const void *bytes, size_t size,
                              tarry_error *error)
{
    tarry__file f;
    const tarry_status status = tarry__file_begin(&f, path, error);
    if (status != TARRY_OK)
        return status;
    fwrite(bytes, 1, size, f.stream);
    return tarry__file_end(&f, TARRY_OK, error);
}

tarry_status tarry__file_check(const char *path, tarry_error *error)
{
    struct stat what;
    tarry__file f;
    if (stat(path, &what) == 0 && !S_ISREG(what.st_mode) &&
        !S_ISDIR(what.st_mode))
        return access(path, W_OK) == 0
                   ? TARRY_OK
                   : tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", path,
                                      strerror(errno));
    const tarry_status status = tarry__file_begin(&f, path, error);
    if (status == TARRY_OK)
        tarry__file_end(&f, TARRY_CANCELLED, error);
    return status;
}

tarry_status tarry__file_put(const char *folder, const char *name,
                             void (*write)(const void *context, FILE *file),
                             const void *context, tarry_error *error)
{
    char path[4096];
    tarry__file file;
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", folder,
                                strerror(errno));
    if (length < 0 || (size_t)length >= sizeof path)
        return tarry__base_fail(error, TARRY_IO_ERROR, "%s: name too long",
                                folder);
    const tarry_status status = tarry__file_begin(&file, path, error);
    if (status != TARRY_OK)
        return status;
    write(context, file.stream);
    return tarry__file_end(&file, TARRY_OK, error);
}
