/* session.h - one experiment: a policy and its log.
 *
 * A session runs the policy, stages the event, and the caller commits: only
 * then may an answer leave.  Staged events of several sessions are committed
 * together.  When a commit fails, none of them has happened: the sessions are
 * loaded again from the store (the last snapshot and what came after), which
 * gives the same next choice, as a policy is a deterministic machine.
 *
 * Use each session from one thread at a time.  Times are milliseconds since
 * 1970; a session's own clock never goes back. */
#ifndef TARRY_SESSION_SESSION_H
#define TARRY_SESSION_SESSION_H

#include "base/json.h"
#include "store/store.h"
#include "tarry/policy.h"

typedef struct tarry__session tarry__session;

enum { TARRY__SESSION_MOST_ID = 64 }; /* characters of the user's own id */

/* ---- opening --------------------------------------------------------------*/

/* Adds an experiment to a store and opens it, unless `out` is NULL.  `arms` has
 * e->n_arms times e->dim numbers; `names` may be NULL, then arms are named by
 * their numbers.  The store must outlive the session.  On failure *out is NULL
 * and `error` says why.  TARRY_BAD_ARGUMENT, TARRY_NOT_FINITE, TARRY_IO_ERROR,
 * TARRY_NO_MEMORY. */
tarry_status tarry__session_create(tarry__store *store,
                                   const tarry__store_experiment *e,
                                   const double *arms, const char *const *names,
                                   tarry__session **out, tarry_error *error);

/* Opens an experiment of a store, replaying what came after its snapshot.
 * TARRY_BAD_STATE: a choice did not come out as recorded, `error` names the
 * first.  `from_start`: without the snapshot, to check everything, and leaving
 * none. */
tarry_status tarry__session_open(tarry__store *store, uint64_t experiment,
                                 bool from_start, tarry__session **out,
                                 tarry_error *error);

/* Saves a session's policy, as tarry_policy_save does, with what status tells
 * of its outcomes.  TARRY_BAD_ARGUMENT: the path leads to what is no file, or
 * to a file of the store. */
tarry_status tarry__session_save(tarry__session *s, const char *path,
                                 tarry_error *error);

/* Takes over a policy that was restored from a file, as an experiment of a
 * store; of what happened before, the store knows nothing, so that what was
 * chosen then is as old as the first choice after it.  The policy ends here,
 * also on failure. */
tarry_status tarry__session_adopt(tarry__store *store, tarry_policy *policy,
                                  const char *path, const char *name,
                                  const char *expire_after,
                                  const char *const *names,
                                  tarry__session **out, tarry_error *error);

/* Whether other processes may have added to its log since it was loaded (see
 * owners in store.h); and loads it again if so, or if it could not be loaded.
 * TARRY_CANCELLED: another process owns the experiment; TARRY_IO_ERROR,
 * TARRY_NO_MEMORY. */
bool tarry__session_is_old(const tarry__session *session);
tarry_status tarry__session_catch_up(tarry__session *session,
                                     tarry_error *error);

/* Whether choices tell their probability (the default); for Thompson sampling
 * that takes the time of many draws.  Else it is 0, which means unknown. */
void tarry__session_tell_probability(tarry__session *session, bool tell);

/* Whether its choices may reach an age of which something becomes. */
bool tarry__session_has_ages(const tarry__store_experiment *made);

/* Ends a session; what is staged is lost.  A snapshot is left in the store. */
void tarry__session_close(tarry__session *session);

/* ---- what happens ----------------------------------------------------------
 * Each stages its event.  Refused, and nothing has changed: `error` says why;
 * TARRY_IO_ERROR means that the store cannot be written or read now, or that
 * another process owns the experiment. */

typedef struct {
    uint64_t round;
    size_t arm;
    double probability;
    int64_t at;
    bool repeated; /* the user's own id had been given before */
} tarry__session_choice_made;

/* `id`: the user's own, or NULL.  TARRY_BAD_ARGUMENT, TARRY_HORIZON_REACHED,
 * TARRY_CANCELLED (paused), TARRY_NO_MEMORY. */
tarry_status tarry__session_choose(tarry__session *s, const char *id,
                                   int64_t now, tarry__session_choice_made *out,
                                   tarry_error *error);

/* The same, with an id that is known to be nobody's in the whole store. */
tarry_status tarry__session_choose_new(tarry__session *s, const char *id,
                                       int64_t now,
                                       tarry__session_choice_made *out,
                                       tarry_error *error);

/* What was chosen under an id of the user's own; TARRY_UNKNOWN_ROUND:
 * nothing. */
tarry_status tarry__session_chosen(tarry__session *s, const char *id,
                                   tarry__session_choice_made *out,
                                   tarry_error *error);

typedef enum {
    TARRY__SESSION_OK,
    TARRY__SESSION_LATE,
    TARRY__SESSION_DUPLICATE, /* the same loss again: harmless */
    TARRY__SESSION_CORRECTED  /* it replaces the default outcome */
} tarry__session_result;

const char *tarry__session_result_name(tarry__session_result result);

/* TARRY_UNKNOWN_ROUND: no such choice; TARRY_REPORTED_TWICE: another loss was
 * reported, or it was cancelled; TARRY_BAD_LOSS, TARRY_NO_MEMORY. */
tarry_status tarry__session_observe(tarry__session *s, const char *id,
                                    double loss, int64_t now,
                                    tarry__session_result *result,
                                    tarry_error *error);

tarry_status tarry__session_cancel(tarry__session *s, const char *id,
                                   int64_t now, tarry_error *error);
tarry_status tarry__session_expire(tarry__session *s, const char *id,
                                   int64_t now, tarry_error *error);

/* An arm of a new name, and of a name that is there.  `features` NULL: the arms
 * have none. */
tarry_status tarry__session_admit(tarry__session *s, const char *name,
                                  const double *features, size_t count,
                                  int64_t now, tarry_error *error);
tarry_status tarry__session_withdraw(tarry__session *s, const char *name,
                                     int64_t now, tarry_error *error);

/* From now on choices are refused with TARRY_CANCELLED, but for repeated ones;
 * or no more.  What is so already is no event. */
tarry_status tarry__session_pause(tarry__session *s, bool pause, int64_t now,
                                  tarry_error *error);
bool tarry__session_is_paused(const tarry__session *s);

/* Expires what is older than the experiment's age, or gives it the default
 * outcome, if the rule's age is a time; rules of rounds are applied when the
 * next arm is chosen. */
tarry_status tarry__session_expire_old(tarry__session *s, int64_t now,
                                       tarry_error *error);

/* Notes that a lease from round `first` on was to have `count` choices, though
 * the horizon may have cut it short; and how many it was to have, 0 if none was
 * noted. */
tarry_status tarry__session_note_lease(tarry__session *s, uint64_t first,
                                       uint64_t count, int64_t now,
                                       tarry_error *error);
tarry_status tarry__session_lease_count(tarry__session *s, uint64_t first,
                                        uint64_t *count, tarry_error *error);

/* Whether something is staged. */
bool tarry__session_is_staged(const tarry__session *s);

/* Commits what is staged in sessions of one store, in one transaction. */
tarry_status tarry__session_commit(tarry__session *const *sessions, size_t n,
                                   tarry_error *error);

/* What is staged has not happened, as after a commit that failed. */
void tarry__session_take_back(tarry__session *s);

/* ---- asking ---------------------------------------------------------------*/

/* How many choices are outstanding; at most `most` of them, oldest first, go to
 * `out`, *listed of them. */
tarry_status tarry__session_pending(tarry__session *s, size_t most,
                                    tarry_pending *out, size_t *listed,
                                    uint64_t *count, tarry_error *error);

/* How many choices are outstanding, and the age of the oldest by the clock; 0
 * where it is not known. */
uint64_t tarry__session_outstanding(tarry__session *s, int64_t now,
                                    double *oldest_seconds);

/* While the policy says that reports have stopped for all arms and decisions
 * are outstanding: the age of the first decision after the last report; else
 * 0. */
double tarry__session_silent_seconds(tarry__session *s, int64_t now);

enum { TARRY__SESSION_ID_ROOM = 300 };

typedef struct {
    char id[TARRY__SESSION_ID_ROOM]; /* as the user knows it */
    uint64_t rounds;                 /* age of the choice in rounds */
    double seconds;                  /* age of the choice by the clock */
} tarry__session_description;

/* What is known of a round that was chosen. */
tarry_status tarry__session_describe(tarry__session *s, uint64_t round,
                                     int64_t now,
                                     tarry__session_description *out,
                                     tarry_error *error);

/* The round of an id, and when its choice was made; TARRY_UNKNOWN_ROUND. */
tarry_status tarry__session_round(tarry__session *s, const char *id,
                                  uint64_t *round);
tarry_status tarry__session_decided_at(tarry__session *s, const char *id,
                                       int64_t *at);

/* Whether a text can be an id of somebody's own, in any experiment. */
bool tarry__session_may_be_own(const char *id);

/* Whether a choice was cancelled, or given up: stored, or staged. */
bool tarry__session_has_ended(tarry__session *s, const char *id,
                              bool cancelled);

/* The id that is generated for a round. */
void tarry__session_id(const tarry__session *s, uint64_t round,
                       char id[TARRY__SESSION_ID_ROOM]);

/* A rule as {"value","after","final"}, or null; NULL: out of memory. */
json_t *tarry__session_rule(const tarry_policy *policy);

/* The caller owns it; NULL: out of memory. */
json_t *tarry__session_status(tarry__session *s, bool by_number);

/* An arm's name; NULL: it has none but its number. */
const char *tarry__session_arm_name(const tarry__session *s, size_t arm);

/* An arm in JSON: its name, or its number if it has none or `by_number`. */
json_t *tarry__session_arm_json(const tarry__session *s, size_t arm,
                                bool by_number);

size_t tarry__session_dim(const tarry__session *s);
/* Not to be changed; NULL: it could not be loaded, or there is no session. */
tarry_policy *tarry__session_policy(tarry__session *s);
const tarry__store_experiment *
tarry__session_experiment(const tarry__session *s);

/* Milliseconds since 1970, by the system's clock. */
int64_t tarry__session_now(void);

#endif
