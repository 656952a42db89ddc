/* Whatever call fails under a line: it is answered with an error and has not
 * happened, or it has happened; the session goes on, and what is stored can be
 * replayed to the last choice.
 *
 * Every line is tried with its first call failing, its second, ... until there
 * are no more. */
#include "calls.h"
#include <signal.h>
#include <sys/resource.h>
#include "base/json.h"
#include "session/lines.h"
#include "session/session.h"

enum { N_ARMS = 3, DIM = 2 };
static const double arms[] = {1, 0, 0, 1, 0.6, 0.8};
static const char *const names[] = {"red", "green", "blue"};
static char folder[64], path[80], saved[80];

typedef struct {
    tarry__store *store;
    tarry__session *session;
    tarry__session_lines *lines;
    int64_t now;
    bool json;
} world;

typedef struct {
    calls_kind kind;
    int error;
    bool ever;
} fault;

static const fault faults[] = {{CALLS_BLOCKS, 0, false},
                               {CALLS_MEMORY, ENOMEM, false},
                               {CALLS_FILES, EIO, false},
                               {CALLS_FILES, ENOSPC, true}};
enum { N_FAULTS = sizeof faults / sizeof *faults };

/* ---- one line -------------------------------------------------------------*/

/* Its answer; NULL: memory ran out. */
static const char *ask(world *w, const char *line)
{
    static char out[100000];
    char text[200];
    size_t size;
    snprintf(text, sizeof text, "%s", line);
    tarry__session_lines_take(w->lines, text, strlen(text), w->now);
    const char *answer = tarry__session_lines_finish(w->lines, &size);
    if (answer == NULL)
        return NULL;
    assert_true(size < sizeof out);
    memcpy(out, answer, size);
    out[size] = '\0';
    return out;
}

/* The same, and it must be done. */
static const char *ask_for(world *w, const char *line)
{
    const char *answer = ask(w, line);
    assert_non_null(answer);
    if (strstr(answer, "error") != NULL)
        fail_msg("%s: %s", line, answer);
    return answer;
}

static void choose(world *w, char id[40])
{
    const char *answer = ask_for(w, "choose");
    assert_int_equal(
        sscanf(answer, w->json ? "{\"id\": \"%39[^\"]" : "%39s", id), 1);
}

/* ---- opening --------------------------------------------------------------*/

static tarry_status make(world *w, tarry_error *error)
{
    const tarry__store_experiment e = {.name = "one",
                                       .prefix = "p",
                                       .policy = "linucb",
                                       .expire_after = "1e9rounds",
                                       .n_arms = N_ARMS,
                                       .dim = DIM,
                                       .low = -1,
                                       .high = 1,
                                       .horizon = 100000,
                                       .created_at = 1};
    return tarry__session_create(w->store, &e, arms, names, &w->session, error);
}

static void talk(world *w)
{
    const tarry__session_lines_options options = {.json = w->json};
    w->lines = tarry__session_lines_create(w->session, options);
    assert_non_null(w->lines);
}

static void close_world(world *w)
{
    tarry__session_lines_free(w->lines);
    tarry__session_close(w->session);
    tarry__store_close(w->store);
    w->lines = NULL;
    w->session = NULL;
    w->store = NULL;
}

/* From the first event on, without the snapshot: every choice comes out as it
 * was recorded. */
static uint64_t replayed_events(void)
{
    tarry__store *store;
    tarry__session *s;
    tarry_error error = {""};
    if (tarry__store_open(path, false, &store, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    if (tarry__session_open(store, 1, true, &s, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    const uint64_t events = tarry__store_events(store, 1, NULL);
    tarry__session_close(s);
    tarry__store_close(store);
    return events;
}

static void open_world(world *w)
{
    tarry_error error = {""};
    assert_int_equal(tarry__store_open(path, false, &w->store, &error), 0);
    if (tarry__session_open(w->store, 1, false, &w->session, &error) !=
        TARRY_OK)
        fail_msg("%s", error.text);
    talk(w);
}

static void begin(world *w)
{
    tarry_error error = {""};
    char id[40];
    assert_int_equal(tarry__store_open(path, true, &w->store, &error), 0);
    assert_int_equal(make(w, &error), TARRY_OK);
    talk(w);
    for (int i = 0; i < 4; i++)
        choose(w, id);
}

static void remove_files(void)
{
    static const char *const ends[] = {"",      "-wal", "-shm",
                                       "-lock", "-new", "-new-journal"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char name[100];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
    unlink(saved);
}

/* ---- lines ----------------------------------------------------------------*/

/* `#` is an outstanding choice, `@` a name that is not there yet, `!` one that
 * is; how many events it adds. */
static const struct {
    const char *text;
    uint64_t adds;
} lines[] = {
    {"choose", 1},          {"choose --id @", 1}, {"observe # 0.25", 1},
    {"observe # -1", 1},    {"cancel #", 1},      {"expire #", 1},
    {"admit @ 0.1 0.2", 1}, {"withdraw !", 1},    {"pending", 0},
    {"pending 2", 0},       {"status", 0},        {"save $", 0}};

static void spell(world *w, const char *text, char out[200])
{
    static unsigned count;
    char id[40];
    size_t size = 0;
    for (; *text != '\0'; text++) {
        char part[100] = {*text, '\0'};
        if (*text == '#') {
            choose(w, id);
            strcpy(part, id);
        } else if (*text == '@') {
            snprintf(part, sizeof part, "n%u", ++count);
        } else if (*text == '!') {
            char line[200];
            snprintf(part, sizeof part, "n%u", ++count);
            snprintf(line, sizeof line, "admit %s 0.2 0.1", part);
            ask_for(w, line);
        } else if (*text == '$') {
            strcpy(part, saved);
        }
        assert_true(size + strlen(part) < 200);
        strcpy(out + size, part);
        size += strlen(part);
    }
}

/* Whether the call that was to fail was made. */
static bool attempt(world *w, size_t i, fault f, uint64_t k)
{
    char line[200];
    w->now += 10;
    spell(w, lines[i].text, line);
    const uint64_t before = tarry__store_events(w->store, 1, NULL);
    calls_begin(f.kind, k, f.error, f.ever);
    const char *answer = ask(w, line);
    const bool met = calls_end();
    const bool failed = answer == NULL || strstr(answer, "error") != NULL;
    if (!met && failed)
        fail_msg("%s: %s", line, answer != NULL ? answer : "(nothing)");
    if (answer == NULL) { /* such a group is the last */
        tarry__session_lines_free(w->lines);
        talk(w);
    }
    const uint64_t after = tarry__store_events(w->store, 1, NULL);
    if (!(after == before + lines[i].adds || (failed && after == before)))
        fail_msg("%s: %s, but %d events more", line,
                 answer != NULL ? answer : "(nothing)", (int)(after - before));
    return met;
}

static void try_lines(bool json)
{
    world w = {.now = 1000, .json = json};
    begin(&w);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t f = 0; f < N_FAULTS; f++) {
            for (uint64_t k = 1; attempt(&w, i, faults[f], k);)
                k++;
            const uint64_t events = tarry__store_events(w.store, 1, NULL);
            close_world(&w);
            assert_int_equal(replayed_events(), events);
            open_world(&w);
        }
    close_world(&w);
    remove_files();
}

static void a_line_has_happened_or_not(void **state)
{
    (void)state;
    try_lines(false);
    try_lines(true);
}

/* Files may not grow beyond so many bytes. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* While the store can be read but not written, nothing is begun. */
static void a_store_that_failed_is_probed_first(void **state)
{
    world w = {.now = 1000};
    tarry__session_choice_made made;
    tarry__session_result result;
    (void)state;
    begin(&w);
    tarry__session *s = w.session;
    assert_int_equal(tarry__session_choose(s, NULL, 1000, &made, NULL),
                     TARRY_OK);
    signal(SIGXFSZ, SIG_IGN);
    limit_files(1);
    const tarry_status said[] = {
        tarry__session_commit(&s, 1, NULL),
        tarry__session_choose(s, NULL, 1000, &made, NULL),
        tarry__session_observe(s, "p1", 0.5, 1000, &result, NULL),
        tarry__session_cancel(s, "p1", 1000, NULL),
        tarry__session_pause(s, true, 1000, NULL)};
    const bool is_staged = tarry__session_is_staged(s);
    limit_files(RLIM_INFINITY);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (said[i] != TARRY_IO_ERROR)
            fail_msg("call %zu: %s", i, tarry_status_text(said[i]));
    assert_false(is_staged);
    assert_int_equal(tarry__session_choose(s, NULL, 1000, &made, NULL),
                     TARRY_OK);
    assert_int_equal(made.round, 5);
    assert_int_equal(tarry__session_commit(&s, 1, NULL), TARRY_OK);
    close_world(&w);
    remove_files();
}

/* ---- opening and pausing --------------------------------------------------*/

static tarry_status open_again(world *w, tarry_error *error)
{
    tarry__session_lines_free(w->lines);
    tarry__session_close(w->session); /* leaves a snapshot, or cannot */
    w->lines = NULL;
    return tarry__session_open(w->store, 1, false, &w->session, error);
}

static tarry_status replay(world *w, tarry_error *error)
{
    tarry__session_lines_free(w->lines);
    tarry__session_close(w->session);
    w->lines = NULL;
    return tarry__session_open(w->store, 1, true, &w->session, error);
}

static tarry_status pause_and_resume(world *w, tarry_error *error)
{
    for (int pause = 1; pause >= 0; pause--) {
        tarry_status status =
            tarry__session_pause(w->session, pause, w->now, error);
        if (status == TARRY_OK)
            status = tarry__session_commit(&w->session, 1, error);
        if (status != TARRY_OK)
            return status;
        assert_int_equal(tarry__session_is_paused(w->session), pause);
    }
    return TARRY_OK;
}

static tarry_status catch_up(world *w, tarry_error *error)
{
    tarry__session_choice_made made;
    tarry_status status =
        tarry__session_choose(w->session, NULL, w->now, &made, error);
    if (status == TARRY_OK)
        tarry__session_take_back(w->session);
    return status == TARRY_OK ? tarry__session_catch_up(w->session, error)
                              : status;
}

static tarry_status adopt(world *w, tarry_error *error)
{
    static int count;
    char name[40];
    tarry_policy *policy;
    tarry__session *s;
    tarry_status status = tarry_policy_restore(saved, &policy, error);
    if (status != TARRY_OK)
        return status;
    snprintf(name, sizeof name, "adopted-%d", ++count);
    status = tarry__session_adopt(w->store, policy, saved, name, "", names, &s,
                                  error);
    if (status == TARRY_OK)
        assert_string_equal(tarry__session_arm_name(s, 2), "blue");
    tarry__session_close(s);
    return status;
}

static tarry_status (*const steps[])(world *, tarry_error *) = {
    open_again, replay, pause_and_resume, catch_up, adopt};

static void try_step(world *w, size_t i, fault f)
{
    for (uint64_t k = 1, met = true; met; k += k < 100 ? 1 : 1 + k / 3) {
        tarry_error error = {""};
        char id[40];
        choose(w, id);
        calls_begin(f.kind, k, f.error, f.ever);
        const tarry_status status = steps[i](w, &error);
        met = calls_end();
        if (status != TARRY_OK) {
            assert_true(met);
            assert_string_not_equal(error.text, "");
        }
        if (w->session == NULL)
            assert_int_equal(
                tarry__session_open(w->store, 1, false, &w->session, &error),
                TARRY_OK);
        assert_int_equal(tarry__session_catch_up(w->session, &error), TARRY_OK);
        if (tarry__session_is_paused(w->session)) {
            assert_int_equal(
                tarry__session_pause(w->session, false, w->now, NULL), 0);
            assert_int_equal(tarry__session_commit(&w->session, 1, NULL), 0);
        }
        if (w->lines == NULL)
            talk(w);
    }
}

static void a_session_is_opened_or_not(void **state)
{
    world w = {.now = 1000};
    char line[100];
    (void)state;
    begin(&w);
    snprintf(line, sizeof line, "save %s", saved);
    ask_for(&w, line);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (size_t f = 0; f < N_FAULTS; f++)
            try_step(&w, i, faults[f]);
    const uint64_t events = tarry__store_events(w.store, 1, NULL);
    close_world(&w);
    assert_int_equal(replayed_events(), events);
    remove_files();
}

static void an_experiment_is_made_or_not(void **state)
{
    (void)state;
    for (size_t f = 0; f < N_FAULTS; f++)
        for (uint64_t k = 1, met = true; met; k++) {
            world w = {0};
            tarry_error error = {""};
            assert_int_equal(tarry__store_open(path, true, &w.store, &error),
                             TARRY_OK);
            calls_begin(faults[f].kind, k, faults[f].error, faults[f].ever);
            const tarry_status status = make(&w, &error);
            met = calls_end();
            assert_true(met || status == TARRY_OK);
            assert_true((status == TARRY_OK) == (w.session != NULL));
            if (status != TARRY_OK)
                assert_string_not_equal(error.text, "");
            close_world(&w);
            if (status == TARRY_OK)
                assert_int_equal(replayed_events(), N_ARMS);
            remove_files();
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_happened_or_not),
        cmocka_unit_test(a_store_that_failed_is_probed_first),
        cmocka_unit_test(a_session_is_opened_or_not),
        cmocka_unit_test(an_experiment_is_made_or_not),
    };
    calls_prepare();
    tarry__json_use_base();
    strcpy(folder, "/tmp/tarry-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/s.db", folder);
    snprintf(saved, sizeof saved, "%s/state", folder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return rmdir(folder) != 0 || failed != 0;
}
