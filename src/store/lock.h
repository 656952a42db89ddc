/* lock.h - one process at a time, and what it has committed.
 *
 * Beside a store FILE lies FILE-lock, locked by the process that uses the store
 * and holding its number, how many events are committed, and their digest.  It
 * is rewritten after each commit, without a flush: what it tells is a lower
 * bound.  A store that has fewer events has lost some.  A lock file that is
 * made for a store that is then refused goes again.  FILE itself is locked too:
 * it may have other names, and FILE-lock may be removed. */
#ifndef TARRY_STORE_LOCK_H
#define TARRY_STORE_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include "tarry/status.h"

typedef struct {
    int fd, store;        /* of FILE-lock and of FILE, or -1 */
    char *name;           /* of FILE-lock */
    bool is_new;          /* there was no lock file */
    bool is_known;        /* there was one, and it told: */
    uint64_t events, sum; /* as of the last commit it knows of */
} tarry__lock;

/* Takes the lock of `path`.  TARRY_CANCELLED: another process has it;
 * TARRY_BAD_STATE: what the file holds is damaged; TARRY_IO_ERROR,
 * TARRY_NO_MEMORY.  After a failure there is nothing to give back. */
tarry_status tarry__lock_take(tarry__lock *lock, const char *path,
                              tarry_error *error);

/* Locks the file itself, which is there by now.  TARRY_CANCELLED: another
 * process has it, under any name.  SQLite loses its own locks when the file is
 * closed, so give comes after it. */
tarry_status tarry__lock_hold(tarry__lock *lock, const char *path,
                              tarry_error *error);

/* Writes what is committed; a failure does no harm. */
void tarry__lock_note(tarry__lock *lock, uint64_t events, uint64_t sum);

void tarry__lock_give(tarry__lock *lock);

#endif
