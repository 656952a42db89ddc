/* inner.h - what the files of a session share. */
#ifndef TARRY_SESSION_INNER_H
#define TARRY_SESSION_INNER_H

#include "base/age.h"
#include "log/watch.h"
#include "session/names.h"
#include "session/session.h"
#include "store/texts.h"

struct tarry__session {
    tarry__store *store;
    uint64_t experiment;               /* its number in the store */
    const _Atomic uint64_t *epoch_now; /* of its ownership, by the store */
    uint64_t epoch;                    /* *epoch_now when it was loaded */
    const tarry__store_experiment *made;
    tarry_policy *policy; /* NULL: it could not be loaded again */
    tarry__watch *watch;  /* of its outcomes; NULL if the policy is */
    tarry__names names;
    tarry__store_event *staged; /* events to commit; owns texts and features */
    size_t n_staged, room;      /* events staged, and memory for how many */
    size_t *chains;   /* for find_staged: of each of `room` remainders of rounds
                         the last event staged, then of each event the one
                         before it; counted from 1, 0: none */
    tarry__texts own; /* texts of staged choices, and where they are staged */
    bool is_silent;   /* probabilities of choices are not worked out */
    bool is_doubtful; /* a commit failed: probe the store before going on */
    bool is_paused;   /* no choices are made now */
    bool has_own_ids; /* some choices have ids of users, and no others */
    uint64_t pauses;  /* how often it has been paused */
    int64_t last_at;  /* when the last event came, by the session's clock */
    tarry__age old;   /* of choices that expire, or have the default outcome */
    uint64_t oldest;  /* round whose time was looked up last */
    int64_t oldest_at;         /* and that time */
    uint64_t expired_to;       /* old rounds up to this one were seen to */
    int64_t expiry_checked_at; /* when old rounds were last looked for */
    bool leaves_snapshot;      /* writes a snapshot when it is closed */
    uint64_t snapshot_seq;     /* events that the last snapshot covers */
    size_t snapshot_size;
};

/* Fills policy and names from the store. */
tarry_status tarry__session_load(tarry__session *s, bool from_start,
                                 tarry_error *error);

/* A loss is observed, by the policy and the watch.  Answers as
 * tarry_policy_observe. */
tarry_status tarry__session_tell(tarry__session *s, uint64_t round,
                                 double loss);

/* Policy and watch as one piece of bytes, for snapshots: ended with
 * tarry__base_free.  Loading fills both, from a policy's own bytes too; then
 * the watch has seen nothing. */
tarry_status tarry__session_pack(tarry__session *s, void **bytes, size_t *size);
tarry_status tarry__session_unpack(tarry__session *s, const void *bytes,
                                   size_t size, tarry_error *error);

/* Before an event is staged: the policy is there, the store can be written,
 * there is room for an event. */
tarry_status tarry__session_ready(tarry__session *s, tarry_error *error);

/* Stages an event, after ready.  The session owns its text and features from
 * then on; the text of a choice is kept in s->own. */
void tarry__session_stage(tarry__session *s, tarry__store_event event,
                          int64_t now);

#endif
