/* disk.h - a disk whose power fails.
 *
 * Calls that change files of one folder are recorded: this program's open,
 * write, pwrite, ftruncate, fsync, fdatasync, rename and unlink stand before
 * those of the C library, also for SQLite.  Of a recording, every prefix is a
 * moment at which the power may fail.  What a file's last fsync before covers
 * is then on the disk; of later writes any may be, also without earlier ones,
 * and each in any of its sectors.  Names are on the disk once their folder was
 * synced; of later changes of names the first few are, in their order, as file
 * systems with a journal promise.
 *
 * Include it in one file of a program, before anything else. */
#ifndef TARRY_TESTS_DISK_H
#define TARRY_TESTS_DISK_H

#include "instead.h"
#include "check.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECTOR = 512, MOST_FILES = 400, MOST_FDS = 1024, NAME_ROOM = 100 };

typedef enum {
    DISK_WRITE,
    DISK_TRUNCATE,
    DISK_SYNC,
    DISK_LINK, /* a new file */
    DISK_RENAME,
    DISK_UNLINK,
    DISK_SYNC_FOLDER,
    DISK_MARK /* the test's own: `offset` things were acknowledged */
} disk_kind;

typedef struct {
    disk_kind kind;
    int file;
    size_t offset, size;
    unsigned char *bytes;
    char name[NAME_ROOM], to[NAME_ROOM];
    bool is_applied;
} disk_op;

typedef struct {
    char name[NAME_ROOM];
    int file;
} disk_name;

static struct {
    bool is_recording;
    char folder[200];
    disk_op *op;
    size_t count, room;
    disk_name name[MOST_FILES]; /* as the recorded program sees them */
    size_t n_names;
    int n_files;
    int file_of[MOST_FDS]; /* file number + 1; 0: none of ours */
} disk;

/* ---- names ----------------------------------------------------------------*/

/* The part of a path behind our folder; NULL: another folder.  The index that
 * SQLite shares between processes is made anew after a crash. */
static const char *our_name(const char *path)
{
    const size_t length = strlen(disk.folder);
    const size_t size = strlen(path);
    if (!disk.is_recording || strncmp(path, disk.folder, length) != 0 ||
        path[length] != '/' || strchr(path + length + 1, '/') != NULL ||
        (size > 4 && strcmp(path + size - 4, "-shm") == 0))
        return NULL;
    return path + length + 1;
}

static int find_name(const disk_name *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* What a change of names does to a list of them. */
static void change_names(disk_name *names, size_t *count, const disk_op *op)
{
    const int at = find_name(names, *count, op->name);
    if (op->kind == DISK_LINK && at < 0) {
        assert_true(*count < MOST_FILES);
        names[*count].file = op->file;
        strcpy(names[(*count)++].name, op->name);
        return;
    }
    if (at < 0)
        return;
    const disk_name moved = names[at];
    names[at] = names[--*count];
    if (op->kind != DISK_RENAME)
        return;
    const int to = find_name(names, *count, op->to);
    const size_t place = to >= 0 ? (size_t)to : (*count)++;
    names[place].file = moved.file;
    strcpy(names[place].name, op->to);
}

/* ---- recording ------------------------------------------------------------*/

static disk_op *add_op(disk_kind kind)
{
    if (disk.count == disk.room) {
        disk.room = 2 * disk.room + 1000;
        disk.op = realloc(disk.op, disk.room * sizeof *disk.op);
        assert_non_null(disk.op);
    }
    disk_op *op = &disk.op[disk.count++];
    memset(op, 0, sizeof *op);
    op->kind = kind;
    return op;
}

static void add_name(disk_kind kind, const char *name, const char *to, int file)
{
    disk_op *op = add_op(kind);
    snprintf(op->name, sizeof op->name, "%s", name);
    snprintf(op->to, sizeof op->to, "%s", to);
    op->file = file;
    change_names(disk.name, &disk.n_names, op);
}

static int file_at(int fd)
{
    return disk.is_recording && fd >= 0 && fd < MOST_FDS ? disk.file_of[fd] - 1
                                                         : -1;
}

static void add_write(int fd, const void *bytes, size_t size, off_t offset)
{
    const int file = file_at(fd);
    if (file < 0)
        return;
    disk_op *op = add_op(DISK_WRITE);
    op->file = file;
    op->offset = (size_t)offset;
    op->size = size;
    op->bytes = malloc(size + 1);
    assert_non_null(op->bytes);
    memcpy(op->bytes, bytes, size);
}

static void add_truncate(int file, off_t size)
{
    if (file < 0)
        return;
    disk_op *op = add_op(DISK_TRUNCATE);
    op->file = file;
    op->size = (size_t)size;
}

static void note_open(int fd, const char *path, int flags, bool was_there)
{
    const char *name = our_name(path);
    if (fd < 0 || fd >= MOST_FDS)
        return;
    disk.file_of[fd] = 0;
    if (name == NULL)
        return;
    if (!was_there)
        add_name(DISK_LINK, name, "", disk.n_files++);
    const int at = find_name(disk.name, disk.n_names, name);
    if (at < 0)
        return;
    disk.file_of[fd] = disk.name[at].file + 1;
    if (was_there && (flags & O_TRUNC) != 0)
        add_truncate(disk.name[at].file, 0);
}

static int record_open(const char *which, const char *path, int flags,
                       mode_t mode)
{
    const bool was_there = access(path, F_OK) == 0;
    const int fd = open_really(which, path, flags, mode);
    note_open(fd, path, flags, was_there);
    return fd;
}

OPEN_BY(record_open)

SHARED ssize_t write(int fd, const void *bytes, size_t size)
{
    off_t at = 0;
    if (file_at(fd) >= 0)
        at = (fcntl(fd, F_GETFL) & O_APPEND) != 0 ? lseek(fd, 0, SEEK_END)
                                                  : lseek(fd, 0, SEEK_CUR);
    const ssize_t done =
        REAL(ssize_t(*)(int, const void *, size_t), "write")(fd, bytes, size);
    if (done > 0)
        add_write(fd, bytes, (size_t)done, at);
    return done;
}

#define DISK_PWRITE(name)                                                      \
    SHARED ssize_t name(int fd, const void *bytes, size_t size, off_t at)      \
    {                                                                          \
        const ssize_t done =                                                   \
            REAL(ssize_t(*)(int, const void *, size_t, off_t),                 \
                 #name)(fd, bytes, size, at);                                  \
        if (done > 0)                                                          \
            add_write(fd, bytes, (size_t)done, at);                            \
        return done;                                                           \
    }
DISK_PWRITE(pwrite)
DISK_PWRITE(pwrite64)

#define DISK_TRUNCATE_CALL(name)                                               \
    SHARED int name(int fd, off_t size)                                        \
    {                                                                          \
        const int code = REAL(int (*)(int, off_t), #name)(fd, size);           \
        if (code == 0)                                                         \
            add_truncate(file_at(fd), size);                                   \
        return code;                                                           \
    }
DISK_TRUNCATE_CALL(ftruncate)
DISK_TRUNCATE_CALL(ftruncate64)

/* Real disks are not waited for. */
static int note_sync(int fd)
{
    struct stat what, ours;
    if (file_at(fd) >= 0)
        add_op(DISK_SYNC)->file = file_at(fd);
    else if (disk.is_recording && fstat(fd, &what) == 0 &&
             stat(disk.folder, &ours) == 0 && what.st_ino == ours.st_ino &&
             what.st_dev == ours.st_dev)
        add_op(DISK_SYNC_FOLDER);
    return 0;
}

SHARED int fsync(int fd)
{
    return note_sync(fd);
}

SHARED int fdatasync(int fd)
{
    return note_sync(fd);
}

SHARED int rename(const char *from, const char *to)
{
    const int code =
        REAL(int (*)(const char *, const char *), "rename")(from, to);
    if (code == 0 && our_name(from) != NULL && our_name(to) != NULL)
        add_name(DISK_RENAME, our_name(from), our_name(to), 0);
    return code;
}

SHARED int unlink(const char *path)
{
    const int code = REAL(int (*)(const char *), "unlink")(path);
    if (code == 0 && our_name(path) != NULL)
        add_name(DISK_UNLINK, our_name(path), "", 0);
    return code;
}

SHARED int close(int fd)
{
    if (fd >= 0 && fd < MOST_FDS)
        disk.file_of[fd] = 0;
    return REAL(int (*)(int), "close")(fd);
}

static void disk_begin(const char *folder)
{
    for (size_t i = 0; i < disk.count; i++)
        free(disk.op[i].bytes);
    free(disk.op);
    memset(&disk, 0, sizeof disk);
    assert_true(strlen(folder) < sizeof disk.folder);
    strcpy(disk.folder, folder);
    disk.is_recording = true;
}

static void disk_end(void)
{
    disk.is_recording = false;
}

static void disk_mark(size_t acknowledged)
{
    add_op(DISK_MARK)->offset = acknowledged;
}

/* ---- rebuilding -----------------------------------------------------------*/

typedef struct {
    unsigned char *bytes;
    size_t size, room;
} disk_file;

/* What is safe before operation `at`. */
typedef struct {
    size_t at, acknowledged;
    disk_file file[MOST_FILES];
    disk_name name[MOST_FILES];
    size_t n_names;
    bool no_sync, no_folder_sync; /* a program that forgets them */
} disk_safe;

static void set_size(disk_file *f, size_t size)
{
    if (size > f->room) {
        f->room = 2 * size;
        f->bytes = realloc(f->bytes, f->room);
        assert_non_null(f->bytes);
    }
    if (size > f->size)
        memset(f->bytes + f->size, 0, size - f->size);
    f->size = size;
}

static void put_part(disk_file *f, const disk_op *op, size_t from, size_t to)
{
    if (f->size < op->offset + to)
        set_size(f, op->offset + to);
    memcpy(f->bytes + op->offset + from, op->bytes + from, to - from);
}

static void put_op(disk_file *f, const disk_op *op)
{
    if (op->kind == DISK_TRUNCATE)
        set_size(f, op->size);
    else
        put_part(f, op, 0, op->size);
}

/* Some of its sectors; the file may have grown all the same. */
static void put_torn(disk_file *f, const disk_op *op, uint64_t *seed)
{
    if (op->kind == DISK_TRUNCATE)
        return;
    if (test_bits(seed) % 2 == 0 && f->size < op->offset + op->size)
        set_size(f, op->offset + op->size);
    for (size_t from = 0; from < op->size;) {
        const size_t end = (op->offset + from) / SECTOR * SECTOR + SECTOR;
        const size_t to =
            end - op->offset < op->size ? end - op->offset : op->size;
        if (test_bits(seed) % 2 == 0)
            put_part(f, op, from, to);
        from = to;
    }
}

static bool is_data(const disk_op *op)
{
    return op->kind == DISK_WRITE || op->kind == DISK_TRUNCATE;
}

static bool is_naming(const disk_op *op)
{
    return op->kind == DISK_LINK || op->kind == DISK_RENAME ||
           op->kind == DISK_UNLINK;
}

/* Goes past one operation. */
static void disk_step(disk_safe *s)
{
    const disk_op *op = &disk.op[s->at];
    if (op->kind == DISK_MARK)
        s->acknowledged = op->offset;
    for (size_t i = 0; i < s->at; i++) {
        disk_op *old = &disk.op[i];
        if (old->is_applied)
            continue;
        if (op->kind == DISK_SYNC && !s->no_sync && is_data(old) &&
            old->file == op->file) {
            put_op(&s->file[old->file], old);
            old->is_applied = true;
        } else if (op->kind == DISK_SYNC_FOLDER && !s->no_folder_sync &&
                   is_naming(old)) {
            change_names(s->name, &s->n_names, old);
            old->is_applied = true;
        }
    }
    s->at++;
}

typedef enum {
    ALL_ARRIVED,
    NONE_ARRIVED,
    LAST_TORN,
    LAST_ONLY, /* of the writes: they were reordered */
    ANY_ARRIVED,
    DISK_N_WAYS
} disk_way;

static void put_unsafe(disk_file *f, const disk_op *op, bool is_last,
                       disk_way way, uint64_t *seed)
{
    const uint64_t luck = way == ANY_ARRIVED ? test_bits(seed) % 3 : 3;
    if (way == ALL_ARRIVED || (way == LAST_TORN && !is_last) ||
        (way == LAST_ONLY && is_last) || luck == 0)
        put_op(f, op);
    else if (way == LAST_TORN || luck == 1)
        put_torn(f, op, seed);
}

/* How many operations before s->at are not safe. */
static size_t disk_unsafe(const disk_safe *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->at; i++)
        count += !disk.op[i].is_applied &&
                 (is_data(&disk.op[i]) || is_naming(&disk.op[i]));
    return count;
}

static void write_file(const char *folder, const char *name, const disk_file *f)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    if (f->size > 0)
        assert_int_equal(fwrite(f->bytes, 1, f->size, file), f->size);
    fclose(file);
}

/* Fills an empty folder with what the disk may hold. */
static void disk_image(const disk_safe *s, disk_way way, uint64_t *seed,
                       const char *folder)
{
    static disk_file file[MOST_FILES];
    static disk_name names[MOST_FILES];
    size_t n_names = s->n_names, unsafe_names = 0, last = 0;
    memcpy(names, s->name, sizeof names);
    for (int i = 0; i < disk.n_files; i++) {
        set_size(&file[i], 0);
        set_size(&file[i], s->file[i].size);
        if (s->file[i].size > 0)
            memcpy(file[i].bytes, s->file[i].bytes, s->file[i].size);
    }
    for (size_t i = 0; i < s->at; i++) {
        const disk_op *op = &disk.op[i];
        unsafe_names += !op->is_applied && is_naming(op);
        if (!op->is_applied && is_data(op))
            last = i;
    }
    size_t kept = way == NONE_ARRIVED  ? 0
                  : way == ANY_ARRIVED ? test_bits(seed) % (unsafe_names + 1)
                                       : unsafe_names;
    for (size_t i = 0; i < s->at; i++) {
        const disk_op *op = &disk.op[i];
        if (op->is_applied)
            continue;
        if (is_naming(op) && kept > 0) {
            change_names(names, &n_names, op);
            kept--;
        } else if (is_data(op)) {
            put_unsafe(&file[op->file], op, i == last, way, seed);
        }
    }
    for (size_t i = 0; i < n_names; i++)
        write_file(folder, names[i].name, &file[names[i].file]);
}

static void disk_free(disk_safe *s)
{
    for (int i = 0; i < MOST_FILES; i++)
        free(s->file[i].bytes);
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < disk.count; i++)
        disk.op[i].is_applied = false;
}

#endif
