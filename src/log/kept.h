/* kept.h - an experiment in a store of ours, read as a log. */
#ifndef TARRY_LOG_KEPT_H
#define TARRY_LOG_KEPT_H

#include "log/log.h"
#include "store/store.h"

typedef struct {
    tarry__store *store;
    uint64_t experiment;
    tarry_arms arms; /* all that were ever admitted */
} tarry__kept;

/* Whether a path or URL is that of a store, and not of a log. */
bool tarry__kept_is_store(const char *path);

/* Opens the store and picks an experiment; `name` may be NULL if there is but
 * one.  What the experiment knows of itself goes to `options`: its range,
 * objective and arms, which live as long as *kept.  Ended by
 * tarry__kept_close, also after a failure.  TARRY_BAD_INPUT: which experiment?
 * Else as tarry__store_open. */
tarry_status tarry__kept_open(tarry__kept *kept, const char *path,
                              const char *name, tarry__log_options *options,
                              tarry_error *error);
void tarry__kept_close(tarry__kept *kept);

/* Reads it as tarry__log_read does; `kept` is a tarry__kept. */
tarry_status tarry__kept_read(void *kept, tarry__log *log, const char *path,
                              const tarry__log_options *options,
                              tarry_error *error);

#endif
