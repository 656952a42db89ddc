/* A random program of everything that can happen to the experiments of a
 * store, kills included, against a plain model: what was committed is there
 * after any kill, and going on from it is as if there had been none.
 *
 * A process that is killed leaves the files of its store as they are at that
 * moment; so the program goes on with a copy of them.  What a session would
 * have done without a store does a twin: a policy that hears what was
 * committed, and must have the same state in every byte.
 *
 * 400 operations for each policy; TARRY_CAMPAIGN=1: 10 000; TARRY_SEED=n for
 * other programs. */
#include "check.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "policy/policy_type.h"
#include "session/session.h"
#include "tarry/policy.h"

enum {
    SESSIONS = 5,
    ARMS = 4,
    MOST_ARMS = 8,
    DIM = 3,
    ROOM = 12000, /* rounds, and events */
    OLD = 4,      /* rounds until a choice of the second session expires */
    OLD_MS = 2000 /* and milliseconds, for the third; so those of the fourth and
                     the fifth come to have the default outcome */
};

typedef enum { UNKNOWN, WAITING, REPORTED, CANCELLED, EXPIRED, DEFAULTED } fate;

static const double DEFAULT = 0.5;

/* What a session should know, in the simplest form. */
typedef struct {
    uint64_t round, pending;
    uint8_t fate[ROOM];
    double loss[ROOM];
    bool is_own[ROOM]; /* chosen with an id of the user's own */
    bool was_expired[ROOM];
    size_t arm[ROOM];
    double probability[ROOM];
    int64_t at[ROOM];     /* when it was chosen */
    uint64_t lease[ROOM]; /* how many the lease from here was to have */
    int64_t last_at;      /* when the last event came */
    size_t n_arms;
    size_t name[MOST_ARMS]; /* an arm may have the name of one that is gone */
    bool gone[MOST_ARMS];
    bool is_paused;
    size_t n_events;
} model;

typedef struct {
    const char *name, *prefix;
    tarry__session *session;
    tarry_policy *twin;
    model now, safe; /* with what is staged, and without */
    tarry__store_event event[ROOM];
    bool is_silent;     /* it tells no probabilities */
    bool is_final;      /* its default outcome is */
    int64_t checked_at; /* when what is old was last looked for */
} experiment;

static char folder[] = "/dev/shm/tarry-session-XXXXXX";
static const char *const ends[] = {"", "-wal", "-shm", "-lock"};

static struct {
    const char *policy;
    tarry__store *store;
    unsigned copy; /* which copy of the store it is */
    experiment e[SESSIONS];
    uint64_t seed, kills;
    int64_t clock;
} world;

static uint64_t below(uint64_t limit)
{
    return test_bits(&world.seed) % limit;
}

static const double *features(size_t arm)
{
    static const double all[MOST_ARMS * DIM] = {
        1,   0,    -0.0, 0,   1,   0,    0,    0,    1,   0.6,  0.8, 0,
        0.1, -0.5, 0.3,  0.7, 0.1, -0.2, -0.4, -0.0, 0.4, 0.25, 0.5, 0.5};
    return all + arm * DIM;
}

/* ---- stores ---------------------------------------------------------------*/

static const char *path_of(unsigned copy, const char *end)
{
    static char path[2][100];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof *path, "%s/%u.db%s", folder, copy, end);
    return path[turn];
}

static void copy_file(const char *from, const char *to)
{
    char bytes[65536];
    FILE *in = fopen(from, "rb"), *out;
    if (in == NULL)
        return;
    assert_non_null(out = fopen(to, "wb"));
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        assert_int_equal(fwrite(bytes, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static void open_store(void)
{
    tarry_error error = {""};
    if (tarry__store_open(path_of(world.copy, ""), true, &world.store,
                          &error) != TARRY_OK)
        fail_msg("%s: %s", world.policy, error.text);
}

static void open_session(size_t i)
{
    tarry_error error = {""};
    if (tarry__session_open(world.store, i + 1, below(2), &world.e[i].session,
                            &error) != TARRY_OK)
        fail_msg("%s: %s", world.policy, error.text);
}

static void close_all(void)
{
    for (size_t i = 0; i < SESSIONS; i++)
        tarry__session_close(world.e[i].session);
    tarry__store_close(world.store);
}

static void remove_store(unsigned copy)
{
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        unlink(path_of(copy, ends[k]));
}

/* ---- the twin hears what was committed ------------------------------------*/

static void tell_twin(tarry_policy *twin, const tarry__store_event *e)
{
    uint64_t round;
    size_t arm;
    double probability;
    switch (e->kind) {
    case TARRY__STORE_CHOOSE:
        assert_int_equal(tarry_policy_choose(twin, &round, &arm), TARRY_OK);
        assert_int_equal(round, e->round);
        assert_int_equal(arm, e->arm);
        if (tarry_policy_probability(twin, &probability) != TARRY_OK)
            probability = 1;
        assert_true(e->value == 0 || e->value == probability);
        break;
    case TARRY__STORE_OBSERVE:
        tarry_policy_observe(twin, e->round, e->value);
        break;
    case TARRY__STORE_CANCEL:
        assert_int_equal(tarry_policy_cancel(twin, e->round), TARRY_OK);
        break;
    case TARRY__STORE_EXPIRE:
        assert_int_equal(tarry_policy_expire(twin, e->round), TARRY_OK);
        break;
    case TARRY__STORE_DEFAULT:
        assert_int_equal(tarry_policy_apply_default(twin, e->round), TARRY_OK);
        break;
    case TARRY__STORE_ADMIT:
        assert_int_equal(tarry_policy_admit(twin, features(e->arm), &arm),
                         TARRY_OK);
        break;
    case TARRY__STORE_WITHDRAW:
        assert_int_equal(tarry_policy_withdraw(twin, e->arm), TARRY_OK);
        break;
    case TARRY__STORE_PAUSE:
    case TARRY__STORE_RESUME:
    case TARRY__STORE_CUT:
    case TARRY__STORE_LEASE:
        break;
    }
}

static void check_twin(experiment *e)
{
    enum { HEADER = 32 };
    tarry_policy *policy = tarry__session_policy(e->session);
    tarry_policy_status s;
    void *one, *other;
    size_t size, other_size;
    assert_non_null(policy);
    /* puts losses that wait to be counted in order */
    assert_int_equal(tarry_policy_get_status(policy, &s), TARRY_OK);
    assert_int_equal(s.round, e->safe.round);
    assert_int_equal(s.pending, e->safe.pending);
    assert_int_equal(tarry_policy_get_status(e->twin, &s), TARRY_OK);
    assert_int_equal(tarry_policy_pack(policy, &one, &size), TARRY_OK);
    assert_int_equal(tarry_policy_pack(e->twin, &other, &other_size), TARRY_OK);
    assert_int_equal(size, other_size);
    size_t at = HEADER;
    while (at < size && ((char *)one)[at] == ((char *)other)[at])
        at++;
    if (at < size)
        fail_msg("%s, round %ju: the state is not that of the log, from byte "
                 "%zu of %zu on",
                 world.policy, (uintmax_t)s.round, at, size);
    tarry_policy_pack_free(one);
    tarry_policy_pack_free(other);
}

static void name_of(const model *m, size_t arm, char name[32])
{
    snprintf(name, 32, "a%zu", m->name[arm]);
}

static void id_of(const experiment *e, uint64_t round, char id[64])
{
    const bool is_own = round < ROOM && e->now.is_own[round];
    snprintf(id, 64, "%s%s%ju", is_own ? e->name : e->prefix,
             is_own ? "own-" : "", (uintmax_t)round);
}

/* The text of an event, and the features. */
static void compare_texts(const experiment *e, const tarry__store_event *found)
{
    char text[64] = "";
    if (found->kind == TARRY__STORE_CHOOSE && e->now.is_own[found->round])
        id_of(e, found->round, text);
    else if (found->kind == TARRY__STORE_ADMIT)
        name_of(&e->now, found->arm, text);
    assert_string_equal(found->text != NULL ? found->text : "", text);
    if (found->kind == TARRY__STORE_ADMIT)
        assert_memory_equal(found->features, features(found->arm),
                            DIM * sizeof(double));
}

static tarry_status compare(void *context, const tarry__store_event *found)
{
    experiment *e = context;
    const size_t at = found->seq - ARMS - 1;
    assert_true(at < e->safe.n_events);
    const tarry__store_event *w = &e->event[at];
    assert_true(found->kind == w->kind && found->round == w->round &&
                found->arm == w->arm && found->value == w->value);
    assert_false(found->value == 0 && signbit(found->value));
    assert_int_equal(found->at, w->at);
    compare_texts(e, found);
    return TARRY_OK;
}

/* All that was committed is in the log, and nothing else. */
static void check_log(experiment *e, uint64_t number)
{
    assert_int_equal(tarry__store_events(world.store, number, NULL),
                     ARMS + e->safe.n_events);
    assert_int_equal(
        tarry__store_scan(world.store, number, ARMS, compare, e, NULL),
        TARRY_OK);
}

/* ---- operations -----------------------------------------------------------*/

/* An event's time is never before that of the last, whatever the clock does. */
static void note(experiment *e, tarry__store_event event)
{
    assert_true(e->now.n_events < ROOM);
    if (world.clock > e->now.last_at)
        e->now.last_at = world.clock;
    event.at = e->now.last_at;
    e->event[e->now.n_events++] = event;
}

static void settle(experiment *e, uint64_t round, fate new)
{
    e->now.pending -= e->now.fate[round] == WAITING;
    e->now.fate[round] = (uint8_t) new;
    if (new == EXPIRED)
        e->now.was_expired[round] = true;
}

/* Any round, most often one that waits. */
static uint64_t some_round(experiment *e)
{
    uint64_t round = 0;
    for (int tries = 0; tries < 10; tries++) {
        round = below(e->now.round + 2);
        if (e->now.fate[round] == WAITING)
            break;
    }
    return round;
}

/* The last round that is too old: the third session looks at what is stored,
 * once a second. */
static uint64_t last_old(experiment *e)
{
    uint64_t last = 0;
    if (e == &world.e[1] && e->now.round >= OLD)
        return e->now.round - OLD;
    if ((e != &world.e[2] && e != &world.e[4]) ||
        world.clock - e->checked_at < 1000)
        return 0;
    e->checked_at = world.clock;
    while (last < e->safe.round && e->safe.at[last + 1] <= world.clock - OLD_MS)
        last++;
    return last;
}

static void apply_default(experiment *e, uint64_t round)
{
    if (e->now.fate[round] != WAITING)
        return;
    note(e, (tarry__store_event){.kind = TARRY__STORE_DEFAULT,
                                 .round = round,
                                 .value = DEFAULT});
    settle(e, round, DEFAULTED);
}

static void expire_old(experiment *e)
{
    const uint64_t last = last_old(e);
    for (uint64_t t = 1; t <= last; t++)
        if (e == &world.e[4]) {
            apply_default(e, t);
        } else if (e->now.fate[t] == WAITING) {
            note(e,
                 (tarry__store_event){.kind = TARRY__STORE_EXPIRE, .round = t});
            settle(e, t, EXPIRED);
        }
}

static void do_expire_old(experiment *e)
{
    expire_old(e);
    assert_int_equal(tarry__session_expire_old(e->session, world.clock, NULL),
                     TARRY_OK);
}

static void do_choose(experiment *e)
{
    model *m = &e->now;
    tarry__session_choice_made made;
    char id[64];
    const uint64_t next = m->round + 1;
    m->is_own[next] = below(2) != 0;
    id_of(e, next, id);
    const tarry_status status =
        (m->is_own[next] && below(2) ? tarry__session_choose_new
                                     : tarry__session_choose)(
            e->session, m->is_own[next] ? id : NULL, world.clock, &made, NULL);
    if (m->is_paused) {
        assert_int_equal(status, TARRY_CANCELLED);
        return;
    }
    assert_int_equal(status, TARRY_OK);
    assert_true(made.round == next && !made.repeated);
    assert_true(made.arm < m->n_arms && !m->gone[made.arm]);
    assert_true(e->is_silent ? made.probability == 0 : made.probability > 0);
    expire_old(e);
    if (e == &world.e[3] && m->round > OLD)
        apply_default(e, m->round - OLD);
    note(e, (tarry__store_event){.kind = TARRY__STORE_CHOOSE,
                                 .round = next,
                                 .arm = made.arm,
                                 .value = made.probability});
    assert_int_equal(made.at, m->last_at);
    m->round = next;
    m->fate[next] = WAITING;
    m->was_expired[next] = false;
    m->arm[next] = made.arm;
    m->probability[next] = made.probability;
    m->at[next] = made.at;
    m->pending++;
}

/* The same id again is the same choice. */
static void do_repeat(experiment *e)
{
    tarry__session_choice_made made;
    char id[64];
    const uint64_t round = some_round(e);
    if (round == 0 || round > e->now.round || !e->now.is_own[round])
        return;
    id_of(e, round, id);
    assert_int_equal(
        tarry__session_choose(e->session, id, world.clock, &made, NULL),
        TARRY_OK);
    assert_true(made.repeated && made.round == round);
    assert_int_equal(made.arm, e->now.arm[round]);
    assert_true(made.probability == e->now.probability[round]);
    assert_int_equal(made.at, e->now.at[round]);
}

static bool is_known(const experiment *e, uint64_t round)
{
    return round > 0 && round <= e->now.round;
}

static void do_observe(experiment *e)
{
    static const double losses[] = {-1, -0.25, 0, -0.0, 0.5, 1, 1.5};
    model *m = &e->now;
    tarry__session_result result;
    char id[64];
    const uint64_t round = some_round(e);
    const double loss = losses[below(sizeof losses / sizeof *losses)];
    id_of(e, round, id);
    const tarry_status status = tarry__session_observe(
        e->session, id, loss, world.clock, &result, NULL);
    if (e == &world.e[4] && is_known(e, round) &&
        world.clock - m->at[round] >= OLD_MS)
        apply_default(e, round);
    const int was = is_known(e, round) ? m->fate[round] : UNKNOWN;
    if (was == UNKNOWN) {
        assert_int_equal(status, TARRY_UNKNOWN_ROUND);
    } else if (loss > 1) {
        assert_int_equal(status, TARRY_BAD_LOSS);
    } else if (was == REPORTED && m->loss[round] == loss) {
        assert_int_equal(status, TARRY_OK);
        assert_int_equal(result, TARRY__SESSION_DUPLICATE);
    } else if (was == REPORTED || was == CANCELLED) {
        assert_int_equal(status, TARRY_REPORTED_TWICE);
    } else {
        assert_int_equal(status, TARRY_OK);
        assert_true(result == TARRY__SESSION_LATE || was != EXPIRED);
        assert_true((result == TARRY__SESSION_CORRECTED) ==
                    (was == DEFAULTED && !e->is_final));
        note(e, (tarry__store_event){.kind = TARRY__STORE_OBSERVE,
                                     .round = round,
                                     .value = loss == 0 ? 0 : loss});
        settle(e, round, REPORTED);
        m->loss[round] = loss;
    }
}

static void do_settle(experiment *e, bool cancel)
{
    char id[64];
    const uint64_t round = some_round(e);
    id_of(e, round, id);
    const tarry_status status =
        (cancel ? tarry__session_cancel
                : tarry__session_expire)(e->session, id, world.clock, NULL);
    const int was = is_known(e, round) ? e->now.fate[round] : UNKNOWN;
    if (was == UNKNOWN) {
        assert_int_equal(status, TARRY_UNKNOWN_ROUND);
    } else if (was == REPORTED || was == CANCELLED || was == DEFAULTED) {
        assert_int_equal(status, TARRY_REPORTED_TWICE);
    } else if (was == EXPIRED && !cancel) {
        assert_int_equal(status, TARRY_EXPIRED);
    } else {
        assert_int_equal(status, TARRY_OK);
        note(e, (tarry__store_event){.kind = cancel ? TARRY__STORE_CANCEL
                                                    : TARRY__STORE_EXPIRE,
                                     .round = round});
        settle(e, round, cancel ? CANCELLED : EXPIRED);
    }
}

/* Whether no arm that can be chosen has it. */
static bool name_is_free(const model *m, size_t name)
{
    for (size_t k = 0; k < m->n_arms; k++)
        if (m->name[k] == name && !m->gone[k])
            return false;
    return true;
}

static void do_arms(experiment *e)
{
    model *m = &e->now;
    char name[32];
    const bool admit = m->n_arms < MOST_ARMS && below(2);
    const size_t arm = admit ? m->n_arms : below(m->n_arms);
    const size_t other = below(m->n_arms);
    if (admit)
        m->name[arm] = name_is_free(m, m->name[other]) ? m->name[other] : arm;
    name_of(m, arm, name);
    if (!admit && m->gone[arm] && !name_is_free(m, m->name[arm]))
        return; /* it is the name of another by now */
    const tarry_status status =
        admit ? tarry__session_admit(e->session, name, features(arm), DIM,
                                     world.clock, NULL)
              : tarry__session_withdraw(e->session, name, world.clock, NULL);
    if (status != TARRY_OK) { /* gone, the last one, or it cannot */
        assert_true(status == TARRY_NO_SUCH_ARM ||
                    status == TARRY_BAD_ARGUMENT);
        return;
    }
    assert_true(admit || !m->gone[arm]);
    note(e, (tarry__store_event){.kind = admit ? TARRY__STORE_ADMIT
                                               : TARRY__STORE_WITHDRAW,
                                 .arm = arm});
    m->n_arms += admit;
    m->gone[arm] = !admit;
}

static void do_pause(experiment *e)
{
    model *m = &e->now;
    const bool pause = !m->is_paused && below(3) == 0;
    uint64_t pauses = pause;
    for (size_t i = 0; i < m->n_events; i++)
        pauses += e->event[i].kind == TARRY__STORE_PAUSE;
    assert_int_equal(tarry__session_pause(e->session, pause, world.clock, NULL),
                     TARRY_OK);
    if (pause != m->is_paused)
        note(e, (tarry__store_event){.kind = pause ? TARRY__STORE_PAUSE
                                                   : TARRY__STORE_RESUME,
                                     .arm = pauses});
    m->is_paused = pause;
    assert_true(tarry__session_is_paused(e->session) == pause);
}

/* It can be said at any time, and counts what is staged too. */
static void do_status(experiment *e)
{
    const model *m = &e->now;
    json_t *status = tarry__session_status(e->session, false);
    uint64_t of[DEFAULTED + 1] = {0};
    size_t there = 0, applied = 0;
    assert_non_null(status);
    for (uint64_t t = 1; t <= m->round; t++)
        of[m->fate[t]]++;
    const struct {
        const char *key;
        uint64_t value;
    } wanted[] = {{"round", m->round},
                  {"pending", m->pending},
                  {"expired", of[EXPIRED]},
                  {"cancelled", of[CANCELLED]}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_int_equal(
            json_integer_value(json_object_get(status, wanted[i].key)),
            wanted[i].value);
    for (size_t i = 0; i < m->n_events; i++)
        applied += e->event[i].kind == TARRY__STORE_DEFAULT;
    assert_int_equal(
        json_integer_value(json_object_get(
            json_object_get(status, "default_outcome"), "applied")),
        applied);
    assert_true(json_is_true(json_object_get(status, "paused")) ==
                m->is_paused);
    const json_t *arms = json_object_get(status, "arms");
    for (size_t k = 0; k < m->n_arms; k++) {
        char name[32];
        name_of(m, k, name);
        if (!m->gone[k])
            assert_string_equal(
                json_string_value(json_array_get(arms, there++)), name);
        assert_string_equal(tarry__session_arm_name(e->session, k), name);
    }
    assert_int_equal(json_array_size(arms), there);
    json_decref(status);
}

/* What is known of a choice, stored or staged. */
static void do_describe(experiment *e)
{
    const model *m = &e->now;
    tarry__session_description d;
    const uint64_t round = some_round(e);
    uint64_t found;
    int64_t at;
    char id[64];
    if (round == 0 || round > m->round)
        return;
    id_of(e, round, id);
    assert_int_equal(tarry__session_round(e->session, id, &found), TARRY_OK);
    assert_int_equal(found, round);
    assert_int_equal(tarry__session_decided_at(e->session, id, &at), TARRY_OK);
    assert_int_equal(at, m->at[round]);
    assert_true(tarry__session_has_ended(e->session, id, true) ==
                (m->fate[round] == CANCELLED));
    assert_true(tarry__session_has_ended(e->session, id, false) ==
                m->was_expired[round]);
    assert_int_equal(
        tarry__session_describe(e->session, round, world.clock, &d, NULL),
        TARRY_OK);
    assert_string_equal(d.id, id);
    assert_int_equal(d.rounds, m->round - round);
    const double age = (double)(world.clock - at) / 1000;
    assert_true(d.seconds == (age > 0 ? age : 0));
}

/* Those that wait, the oldest first, and how old it is. */
static void do_pending(experiment *e)
{
    enum { MOST = 20 };
    const model *m = &e->now;
    tarry_pending waiting[MOST];
    const size_t most = below(MOST + 1);
    size_t listed, seen = 0;
    uint64_t count, oldest = 0;
    double seconds;
    assert_int_equal(tarry__session_pending(e->session, most, waiting, &listed,
                                            &count, NULL),
                     TARRY_OK);
    assert_int_equal(count, m->pending);
    for (uint64_t t = 1; t <= m->round; t++) {
        if (m->fate[t] != WAITING)
            continue;
        oldest = oldest > 0 ? oldest : t;
        if (seen < most) {
            assert_int_equal(waiting[seen].round, t);
            assert_int_equal(waiting[seen++].arm, m->arm[t]);
        }
    }
    assert_int_equal(listed, seen);
    assert_int_equal(
        tarry__session_outstanding(e->session, world.clock, &seconds),
        m->pending);
    const double age =
        oldest > 0 ? (double)(world.clock - m->at[oldest]) / 1000 : 0;
    assert_true(seconds == (age > 0 ? age : 0));
}

/* Leases are known once they are stored. */
static void do_lease(experiment *e)
{
    if (e->now.round == 0)
        return;
    const uint64_t first = 1 + below(e->now.round), count = 2 + below(9);
    uint64_t found;
    assert_int_equal(
        tarry__session_lease_count(e->session, first, &found, NULL), TARRY_OK);
    assert_int_equal(found, e->safe.lease[first]);
    if (e->now.lease[first] > 0)
        return;
    assert_int_equal(
        tarry__session_note_lease(e->session, first, count, world.clock, NULL),
        TARRY_OK);
    note(e, (tarry__store_event){.kind = TARRY__STORE_LEASE,
                                 .arm = first,
                                 .value = (double)count});
    e->now.lease[first] = count;
}

static void do_silence(experiment *e)
{
    e->is_silent = !e->is_silent && below(3) == 0;
    tarry__session_tell_probability(e->session, !e->is_silent);
}

/* ---- ids of others --------------------------------------------------------*/

/* An id that is not one of this experiment's, whatever is said of it. */
static void expect_unknown(experiment *e, const char *id)
{
    const bool was_staged = tarry__session_is_staged(e->session);
    tarry__session_result result;
    uint64_t round;
    int64_t at;
    const tarry_status said[] = {
        tarry__session_observe(e->session, id, 0.5, world.clock, &result, NULL),
        tarry__session_cancel(e->session, id, world.clock, NULL),
        tarry__session_expire(e->session, id, world.clock, NULL),
        tarry__session_round(e->session, id, &round),
        tarry__session_decided_at(e->session, id, &at)};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (said[i] != TARRY_UNKNOWN_ROUND)
            fail_msg("%s, experiment '%s', id '%s', call %zu: %s", world.policy,
                     e->name, id, i, tarry_status_text(said[i]));
    assert_true(tarry__session_is_staged(e->session) == was_staged);
    do_status(e);
}

/* An id of another experiment, whatever became of its choice. */
static void do_mistake(experiment *e)
{
    const experiment *other = &world.e[below(SESSIONS)];
    const uint64_t round = below(other->now.round + 2);
    tarry__session_choice_made made;
    char id[64];
    if (other == e)
        return;
    id_of(other, round, id);
    expect_unknown(e, id);
    if (round <= other->safe.round || !other->now.is_own[round])
        assert_int_equal(
            tarry__session_choose(e->session, id, world.clock, &made, NULL),
            TARRY_BAD_ARGUMENT);
}

/* What never was an id, and the generated one where the user gave another. */
static void do_nonsense(experiment *e)
{
    static const char *const ends[] = {"",
                                       "0",
                                       "-1",
                                       "01",
                                       "+1",
                                       "1 ",
                                       " 1",
                                       "1:",
                                       "1.0",
                                       "0x1",
                                       "18446744073709551617",
                                       "1e0"};
    const uint64_t round = some_round(e);
    char id[64];
    snprintf(id, sizeof id, "%s%s", e->prefix,
             ends[below(sizeof ends / sizeof *ends)]);
    expect_unknown(e, id);
    expect_unknown(e, "nobody:1");
    snprintf(id, sizeof id, "%s%ju", e->prefix, (uintmax_t)round);
    if (is_known(e, round) && e->now.is_own[round])
        expect_unknown(e, id);
    snprintf(id, sizeof id, "%sown-%ju", e->name, (uintmax_t)round);
    if (!e->now.is_own[round])
        expect_unknown(e, id);
}

/* ---- commits and kills ----------------------------------------------------*/

static tarry_status commit_all(void)
{
    tarry__session *all[SESSIONS];
    for (size_t i = 0; i < SESSIONS; i++)
        all[i] = world.e[i].session;
    return tarry__session_commit(all, SESSIONS, NULL);
}

/* Two experiments cannot have given one id: what is staged is lost. */
static void do_clash(experiment *e)
{
    experiment *other = &world.e[below(SESSIONS)];
    tarry__session_choice_made made;
    char id[64];
    if (other == e || other->now.is_paused || e->now.round == e->safe.round ||
        !e->now.is_own[e->now.round])
        return;
    id_of(e, e->now.round, id);
    assert_int_equal(
        tarry__session_choose(other->session, id, world.clock, &made, NULL),
        TARRY_OK);
    expire_old(other); /* lost too, but it was looked for */
    assert_int_equal(commit_all(), TARRY_IO_ERROR);
    for (size_t i = 0; i < SESSIONS; i++)
        world.e[i].now = world.e[i].safe;
}

static void do_commit(void)
{
    assert_int_equal(commit_all(), TARRY_OK);
    for (size_t i = 0; i < SESSIONS; i++) {
        experiment *e = &world.e[i];
        for (size_t k = e->safe.n_events; k < e->now.n_events; k++)
            tell_twin(e->twin, &e->event[k]);
        e->safe = e->now;
    }
}

static void do_take_back(experiment *e)
{
    tarry__session_take_back(e->session);
    e->now = e->safe;
}

/* What is staged is lost; the snapshot may be older, or there is none. */
static void do_kill(bool clean)
{
    const unsigned old = world.copy;
    world.kills++;
    if (!clean) {
        world.copy++;
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
            copy_file(path_of(old, ends[k]), path_of(world.copy, ends[k]));
    }
    close_all();
    if (!clean)
        remove_store(old);
    open_store();
    for (size_t i = 0; i < SESSIONS; i++) {
        experiment *e = &world.e[i];
        e->now = e->safe;
        e->is_silent = false;
        e->checked_at = 0;
        open_session(i);
        check_twin(e);
        check_log(e, i + 1);
    }
}

static void step(void)
{
    experiment *e = &world.e[below(SESSIONS)];
    const uint64_t kind = below(100);
    world.clock += (int64_t)below(100);
    if (below(200) == 0)
        world.clock -= 3000; /* set anew */
    if (kind < 32)
        do_choose(e);
    else if (kind < 34)
        do_describe(e);
    else if (kind < 36)
        do_pending(e);
    else if (kind < 37)
        do_lease(e);
    else if (kind < 38)
        do_expire_old(e);
    else if (kind < 65)
        do_observe(e);
    else if (kind < 68)
        do_settle(e, true);
    else if (kind < 71)
        do_settle(e, false);
    else if (kind < 74)
        do_repeat(e);
    else if (kind < 77)
        do_arms(e);
    else if (kind < 80)
        do_pause(e);
    else if (kind < 81)
        do_status(e);
    else if (kind < 83)
        do_mistake(e);
    else if (kind < 84)
        do_silence(e);
    else if (kind < 86)
        do_nonsense(e);
    else if (kind < 87)
        do_clash(e);
    else if (kind < 93)
        do_commit();
    else if (kind < 95)
        do_take_back(e);
    else
        do_kill(kind < 97);
}

/* ---- programs -------------------------------------------------------------*/

static tarry_policy *make_twin(const char *rule)
{
    tarry_policy_params p = tarry_policy_defaults();
    tarry_policy *twin;
    p.n_arms = ARMS;
    p.dim = DIM;
    p.arms = features(0);
    p.horizon = 100000;
    p.seed = 5;
    p.default_outcome = rule;
    assert_int_equal(tarry_policy_create(world.policy, &p, &twin, NULL),
                     TARRY_OK);
    return twin;
}

static bool takes_corrections(void)
{
    const tarry__policy_type *type = tarry__policy_type_find(world.policy);
    return type->revise != NULL || type->stands_for != NULL;
}

static void begin(size_t i)
{
    static const char *const names[] = {"a0", "a1", "a2", "a3"};
    /* one's ids begin as another's, and a third's are bare numbers */
    static const char *const known_as[SESSIONS][2] = {
        {"e", "e:"}, {"e:1", "e:1:"}, {"x", ""}, {"r", "r:"}, {"t", "t:"}};
    static const char *const rules[SESSIONS] = {"", "", "", "0.5/4r", "0.5/2s"};
    experiment *e = &world.e[i];
    memset(e, 0, sizeof *e);
    e->name = known_as[i][0];
    e->prefix = known_as[i][1];
    char rule[32], policy[200];
    e->is_final = !takes_corrections();
    snprintf(rule, sizeof rule, "%s%s", rules[i],
             i >= 3 && e->is_final ? "/final" : "");
    snprintf(policy, sizeof policy, "%s%s%s", world.policy,
             i >= 3 ? ":default_outcome=" : "", rule);
    const tarry__store_experiment made = {.name = e->name,
                                          .prefix = e->prefix,
                                          .policy = policy,
                                          .expire_after = i == 1   ? "4rounds"
                                                          : i == 2 ? "2s"
                                                                   : "",
                                          .n_arms = ARMS,
                                          .dim = DIM,
                                          .low = -1,
                                          .high = 1,
                                          .horizon = 100000,
                                          .seed = 5,
                                          .created_at = 1};
    assert_int_equal(tarry__session_create(world.store, &made, features(0),
                                           names, &e->session, NULL),
                     TARRY_OK);
    e->now.n_arms = e->safe.n_arms = ARMS;
    e->now.last_at = e->safe.last_at = 1;
    for (size_t k = 0; k < MOST_ARMS; k++)
        e->now.name[k] = e->safe.name[k] = k;
    e->twin = make_twin(rule);
}

static void run_program(const char *policy, uint64_t seed, uint64_t steps)
{
    world.policy = policy;
    world.seed = seed;
    world.clock = 1000000;
    open_store();
    for (size_t i = 0; i < SESSIONS; i++)
        begin(i);
    for (uint64_t n = 0; n < steps; n++)
        step();
    do_kill(false);
    close_all();
    remove_store(world.copy);
    for (size_t i = 0; i < SESSIONS; i++)
        tarry_policy_free(world.e[i].twin);
}

static void sessions_do_as_the_model_says(void **state)
{
    (void)state;
    const char *seed = getenv("TARRY_SEED");
    const uint64_t steps = amount(400, 400, 10000);
    const char *policy;
    for (size_t k = 0; (policy = tarry_policy_name(k)) != NULL; k++)
        if (strcmp(policy, "oracle") != 0) /* must be told the means */
            run_program(policy,
                        (seed != NULL ? strtoull(seed, NULL, 10) : 2385) + k,
                        steps);
    print_message("%ju kills\n", (uintmax_t)world.kills);
}

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) != NULL) /* where a flush takes no time */
        return 0;
    strcpy(folder, "/tmp/tarry-session-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_do_as_the_model_says),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
