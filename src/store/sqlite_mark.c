/* sqlite_mark.c - tells the copy of a file that is used from a whole store.
 *
 * While a store is used its last commits are in FILE-wal only.  FILE alone is
 * then an older state of the store, sound in itself: often an empty one.  So
 * the first commit after the log was moved into the file sets MARK in the
 * file's user_version, but not in what SQLite reads there: the same commit has
 * put the first page, without the mark, into the log, where every reader of
 * SQLite finds it.  SQLite's own backups hence have no mark, and moving the log
 * into the file, as the end of the process does, removes it.
 *
 * The mark is not flushed: after a power cut it may be missing, and then a copy
 * without the log passes, as a copy does that is made while the log is being
 * moved. */
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "store/sqlite_store.h"

enum { MARKED_BYTE = 61 }; /* of user_version, which is at byte 60 */

static tarry_status refuse(const tarry__sqlite *s, tarry_error *error)
{
    return tarry__base_fail(
        error, TARRY_BAD_STATE,
        "%s: copied while a process used the store, without %s-wal, which "
        "holds the last commits: copy with 'tarry store copy STORE COPY', or "
        "stop the process first (an empty file %s-lock makes tarry take what "
        "is here)",
        s->path, s->path, s->path);
}

tarry_status tarry__sqlite_check_mark(tarry__sqlite *s, bool is_forced,
                                      tarry_error *error)
{
    const size_t length = strlen(s->path);
    char *log = tarry__base_alloc(length + 5, 1);
    if (log == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    memcpy(log, s->path, length);
    memcpy(log + length, "-wal", 5);
    s->lacks_log = s->has_mark && access(log, F_OK) != 0;
    tarry__base_free(log);
    return s->lacks_log && !is_forced ? refuse(s, error) : TARRY_OK;
}

bool tarry__sqlite_begin_mark(tarry__sqlite *s)
{
    char sql[60];
    sqlite3_snprintf(sizeof sql, sql, "PRAGMA user_version = %d",
                     TARRY__SQLITE_VERSION);
    return s->has_mark ||
           sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Past SQLite, by its own handle: closing another one would end its locks. */
void tarry__sqlite_end_mark(tarry__sqlite *s)
{
    static const unsigned char mark = TARRY__SQLITE_MARK >> 16;
    sqlite3_file *file = NULL;
    if (s->has_mark)
        return;
    sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    s->has_mark = file != NULL && file->pMethods->xWrite(
                                      file, &mark, 1, MARKED_BYTE) == SQLITE_OK;
}
