/* Sessions: what they answer, what they store, and many in one commit. */
#include "instead.h"
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/base.h"
#include "base/json.h"
#include "base/writer.h"
#include "base/age.h"
#include "session/lines.h"
#include "session/names.h"
#include "session/session.h"
#include "store/experiment.h"

enum { N_ARMS = 3, DIM = 2 };
static const double arms[] = {1, 0, 0, 1, 0.6, 0.8};
static const char *const names[] = {"red", "light green", "blue"};

static tarry__store *open_store(void)
{
    tarry__store *s;
    assert_int_equal(tarry__store_open("memory:", true, &s, NULL), TARRY_OK);
    return s;
}

static time_t wrong; /* what the clock shows if it is not 0 */

SHARED int clock_gettime(clockid_t clock, struct timespec *now)
{
    const int code = REAL(int (*)(clockid_t, struct timespec *),
                          "clock_gettime")(clock, now);
    if (clock == CLOCK_REALTIME && wrong != 0)
        now->tv_sec = wrong;
    return code;
}

/* What no store holds is not given to one. */
static void a_clock_has_a_first_and_a_last_moment(void **state)
{
    static const struct {
        time_t at;
        const char *date;
    } clocks[] = {{-86400, "1970-01-01T00:00:00.000Z"},
                  {INT64_MIN, "1970-01-01T00:00:00.000Z"},
                  {253402300800, "9999-12-31T23:59:59.999Z"},
                  {INT64_MAX, "9999-12-31T23:59:59.999Z"}};
    (void)state;
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        tarry__writer date = {0};
        wrong = clocks[i].at;
        tarry__writer_time(&date, tarry__session_now());
        wrong = 0;
        assert_memory_equal(date.bytes + 1, clocks[i].date, 24);
        tarry__writer_clear(&date);
    }
}

static tarry__session *make(tarry__store *store, const char *name,
                            const char *policy, const char *age)
{
    tarry__store_experiment e = small_experiment(name, policy, N_ARMS, DIM);
    tarry__session *s;
    tarry_error error = {""};
    e.expire_after = age;
    e.horizon = 100000;
    if (tarry__session_create(store, &e, arms, names, &s, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    return s;
}

static void ages_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
        uint64_t rounds;
    } good[] = {{"", 0, 0},
                {"3d", 259200000, 0},
                {"90min", 5400000, 0},
                {"45", 45000, 0},
                {"1.5h", 5400000, 0},
                {"20ms", 20, 0},
                {"1ms", 1, 0},
                {"0.5ms", 1, 0}, /* rounded up */
                {"0.25s", 250, 0},
                {"1s", 1000, 0},
                {"1m", 60000, 0},
                {"2w", 1209600000, 0},
                {"999999999999ms", 999999999999, 0},
                {"999999999999w", 1000000000000000, 0}, /* for ever */
                {"1round", 0, 1},
                {"1rounds", 0, 1},
                {"1e3rounds", 0, 1000},
                {"500r", 0, 500}};
    static const char *const bad[] = {
        "d",         "-3d",   "0s",       "3 d", "3y",     "3d ", "nan",
        "1.5rounds", "1e99d", "0.5round", "0",   "1e12ms", "inf"};
    tarry__age age;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(tarry__age_parse(good[i].text, &age));
        assert_true(age.ms == good[i].ms && age.rounds == good[i].rounds);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(tarry__age_parse(bad[i], &age));
}

/* Rounds in ids: 15 digits, and no other way to write them. */
static void numbers_are_written_in_one_way(void **state)
{
    static const char *const bad[] = {
        "", "1000000000000000", "01", "+1", "1 ", " 1", "1.0", "-1", "1e3"};
    uint64_t number;
    (void)state;
    assert_true(tarry__names_is_number("0", &number) && number == 0);
    assert_true(tarry__names_is_number("999999999999999", &number) &&
                number == 999999999999999);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(tarry__names_is_number(bad[i], &number));
}

/* 1 to 64 characters from ! to ~ that do not look like a generated id. */
static void own_ids_have_exact_limits(void **state)
{
    static const char *const bad[] = {
        "",         " ", "a b", "a ",    " a", "a\n", "\x7f",
        "\xc3\xbc", "1", "e:1", "a\x1f", "0",  ":7",  "a:b:00"};
    static const char *const good[] = {"!", "~", "a", "1a", "e:", "1:a", "a.1"};
    tarry__store *store = open_store();
    tarry__session *s = make(store, "e", "uniform", "");
    tarry__session_choice_made made;
    char longest[67];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(tarry__session_choose(s, bad[i], 1, &made, NULL),
                         TARRY_BAD_ARGUMENT);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(tarry__session_choose(s, good[i], 1, &made, NULL),
                         TARRY_OK);
    for (size_t length = 63; length <= 65; length++) {
        memset(longest, 'x', length);
        longest[length] = '\0';
        assert_int_equal(tarry__session_choose(s, longest, 1, &made, NULL),
                         length <= 64 ? TARRY_OK : TARRY_BAD_ARGUMENT);
    }
    assert_int_equal(made.round, sizeof good / sizeof *good + 2);
    tarry__session_close(s);
    tarry__store_close(store);
}

static void names_are_found_and_given_back(void **state)
{
    (void)state;
    tarry__names n = {0};
    size_t arm;
    assert_int_equal(tarry__names_add(&n, "a"), TARRY_OK);
    assert_int_equal(tarry__names_add(&n, NULL), TARRY_OK);
    assert_int_equal(tarry__names_add(&n, "a"), TARRY_OK);
    assert_true(tarry__names_find(&n, "a", &arm) && arm == 2);
    assert_true(tarry__names_find(&n, "1", &arm) && arm == 1);
    assert_false(tarry__names_find(&n, "0", &arm));
    assert_false(tarry__names_find(&n, "01", &arm));
    tarry__names_drop_last(&n);
    assert_true(tarry__names_find(&n, "a", &arm) && arm == 0);
    tarry__names_clear(&n);
    assert_true(tarry__json_is_name("gr\xc3\xbcn \xe2\x88\x9e"));
    static const char *const bad[] = {"",         "a\nb",     "\x1b[2J",
                                      "\x7f",     "\xc3",     "\xff",
                                      "\xc0\xaf", "\xc2\x85", "\xed\xa0\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(tarry__json_is_name(bad[i]));
}

/* The controls of ASCII, and U+0080 to U+009F, wherever they stand. */
static void no_name_has_a_control_character(void **state)
{
    (void)state;
    for (unsigned c = 1; c < 0x800; c++) {
        char letter[3] = {(char)c, '\0', '\0'}, name[3][8];
        if (c >= 0x80) {
            letter[0] = (char)(0xc0 | c >> 6);
            letter[1] = (char)(0x80 | (c & 0x3f));
        }
        const bool is_control = c < 0x20 || (c >= 0x7f && c < 0xa0);
        snprintf(name[0], sizeof *name, "%s", letter);
        snprintf(name[1], sizeof *name, "ab%s", letter);
        snprintf(name[2], sizeof *name, "%sab", letter);
        for (size_t i = 0; i < 3; i++)
            if (tarry__json_is_name(name[i]) == is_control)
                fail_msg("U+%04X", c);
    }
}

/* Chooses, and reports the loss in the same round if asked to. */
static void play(tarry__session *s, int rounds, bool observes)
{
    for (int i = 0; i < rounds; i++) {
        tarry__session_choice_made made;
        tarry__session_result result;
        char id[TARRY__SESSION_ID_ROOM];
        assert_int_equal(tarry__session_choose(s, NULL, 1, &made, NULL),
                         TARRY_OK);
        tarry__session_id(s, made.round, id);
        if (observes)
            assert_int_equal(
                tarry__session_observe(s, id, 0.5, 1, &result, NULL), TARRY_OK);
    }
}

static void expect_verdict(tarry__session *s, const char *verdict)
{
    json_t *status = tarry__session_status(s, false);
    const json_t *found = json_object_get(status, "dependence");
    assert_string_equal(json_string_value(json_object_get(found, "verdict")),
                        verdict);
    json_decref(status);
}

/* All losses come in their own round, so what is older is overdue: 27 of 540
 * decisions may be, 28 of 541 are more than a twentieth. */
static void what_is_overdue_is_counted_exactly(void **state)
{
    (void)state;
    tarry__store *store = open_store();
    tarry__session *s = make(store, "one", "uniform", "");
    play(s, 27, false);
    play(s, 512, true);
    play(s, 1, false); /* of this very round */
    expect_verdict(s, "independent");
    play(s, 1, false);
    expect_verdict(s, "cannot tell");
    tarry__session_close(s);
    tarry__store_close(store);
}

/* Those called off do not count among all: 28 of 541 are too many, however
 * many others were cancelled. */
static void what_is_cancelled_is_not_missed(void **state)
{
    (void)state;
    tarry__store *store = open_store();
    tarry__session *s = make(store, "one", "uniform", "");
    play(s, 27 + 60, false);
    for (int round = 1; round <= 60; round++) {
        char id[24];
        snprintf(id, sizeof id, "%d", round);
        assert_int_equal(tarry__session_cancel(s, id, 1, NULL), TARRY_OK);
    }
    play(s, 512, true);
    play(s, 1, false); /* of this very round */
    expect_verdict(s, "independent");
    play(s, 1, false);
    expect_verdict(s, "cannot tell");
    tarry__session_close(s);
    tarry__store_close(store);
}

/* Takes lines and gives their answers, as one text. */
static const char *ask(tarry__session_lines *l, const char *lines, int64_t now)
{
    static char out[100000];
    char text[1000];
    for (const char *end; (end = strchr(lines, '\n')) != NULL;
         lines = end + 1) {
        const size_t length = (size_t)(end - lines);
        memcpy(text, lines, length);
        text[length] = '\0';
        tarry__session_lines_take(l, text, length, now);
    }
    size_t size;
    const char *answers = tarry__session_lines_finish(l, &size);
    assert_non_null(answers);
    assert_true(size < sizeof out);
    memcpy(out, answers, size);
    out[size] = '\0';
    return out;
}

static void a_group_knows_its_own_lines(void **state)
{
    (void)state;
    tarry__store *store = open_store();
    tarry__session *s = make(store, "one", "phased-mab", "");
    tarry__session_lines *l =
        tarry__session_lines_create(s, (tarry__session_lines_options){0});
    assert_string_equal(
        ask(l,
            "choose --id a\nchoose --id a\nobserve a 0.5\nobserve a 0.5\n"
            "observe a 0.25\nchoose\ncancel 2\ncancel 2\nwithdraw  light "
            "green \nwithdraw light green\n",
            10),
        "a red\na red\nok\nduplicate\nerror decision \"a\" of experiment "
        "\"one\" has the loss 0.5, the first one reported; got 0.25\n2 "
        "red\nok\n"
        "error decision \"2\" of experiment \"one\" has been reported or "
        "cancelled\nok\nerror arm \"light green\" of experiment \"one\" has "
        "been withdrawn already\n");
    tarry__session_lines_free(l);
    tarry__session_close(s);
    tarry__store_close(store);
}

/* Reports rounds 1 to n; the processor's time it took. */
static double report_all(tarry__session *s, uint64_t n,
                         tarry__session_result expected)
{
    const clock_t begin = clock();
    for (uint64_t round = 1; round <= n; round++) {
        tarry__session_result result;
        char id[TARRY__SESSION_ID_ROOM];
        tarry__session_id(s, round, id);
        assert_int_equal(tarry__session_observe(s, id, 0.5, 1, &result, NULL),
                         TARRY_OK);
        assert_int_equal(result, expected);
    }
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

static void outcomes_told_again_in_their_group_are_found_at_once(void **state)
{
    enum { N = BRIEF ? 20000 : 60000 };
    (void)state;
    tarry__store *store = open_store();
    tarry__session *s = make(store, "one", "uniform", "");
    play(s, N, false);
    const double first = report_all(s, N, TARRY__SESSION_OK);
    const double again = report_all(s, N, TARRY__SESSION_DUPLICATE);
    if (again > 10 * first + 0.2)
        fail_msg("%g s, and again %g s", first, again);
    assert_int_equal(tarry__session_commit(&s, 1, NULL), TARRY_OK);
    report_all(s, N, TARRY__SESSION_DUPLICATE);
    tarry__session_close(s);
    tarry__store_close(store);
}

static void old_choices_expire_by_clock_and_by_rounds(void **state)
{
    (void)state;
    tarry__store *store = open_store();
    tarry__session *s = make(store, "clock", "lints", "2s");
    tarry__session_lines *l =
        tarry__session_lines_create(s, (tarry__session_lines_options){0});
    tarry__session_tell_probability(s, false);
    ask(l, "choose 3\n", 1000);
    ask(l, "choose 2\n", 2500);
    assert_non_null(strstr(ask(l, "pending\n", 2900), "ok 5\n"));
    assert_non_null(strstr(ask(l, "pending\n", 4000), "ok 2\n"));
    assert_string_equal(ask(l, "observe 1 0.5\nobserve 4 0.5\n", 4100),
                        "late\nok\n");
    assert_non_null(strstr(ask(l, "pending\n", 9000), "ok 0\n"));
    tarry__session_lines_free(l);
    tarry__session_close(s);
    s = make(store, "rounds", "lints", "4rounds");
    l = tarry__session_lines_create(s, (tarry__session_lines_options){0});
    tarry__session_tell_probability(s, false);
    ask(l, "choose 10\n", 1000);
    assert_non_null(strstr(ask(l, "pending\n", 1000), "ok 4\n"));
    tarry__session_lines_free(l);
    tarry__session_close(s);
    tarry__store_close(store);
}

/* ---- the default outcome --------------------------------------------------*/

static tarry__session_lines *lines_of(tarry__session *s)
{
    return tarry__session_lines_create(s, (tarry__session_lines_options){0});
}

static void expect_rule(tarry__session_lines *l, int64_t now,
                        const char *applied)
{
    const char *told = ask(l, "status\n", now);
    if (strstr(told, applied) == NULL)
        fail_msg("'%s' is not in %s", applied, told);
}

/* Also for a report that comes before anything else has applied it. */
static void default_outcome_comes_by_the_clock(void **state)
{
    (void)state;
    tarry__store *store = open_store();
    tarry__session *s = make(store, "e", "lints:default_outcome=0.5/2s", "");
    tarry__session_lines *l = lines_of(s);
    ask(l, "choose 4\n", 1000);
    assert_string_equal(ask(l, "observe 1 0.25\n", 2999), "ok\n");
    assert_string_equal(ask(l, "observe 2 0.25\n", 3000), "corrected\n");
    assert_string_equal(ask(l, "observe 2 0.25\n", 3000), "duplicate\n");
    assert_non_null(strstr(ask(l, "observe 2 1\n", 3000), "error"));
    expect_rule(l, 9000, "\"applied\": 3, \"corrected\": 1");
    assert_string_equal(ask(l, "pending\n", 9000), "ok 0\n");
    tarry__session_lines_free(l);
    tarry__session_close(s);
    for (int from_start = 0; from_start <= 1; from_start++) {
        assert_int_equal(
            tarry__session_open(store, 1, from_start == 1, &s, NULL), TARRY_OK);
        l = lines_of(s);
        expect_rule(l, 9000,
                    from_start ? "\"applied\": 3, \"corrected\": 2"
                               : "\"applied\": 3, \"corrected\": 1");
        assert_string_equal(ask(l, "observe 3 0.5\n", 9000),
                            from_start ? "duplicate\n" : "corrected\n");
        assert_string_equal(
            ask(l, "cancel 4\n", 9000),
            "error decision \"4\" of experiment \"e\" has the default outcome "
            "already\n");
        tarry__session_lines_free(l);
        tarry__session_close(s);
    }
    tarry__store_close(store);
}

static void report_after_final_default_is_late(void **state)
{
    (void)state;
    tarry__store *store = open_store();
    tarry__session *s =
        make(store, "e", "otf-lints:default_outcome=0.5/2s/final", "");
    tarry__session_lines *l = lines_of(s);
    ask(l, "choose 2\n", 1000);
    assert_string_equal(ask(l, "observe 1 1\n", 3000), "late\n");
    assert_string_equal(ask(l, "observe 1 1\n", 3000), "duplicate\n");
    expect_rule(l, 3000, "\"applied\": 2, \"corrected\": 0");
    expect_rule(l, 3000, "certifies nothing");
    tarry__session_lines_free(l);
    tarry__session_close(s);
    tarry__store_close(store);
}

/* What is asked between two choices brings no default. */
static void default_outcome_of_rounds_comes_with_a_choice(void **state)
{
    (void)state;
    tarry__store *store = open_store();
    tarry__session *s = make(store, "e", "recommended:default_outcome=1/0", "");
    tarry__session_lines *l = lines_of(s);
    ask(l, "choose\n", 1000);
    expect_rule(l, 9000, "\"applied\": 0, \"corrected\": 0");
    assert_string_equal(ask(l, "observe 1 1\n", 9000), "ok\n");
    ask(l, "choose 2\n", 9000);
    expect_rule(l, 9000, "\"applied\": 1, \"corrected\": 0");
    assert_string_equal(ask(l, "observe 2 -1\n", 9000), "corrected\n");
    tarry__session_lines_free(l);
    tarry__session_close(s);
    tarry__store_close(store);
}

/* Sales are reported at once, no sale never is. */
static void silence_of_one_value_is_said_aloud(void **state)
{
    (void)state;
    tarry__store *store = open_store();
    tarry__session *silent = make(store, "s", "uniform", "");
    tarry__session *told = make(store, "t", "uniform:default_outcome=-1/0", "");
    tarry__session *sessions[] = {silent, told};
    for (int k = 0; k < 2; k++) {
        tarry__session_lines *l = lines_of(sessions[k]);
        char line[80];
        for (int t = 1; t <= 1000; t++) {
            ask(l, "choose\n", 1000);
            snprintf(line, sizeof line, "observe %d 1\n", t);
            if (t % 10 == 0)
                assert_string_equal(ask(l, line, 1000), "ok\n");
        }
        expect_rule(l, 1000,
                    k > 0 ? "\"silence\": null"
                          : "no outcome of -1 has ever been reported, and all "
                            "100 that were are 1");
        ask(l, "observe 1 0\n", 1000);
        expect_rule(l, 1000, "\"silence\": null");
        tarry__session_lines_free(l);
        tarry__session_close(sessions[k]);
    }
    tarry__store_close(store);
}

static void expiry_and_default_outcome_exclude_each_other(void **state)
{
    (void)state;
    tarry__store *store = open_store();
    tarry__store_experiment e =
        small_experiment("e", "lints:default_outcome=1/7d", N_ARMS, DIM);
    tarry_error error = {""};
    e.expire_after = "7d";
    assert_int_equal(
        tarry__session_create(store, &e, arms, names, NULL, &error),
        TARRY_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "give one of them"));
    tarry__store_close(store);
}

/* While the clock was wrong nothing was out, so no event has its time. */
static void choices_expire_also_after_the_clock_went_back(void **state)
{
    (void)state;
    tarry__store *store = open_store();
    tarry__session *s = make(store, "e", "uniform", "2s");
    tarry__session_lines *l =
        tarry__session_lines_create(s, (tarry__session_lines_options){0});
    ask(l, "pending\n", 1000000);
    ask(l, "choose\n", 1000);
    assert_string_equal(ask(l, "pending\n", 3000), "ok 0\n");
    tarry__session_lines_free(l);
    tarry__session_close(s);
    tarry__store_close(store);
}

/* As when a store cannot be written, or there is no memory, for a while. */
static void what_could_not_expire_does_later(void **state)
{
    (void)state;
    tarry_policy_status now;
    tarry__store *store = open_store();
    tarry__session *s = make(store, "e", "uniform", "2s");
    tarry__session_lines *l =
        tarry__session_lines_create(s, (tarry__session_lines_options){0});
    ask(l, "choose 5\n", 1000);
    tarry__session_lines_free(l);
    tarry__session_close(s);
    assert_int_equal(tarry__session_open(store, 1, false, &s, NULL), TARRY_OK);
    tarry__base_fail_alloc(1);
    assert_int_equal(tarry__session_expire_old(s, 4000, NULL), TARRY_NO_MEMORY);
    tarry__base_fail_alloc(0);
    assert_int_equal(tarry__session_expire_old(s, 5000, NULL), TARRY_OK);
    tarry_policy_get_status(tarry__session_policy(s), &now);
    assert_int_equal(now.expired, 5);
    assert_int_equal(tarry__session_commit(&s, 1, NULL), TARRY_OK);
    tarry__session_close(s);
    tarry__store_close(store);
}

/* To the millisecond; and the store is searched once a second, not less. */
static void a_choice_expires_at_its_age(void **state)
{
    static const struct {
        int64_t asked_at;
        const char *waiting;
    } tries[] = {{2999, "ok 1\n"}, {3000, "ok 0\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        for (int64_t before = 1; before <= 2; before++) {
            tarry__store *store = open_store();
            tarry__session *s = make(store, "e", "uniform", "2s");
            tarry__session_lines *l = tarry__session_lines_create(
                s, (tarry__session_lines_options){0});
            ask(l, "choose\n", 1000);
            ask(l, "pending\n", tries[i].asked_at - 1000 * before);
            const char *told = ask(l, "pending\n", tries[i].asked_at);
            assert_non_null(strstr(told, tries[i].waiting));
            tarry__session_lines_free(l);
            tarry__session_close(s);
            tarry__store_close(store);
        }
}

/* Sessions of one store, committed together, are as if each were alone. */
static void many_sessions_share_a_commit(void **state)
{
    (void)state;
    enum { N = 5, ROUNDS = 300 };
    tarry__store *store = open_store(), *other = open_store();
    tarry__session *together[N], *alone[N];
    for (int i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "e%d", i);
        together[i] = make(store, name, i % 2 ? "linucb" : "uniform", "");
        alone[i] = make(other, name, i % 2 ? "linucb" : "uniform", "");
    }
    for (int t = 1; t <= ROUNDS; t++) {
        for (int i = 0; i < N; i++) {
            tarry__session_choice_made a, b;
            assert_int_equal(
                tarry__session_choose(together[i], NULL, t, &a, NULL),
                TARRY_OK);
            assert_int_equal(tarry__session_choose(alone[i], NULL, t, &b, NULL),
                             TARRY_OK);
            assert_true(a.round == b.round && a.arm == b.arm);
            char id[24];
            tarry__session_result result;
            snprintf(id, sizeof id, "%d", t);
            for (int k = 0; t % 3 != 0 && k < 2; k++)
                assert_int_equal(
                    tarry__session_observe(k ? alone[i] : together[i], id,
                                           arms[a.arm * DIM], t, &result, NULL),
                    TARRY_OK);
            assert_int_equal(tarry__session_commit(&alone[i], 1, NULL),
                             TARRY_OK);
        }
        assert_int_equal(tarry__session_commit(together, N, NULL), TARRY_OK);
    }
    for (int i = 0; i < N; i++) {
        uint64_t a, b;
        assert_int_equal(tarry__store_events(store, (uint64_t)i + 1, &a),
                         tarry__store_events(other, (uint64_t)i + 1, &b));
        assert_int_equal(a, b);
        tarry__session_close(together[i]);
        tarry__session_close(alone[i]);
    }
    tarry__store_close(store);
    tarry__store_close(other);
}

/* After a commit that failed the session is what is stored, and goes on. */
static void a_failed_commit_has_not_happened(void **state)
{
    (void)state;
    tarry__store *store = open_store();
    tarry__session *s = make(store, "one", "lints", "");
    tarry__session *twin = make(store, "two", "lints", "");
    tarry__session_choice_made a, b;
    tarry__session_tell_probability(s, false);
    tarry__session_tell_probability(twin, false);
    size_t failures = 0;
    for (int t = 1; t <= 200; t++) {
        for (;;) {
            assert_int_equal(tarry__session_choose(s, NULL, t, &a, NULL),
                             TARRY_OK);
            tarry__base_fail_alloc(t % 7 == 0 && failures % 3 < 2 ? 1 : 0);
            const tarry_status status = tarry__session_commit(&s, 1, NULL);
            tarry__base_fail_alloc(0);
            if (status == TARRY_OK)
                break;
            assert_int_equal(status, TARRY_NO_MEMORY);
            failures++;
        }
        failures += t % 7 == 0;
        assert_int_equal(tarry__session_choose(twin, NULL, t, &b, NULL),
                         TARRY_OK);
        assert_int_equal(tarry__session_commit(&twin, 1, NULL), TARRY_OK);
        assert_true(a.round == b.round && a.arm == b.arm);
    }
    assert_true(failures > 40);
    tarry__session_close(s);
    tarry__session_close(twin);
    tarry__store_close(store);
}

/* Asks behind a choice, in its group, while the k-th allocation fails; whether
 * there were so many.  What both are told must agree. */
static bool ask_behind(const char *question, const char *none, const char *one,
                       uint64_t k, size_t *refused)
{
    tarry__store *store = open_store();
    tarry__session *s = make(store, "e", "uniform", "");
    tarry__session_lines *l =
        tarry__session_lines_create(s, (tarry__session_lines_options){0});
    char choice[] = "choose", line[40], told[10000];
    size_t size;
    strcpy(line, question);
    tarry__session_lines_take(l, choice, strlen(choice), 5);
    tarry__base_fail_alloc(k);
    tarry__session_lines_take(l, line, strlen(line), 5);
    const char *answers = tarry__session_lines_finish(l, &size);
    const bool has_failed = tarry__base_fail_alloc(0) >= k;
    if (answers != NULL) {
        snprintf(told, sizeof told, "%.*s", (int)size, answers);
        const char *answer = strchr(told, '\n') + 1;
        const bool is_refused = strncmp(told, "error", 5) == 0;
        const bool is_answered = strncmp(answer, "error", 5) != 0;
        if (is_answered && strstr(answer, is_refused ? none : one) == NULL)
            fail_msg("%s, allocation %ju: %s", question, (uintmax_t)k, told);
        *refused += is_refused && is_answered;
    }
    tarry__session_lines_free(l);
    tarry__session_close(s);
    tarry__store_close(store);
    return has_failed;
}

/* Not of a choice that is taken back when its group cannot be committed. */
static void questions_tell_of_what_is_committed(void **state)
{
    static const char *const all[][3] = {
        {"pending", "ok 0\n", "ok 1\n"},
        {"pending 7", "ok 0\n", "ok 1\n"},
        {"status", "\"round\": 0,", "\"round\": 1,"}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        size_t refused = 0;
        uint64_t k = 1;
        while (ask_behind(all[i][0], all[i][1], all[i][2], k, &refused))
            k++;
        assert_true(refused > 0 && k > 2);
    }
}

/* ---- nonsense -------------------------------------------------------------*/

/* Its arms have no names and are told by number. */
static tarry__session *make_plain(tarry__store *store)
{
    const tarry__store_experiment e =
        small_experiment("one", "uniform", N_ARMS, DIM);
    tarry__session *s;
    assert_int_equal(tarry__session_create(store, &e, arms, NULL, &s, NULL),
                     TARRY_OK);
    return s;
}

/* What is refused has not happened. */
static void lines_of_nonsense_are_refused(void **state)
{
    static const struct {
        const char *line, *answer; /* of an error only that it is one */
    } talk[] = {{"choose\n", "1 "},
                {"cancel 1\n", "ok\n"},
                {"observe 1 0.5\n", "error decision \"1\" of experiment "
                                    "\"one\" was cancelled: it takes no "
                                    "outcome\n"},
                {"choose\n", "2 "},
                {"observe 2 0.5\n", "ok\n"},
                {"observe 2 1\n", "error decision \"2\" of experiment \"one\" "
                                  "has the loss 0.5, the first "
                                  "one reported; got 1\n"},
                {"observe 2 7\n",
                 "error losses of experiment \"one\" lie in [-1, 1]; got 7 "
                 "for id \"2\"\n"},
                {"observe 2 -7\n", "error "},
                {"observe gr\xc3\xbcn 0.5\n", "error "},
                {"admit 1 0.1 0.2\n", "error "},
                {"admit new 0.1\n", "error "},
                {"admit new 0.1 x\n", "error "},
                {"admit new 0.1 1e300\n", "error the largest feature of arm "},
                {"admit new 1e-308 0\n", "error the largest feature of arm "},
                {"withdraw 7\n", "error "},
                {"choose --no x\n", "error "},
                {"choose --id\n", "error "},
                {"pending x\n", "error "}};
    (void)state;
    tarry__store *store = open_store();
    tarry__session *s = make_plain(store);
    tarry__session_lines *l =
        tarry__session_lines_create(s, (tarry__session_lines_options){0});
    for (size_t i = 0; i < sizeof talk / sizeof *talk; i++) {
        const uint64_t before = tarry__store_events(store, 1, NULL);
        const char *answer = ask(l, talk[i].line, 10);
        if (strncmp(answer, talk[i].answer, strlen(talk[i].answer)) != 0)
            fail_msg("%s: %s", talk[i].line, answer);
        const bool refused = strncmp(answer, "error", 5) == 0;
        assert_true(refused == (tarry__store_events(store, 1, NULL) == before));
    }
    ask(l, "choose\n", 12);
    assert_non_null(strstr(ask(l, "pending\n", 1012), " 1.000\nok 1\n"));
    tarry__session_lines_free(l);
    tarry__session_close(s);
    tarry__store_close(store);
}

static void nonsense_in_calls_is_refused(void **state)
{
    static const double features[] = {0.5, NAN, 0.5};
    static const struct {
        const char *name;
        const double *features;
        size_t dim;
        tarry_status status;
    } wrong[] = {{"new", features, 3, TARRY_BAD_ARGUMENT},
                 {"new", features, DIM, TARRY_NOT_FINITE},
                 {"2", arms, DIM, TARRY_BAD_ARGUMENT}};
    (void)state;
    tarry__store *store = open_store();
    tarry__session *s = make_plain(store), *none;
    const tarry__store_experiment e =
        small_experiment("a\nb", "uniform", N_ARMS, DIM);
    assert_int_equal(tarry__session_create(store, &e, arms, NULL, &none, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_null(none);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(tarry__session_admit(s, wrong[i].name,
                                              wrong[i].features, wrong[i].dim,
                                              11, NULL),
                         wrong[i].status);
    assert_false(tarry__session_is_staged(s));
    tarry__session_close(s);
    tarry__store_close(store);
}

/* A loss by round, and whether it comes at once or 40 rounds later. */
static double loss_of(uint64_t round)
{
    return (round * 2654435761u >> 7) % 2 == 0 ? -0.5 : 0.5;
}

static void report(tarry__session *s, uint64_t round)
{
    char id[24];
    tarry__session_result result;
    snprintf(id, sizeof id, "%ju", (uintmax_t)round);
    assert_int_equal(tarry__session_observe(s, id, loss_of(round),
                                            (int64_t)round, &result, NULL),
                     TARRY_OK);
}

/* A session whose arms have no features: one that is admitted is there again
 * after the log is played anew, and so is the next. */
static void arms_without_features_are_admitted_and_stored(void **state)
{
    const double basis[] = {1, 0, 0, 1}, two[] = {1, 2};
    (void)state;
    tarry__store *store;
    tarry__session *s;
    tarry__session_choice_made c, again;
    assert_int_equal(tarry__store_open("memory:", true, &store, NULL),
                     TARRY_OK);
    const tarry__store_experiment e =
        small_experiment("a", "recommended", 2, 2);
    assert_int_equal(tarry__session_create(store, &e, basis, NULL, &s, NULL),
                     TARRY_OK);
    for (int i = 0; i < 40; i++) {
        if (i % 10 == 5)
            assert_int_equal(tarry__session_admit(s,
                                                  i == 5    ? "x"
                                                  : i == 15 ? "y"
                                                  : i == 25 ? "z"
                                                            : "w",
                                                  NULL, 0, 11, NULL),
                             TARRY_OK);
        assert_int_equal(tarry__session_choose(s, NULL, 11, &c, NULL),
                         TARRY_OK);
        report(s, c.round);
        assert_int_equal(tarry__session_commit(&s, 1, NULL), TARRY_OK);
        if (i % 10 == 9) {
            tarry__session *from_start;
            assert_int_equal(
                tarry__session_open(store, 1, true, &from_start, NULL),
                TARRY_OK);
            assert_int_equal(
                tarry__session_choose(from_start, NULL, 11, &again, NULL),
                TARRY_OK);
            assert_int_equal(tarry__session_choose(s, NULL, 11, &c, NULL),
                             TARRY_OK);
            assert_int_equal(again.arm, c.arm);
            tarry__session_take_back(from_start);
            tarry__session_close(from_start);
            tarry__session_close(s);
            assert_int_equal(tarry__session_open(store, 1, false, &s, NULL),
                             TARRY_OK);
        }
    }
    assert_int_equal(tarry__session_admit(s, "v", two, 2, 11, NULL),
                     TARRY_BAD_ARGUMENT);
    tarry__session_close(s);
    tarry__store_close(store);
}

/* Rounds of a session whose low losses are late. */
static void play_late(tarry__session *s, uint64_t from, uint64_t to)
{
    for (uint64_t t = from; t <= to; t++) {
        tarry__session_choice_made c;
        assert_int_equal(tarry__session_choose(s, NULL, (int64_t)t, &c, NULL),
                         TARRY_OK);
        if (loss_of(t) > 0)
            report(s, t);
        if (t > 40 && loss_of(t - 40) < 0)
            report(s, t - 40);
    }
    assert_int_equal(tarry__session_commit(&s, 1, NULL), TARRY_OK);
}

static const char *text_of(const json_t *status, const char *key)
{
    return json_string_value(
        json_object_get(json_object_get(status, "dependence"), key));
}

/* Also of outcomes that came before a snapshot, and without one. */
static void status_warns_of_delays_that_depend_on_losses(void **state)
{
    (void)state;
    static const char *const policies[] = {"linucb", "phased-loss-dependent"};
    for (int i = 0; i < 2; i++) {
        tarry__store *store = open_store();
        tarry__session *s = make(store, "one", policies[i], "");
        play_late(s, 1, 60);
        json_t *early = tarry__session_status(s, false);
        assert_string_equal(text_of(early, "verdict"), "cannot tell");
        assert_null(text_of(early, "warning"));
        play_late(s, 61, 900);
        json_t *before = tarry__session_status(s, false);
        assert_string_equal(text_of(before, "verdict"), "dependent");
        assert_string_equal(
            text_of(before, "why"),
            "low outcomes come later than high ones of the same arm");
        assert_true((text_of(before, "warning") != NULL) == (i == 0));
        tarry__session_close(s);
        for (int from_start = 0; from_start < 2; from_start++) {
            assert_int_equal(
                tarry__session_open(store, 1, from_start, &s, NULL), TARRY_OK);
            json_t *after = tarry__session_status(s, false);
            assert_true(json_equal(before, after));
            json_decref(after);
            tarry__session_close(s);
        }
        json_decref(early);
        json_decref(before);
        tarry__store_close(store);
    }
}

/* The k-th allocation fails: the answers are whole lines, or none at all. */
static bool answers_without(uint64_t k, bool json)
{
    static const char *const lines[] = {
        "choose 3",      "choose --id mine", "choose --id mine",
        "observe 1 0.5", "admit new 1 1",    "withdraw red",
        "pending",       "status",           "nonsense"};
    tarry__store *store = open_store();
    tarry__session *s = make(store, "one", "phased-mab", "");
    tarry__session_lines *l = tarry__session_lines_create(
        s, (tarry__session_lines_options){.json = json});
    char text[100];
    size_t size;
    tarry__base_fail_alloc(k);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        strcpy(text, lines[i]);
        tarry__session_lines_take(l, text, strlen(text), 7);
    }
    const char *answers = tarry__session_lines_finish(l, &size);
    const bool failed = tarry__base_fail_alloc(0) >= k;
    for (size_t at = 0; json && answers != NULL && at < size;) {
        const char *end = memchr(answers + at, '\n', size - at);
        assert_non_null(end);
        json_t *one =
            json_loadb(answers + at, (size_t)(end - answers) - at, 0, NULL);
        assert_non_null(one);
        json_decref(one);
        at = (size_t)(end - answers) + 1;
    }
    tarry__session_lines_free(l);
    tarry__session_close(s);
    tarry__store_close(store);
    return failed;
}

static void answers_without_memory_are_whole_lines_or_none(void **state)
{
    (void)state;
    tarry__json_use_base();
    for (int json = 0; json < 2; json++) {
        uint64_t k = 1;
        while (answers_without(k, json))
            k++;
        assert_true(k > 10);
    }
}

/* A log with sound digests whose choices are not those of the policy. */
static void choices_that_the_policy_would_not_make_are_refused(void **state)
{
    (void)state;
    for (size_t arm = 0; arm < N_ARMS; arm++) {
        tarry__store *store = open_store();
        tarry__session *s = make(store, "one", "uniform", "");
        tarry__session_choice_made made;
        tarry_error error = {""};
        assert_int_equal(tarry__session_choose(s, NULL, 1, &made, NULL),
                         TARRY_OK);
        tarry__session_close(s); /* without a commit */
        tarry__store_event e = {.kind = TARRY__STORE_CHOOSE,
                                .round = 1,
                                .arm = arm,
                                .value = made.probability};
        const tarry__store_batch batch = {1, &e, 1, 0};
        assert_int_equal(tarry__store_append(store, &batch, 1, NULL), TARRY_OK);
        const tarry_status status =
            tarry__session_open(store, 1, false, &s, &error);
        assert_int_equal(status, arm == made.arm ? TARRY_OK : TARRY_BAD_STATE);
        if (arm != made.arm)
            assert_non_null(strstr(error.text, "event 4 (choose, round 1, "));
        tarry__session_close(s);
        tarry__store_close(store);
    }
}

/* Only leases that the horizon had cut short were noted once. */
static void leases_of_older_stores_are_known(void **state)
{
    (void)state;
    tarry__store *store = open_store();
    tarry__session *s = make(store, "one", "uniform", "");
    tarry__session_close(s);
    tarry__store_event e = {.kind = TARRY__STORE_CUT, .arm = 7, .value = 2385};
    const tarry__store_batch batch = {1, &e, 1, 0};
    uint64_t count;
    assert_int_equal(tarry__store_append(store, &batch, 1, NULL), TARRY_OK);
    assert_int_equal(tarry__session_open(store, 1, false, &s, NULL), TARRY_OK);
    for (uint64_t first = 6; first <= 8; first++) {
        assert_int_equal(tarry__session_lease_count(s, first, &count, NULL),
                         TARRY_OK);
        assert_int_equal(count, first == 7 ? 2385 : 0);
    }
    tarry__session_close(s);
    tarry__store_close(store);
}

static void choose_some(tarry__session *s, int count)
{
    tarry__session_choice_made made;
    for (int i = 0; i < count; i++)
        assert_int_equal(tarry__session_choose(s, NULL, 1, &made, NULL),
                         TARRY_OK);
    assert_int_equal(tarry__session_commit(&s, 1, NULL), TARRY_OK);
}

static void a_snapshot_that_cannot_be_read_is_named(void **state)
{
    (void)state;
    tarry__store *store = open_store();
    tarry__session *s = make(store, "one", "uniform", "");
    tarry_error error = {""};
    tarry__session_close(s);
    assert_int_equal(tarry__store_save(store, 1, N_ARMS, "nonsense", 8, NULL),
                     TARRY_OK);
    assert_int_equal(tarry__session_open(store, 1, false, &s, &error),
                     TARRY_BAD_STATE);
    assert_non_null(strstr(error.text, "experiment 'one': the snapshot of"));
    tarry__store_close(store);
}

/* A snapshot with a sound digest, under the number of another event: as of
 * event 6, in a log of 8, is under its own, before it, behind it, at the end
 * and beyond. */
static void a_snapshot_under_another_number_is_refused(void **state)
{
    static const struct {
        uint64_t seq;
        const char *why; /* NULL: it is right */
    } tries[] = {{6, NULL},
                 {5, "the policy now gives round 4"},
                 {7, "the policy now gives round 4"},
                 {8, "snapshot of event 8 leads to round 3, the log to 5"},
                 {9, "a snapshot of event 9, but the log has 8"},
                 {UINT64_MAX, "but the log has 8"}};
    (void)state;
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        tarry__store *store = open_store();
        tarry__session *s = make(store, "one", "uniform", "");
        tarry_error error = {""};
        void *bytes;
        size_t size;
        uint64_t seq;
        choose_some(s, 3);
        tarry__session_close(s);
        assert_int_equal(tarry__store_load(store, 1, &seq, &bytes, &size, NULL),
                         TARRY_OK);
        assert_int_equal(seq, N_ARMS + 3);
        assert_int_equal(tarry__session_open(store, 1, true, &s, NULL),
                         TARRY_OK);
        choose_some(s, 2);
        tarry__session_close(s); /* leaves no snapshot */
        assert_int_equal(
            tarry__store_save(store, 1, tries[i].seq, bytes, size, NULL),
            TARRY_OK);
        tarry__base_free(bytes);
        assert_int_equal(tarry__session_open(store, 1, false, &s, &error),
                         tries[i].why == NULL ? TARRY_OK : TARRY_BAD_STATE);
        if (tries[i].why != NULL && strstr(error.text, tries[i].why) == NULL)
            fail_msg("'%s' has no '%s'", error.text, tries[i].why);
        tarry__session_close(s);
        assert_int_equal(tarry__session_open(store, 1, true, &s, NULL),
                         TARRY_OK); /* the log is sound */
        tarry__session_close(s);
        tarry__store_close(store);
    }
}

/* A snapshot of another experiment that has come to the same round. */
static void a_snapshot_of_other_arms_is_refused(void **state)
{
    static const double arms[20] = {1, 0, 0, 1, 0.6, 0.8};
    static const struct {
        size_t n_arms, dim;
        const char *why; /* NULL: it may be */
    } tries[] = {
        {N_ARMS, DIM, NULL},
        {N_ARMS, DIM + 1, "leads to arms of dimension 3, the log to 2"},
        {N_ARMS, DIM - 1, "leads to arms of dimension 1, the log to 2"},
        {N_ARMS + 1, DIM, "leads to arms 4, the log to 3"},
        {N_ARMS - 1, DIM, "leads to arms 2, the log to 3"}};
    (void)state;
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        tarry__store *store = open_store();
        tarry__session *s = make(store, "one", "uniform", "");
        tarry_error error = {""};
        tarry_policy_params params = tarry_policy_defaults();
        tarry_policy *other;
        void *bytes;
        size_t size;
        tarry__session_close(s);
        params.arms = arms;
        params.n_arms = tries[i].n_arms;
        params.dim = tries[i].dim;
        params.horizon = 1000;
        assert_int_equal(tarry_policy_create("uniform", &params, &other, NULL),
                         TARRY_OK);
        assert_int_equal(tarry_policy_pack(other, &bytes, &size), TARRY_OK);
        assert_int_equal(tarry__store_save(store, 1, N_ARMS, bytes, size, NULL),
                         TARRY_OK);
        tarry_policy_pack_free(bytes);
        tarry_policy_free(other);
        assert_int_equal(tarry__session_open(store, 1, false, &s, &error),
                         tries[i].why == NULL ? TARRY_OK : TARRY_BAD_STATE);
        if (tries[i].why != NULL && strstr(error.text, tries[i].why) == NULL)
            fail_msg("'%s' has no '%s'", error.text, tries[i].why);
        tarry__session_close(s);
        tarry__store_close(store);
    }
}

/* ---- what an experiment is made with --------------------------------------*/

/* One setting of each kind that is not the usual one. */
static tarry__store_experiment unusual(size_t i)
{
    tarry__store_experiment e =
        small_experiment("e", "phased-stochastic", N_ARMS, DIM);
    switch (i) {
    case 0:
        break;
    case 1:
        e.policy = "lints";
        break;
    case 2:
        e.low = -0.25;
        break;
    case 3:
        e.high = 2.385;
        break;
    case 4:
        e.maximize = true;
        break;
    case 5:
        e.beyond_horizon = true;
        break;
    case 6:
        e.horizon = 2385;
        break;
    case 7:
        e.horizon = 0;
        e.confidence = 0.875;
        break;
    case 8:
        e.seed = UINT64_C(1) << 60;
        break;
    case 9:
        e.expire_after = "9rounds";
        break;
    default:
        e.name = NULL; /* there are no more */
    }
    return e;
}

static void expect_same_state(tarry_policy *one, tarry_policy *other)
{
    enum { HEADER = 32 };
    void *bytes[2];
    size_t size[2];
    assert_int_equal(tarry_policy_pack(one, &bytes[0], &size[0]), TARRY_OK);
    assert_int_equal(tarry_policy_pack(other, &bytes[1], &size[1]), TARRY_OK);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal((char *)bytes[0] + HEADER, (char *)bytes[1] + HEADER,
                        size[0] - HEADER);
    tarry_policy_pack_free(bytes[0]);
    tarry_policy_pack_free(bytes[1]);
}

static void expect_same_experiment(const tarry__store_experiment *a,
                                   const tarry__store_experiment *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->prefix, b->prefix);
    assert_string_equal(a->policy, b->policy);
    assert_string_equal(a->expire_after, b->expire_after);
    assert_true(a->n_arms == b->n_arms && a->dim == b->dim);
    assert_true(a->low == b->low && a->high == b->high);
    assert_true(a->maximize == b->maximize);
    assert_true(a->beyond_horizon == b->beyond_horizon);
    assert_true(a->horizon == b->horizon && a->seed == b->seed);
    assert_true(a->confidence == b->confidence);
}

/* The policy is the one that all the settings make. */
static void every_setting_reaches_the_policy(void **state)
{
    (void)state;
    for (size_t i = 0; unusual(i).name != NULL; i++) {
        const tarry__store_experiment e = unusual(i);
        tarry__store *store = open_store();
        tarry__session *s;
        tarry_policy_params p = tarry_policy_defaults();
        tarry_policy *policy;
        p.n_arms = N_ARMS;
        p.dim = DIM;
        p.arms = arms;
        p.low = e.low;
        p.high = e.high;
        p.maximize = i == 4;
        p.beyond_horizon = i == 5;
        p.horizon = e.horizon;
        p.confidence = e.confidence;
        p.seed = e.seed;
        assert_int_equal(tarry_policy_create(e.policy, &p, &policy, NULL),
                         TARRY_OK);
        assert_int_equal(
            tarry__session_create(store, &e, arms, names, &s, NULL), TARRY_OK);
        expect_same_state(tarry__session_policy(s), policy);
        expect_same_experiment(tarry__session_experiment(s), &e);
        tarry_policy_free(policy);
        tarry__session_close(s);
        tarry__store_close(store);
    }
}

/* What is saved and taken over is as it was made, and goes on. */
static void every_setting_is_taken_over(void **state)
{
    static const char path[] = "taken_over.state";
    (void)state;
    for (size_t i = 0; unusual(i).name != NULL; i++) {
        const tarry__store_experiment e = unusual(i);
        tarry__store *store = open_store(), *other = open_store();
        tarry__session *s, *heir;
        tarry_policy *policy;
        assert_int_equal(
            tarry__session_create(store, &e, arms, names, &s, NULL), TARRY_OK);
        play(s, 30, true);
        assert_int_equal(tarry__session_save(s, path, NULL), TARRY_OK);
        assert_int_equal(tarry_policy_restore(path, &policy, NULL), TARRY_OK);
        assert_int_equal(tarry__session_adopt(other, policy, path, "e",
                                              e.expire_after, names, &heir,
                                              NULL),
                         TARRY_OK);
        expect_same_state(tarry__session_policy(s),
                          tarry__session_policy(heir));
        expect_same_experiment(tarry__session_experiment(heir), &e);
        json_t *status = tarry__session_status(s, false);
        json_t *told = tarry__session_status(heir, false);
        assert_true(json_equal(status, told));
        json_decref(status);
        json_decref(told);
        tarry__session_close(s);
        tarry__session_close(heir);
        tarry__store_close(store);
        tarry__store_close(other);
    }
    remove(path);
}

/* The age of the oldest choice is that of the one that stands. */
static void a_choice_taken_back_leaves_no_age(void **state)
{
    tarry__store *store = open_store();
    tarry__session *s = make(store, "e", "uniform", "");
    tarry__session_choice_made made;
    double seconds;
    (void)state;
    for (int64_t at = 1000; at <= 9000; at += 4000) {
        assert_int_equal(tarry__session_choose(s, NULL, at, &made, NULL),
                         TARRY_OK);
        assert_int_equal(tarry__session_outstanding(s, at + 500, &seconds), 1);
        assert_true(seconds == 0.5);
        tarry__session_take_back(s);
        assert_int_equal(tarry__session_outstanding(s, at + 500, &seconds), 0);
        assert_true(seconds == 0);
    }
    tarry__session_close(s);
    tarry__store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arms_without_features_are_admitted_and_stored),
        cmocka_unit_test(no_name_has_a_control_character),
        cmocka_unit_test(every_setting_reaches_the_policy),
        cmocka_unit_test(every_setting_is_taken_over),
        cmocka_unit_test(a_choice_taken_back_leaves_no_age),
        cmocka_unit_test(a_snapshot_that_cannot_be_read_is_named),
        cmocka_unit_test(a_snapshot_under_another_number_is_refused),
        cmocka_unit_test(a_snapshot_of_other_arms_is_refused),
        cmocka_unit_test(choices_that_the_policy_would_not_make_are_refused),
        cmocka_unit_test(leases_of_older_stores_are_known),
        cmocka_unit_test(answers_without_memory_are_whole_lines_or_none),
        cmocka_unit_test(ages_have_units),
        cmocka_unit_test(own_ids_have_exact_limits),
        cmocka_unit_test(names_are_found_and_given_back),
        cmocka_unit_test(what_is_overdue_is_counted_exactly),
        cmocka_unit_test(what_is_cancelled_is_not_missed),
        cmocka_unit_test(a_choice_expires_at_its_age),
        cmocka_unit_test(what_could_not_expire_does_later),
        cmocka_unit_test(default_outcome_comes_by_the_clock),
        cmocka_unit_test(report_after_final_default_is_late),
        cmocka_unit_test(default_outcome_of_rounds_comes_with_a_choice),
        cmocka_unit_test(silence_of_one_value_is_said_aloud),
        cmocka_unit_test(expiry_and_default_outcome_exclude_each_other),
        cmocka_unit_test(choices_expire_also_after_the_clock_went_back),
        cmocka_unit_test(a_clock_has_a_first_and_a_last_moment),
        cmocka_unit_test(numbers_are_written_in_one_way),
        cmocka_unit_test(a_group_knows_its_own_lines),
        cmocka_unit_test(outcomes_told_again_in_their_group_are_found_at_once),
        cmocka_unit_test(old_choices_expire_by_clock_and_by_rounds),
        cmocka_unit_test(many_sessions_share_a_commit),
        cmocka_unit_test(a_failed_commit_has_not_happened),
        cmocka_unit_test(questions_tell_of_what_is_committed),
        cmocka_unit_test(lines_of_nonsense_are_refused),
        cmocka_unit_test(nonsense_in_calls_is_refused),
        cmocka_unit_test(status_warns_of_delays_that_depend_on_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
