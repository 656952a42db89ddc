/* wal.h - looks at SQLite's write-ahead log before SQLite does.
 *
 * SQLite reads a log up to the first frame whose checksum fails and drops the
 * rest without a word: right for a transaction that was torn by a crash, wrong
 * for a bit that flipped in the middle. */
#ifndef TARRY_STORE_WAL_H
#define TARRY_STORE_WAL_H

#include <stdbool.h>
#include "tarry/status.h"

/* Looks at the log of the database `path`.  TARRY_OK: whole, torn in its last
 * transaction (if that `may_be_torn`: else nobody could tell a crash from
 * damage), or not there.  TARRY_BAD_STATE: damaged, `error` names the frame.
 * TARRY_IO_ERROR. */
tarry_status tarry__wal_check(const char *path, bool may_be_torn,
                              tarry_error *error);

#endif
