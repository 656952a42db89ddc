/* session.c - opening, replaying, committing.  The events themselves are in
 * events.c. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/base.h"
#include "base/input.h"
#include "base/json.h"
#include "policy/policy_type.h"
#include "session/inner.h"
#include "session/moves.h"

enum {
    LEAST_REPLAY = 100000, /* events between two snapshots, at least */
    BYTES_PER_EVENT = 16,  /* and one more for so many bytes of state */
    MOST_NAME = 255        /* bytes of an experiment's, which ids begin with */
};

/* The last moment whose year has four digits, as those of dates do. */
static const int64_t LAST_MS = 253402300799999;

/* A clock that is wrong beyond that, or before 1970, has the nearest moment: no
 * store could be read again that holds another. */
int64_t tarry__session_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec < 0)
        return 0;
    if (now.tv_sec > LAST_MS / 1000)
        return LAST_MS;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- the policy of an experiment ------------------------------------------*/

static tarry_status make_policy(const tarry__store_experiment *e,
                                const double *arms, tarry_policy **out,
                                tarry_error *error)
{
    tarry_policy_params p = tarry_policy_defaults();
    p.n_arms = e->n_arms;
    p.dim = e->dim;
    p.arms = arms;
    p.horizon = e->horizon;
    p.confidence = e->confidence;
    p.seed = e->seed;
    p.low = e->low;
    p.high = e->high;
    p.maximize = e->maximize;
    p.beyond_horizon = e->beyond_horizon;
    return tarry_policy_create(e->policy, &p, out, error);
}

/* ---- loading: names, snapshot, replay -------------------------------------*/

typedef struct {
    tarry__session *session;
    double *first; /* features of the arms it began with */
    tarry_error *error;
} arms_taken;

/* A forged log may leave some out. */
static tarry_status no_arm(const tarry__session *s, tarry_error *error)
{
    return tarry__base_fail(error, TARRY_BAD_STATE,
                            "experiment '%s': arm %zu is not there",
                            s->made->name, s->names.count);
}

static tarry_status take_arm(void *context, const tarry__store_event *e)
{
    arms_taken *t = context;
    const tarry__store_experiment *made = t->session->made;
    if (e->arm != t->session->names.count)
        return no_arm(t->session, t->error);
    if (e->arm < made->n_arms && e->features == NULL)
        return no_arm(t->session, t->error);
    if (t->first != NULL && e->arm < made->n_arms)
        memcpy(t->first + e->arm * made->dim, e->features,
               made->dim * sizeof(double));
    return tarry__names_add(&t->session->names, e->text);
}

/* Names of all arms, and a policy as it was before the first choice. */
static tarry_status load_arms(tarry__session *s, bool make, tarry_error *error)
{
    arms_taken t = {.session = s, .error = error};
    if (make)
        t.first =
            tarry__base_alloc(s->made->n_arms * s->made->dim, sizeof(double));
    tarry_status status = make && t.first == NULL
                              ? TARRY_NO_MEMORY
                              : tarry__store_scan_arms(s->store, s->experiment,
                                                       take_arm, &t, error);
    if (status == TARRY_NO_MEMORY)
        tarry__base_fail(error, status, "out of memory");
    if (status == TARRY_OK && s->names.count < s->made->n_arms)
        status = no_arm(s, error);
    if (status == TARRY_OK && make)
        status = make_policy(s->made, t.first, &s->policy, error);
    tarry__base_free(t.first);
    return status;
}

typedef struct {
    tarry__session *session;
    tarry_error *error;
    uint64_t known; /* the last event that the policy knows */
} replaying;

static tarry_status differs(const replaying *r, const tarry__store_event *e,
                            const char *what, uint64_t now)
{
    return tarry__base_fail(r->error, TARRY_BAD_STATE,
                            "experiment '%s', event %ju (%s, round %ju, arm "
                            "%ju): the policy now gives %s %ju",
                            r->session->made->name, (uintmax_t)e->seq,
                            tarry__store_event_name(e->kind),
                            (uintmax_t)e->round, (uintmax_t)e->arm, what,
                            (uintmax_t)now);
}

static tarry_status replay_choice(const replaying *r,
                                  const tarry__store_event *e)
{
    uint64_t round;
    size_t arm;
    const tarry_status status =
        tarry_policy_choose(r->session->policy, &round, &arm);
    if (status == TARRY_NO_MEMORY)
        return tarry__base_fail(r->error, status, "out of memory");
    if (status != TARRY_OK)
        return differs(r, e, tarry_status_text(status), 0);
    if (round != e->round)
        return differs(r, e, "round", round);
    return arm == e->arm ? TARRY_OK : differs(r, e, "arm", arm);
}

static tarry_status replay_other(const replaying *r,
                                 const tarry__store_event *e)
{
    tarry_policy *p = r->session->policy;
    size_t arm;
    tarry_status status = TARRY_OK;
    switch (e->kind) {
    case TARRY__STORE_OBSERVE:
        status = tarry__session_tell(r->session, e->round, e->value);
        break;
    case TARRY__STORE_CANCEL:
        status = tarry_policy_cancel(p, e->round);
        break;
    case TARRY__STORE_EXPIRE:
        status = tarry_policy_expire(p, e->round);
        break;
    case TARRY__STORE_DEFAULT:
        status = tarry_policy_apply_default(p, e->round);
        break;
    case TARRY__STORE_ADMIT:
        status = tarry_policy_admit(p, e->features, &arm);
        if (status == TARRY_OK && arm != e->arm)
            return differs(r, e, "arm", arm);
        break;
    case TARRY__STORE_WITHDRAW:
        status = tarry_policy_withdraw(p, e->arm);
        break;
    case TARRY__STORE_CHOOSE:
    case TARRY__STORE_PAUSE: /* no affair of the policy's */
    case TARRY__STORE_RESUME:
    case TARRY__STORE_CUT:
    case TARRY__STORE_LEASE:
        break;
    }
    if (status == TARRY_NO_MEMORY)
        return tarry__base_fail(r->error, status, "out of memory");
    return tarry__moves_is_taken(status)
               ? TARRY_OK
               : differs(r, e, tarry_status_text(status), 0);
}

static tarry_status replay(void *context, const tarry__store_event *e)
{
    const replaying *r = context;
    r->session->last_at = e->at;
    if (e->seq <= r->known)
        return TARRY_OK;
    return e->kind == TARRY__STORE_CHOOSE ? replay_choice(r, e)
                                          : replay_other(r, e);
}

/* A snapshot that is not this experiment's, or of another event, leads
 * elsewhere than its log. */
static tarry_status leads_to(const tarry__session *s, const char *what,
                             uint64_t there, uint64_t wanted,
                             tarry_error *error)
{
    return there == wanted
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_BAD_STATE,
                                  "experiment '%s': the snapshot of event %ju "
                                  "leads to %s %ju, the log to %ju",
                                  s->made->name, (uintmax_t)s->snapshot_seq,
                                  what, (uintmax_t)there, (uintmax_t)wanted);
}

/* Arms that were admitted without features: each has brought a dimension. */
static uint64_t n_grown(const tarry__session *s)
{
    const size_t dim = tarry__policy_dim(s->policy);
    const size_t now = tarry__policy_problem_of(s->policy)->n_arms;
    const size_t later = now > s->made->n_arms ? now - s->made->n_arms : 0;
    const size_t more = dim > s->made->dim ? dim - s->made->dim : 0;
    return more < later ? more : later;
}

/* The last snapshot, if there is one. */
static tarry_status load_snapshot(tarry__session *s, tarry_error *error)
{
    void *bytes;
    tarry_status status =
        tarry__store_load(s->store, s->experiment, &s->snapshot_seq, &bytes,
                          &s->snapshot_size, error);
    const uint64_t events = tarry__store_events(s->store, s->experiment, NULL);
    if (status == TARRY_OK && s->snapshot_seq > events)
        status = tarry__base_fail(
            error, TARRY_BAD_STATE,
            "experiment '%s': a snapshot of event %ju, but the log has %ju",
            s->made->name, (uintmax_t)s->snapshot_seq, (uintmax_t)events);
    tarry_error why = {""};
    if (status == TARRY_OK && bytes != NULL &&
        (status = tarry__session_unpack(s, bytes, s->snapshot_size, &why)) !=
            TARRY_OK)
        tarry__base_fail(error, status,
                         "experiment '%s': the snapshot of event %ju: %s",
                         s->made->name, (uintmax_t)s->snapshot_seq, why.text);
    tarry__base_free(bytes);
    if (status == TARRY_OK && s->policy != NULL)
        status = leads_to(s, "arms of dimension",
                          tarry__policy_dim(s->policy) - n_grown(s),
                          s->made->dim, error);
    return status;
}

/* Where a snapshot and the events since lead.  Before the first choice in the
 * store there may have been others. */
static tarry_status check_end(const tarry__session *s, tarry_error *error)
{
    uint64_t last = 0;
    tarry_status status =
        tarry__store_round_at(s->store, s->experiment, INT64_MAX, &last, error);
    if (status == TARRY_OK && last != 0)
        status =
            leads_to(s, "round", tarry__policy_round(s->policy), last, error);
    return status != TARRY_OK
               ? status
               : leads_to(s, "arms",
                          tarry__policy_problem_of(s->policy)->n_arms,
                          s->names.count, error);
}

/* Pauses are numbered; the last may have ended. */
static tarry_status load_pauses(tarry__session *s, tarry_error *error)
{
    tarry__store_event e;
    tarry_status status;
    bool found = true, ended = true;
    s->pauses = 0;
    while ((status = tarry__store_look(s->store, s->experiment,
                                       TARRY__STORE_PAUSE, s->pauses + 1, &e,
                                       NULL, &found, error)) == TARRY_OK &&
           found)
        s->pauses++;
    if (status == TARRY_OK && s->pauses > 0)
        status = tarry__store_look(s->store, s->experiment, TARRY__STORE_RESUME,
                                   s->pauses, &e, NULL, &ended, error);
    s->is_paused = !ended;
    return status;
}

static void unload(tarry__session *s)
{
    tarry_policy_free(s->policy);
    s->policy = NULL;
    tarry__watch_free(s->watch);
    s->watch = NULL;
    tarry__names_clear(&s->names);
}

tarry_status tarry__session_load(tarry__session *s, bool from_start,
                                 tarry_error *error)
{
    replaying r = {.session = s, .error = error};
    char owner[TARRY__STORE_OWNER_ROOM];
    unload(s);
    s->snapshot_seq = s->snapshot_size = 0;
    s->expired_to = 0;
    s->oldest = 0; /* its time may be that of a choice taken back */
    tarry_status status =
        tarry__store_own(s->store, s->experiment, owner, error);
    s->epoch = *s->epoch_now;
    if (status == TARRY_OK &&
        tarry__watch_create(s->made->seed, &s->watch) != TARRY_OK)
        status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    if (status == TARRY_OK && !from_start)
        status = load_snapshot(s, error);
    if (status == TARRY_OK)
        status = load_arms(s, s->policy == NULL, error);
    if (status == TARRY_OK)
        status = load_pauses(s, error);
    s->has_own_ids = tarry__store_has_own_ids(s->store, s->experiment);
    r.known = s->snapshot_seq > 0 ? s->snapshot_seq : s->made->n_arms;
    if (status == TARRY_OK) /* from that one on, which tells its time */
        status = tarry__store_scan(s->store, s->experiment, r.known - 1, replay,
                                   &r, error);
    if (status == TARRY_OK && s->snapshot_seq > 0)
        status = check_end(s, error);
    if (status == TARRY_OK && tarry__policy_rule(s->policy)->ms > 0)
        s->old = (tarry__age){.ms = tarry__policy_rule(s->policy)->ms};
    if (status != TARRY_OK)
        unload(s);
    return status;
}

/* ---- opening --------------------------------------------------------------*/

static tarry_status make_session(tarry__store *store, uint64_t experiment,
                                 tarry__session **out, tarry_error *error)
{
    tarry__session *s = tarry__base_zalloc(1, sizeof *s);
    if (s == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    s->store = store;
    s->experiment = experiment;
    s->made = tarry__store_get(store, experiment);
    s->epoch_now = tarry__store_epoch(store, experiment);
    if (!tarry__age_parse(s->made->expire_after, &s->old)) {
        tarry__base_fail(error, TARRY_BAD_STATE, "not an age: '%s'",
                         s->made->expire_after);
        tarry__base_free(s);
        return TARRY_BAD_STATE;
    }
    *out = s;
    return TARRY_OK;
}

tarry_status tarry__session_open(tarry__store *store, uint64_t experiment,
                                 bool from_start, tarry__session **out,
                                 tarry_error *error)
{
    *out = NULL;
    tarry__session *s = NULL;
    tarry_status status = make_session(store, experiment, &s, error);
    if (status != TARRY_OK)
        return status;
    s->leaves_snapshot = !from_start;
    status = tarry__session_load(s, from_start, error);
    if (status == TARRY_OK)
        *out = s;
    else
        tarry__session_close(s);
    return status;
}

static tarry_status check_names(const char *const *names, size_t count,
                                tarry_error *error)
{
    tarry__texts seen = {0};
    tarry_status status = TARRY_OK;
    uint64_t other;
    for (size_t k = 0; status == TARRY_OK && k < count; k++) {
        if (!tarry__json_is_name(names[k]))
            status = tarry__base_fail(
                error, TARRY_BAD_ARGUMENT,
                "the name of arm %zu is empty, has a control character, or is "
                "not UTF-8",
                k);
        else if (tarry__texts_find(&seen, names[k], &other))
            status =
                tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                 "arms %ju and %zu have the same name: '%s'",
                                 (uintmax_t)other, k, names[k]);
        else if (tarry__texts_add(&seen, names[k], k, NULL) != TARRY_OK)
            status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    }
    tarry__texts_clear(&seen);
    return status;
}

/* Adds the experiment to the store. */
static tarry_status add(tarry__store *store, const tarry__store_experiment *e,
                        const double *arms, const char *const *names,
                        uint64_t *number, tarry_error *error)
{
    tarry__store_event *events = tarry__base_zalloc(e->n_arms, sizeof *events);
    if (events == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    for (size_t k = 0; k < e->n_arms; k++)
        events[k] =
            (tarry__store_event){.kind = TARRY__STORE_ADMIT,
                                 .arm = k,
                                 .at = e->created_at,
                                 .text = names != NULL ? names[k] : NULL,
                                 .features = arms + k * e->dim};
    const tarry_status status =
        tarry__store_add(store, e, events, number, error);
    tarry__base_free(events);
    return status;
}

static tarry_status check_age(const char *text, tarry_error *error)
{
    tarry__age age;
    return tarry__age_parse(text, &age)
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                  "the age to expire after must be like 3d, "
                                  "90min or 1000rounds; got '%s'",
                                  text);
}

/* A choice that expired has no outcome, one with a default has. */
static tarry_status check_ages(const tarry_policy *policy,
                               const char *expire_after, tarry_error *error)
{
    return expire_after[0] == '\0' || !tarry__policy_rule(policy)->declared
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                  "expire_after and default_outcome: a choice "
                                  "that expired has no outcome; give one of "
                                  "them");
}

bool tarry__session_has_ages(const tarry__store_experiment *made)
{
    return made->expire_after[0] != '\0' ||
           strstr(made->policy, "default_outcome=") != NULL;
}

/* What cannot be made is refused before anything is stored. */
static tarry_status check_experiment(const tarry__store_experiment *e,
                                     const double *arms,
                                     const char *const *names,
                                     tarry_error *error)
{
    tarry_policy *policy = NULL;
    if (!tarry__json_is_name(e->name) || strlen(e->name) > MOST_NAME)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "an experiment's name must be 1 to %d bytes "
                                "without control characters; got \"%.100s\"",
                                MOST_NAME, e->name);
    if (strchr(e->prefix, ' ') != NULL) /* no line could tell an outcome */
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "an experiment's name must have no blanks, "
                                "because the store has other experiments and "
                                "ids begin with the name; got \"%.100s\"",
                                e->name);
    tarry_status status = check_age(e->expire_after, error);
    if (status == TARRY_OK && names != NULL)
        status = check_names(names, e->n_arms, error);
    if (status == TARRY_OK)
        status = make_policy(e, arms, &policy, error);
    if (status == TARRY_OK)
        status = check_ages(policy, e->expire_after, error);
    tarry_policy_free(policy);
    return status;
}

tarry_status tarry__session_create(tarry__store *store,
                                   const tarry__store_experiment *e,
                                   const double *arms, const char *const *names,
                                   tarry__session **out, tarry_error *error)
{
    uint64_t number;
    if (out != NULL)
        *out = NULL;
    tarry_status status = check_experiment(e, arms, names, error);
    if (status == TARRY_OK)
        status = add(store, e, arms, names, &number, error);
    return status == TARRY_OK && out != NULL
               ? tarry__session_open(store, number, false, out, error)
               : status;
}

/* The experiment that a policy was made for, as far as it tells. */
static tarry__store_experiment experiment_of(const tarry_policy_status *p,
                                             const char *name,
                                             const char *expire_after)
{
    return (tarry__store_experiment){.name = name,
                                     .prefix = "",
                                     .policy = p->name,
                                     .expire_after = expire_after,
                                     .n_arms = p->n_arms,
                                     .dim = p->dim,
                                     .low = p->low,
                                     .high = p->high,
                                     .maximize = p->maximize,
                                     .horizon = p->horizon,
                                     .confidence =
                                         p->horizon == 0 ? p->confidence : 0,
                                     .seed = p->seed,
                                     .created_at = tarry__session_now()};
}

tarry_status tarry__session_adopt(tarry__store *store, tarry_policy *policy,
                                  const char *path, const char *name,
                                  const char *expire_after,
                                  const char *const *names,
                                  tarry__session **out, tarry_error *error)
{
    tarry_policy_status p;
    uint64_t number;
    char *bytes = NULL;
    size_t size;
    *out = NULL;
    tarry_policy_get_status(policy, &p);
    tarry__store_experiment e = experiment_of(&p, name, expire_after);
    e.beyond_horizon = tarry__policy_goes_beyond(policy);
    tarry_status status = check_age(expire_after, error);
    if (status == TARRY_OK)
        status = check_ages(policy, expire_after, error);
    if (status == TARRY_OK && names != NULL)
        status = check_names(names, p.n_arms, error);
    if (status == TARRY_OK)
        status = add(store, &e, p.arms, names, &number, error);
    if (status == TARRY_OK)
        status = tarry__input_read(path, &bytes, &size, error);
    if (status == TARRY_OK)
        status = tarry__store_save(store, number, p.n_arms, bytes, size, error);
    tarry__base_free(bytes);
    tarry_policy_free(policy);
    return status == TARRY_OK
               ? tarry__session_open(store, number, false, out, error)
               : status;
}

/* ---- staging and committing -----------------------------------------------*/

static void drop_staged(tarry__session *s)
{
    for (size_t i = 0; i < s->n_staged; i++) {
        if (s->staged[i].kind != TARRY__STORE_CHOOSE)
            tarry__base_free((void *)s->staged[i].text);
        tarry__base_free((void *)s->staged[i].features);
        s->chains[s->staged[i].round % s->room] = 0;
    }
    s->n_staged = 0;
    tarry__texts_clear(&s->own);
}

bool tarry__session_is_old(const tarry__session *s)
{
    return s->epoch == 0 || s->epoch != *s->epoch_now;
}

tarry_status tarry__session_catch_up(tarry__session *s, tarry_error *error)
{
    if (s->policy != NULL && (s->n_staged > 0 || !tarry__session_is_old(s)))
        return TARRY_OK;
    const tarry_status status = tarry__session_load(s, false, error);
    return status == TARRY_OK || status == TARRY_NO_MEMORY ||
                   status == TARRY_CANCELLED
               ? status
               : TARRY_IO_ERROR;
}

/* A policy that could not be loaded again, or is old, is loaded again; a store
 * that could not be written is probed before the policy is touched. */
static tarry_status recover(tarry__session *s, tarry_error *error)
{
    const tarry_status loaded = tarry__session_catch_up(s, error);
    if (loaded != TARRY_OK)
        return loaded == TARRY_NO_MEMORY ? loaded : TARRY_IO_ERROR;
    if (s->is_doubtful && s->n_staged == 0) {
        const tarry_status status = tarry__store_probe(s->store, error);
        if (status != TARRY_OK)
            return status == TARRY_NO_MEMORY ? status : TARRY_IO_ERROR;
        s->is_doubtful = false;
    }
    return TARRY_OK;
}

/* Event i becomes the last of its remainder. */
static void chain(tarry__session *s, size_t i)
{
    size_t *last = &s->chains[s->staged[i].round % s->room];
    s->chains[s->room + i] = *last;
    *last = i + 1;
}

static bool grow(tarry__session *s)
{
    const size_t room = 2 * s->room + 64;
    size_t *chains = tarry__base_zalloc(2 * room, sizeof *chains);
    tarry__store_event *bigger =
        chains != NULL
            ? tarry__base_grow(s->staged, s->n_staged, room, sizeof *s->staged)
            : NULL;
    if (bigger == NULL) {
        tarry__base_free(chains);
        return false;
    }
    tarry__base_free(s->chains);
    s->chains = chains;
    s->staged = bigger;
    s->room = room;
    for (size_t i = 0; i < s->n_staged; i++)
        chain(s, i);
    return true;
}

tarry_status tarry__session_ready(tarry__session *s, tarry_error *error)
{
    return s->n_staged < s->room || grow(s)
               ? recover(s, error)
               : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

void tarry__session_stage(tarry__session *s, tarry__store_event event,
                          int64_t now)
{
    if (now > s->last_at)
        s->last_at = now;
    event.at = s->last_at;
    s->staged[s->n_staged] = event;
    chain(s, s->n_staged++);
}

bool tarry__session_is_staged(const tarry__session *s)
{
    return s->n_staged > 0;
}

/* A snapshot that cannot be written only costs time at the next start. */
static void save_snapshot(tarry__session *s)
{
    void *bytes;
    size_t size;
    const uint64_t seq = tarry__store_events(s->store, s->experiment, NULL);
    if (s->policy == NULL || tarry__session_is_old(s) ||
        tarry__session_pack(s, &bytes, &size) != TARRY_OK)
        return;
    tarry__store_save(s->store, s->experiment, seq, bytes, size, NULL);
    tarry__base_free(bytes);
    s->snapshot_seq = seq;
    s->snapshot_size = size;
}

static void save_if_due(tarry__session *s)
{
    const uint64_t since =
        tarry__store_events(s->store, s->experiment, NULL) - s->snapshot_seq;
    if (since > LEAST_REPLAY && since > s->snapshot_size / BYTES_PER_EVENT)
        save_snapshot(s);
}

/* What was staged has not happened. */
static void go_back(tarry__session *s)
{
    drop_staged(s);
    s->is_doubtful = true;
    tarry__session_load(s, false, NULL);
}

void tarry__session_take_back(tarry__session *s)
{
    if (s->n_staged > 0)
        go_back(s);
}

tarry_status tarry__session_commit(tarry__session *const *sessions, size_t n,
                                   tarry_error *error)
{
    tarry__store_batch *batches = tarry__base_alloc(n, sizeof *batches);
    size_t count = 0;
    for (size_t i = 0; batches != NULL && i < n; i++)
        if (sessions[i]->n_staged > 0)
            batches[count++] = (tarry__store_batch){
                sessions[i]->experiment, sessions[i]->staged,
                sessions[i]->n_staged, sessions[i]->epoch};
    tarry_status status =
        batches == NULL
            ? tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory")
            : TARRY_OK;
    if (count > 0)
        status = tarry__store_append(sessions[0]->store, batches, count, error);
    tarry__base_free(batches);
    for (size_t i = 0; i < n; i++) {
        if (status == TARRY_OK && sessions[i]->n_staged > 0) {
            drop_staged(sessions[i]);
            save_if_due(sessions[i]);
        } else if (sessions[i]->n_staged > 0) {
            go_back(sessions[i]);
        }
    }
    return status;
}

/* Whether anything has happened that a snapshot would save from replay. */
static bool has_news(const tarry__session *s)
{
    const uint64_t known =
        s->snapshot_seq > 0 ? s->snapshot_seq : s->made->n_arms;
    return tarry__store_events(s->store, s->experiment, NULL) > known;
}

void tarry__session_close(tarry__session *s)
{
    if (s == NULL)
        return;
    if (s->policy != NULL && s->leaves_snapshot && !s->is_doubtful &&
        s->n_staged == 0 && !tarry__session_is_old(s) && has_news(s))
        save_snapshot(s);
    drop_staged(s);
    unload(s);
    tarry__base_free(s->staged);
    tarry__base_free(s->chains);
    tarry__base_free(s);
}
