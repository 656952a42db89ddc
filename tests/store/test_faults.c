/* Whatever call fails, a store holds what it held before, or all of what was to
 * be added; what it answers without an error is right.
 *
 * Every operation is tried with its first call failing, its second, ... until
 * there are no more.  PostgreSQL is tried where TARRY_POSTGRES is set, as in
 * test_store.c; its URLs go on with "f1", "f2". */
#include "calls.h"
#include "store/copy.h"
#include "store/experiment.h"
#include "store/store.h"

enum { N_ARMS = 3, DIM = 2, PER_ROUND = 3, N_STORES = 2 };

static const double features[DIM] = {0.6, 0.8};
static char folder[64];

typedef struct {
    const char *url;
    char other[300]; /* an empty place */
    tarry__store *store;
    uint64_t rounds, added; /* as they were before the operation */
} world;

typedef struct {
    const char *name;
    tarry_status (*act)(world *w, tarry_error *error);
    bool appends, adds;
} operation;

static bool is_shared(const char *url)
{
    return strncmp(url, "postgres", 8) == 0;
}

/* What an administrator says to the server. */
static void run_sql(const char *url, const char *sql)
{
    char command[700];
    snprintf(command, sizeof command, "psql -q '%s' -c \"%s\" >%s/sql 2>&1",
             url, sql, folder);
    assert_int_equal(system(command), 0);
}

static void remove_store(const char *path)
{
    static const char *const ends[] = {"",      "-wal", "-shm",
                                       "-lock", "-new", "-new-journal"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char name[400];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

/* Makes a place empty again; that of a database is a schema. */
static void empty(const char *url)
{
    char sql[200];
    const char *schema = strstr(url, "%3D");
    if (!is_shared(url)) {
        remove_store(url);
        return;
    }
    assert_non_null(schema);
    snprintf(sql, sizeof sql, "DROP SCHEMA %s CASCADE; CREATE SCHEMA %s",
             schema + 3, schema + 3);
    run_sql(url, sql);
}

/* ---- a log that follows from its length -----------------------------------*/

static tarry_status add(tarry__store *s, const char *name, tarry_error *error)
{
    tarry__store_event arms[N_ARMS];
    tarry__store_experiment e = small_experiment(name, "uniform", N_ARMS, DIM);
    uint64_t number;
    e.low = -2.385;
    for (size_t k = 0; k < N_ARMS; k++)
        arms[k] = (tarry__store_event){.kind = TARRY__STORE_ADMIT,
                                       .arm = k,
                                       .at = 1,
                                       .features = features};
    return tarry__store_add(s, &e, arms, &number, error);
}

/* A round is a choice, its loss, and a new arm. */
static void fill_round(tarry__store_event e[PER_ROUND], uint64_t number,
                       uint64_t round, char id[40])
{
    snprintf(id, 40, "own-%d-%d", (int)number, (int)round);
    e[0] = (tarry__store_event){.kind = TARRY__STORE_CHOOSE,
                                .round = round,
                                .arm = round % N_ARMS,
                                .value = 0.25,
                                .at = (int64_t)round,
                                .text = id};
    e[1] = (tarry__store_event){.kind = TARRY__STORE_OBSERVE,
                                .round = round,
                                .value = -0.385,
                                .at = (int64_t)round};
    e[2] = (tarry__store_event){.kind = TARRY__STORE_ADMIT,
                                .arm = N_ARMS + round - 1,
                                .at = (int64_t)round,
                                .text = id,
                                .features = features};
}

static uint64_t rounds_of(tarry__store *s)
{
    const uint64_t events = tarry__store_events(s, 1, NULL);
    assert_int_equal(tarry__store_events(s, 2, NULL), events);
    assert_int_equal((events - N_ARMS) % PER_ROUND, 0);
    return (events - N_ARMS) / PER_ROUND;
}

/* ---- operations -----------------------------------------------------------*/

static tarry_status append_round(world *w, tarry_error *error)
{
    tarry__store_event e[N_STORES][PER_ROUND];
    char id[N_STORES][40];
    fill_round(e[0], 1, w->rounds + 1, id[0]);
    fill_round(e[1], 2, w->rounds + 1, id[1]);
    const tarry__store_batch batches[] = {{1, e[0], PER_ROUND, 0},
                                          {2, e[1], PER_ROUND, 0}};
    return tarry__store_append(w->store, batches, N_STORES, error);
}

static tarry_status add_one(world *w, tarry_error *error)
{
    char name[40];
    snprintf(name, sizeof name, "more-%d", (int)w->added);
    return add(w->store, name, error);
}

typedef struct {
    uint64_t seq, taken;
    bool arms_only;
} expected;

static tarry_status compare(void *context, const tarry__store_event *e)
{
    expected *x = context;
    tarry__store_event wanted[PER_ROUND];
    char id[40];
    x->taken++;
    if (x->arms_only) {
        assert_int_equal(e->kind, TARRY__STORE_ADMIT);
        assert_int_equal(e->arm, x->taken - 1);
        return TARRY_OK;
    }
    assert_int_equal(e->seq, ++x->seq);
    if (e->seq <= N_ARMS)
        return TARRY_OK;
    const uint64_t at = e->seq - N_ARMS - 1;
    fill_round(wanted, 1, at / PER_ROUND + 1, id);
    const tarry__store_event *m = &wanted[at % PER_ROUND];
    assert_true(e->kind == m->kind && e->round == m->round);
    assert_true(e->arm == m->arm && e->value == m->value && e->at == m->at);
    assert_true((e->text == NULL) == (m->text == NULL));
    if (m->text != NULL)
        assert_string_equal(e->text, m->text);
    if (m->features != NULL)
        assert_memory_equal(e->features, features, sizeof features);
    return TARRY_OK;
}

static tarry_status scan(world *w, tarry_error *error)
{
    expected x = {0};
    const tarry_status status =
        tarry__store_scan(w->store, 1, 0, compare, &x, error);
    if (status == TARRY_OK)
        assert_int_equal(x.taken, N_ARMS + PER_ROUND * w->rounds);
    return status;
}

static tarry_status scan_arms(world *w, tarry_error *error)
{
    expected x = {.arms_only = true};
    const tarry_status status =
        tarry__store_scan_arms(w->store, 1, compare, &x, error);
    if (status == TARRY_OK)
        assert_int_equal(x.taken, N_ARMS + w->rounds);
    return status;
}

static tarry_status look(world *w, tarry_error *error)
{
    tarry__store_event e;
    bool found;
    char id[TARRY__STORE_ID_ROOM], own[40];
    tarry_status status = tarry__store_look(w->store, 1, TARRY__STORE_CHOOSE, 1,
                                            &e, id, &found, error);
    if (status != TARRY_OK)
        return status;
    snprintf(own, sizeof own, "own-1-1");
    assert_true(found && e.value == 0.25);
    assert_string_equal(id, own);
    status = tarry__store_look(w->store, 1, TARRY__STORE_OBSERVE, 1, &e, NULL,
                               &found, error);
    if (status == TARRY_OK)
        assert_true(found && e.value == -0.385);
    return status;
}

static tarry_status look_id(world *w, tarry_error *error)
{
    uint64_t experiment, round;
    bool found;
    const tarry_status status = tarry__store_look_id(
        w->store, "own-2-1", &experiment, &round, &found, error);
    if (status == TARRY_OK)
        assert_true(found && experiment == 2 && round == 1);
    return status;
}

static tarry_status round_at(world *w, tarry_error *error)
{
    uint64_t round;
    const tarry_status status =
        tarry__store_round_at(w->store, 1, 1, &round, error);
    if (status == TARRY_OK)
        assert_int_equal(round, 1);
    return status;
}

static const char snapshot[] = "a policy, say";

static tarry_status save(world *w, tarry_error *error)
{
    return tarry__store_save(w->store, 1, N_ARMS, snapshot, sizeof snapshot,
                             error);
}

static tarry_status load(world *w, tarry_error *error)
{
    uint64_t seq;
    void *bytes;
    size_t size;
    const tarry_status status =
        tarry__store_load(w->store, 1, &seq, &bytes, &size, error);
    if (status == TARRY_OK && bytes != NULL) {
        assert_int_equal(seq, N_ARMS);
        assert_int_equal(size, sizeof snapshot);
        assert_memory_equal(bytes, snapshot, size);
    }
    tarry__base_free(bytes);
    return status;
}

static tarry_status probe(world *w, tarry_error *error)
{
    return tarry__store_probe(w->store, error);
}

static tarry_status reserve(world *w, tarry_error *error)
{
    tarry__store_reserve(w->store);
    return tarry__store_probe(w->store, error);
}

static tarry_status open_again(world *w, tarry_error *error)
{
    tarry__store_close(w->store);
    return tarry__store_open(w->url, true, &w->store, error);
}

static tarry_status take_over(world *w, tarry_error *error)
{
    char owner[TARRY__STORE_OWNER_ROOM];
    tarry_status status = open_again(w, error);
    if (status == TARRY_OK)
        status = tarry__store_publish(w->store, "here") == TARRY_OK
                     ? tarry__store_refresh(w->store, error)
                     : tarry__base_fail(error, TARRY_NO_MEMORY, "no memory");
    if (status == TARRY_OK)
        status = tarry__store_own(w->store, 1, owner, error);
    return status;
}

static tarry_status follow(world *w, tarry_error *error)
{
    tarry_status status = open_again(w, error);
    if (status == TARRY_OK)
        status = tarry__store_follow(w->store, 2, error);
    if (status == TARRY_OK)
        status = tarry__store_mark(w->store, true, error);
    return status;
}

/* A new store is there and empty, or can be made again. */
static tarry_status create(world *w, tarry_error *error)
{
    tarry__store *s;
    const tarry_status status = tarry__store_open(w->other, true, &s, error);
    tarry__store_close(s);
    return status;
}

static tarry_status copy(world *w, tarry_error *error)
{
    uint64_t experiments = 0, events = 0;
    tarry__store_close(w->store);
    w->store = NULL;
    const tarry_status status =
        tarry__store_copy(w->url, w->other, &experiments, &events, error);
    if (status == TARRY_OK)
        assert_int_equal(experiments, w->added);
    return status;
}

static const operation questions[] = {
    {"scan", scan, .adds = false},
    {"scan arms", scan_arms, .adds = false},
    {"look", look, .adds = false},
    {"look for an id", look_id, .adds = false},
    {"round at", round_at, .adds = false},
    {"save", save, .adds = false},
    {"load", load, .adds = false},
    {"probe", probe, .adds = false},
    {"reserve", reserve, .adds = false},
};
static const operation changes[] = {
    {"append", append_round, .appends = true},
    {"add", add_one, .adds = true},
};
static const operation openings[] = {{"open", open_again, .adds = false}};
static const operation sharings[] = {{"take over", take_over, .adds = false},
                                     {"follow", follow, .adds = false}};
static const operation creation = {"create", create, .adds = false};
static const operation copies = {"copy", copy, .adds = false};

/* ---- trying them ----------------------------------------------------------*/

typedef struct {
    calls_kind kind;
    int error;
    bool ever;
} fault;

static tarry__store *open_store(const char *url)
{
    tarry__store *s;
    tarry_error error = {""};
    if (tarry__store_open(url, true, &s, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    return s;
}

/* A server may need a moment to see that the owner before is gone. */
static void own_all(tarry__store *s)
{
    char owner[TARRY__STORE_OWNER_ROOM];
    for (uint64_t i = 1; i <= N_STORES; i++) {
        tarry_status status = TARRY_CANCELLED;
        for (int tries = 0; tries < 500 && status == TARRY_CANCELLED; tries++) {
            status = tarry__store_own(s, i, owner, NULL);
            if (status == TARRY_CANCELLED)
                poll(NULL, 0, 20);
        }
        assert_int_equal(status, TARRY_OK);
    }
}

static void begin(world *w)
{
    w->store = open_store(w->url);
    assert_int_equal(add(w->store, "one", NULL), TARRY_OK);
    assert_int_equal(add(w->store, "two", NULL), TARRY_OK);
    w->rounds = 0;
    w->added = N_STORES;
    assert_int_equal(append_round(w, NULL), TARRY_OK);
}

static void look_at(world *w)
{
    w->rounds = rounds_of(w->store);
    w->added = tarry__store_count(w->store);
}

/* The ids of rounds that are there lead to them, those of the next nowhere. */
static void check_ids(const world *w)
{
    for (uint64_t round = w->rounds; round <= w->rounds + 1; round++)
        for (uint64_t number = 1; number <= N_STORES; number++) {
            uint64_t experiment, at;
            bool found;
            char id[40];
            snprintf(id, sizeof id, "own-%d-%d", (int)number, (int)round);
            assert_int_equal(tarry__store_look_id(w->store, id, &experiment,
                                                  &at, &found, NULL),
                             TARRY_OK);
            assert_true(found == (round == w->rounds));
            if (found)
                assert_true(experiment == number && at == round);
        }
}

/* A commit whose answer was lost may still be under way when its process is
 * gone: the server is given the time to end it. */
static void wait_for_server(const char *url)
{
    run_sql(url, "DO 'BEGIN FOR i IN 1 .. 1000 LOOP "
                 "PERFORM pg_stat_clear_snapshot(); "
                 "EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity "
                 "WHERE application_name = ''tarry''); "
                 "PERFORM pg_sleep(0.01); END LOOP; END'");
}

/* After a change it is opened anew, which verifies all of it. */
static void check_store(world *w, const operation *o, tarry_status status)
{
    const world before = *w;
    const bool is_changed = o->appends || o->adds || o->act == save;
    calls.ahead_s += 60; /* a link that was refused is not tried at once */
    if (w->store == NULL || (is_changed && strcmp(w->url, "memory:") != 0)) {
        tarry__store_close(w->store);
        if (status != TARRY_OK && is_shared(w->url))
            wait_for_server(w->url);
        w->store = open_store(w->url);
    }
    own_all(w->store);
    look_at(w);
    const bool done = w->rounds == before.rounds + o->appends &&
                      w->added == before.added + o->adds;
    const bool undone = w->rounds == before.rounds && w->added == before.added;
    if (!done && !(undone && status != TARRY_OK))
        fail_msg("%s: %s, but %d rounds and %d experiments", o->name,
                 tarry_status_text(status), (int)w->rounds, (int)w->added);
    assert_int_equal(scan(w, NULL), TARRY_OK);
    check_ids(w);
}

/* Whether the call that was to fail was made. */
static bool attempt(world *w, const operation *o, fault f, uint64_t k)
{
    tarry_error error = {""};
    look_at(w);
    calls_begin(f.kind, k, f.error, f.ever);
    const tarry_status status = o->act(w, &error);
    const bool met = calls_end();
    if (status != TARRY_OK) {
        if (!met)
            fail_msg("%s, and nothing failed: %s", o->name, error.text);
        assert_string_not_equal(error.text, "");
        assert_null(strchr(error.text, '\n'));
    }
    if (status == TARRY_NO_MEMORY)
        assert_true(f.kind == CALLS_BLOCKS || f.kind == CALLS_MEMORY);
    check_store(w, o, status);
    return met;
}

/* Where there are many calls, or each takes long, only some in the middle are
 * tried; TARRY_CAMPAIGN=1 tries all. */
static void try_all(world *w, const operation *o, fault f,
                    bool (*try_one)(world *, const operation *, fault,
                                    uint64_t))
{
    const bool is_campaign = getenv("TARRY_CAMPAIGN") != NULL;
    const uint64_t first = is_shared(w->url) ? 4 : amount(30, 50, 50),
                   last = first / 2;
    uint64_t k = 1, past;
    while (try_one(w, o, f, k))
        k += is_campaign || k < first ? 1 : 1 + k / 3;
    const uint64_t count = calls.count;
    for (past = k < first ? 0 : last; past > 0 && past <= count; past--)
        try_one(w, o, f, count + 1 - past);
}

static void try_list(world *w, const operation *list, size_t n,
                     const fault *faults, size_t n_faults)
{
    for (size_t i = 0; i < n; i++)
        for (size_t f = 0; f < n_faults; f++)
            try_all(w, &list[i], faults[f], attempt);
}

#define TRY(w, list, faults)                                                   \
    try_list(w, list, sizeof(list) / sizeof *(list), faults,                   \
             sizeof(faults) / sizeof *(faults))

/* The other place holds nothing, or all; or it says that it is unfinished. */
static void check_other(const world *w, const operation *o, bool failed)
{
    tarry__store *s;
    tarry_error error = {""};
    calls.ahead_s += 60;
    if (tarry__store_open(w->other, true, &s, &error) != TARRY_OK) {
        assert_true(failed && is_shared(w->other));
        assert_non_null(strstr(error.text, "copy"));
        return;
    }
    const bool is_whole = o == &creation || tarry__store_count(s) == w->added;
    assert_true(is_whole || (failed && tarry__store_count(s) == 0));
    if (tarry__store_count(s) > 0)
        assert_int_equal(rounds_of(s), w->rounds);
    tarry__store_close(s);
}

/* The same for what makes another store. */
static bool attempt_making(world *w, const operation *o, fault f, uint64_t k)
{
    const bool met = attempt(w, o, f, k);
    const uint64_t count = calls.count;
    check_other(w, o, met);
    empty(w->other);
    calls.count = count;
    return met;
}

static void try_making(world *w, const operation *o, const fault *faults,
                       size_t n_faults)
{
    for (size_t f = 0; f < n_faults; f++)
        try_all(w, o, faults[f], attempt_making);
}

static void try_making_and_asking(world *w, const fault *faults, size_t n)
{
    try_making(w, &creation, faults, n);
    try_making(w, &copies, faults, n);
    try_list(w, questions, sizeof questions / sizeof *questions, faults, n);
}

static const fault any_block[] = {{CALLS_BLOCKS, 0, false}};
static const fault of_files[] = {
    {CALLS_BLOCKS, 0, false},     {CALLS_MEMORY, ENOMEM, false},
    {CALLS_MEMORY, ENOMEM, true}, {CALLS_FILES, EIO, false},
    {CALLS_FILES, EINTR, false},  {CALLS_FILES, ENOSPC, true}};
static const fault of_links[] = {{CALLS_BLOCKS, 0, false},
                                 {CALLS_LINK, EIO, false},
                                 {CALLS_LINK, EIO, true},
                                 {CALLS_MEMORY, ENOMEM, false}};
static const fault lost_once[] = {{CALLS_BLOCKS, 0, false},
                                  {CALLS_LINK, EIO, false}};
enum { N_OF_FILES = 6, N_LOST_ONCE = 2 };

static void memory_can_fail_at_any_call(void **state)
{
    world w = {.url = "memory:"};
    (void)state;
    begin(&w);
    TRY(&w, questions, any_block);
    TRY(&w, changes, any_block);
    tarry__store_close(w.store);
}

static void a_file_can_fail_at_any_call(void **state)
{
    char path[100];
    world w = {.url = path};
    (void)state;
    snprintf(path, sizeof path, "%s/s.db", folder);
    snprintf(w.other, sizeof w.other, "%s/t.db", folder);
    begin(&w);
    try_making_and_asking(&w, of_files, N_OF_FILES);
    TRY(&w, changes, of_files);
    TRY(&w, openings, of_files);
    tarry__store_close(w.store);
    remove_store(path);
}

static void a_database_can_fail_at_any_call(void **state)
{
    char url[300];
    world w = {.url = url};
    const char *start = getenv("TARRY_POSTGRES");
    (void)state;
    snprintf(url, sizeof url, "%sf1", start);
    snprintf(w.other, sizeof w.other, "%sf2", start);
    begin(&w);
    try_making_and_asking(&w, lost_once, N_LOST_ONCE);
    TRY(&w, changes, of_links);
    TRY(&w, sharings, of_links);
    tarry__store_close(w.store);
}

int main(void)
{
    const struct CMUnitTest here[] = {
        cmocka_unit_test(memory_can_fail_at_any_call),
        cmocka_unit_test(a_file_can_fail_at_any_call),
    };
    const struct CMUnitTest there[] = {
        cmocka_unit_test(a_database_can_fail_at_any_call),
    };
    calls_prepare();
    strcpy(folder, "/tmp/tarry-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    const int failed = getenv("TARRY_POSTGRES") == NULL
                           ? cmocka_run_group_tests(here, NULL, NULL)
                           : cmocka_run_group_tests(there, NULL, NULL);
    char sql[100];
    snprintf(sql, sizeof sql, "%s/sql", folder);
    unlink(sql);
    return rmdir(folder) != 0 || failed != 0;
}
