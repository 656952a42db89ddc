/* overview.h - what an experiment has been doing, for people to look at.
 *
 * It is fed with the events of a log, in order, and keeps figures whose number
 * does not grow with them: time is cut into TARRY__OVERVIEW_BUCKETS buckets
 * that double in width whenever they no longer reach, delays into four bins per
 * octave.  It takes 1.2 kB for each arm that was ever chosen, and 48 bytes or
 * less for each decision without an outcome.
 *
 * Use each from one thread at a time.  Times are milliseconds since 1970. */
#ifndef TARRY_SERVICE_OVERVIEW_H
#define TARRY_SERVICE_OVERVIEW_H

#include "base/json.h"
#include "store/store.h"

enum { TARRY__OVERVIEW_BUCKETS = 120 };

typedef struct tarry__overview tarry__overview;

/* Of an experiment as its store has it, which must outlive the overview.  NULL:
 * out of memory. */
tarry__overview *tarry__overview_create(const tarry__store_experiment *made);
void tarry__overview_free(tarry__overview *o);

/* Takes the next event.  TARRY_NO_MEMORY: it has not been taken, and may be
 * given again. */
tarry_status tarry__overview_take(tarry__overview *o,
                                  const tarry__store_event *e);

/* How many events it has taken. */
uint64_t tarry__overview_seq(const tarry__overview *o);

/* The bound on the gap of the arm that would be exploited, as it was at a time;
 * a log does not say it, so that it is known from when somebody asks. */
void tarry__overview_certify(tarry__overview *o, int64_t at, double gap);

/* Everything as JSON, `events` being how many the log has.  The caller owns it;
 * NULL: out of memory. */
json_t *tarry__overview_json(const tarry__overview *o, uint64_t events,
                             int64_t now);

#endif
