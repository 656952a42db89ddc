/* Power that fails: whatever of states, journals and stores had reached the
 * disk by then, all that was acknowledged is there afterwards.
 *
 * More than 4000 images, fewer with sanitizers; TARRY_CAMPAIGN=1: some ten
 * thousands; TARRY_SEED=n for others. */
#include "disk.h"
#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include "lab/journal.h"
#include "session/session.h"
#include "store/copy.h"
#include "store/experiment.h"
#include "store/store.h"
#include "tarry/policy.h"

enum { N_ARMS = 3, DIM = 2, MOST_COMMITS = 200 };
static const double arms[N_ARMS * DIM] = {1, 0, 0, 1, 0.6, 0.8};

static char folder[] = "/dev/shm/tarry-power-XXXXXX", image[200], work[200],
            source[200];

static const char *in(const char *place, const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", place, name);
    return path;
}

static void empty(const char *place)
{
    DIR *d = opendir(place);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.' || strncmp(e->d_name, ".tarry", 6) == 0)
            unlink(in(place, e->d_name));
    closedir(d);
}

/* ---- every moment, every way ----------------------------------------------*/

/* Looks at what is in the folder `image`; NULL, or what is wrong with it. */
typedef const char *check(size_t acknowledged);

typedef struct {
    size_t images, wrong;
    const char *why; /* of the first that was wrong */
} outcome;

static void try_image(const disk_safe *s, disk_way way, uint64_t *seed,
                      check *look, outcome *out)
{
    empty(image);
    disk_image(s, way, seed, image);
    const char *why = look(s->acknowledged);
    out->images++;
    if (why != NULL && out->wrong++ == 0)
        out->why = why;
}

/* Looks at each so manieth moment only. */
static size_t some_moments(void)
{
    return amount(3, 2, 1);
}

static outcome try_all(disk_safe *s, check *look, size_t every)
{
    const char *text = getenv("TARRY_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : 2385;
    const size_t more = amount(3, 8, 40);
    outcome out = {0};
    for (disk_step(s); s->at < disk.count; disk_step(s)) {
        if (s->at % every != 0)
            continue;
        const bool is_settled = disk_unsafe(s) == 0;
        for (int way = 0; way < (is_settled ? 1 : ANY_ARRIVED); way++)
            try_image(s, (disk_way)way, &seed, look, &out);
        for (size_t i = 0; !is_settled && i < more; i++)
            try_image(s, ANY_ARRIVED, &seed, look, &out);
    }
    disk_free(s);
    return out;
}

/* Nothing is wrong; and would be if flushes were left out. */
static void expect_safe(const char *what, check *look)
{
    disk_safe s = {0};
    const outcome out = try_all(&s, look, some_moments());
    print_message("%s: %zu calls, %zu images\n", what, disk.count, out.images);
    if (out.wrong > 0)
        fail_msg("%s: %zu of %zu images are wrong: %s", what, out.wrong,
                 out.images, out.why);
}

static void expect_noticed(const char *what, disk_safe s, check *look)
{
    const size_t every = disk.count < 200 ? 1 : 4; /* few are in danger */
    const outcome out = try_all(&s, look, every * some_moments());
    print_message("%s: %zu of %zu images lose something\n", what, out.wrong,
                  out.images);
    assert_true(out.wrong > 0);
}

/* ---- stores ---------------------------------------------------------------*/

/* What a store holds: events and digests of two experiments. */
typedef struct {
    uint64_t count, events[2], sum[2];
} content;

static content committed[MOST_COMMITS];
static size_t n_committed;

static content content_of(tarry__store *store)
{
    content c = {.count = tarry__store_count(store)};
    for (uint64_t i = 0; i < c.count; i++)
        c.events[i] = tarry__store_events(store, i + 1, &c.sum[i]);
    return c;
}

static void note_commit(tarry__store *store)
{
    assert_true(n_committed < MOST_COMMITS);
    committed[n_committed++] = content_of(store);
    disk_mark(n_committed);
}

static tarry__store *open_store(const char *place)
{
    tarry__store *store;
    tarry_error error = {""};
    if (tarry__store_open(in(place, "s.db"), true, &store, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    return store;
}

static tarry__session *make_session(tarry__store *store, const char *name)
{
    tarry__store_experiment e = small_experiment(name, "lints", N_ARMS, DIM);
    tarry__session *s;
    e.prefix = name;
    assert_int_equal(tarry__session_create(store, &e, arms, NULL, &s, NULL),
                     TARRY_OK);
    note_commit(store);
    return s;
}

static void commit(tarry__store *store, tarry__session *const *s, size_t n,
                   int step)
{
    tarry__session_choice_made made;
    tarry__session_result result;
    char id[TARRY__SESSION_ID_ROOM];
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k <= step % 3; k++) {
            assert_int_equal(
                tarry__session_choose(s[i], NULL, step, &made, NULL), TARRY_OK);
            tarry__session_id(s[i], made.round, id);
            if (made.round % 4 != 0)
                assert_int_equal(
                    tarry__session_observe(s[i], id, 0.25, step, &result, NULL),
                    TARRY_OK);
        }
    assert_int_equal(tarry__session_commit(s, n, NULL), TARRY_OK);
    note_commit(store);
}

/* Moves the log into the file while the store is open, so that the log begins
 * anew with the next commit. */
static void checkpoint(void)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(in(work, "s.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_wal_checkpoint_v2(
                         db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void record_store(void)
{
    tarry__session *s[2];
    empty(work);
    n_committed = 0;
    disk_begin(work);
    tarry__store *store = open_store(work);
    note_commit(store);
    s[0] = make_session(store, "a:");
    for (int i = 0; i < 8; i++)
        commit(store, s, 1, i);
    checkpoint();
    s[1] = make_session(store, "b:");
    for (int i = 0; i < 12; i++)
        commit(store, s, 2, i);
    tarry__session_close(s[0]);
    tarry__session_close(s[1]);
    tarry__store_close(store);
    store = open_store(work);
    for (uint64_t i = 0; i < 2; i++)
        assert_int_equal(tarry__session_open(store, i + 1, false, &s[i], NULL),
                         TARRY_OK);
    for (int i = 0; i < 8; i++)
        commit(store, s, 2, i);
    tarry__session_close(s[0]);
    tarry__session_close(s[1]);
    tarry__store_close(store);
    disk_end();
}

static bool was_committed(const content *c, size_t least)
{
    while (least < n_committed && memcmp(&committed[least], c, sizeof *c) != 0)
        least++;
    return least < n_committed;
}

/* Every experiment opens, and the next choice can be committed. */
static const char *goes_on(tarry__store *store)
{
    for (uint64_t i = 1; i <= tarry__store_count(store); i++) {
        tarry__session *s;
        tarry__session_choice_made made;
        if (tarry__session_open(store, i, false, &s, NULL) != TARRY_OK)
            return "an experiment does not open";
        const bool done =
            tarry__session_choose(s, NULL, 1000, &made, NULL) == TARRY_OK &&
            tarry__session_commit(&s, 1, NULL) == TARRY_OK;
        tarry__session_close(s);
        if (!done)
            return "an experiment does not go on";
    }
    return NULL;
}

static const char *look_at_store(size_t acknowledged)
{
    static char why[300];
    tarry__store *store;
    tarry_error error = {""};
    /* before anything was acknowledged, there need not be a store */
    const bool create =
        acknowledged == 0 && access(in(image, "s.db"), F_OK) != 0;
    if (tarry__store_open(in(image, "s.db"), create, &store, &error) !=
        TARRY_OK) {
        snprintf(why, sizeof why, "does not open: %.200s", error.text);
        return why;
    }
    const content c = content_of(store);
    const char *wrong =
        was_committed(&c, acknowledged > 0 ? acknowledged - 1 : 0)
            ? goes_on(store)
            : "what was committed is not there";
    tarry__store_close(store);
    return wrong;
}

static void stores_keep_what_was_committed(void **state)
{
    (void)state;
    record_store();
    expect_safe("store", look_at_store);
    expect_noticed("store, no file synced", (disk_safe){.no_sync = true},
                   look_at_store);
    expect_noticed("store, no folder synced",
                   (disk_safe){.no_folder_sync = true}, look_at_store);
}

/* ---- copies of stores -----------------------------------------------------*/

static void copy_store(const char *from, const char *to)
{
    char from_path[300], to_path[300];
    uint64_t experiments, events;
    tarry_error error = {""};
    snprintf(from_path, sizeof from_path, "%s/s.db", from);
    snprintf(to_path, sizeof to_path, "%s/s.db", to);
    if (tarry__store_copy(from_path, to_path, &experiments, &events, &error) !=
        TARRY_OK)
        fail_msg("%s", error.text);
}

/* All of it, once that was told; before, all or nothing. */
static const char *look_at_copy(size_t acknowledged)
{
    if (acknowledged == 0 && access(in(image, "s.db"), F_OK) != 0)
        return NULL;
    return look_at_store(n_committed);
}

static void copies_are_whole_or_not_there(void **state)
{
    (void)state;
    record_store();
    copy_store(work, source);
    empty(work);
    disk_begin(work);
    copy_store(source, work);
    for (int i = 0; i < 8; i++) /* moments after it was told */
        disk_mark(1);
    disk_end();
    expect_safe("copy", look_at_copy);
    expect_noticed("copy, no file synced", (disk_safe){.no_sync = true},
                   look_at_copy);
    expect_noticed("copy, no folder synced",
                   (disk_safe){.no_folder_sync = true}, look_at_copy);
}

/* ---- states ---------------------------------------------------------------*/

enum { SAVES = 12 };

static void record_states(void)
{
    tarry_policy_params p = tarry_policy_defaults();
    tarry_policy *policy;
    uint64_t round;
    size_t arm;
    p.n_arms = N_ARMS;
    p.dim = DIM;
    p.arms = arms;
    p.horizon = 1000;
    assert_int_equal(tarry_policy_create("lints", &p, &policy, NULL), TARRY_OK);
    empty(work);
    disk_begin(work);
    for (size_t i = 1; i <= SAVES; i++) {
        assert_int_equal(tarry_policy_choose(policy, &round, &arm), TARRY_OK);
        assert_int_equal(tarry_policy_observe(policy, round, 0.5), TARRY_OK);
        assert_int_equal(tarry_policy_save(policy, in(work, "state"), NULL),
                         TARRY_OK);
        disk_mark(i);
    }
    disk_end();
    tarry_policy_free(policy);
}

/* The state of the last save that was acknowledged, or the next one. */
static const char *look_at_state(size_t acknowledged)
{
    static char why[300];
    tarry_policy *policy;
    tarry_policy_status s;
    tarry_error error = {""};
    const char *path = in(image, "state");
    if (access(path, F_OK) != 0)
        return acknowledged == 0 ? NULL : "the state is not there";
    if (tarry_policy_restore(path, &policy, &error) != TARRY_OK) {
        snprintf(why, sizeof why, "cannot be restored: %.200s", error.text);
        return why;
    }
    tarry_policy_get_status(policy, &s);
    tarry_policy_free(policy);
    return s.round == acknowledged || s.round == acknowledged + 1
               ? NULL
               : "an older state";
}

static void states_are_the_last_or_the_next(void **state)
{
    (void)state;
    record_states();
    expect_safe("state", look_at_state);
    expect_noticed("state, no file synced", (disk_safe){.no_sync = true},
                   look_at_state);
    expect_noticed("state, no folder synced",
                   (disk_safe){.no_folder_sync = true}, look_at_state);
}

/* ---- journals -------------------------------------------------------------*/

enum { TRIALS = 40 };

typedef struct {
    uint64_t count;
    double regret[20];
} answer;

static const tarry__journal_field fields[] = {
    TARRY__JOURNAL_FIELD(answer, COUNT, count),
    TARRY__JOURNAL_FIELD(answer, REAL, regret),
};

static answer answer_of(size_t run)
{
    answer a = {.count = run};
    for (size_t i = 0; i < 20; i++)
        a.regret[i] = 2.385 * (double)run - 0.1 * (double)i;
    return a;
}

static void take(void *context, size_t c, size_t run, const void *given)
{
    const answer wanted = answer_of(run);
    bool *is_right = context;
    *is_right = *is_right && c == 0 && run < TRIALS &&
                memcmp(given, &wanted, sizeof wanted) == 0;
}

static tarry__journal journal(const char *path, bool *is_right)
{
    static tarry__journal_case only;
    only = (tarry__journal_case){.key = 1, .words = "only"};
    return (tarry__journal){.path = path,
                            .fields = fields,
                            .n_fields = sizeof fields / sizeof *fields,
                            .answer_size = sizeof(answer),
                            .cases = &only,
                            .n_cases = 1,
                            .context = is_right,
                            .take = take,
                            .file = -1};
}

static void record_journal(void)
{
    bool is_right = true;
    empty(work);
    disk_begin(work);
    tarry__journal j = journal(in(work, "journal"), &is_right);
    assert_int_equal(tarry__journal_open(&j, NULL), TARRY_OK);
    for (size_t run = 0; run < TRIALS; run++) {
        const answer a = answer_of(run);
        assert_int_equal(tarry__journal_add(&j, 0, run, &a, NULL), TARRY_OK);
    }
    tarry__journal_close(&j);
    disk_end();
}

/* A journal saves time and is not flushed: what is lost of it is run again.
 * But nothing wrong is taken in, and a spoilt first line is told. */
static const char *look_at_journal(size_t acknowledged)
{
    (void)acknowledged;
    bool is_right = true;
    tarry_error error = {""};
    tarry__journal j = journal(in(image, "journal"), &is_right);
    const tarry_status status = tarry__journal_open(&j, &error);
    tarry__journal_close(&j);
    if (status != TARRY_OK && strstr(error.text, "remove it") == NULL)
        return "refused without advice";
    return is_right ? NULL : "a wrong trial was taken in";
}

static void journals_take_in_nothing_wrong(void **state)
{
    (void)state;
    record_journal();
    expect_safe("journal", look_at_journal);
}

/* ---- main -----------------------------------------------------------------*/

static int begin(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) { /* quick flushes; the disk will do */
        strcpy(folder, "/tmp/tarry-power-XXXXXX");
        if (mkdtemp(folder) == NULL)
            return -1;
    }
    snprintf(image, sizeof image, "%s/image", folder);
    snprintf(work, sizeof work, "%s/work", folder);
    snprintf(source, sizeof source, "%s/source", folder);
    return mkdir(image, 0700) != 0 || mkdir(work, 0700) != 0 ||
                   mkdir(source, 0700) != 0
               ? -1
               : 0;
}

static int end(void **state)
{
    (void)state;
    empty(image);
    empty(work);
    empty(source);
    return rmdir(image) != 0 || rmdir(work) != 0 || rmdir(source) != 0 ||
                   rmdir(folder) != 0
               ? -1
               : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_the_last_or_the_next),
        cmocka_unit_test(journals_take_in_nothing_wrong),
        cmocka_unit_test(stores_keep_what_was_committed),
        cmocka_unit_test(copies_are_whole_or_not_there),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
